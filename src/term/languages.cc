#include "term/languages.h"

namespace ik::term {
namespace {

constexpr std::string_view c_family =
    " alignas alignof auto bool break case catch char class concept const consteval constexpr constinit const_cast continue co_await co_return co_yield "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept nullptr NULL operator private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while "
    "size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t #define #elif #else #endif #error #if #ifdef #ifndef #include #pragma #undef ";

constexpr Language table[] = {
    {.names = " sh bash shell zsh dash ksh console shell-session ",
     .keywords = " if then else elif fi for while until do done case esac in function select return exit break continue local export readonly declare unset "
                 "shift set trap source eval exec cd echo printf read test true false sudo ",
     .comments = "#", .quotes = "\"'`"},
    {.names = " c h cpp c++ cc cxx hpp ", .keywords = c_family, .comments = "//", .open = "/*", .close = "*/", .quotes = "\"'"},
    {.names = " python py python3 ",
     .keywords = " False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda "
                 "match case nonlocal not or pass raise return self try while with yield ",
     .comments = "#", .quotes = "\"'", .long_quotes = "\"\"\" '''"},
    {.names = " json jsonc json5 ", .keywords = " true false null ", .comments = "//", .quotes = "\""},
    {.names = " yaml yml ", .keywords = " true false null yes no on off ", .comments = "#", .quotes = "\"'", .key_end = ':'},
    {.names = " toml ini conf cfg properties ", .keywords = " true false ", .comments = "# ;", .quotes = "\"'", .key_end = '='},
    {.names = " systemd service unit timer socket mount ", .keywords = " true false yes no on off always on-failure simple forking oneshot notify ", .comments = "# ;", .quotes = "\"'", .key_end = '='},
    {.names = " go golang ",
     .keywords = " break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct "
                 "switch type var any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 true false nil ",
     .comments = "//", .open = "/*", .close = "*/", .quotes = "\"'", .long_quotes = "`"},
    {.names = " rust rs ",
     .keywords = " as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self "
                 "static struct super trait true type unsafe use where while bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result ",
     .comments = "//", .open = "/*", .close = "*/", .quotes = "\""},
    {.names = " javascript js jsx typescript ts tsx node mjs ",
     .keywords = " abstract as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally "
                 "for from function get if implements import in instanceof interface let new null number of private protected public readonly return set static "
                 "string super switch this throw true try type typeof undefined var void while with yield ",
     .comments = "//", .open = "/*", .close = "*/", .quotes = "\"'", .long_quotes = "`"},
    {.names = " sql mysql postgresql postgres psql sqlite plsql ",
     .keywords = " add all alter and any as asc begin between by case cast check column commit constraint create cross database default delete desc distinct drop else "
                 "end exists explain false foreign from full function grant group having if in index inner insert into is join key left like limit not null offset on "
                 "or order outer primary references returning revoke right rollback select set table then transaction trigger true truncate union unique update using "
                 "values view when where with integer bigint text varchar char boolean timestamp date numeric serial ",
     .comments = "--", .open = "/*", .close = "*/", .quotes = "'\"", .any_case = true},
    {.names = " dockerfile docker containerfile ",
     .keywords = " from run cmd label expose env add copy entrypoint volume user workdir arg onbuild stopsignal healthcheck shell as maintainer ",
     .comments = "#", .quotes = "\"'", .any_case = true},
    {.names = " nginx ", .keywords = " on off if return rewrite ", .comments = "#", .quotes = "\"'", .first_is_keyword = true},
    {.names = " diff patch ", .keywords = ""},
};

}

std::span<const Language> languages() { return table; }

}
