#include <fmt/format.h>

#include <ostream>

#include "tests/measure/measures.h"
#include "tests/measure/report.h"

namespace attn::test {
namespace {

constexpr view::Color kPaper{255, 255, 255}, kInk{0, 0, 0}, kGrey{190, 190, 190};
constexpr Rect kWindow{{0.0F, 0.0F}, {800.0F, 480.0F}};

TextLine text(const std::string& description, float x, float y, float px = 14.0F,
              view::Color ink = kInk) {
    const float width = 7.0F * static_cast<float>(description.size());
    TextLine line{.text = description,
                  .font = {view::Face::sans, px},
                  .ink = ink,
                  .corners = {{{x, y}, {x + width, y}, {x + width, y + px}, {x, y + px}}},
                  .clip = kWindow,
                  .window = "canvas",
                  .box = {}};
    line.box = around(line.corners);
    line.order = static_cast<int>(1000.0F * y + x);
    return line;
}

Measures of(std::vector<TextLine> text) {
    Log log;
    log.lines = std::move(text);
    log.rects.push_back({ui::Measuring::Kind::cells, {{400.0F, 100.0F}, {600.0F, 300.0F}}});
    return measured(log, {kWindow, 1.0, kPaper, {"animal"}});
}

}  // namespace

bool finds_planted(std::ostream& out) {
    bool valid = true;
    const auto ask = [&](const char* what, bool holds) {
        if (!holds) out << fmt::format("The measure of {} does not find what was planted\n", what);
        valid = valid && holds;
    };
    const auto finds = [&](Fault::Kind kind, const std::vector<TextLine>& description,
                           bool found = true) {
        const auto faults = of(description).faults;
        ask(name_of(kind), (std::ranges::count(faults, kind, &Fault::kind) > 0) == found);
    };
    const Measures clean =
        of({text("two words 64 .5 d_k", 20, 20), text("0.58", 450, 150), text("animal", 20, 60)});
    ask("faults", clean.faults.empty());
    ask("words", clean.word_count == 2 && clean.numbers == 2);
    ask("the largest picture", clean.hero_height == 0.5 && clean.hero_area > 0.1);
    ask("empty", clean.empty > 0.3 && clean.empty < 0.9);
    finds(Fault::Kind::small, {text("tiny", 20, 20, 12.0F)});
    finds(Fault::Kind::faint, {text("faint", 20, 20, 14.0F, kGrey)});
    finds(Fault::Kind::overlap, {text("one", 20, 20), text("other", 30, 22)});
    finds(Fault::Kind::cut, {text("beyond the edge", 760, 20)});
    finds(Fault::Kind::elided, {text("a long ti…", 20, 20)});
    finds(Fault::Kind::elided, {text("a long ti…", 20, 20), text("next", 110, 20)}, false);
    TextLine missing = text("sign", 20, 20);
    missing.missing = "s";
    finds(Fault::Kind::missing, {missing});
    return valid;
}

}  // namespace attn::test
