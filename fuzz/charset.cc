// A label, then a document in it.
#include "fuzz/fuzz.h"

#include "applets/charset.h"
#include "base/text.h"

namespace ik::fuzz {

void charset(std::string_view bytes)
{
    auto label = take(bytes);
    for (bool markup : {false, true})
        for (bool cut : {false, true})
            if (auto text = to_utf8({.bytes = bytes, .label = label, .markup = markup, .cut = cut}))
                claim(valid_utf8(*text), "a document is UTF-8");
}

}
