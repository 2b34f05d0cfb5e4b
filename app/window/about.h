#pragma once

#include <span>
#include <string>
#include <vector>

namespace attn::view {

/// Something that the program is made with.
struct AboutRow {
    std::string name;
    std::string version;  // of a library: "3.4.0" or "system"; of a font: whether it is in use
    std::string licence, purpose;
};
/// The About page: what this is, under which licence, and what it is made with.
struct AboutView {
    std::string version;  // "attnscope 0.2.0"
    std::string what;     // in one sentence
    std::string licence;  // and its build: "MIT License. Built by GCC 12.2 as C++20."
    std::vector<AboutRow> libraries;
    std::vector<AboutRow> fonts;
};
/// `families`: the fonts that this machine has of those that are looked for.
AboutView build_about_view(std::span<const std::string> families);

}  // namespace attn::view
