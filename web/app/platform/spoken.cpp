#include "app/platform/spoken.h"

#include <emscripten.h>

namespace attn {

EM_JS(void, attn_spoken, (const char* words), { Module.attnSpoken(UTF8ToString(words)); });

Spoken::~Spoken() {
    static std::string last;
    if (description_ == last) return;
    last = description_;
    attn_spoken(last.c_str());
}

}  // namespace attn
