#include "support/screen.h"

#include <algorithm>
#include <vterm.h>

namespace ik::test {
namespace {

std::string text_of(const VTermScreenCell& cell)
{
    std::string out;
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; ++i) {
        auto c = cell.chars[i];
        if (c == UINT32_MAX) break;   // the right half of a wide one
        auto add = [&](unsigned bits) { out += static_cast<char>(bits); };
        if (c < 0x80) add(c);
        else if (c < 0x800) add(0xC0 | c >> 6), add(0x80 | (c & 0x3F));
        else if (c < 0x10000) add(0xE0 | c >> 12), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
        else add(0xF0 | c >> 18), add(0x80 | (c >> 12 & 0x3F)), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
    }
    return out;
}

bool right_half(const VTermScreenCell& cell) { return cell.chars[0] == UINT32_MAX; }

std::string without_blanks(std::string text)
{
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}

struct Screen::Callbacks {
    static Screen& self(void* user) { return *static_cast<Screen*>(user); }

    static int damage(VTermRect rect, void* user)
    {
        auto line = static_cast<long>(self(user).scrollback_.size()) + rect.start_row;
        auto& touched = self(user).touched_;
        touched = touched < 0 ? line : std::min(touched, line);
        return 1;
    }
    static int moverect(VTermRect, VTermRect, void*) { return 1; }
    static int movecursor(VTermPos, VTermPos, int, void*) { return 1; }
    static int settermprop(VTermProp property, VTermValue* value, void* user)
    {
        if (property == VTERM_PROP_CURSORVISIBLE) self(user).cursor_visible_ = value->boolean;
        if (property == VTERM_PROP_TITLE || property == VTERM_PROP_ICONNAME) self(user).title_ = "set";
        if (property == VTERM_PROP_ALTSCREEN) self(user).alternate_ = value->boolean;
        return 1;
    }
    static int bell(void* user) { return ++self(user).bells_; }
    static int pushline(int columns, const VTermScreenCell* cells, void* user)
    {
        std::string text;
        for (int i = 0; i < columns; ++i)
            if (!right_half(cells[i])) text += cells[i].chars[0] ? text_of(cells[i]) : " ";
        self(user).scrollback_.push_back(without_blanks(text));
        return 1;
    }
    static int popline(int columns, VTermScreenCell* cells, void* user)
    {
        auto& lines = self(user).scrollback_;
        if (lines.empty())
            return 0;
        auto text = std::move(lines.back());   // of ASCII, as far as tests need it
        lines.pop_back();
        for (int i = 0; i < columns; ++i) {
            cells[i] = {};
            cells[i].width = 1;
            cells[i].chars[0] = i < static_cast<int>(text.size()) ? static_cast<unsigned char>(text[static_cast<std::size_t>(i)]) : 0;
        }
        return 1;
    }
};

Screen::Screen(int columns, int rows) : terminal_(vterm_new(rows, columns))
{
    static const VTermScreenCallbacks callbacks{Callbacks::damage, Callbacks::moverect, Callbacks::movecursor, Callbacks::settermprop,
                                                Callbacks::bell, nullptr, Callbacks::pushline, Callbacks::popline};
    vterm_set_utf8(terminal_, 1);
    auto* screen = vterm_obtain_screen(terminal_);
    vterm_screen_set_callbacks(screen, &callbacks, this);
    vterm_screen_enable_altscreen(screen, 1);
    vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_CELL);
    vterm_screen_reset(screen, 1);
    watch();
}

Screen::~Screen() { vterm_free(terminal_); }

void Screen::feed(std::string_view bytes)
{
    vterm_input_write(terminal_, bytes.data(), bytes.size());
    vterm_screen_flush_damage(vterm_obtain_screen(terminal_));
}

void Screen::resize(int columns, int rows) { vterm_set_size(terminal_, rows, columns); }

std::string Screen::row(int row) const
{
    int rows, columns;
    vterm_get_size(terminal_, &rows, &columns);
    std::string out;
    for (int i = 0; i < columns; ++i) {
        VTermScreenCell cell{};
        vterm_screen_get_cell(vterm_obtain_screen(terminal_), {row, i}, &cell);
        if (!right_half(cell)) out += cell.chars[0] ? text_of(cell) : " ";
    }
    return without_blanks(out);
}

ScreenCell Screen::cell(int row, int column) const
{
    VTermScreenCell cell{};
    vterm_screen_get_cell(vterm_obtain_screen(terminal_), {row, column}, &cell);
    return {text_of(cell), cell.attrs.bold != 0, cell.attrs.italic != 0, cell.attrs.underline != 0, cell.attrs.reverse != 0,
            VTERM_COLOR_IS_DEFAULT_FG(&cell.fg), VTERM_COLOR_IS_INDEXED(&cell.fg) ? cell.fg.indexed.idx : -1};
}

std::vector<std::string> Screen::everything() const
{
    int rows, columns;
    vterm_get_size(terminal_, &rows, &columns);
    auto out = scrollback_;
    for (int i = 0; i < rows; ++i) out.push_back(row(i));
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
}

int Screen::cursor_row() const
{
    VTermPos at;
    vterm_state_get_cursorpos(vterm_obtain_state(terminal_), &at);
    return at.row;
}

int Screen::cursor_column() const
{
    VTermPos at;
    vterm_state_get_cursorpos(vterm_obtain_state(terminal_), &at);
    return at.col;
}

std::string Screen::replies()
{
    char buffer[4096];
    return {buffer, vterm_output_read(terminal_, buffer, sizeof buffer)};
}

}
