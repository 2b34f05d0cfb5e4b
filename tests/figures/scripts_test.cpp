// Scripts that are more than a glyph a character from left to right: HarfBuzz's own glyphs, FriBidi's order, one width
// on screen and in every figure.
#include <doctest/doctest.h>
#include <fontconfig/fontconfig.h>
#include <hb.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_painter.h"
#include "app/common/draw/null_context.h"
#include "app/common/draw/still.h"
#include "app/figures/figure.h"
#include "app/figures/measure.h"
#include "core/text.h"
#include "tests/figures/recorder.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using fonts::Layout, view::Face;

namespace {

constexpr view::Font kDescriptions{Face::sans, 14.0F};
constexpr view::Color kInk{230, 235, 240};
const std::string kCat = "قطة", kDog = "كلب";

/// One word of each script, which one font has.
constexpr const char* kSamples[] = {"猫",    "고양이", "قطة",    "חתול",
                                    "बिल्ली", "क्षत्रिय", "แมวที่นั่ง", "😀"};

bool is_in_some_font(char32_t c) {
    FcPattern* const wanted = FcPatternCreate();
    FcCharSet* const one = FcCharSetCreate();
    FcCharSetAddChar(one, c);
    FcPatternAddCharSet(wanted, FC_CHARSET, one);
    FcObjectSet* const nothing = FcObjectSetCreate();
    FcFontSet* const found = FcFontList(nullptr, wanted, nothing);
    const bool some = found && found->nfont > 0;
    if (found) FcFontSetDestroy(found);
    FcObjectSetDestroy(nothing);
    FcCharSetDestroy(one);
    FcPatternDestroy(wanted);
    return some;
}

/// Says why, when this machine cannot show that text.
bool is_skipped(std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
        const CodePoint next = first_code_point(rest);
        rest.remove_prefix(next.bytes);
        if (is_in_some_font(next.value)) continue;
        MESSAGE("skipped: no font of this machine has " << text
                                                        << "; install fonts-noto-core and -cjk");
        return true;
    }
    return false;
}

const Layout& laid_out(std::string_view text, const view::Font& font = kDescriptions) {
    const Layout* const layout = fonts::lay_out(font, text);
    REQUIRE(layout);
    return *layout;
}

std::vector<std::uint32_t> glyphs_of_harfbuzz(const std::string& family, const std::string& text) {
    FcPattern* const wanted = FcPatternCreate();
    FcPatternAddString(wanted, FC_FAMILY, reinterpret_cast<const FcChar8*>(family.c_str()));
    FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result = FcResultNoMatch;
    FcPattern* const found = FcFontMatch(nullptr, wanted, &result);
    FcChar8* path = nullptr;
    int index = 0;
    FcPatternGetString(found, FC_FILE, 0, &path);
    FcPatternGetInteger(found, FC_INDEX, 0, &index);
    hb_blob_t* const blob = hb_blob_create_from_file(reinterpret_cast<const char*>(path));
    hb_face_t* const face = hb_face_create(blob, static_cast<unsigned>(index));
    hb_font_t* const font = hb_font_create(face);
    hb_buffer_t* const buffer = hb_buffer_create();
    hb_buffer_add_utf8(buffer, text.c_str(), -1, 0, -1);
    hb_buffer_guess_segment_properties(buffer);
    hb_buffer_set_language(buffer, hb_language_from_string("en", -1));
    hb_shape(font, buffer, nullptr, 0);
    unsigned count = 0;
    const hb_glyph_info_t* const infos = hb_buffer_get_glyph_infos(buffer, &count);
    std::vector<std::uint32_t> glyphs;
    for (unsigned n = 0; n < count; ++n) glyphs.push_back(infos[n].codepoint);
    hb_buffer_destroy(buffer);
    hb_font_destroy(font);
    hb_face_destroy(face);
    hb_blob_destroy(blob);
    FcPatternDestroy(found);
    FcPatternDestroy(wanted);
    return glyphs;
}

/// Where the middle of `word` stands in a line.
float place(const std::string& line, const std::string& word) {
    const std::size_t at = line.find(word);
    REQUIRE(at != std::string::npos);
    return laid_out(line).caret(line, at + fonts::first_character(word));
}

std::string svg_of(const std::string& text) {
    const auto figure =
        figures::make_figure(figures::Format::svg, {{0.0F, 0.0F}, {200.0F, 100.0F}, {14, 18, 23}});
    figure->text(kDescriptions, {30.0F, 40.0F}, kInk, text);
    return figure->finish().value();
}

/// What ImGui draws in one window.
class Screen {
  public:
    struct Shown {
        view::Image image;
        bool smooth = false;
    };

    template <class Draw>
    void frame(Draw draw) {
        context_.begin_frame();
        ImGui::SetNextWindowPos({0.0F, 0.0F});
        ImGui::SetNextWindowSize({800.0F, 600.0F});
        ImGui::Begin("screen", nullptr, ImGuiWindowFlags_NoDecoration);
        draw(painter_);
        ImGui::End();
        context_.end_frame();
    }
    const ui::Fonts& fonts() const { return context_.fonts(); }
    std::vector<Shown> shown;

  private:
    ui::NullContext context_{{800.0F, 600.0F}, 1.0F, view::theme(view::ThemeName::dark)};
    ui::Texture texture_ = [this](const view::Picture& picture, bool smooth) {
        shown.push_back({picture.paint(), smooth});
        return std::uint64_t{1};
    };
    ui::ImguiPainter painter_{context_.fonts(), texture_};
};

std::size_t seen_pixels(const view::Image& image) {
    std::size_t seen = 0;
    for (std::size_t n = 3; n < image.rgba.size(); n += 4) seen += image.rgba[n] > 127 ? 1U : 0U;
    return seen;
}

}  // namespace

TEST_CASE("letters, numbers and mathematics are simple; other scripts, marks and emoji are not") {
    for (const char* text : {"", "cat", "Über Ω Жук", "QKᵀ/√d_k ≤ ∞", "“a” → b … 0.25 %"})
        CHECK(fonts::is_simple(text));
    for (const char* text : kSamples) CHECK(!fonts::is_simple(text));
    CHECK(!fonts::is_simple("e\u0301"));
}

TEST_CASE("a character is what a reader counts as one") {
    CHECK(fonts::first_character("") == 0);
    CHECK(fonts::first_character("ab") == 1);
    CHECK(fonts::first_character("éa") == 2);
    CHECK(fonts::first_character("e\u0301a") == 3);
    CHECK(fonts::first_character("बि") == std::string("बि").size());
    CHECK(fonts::first_character("क्षत्र") == std::string("क्ष").size());
    CHECK(fonts::first_character("👩\u200D👧!") == std::string("👩\u200D👧").size());
    CHECK(fonts::first_character("\xFF"
                                 "a") == 1);
    CHECK(ui::characters("ที่นั่ง") == 3);
}

TEST_CASE("glyphs and their order are HarfBuzz's own, from one font of this machine") {
    for (const std::string text : kSamples) {
        CAPTURE(text);
        if (is_skipped(text)) continue;
        const Layout& layout = laid_out(text);
        CHECK(layout.is_complete());
        CHECK(layout.width() > 0.5F * kDescriptions.em());
        REQUIRE(layout.families().size() == 1);
        CHECK(layout.glyphs() == glyphs_of_harfbuzz(layout.families().front(), text));
    }
}

TEST_CASE("Arabic letters join, and the first stands at the right") {
    if (is_skipped(kCat)) return;
    std::vector<std::uint32_t> alone;
    for (std::string_view rest = kCat; !rest.empty();) {
        const std::size_t bytes = fonts::first_character(rest);
        for (const std::uint32_t glyph : laid_out(rest.substr(0, bytes)).glyphs())
            alone.insert(alone.begin(), glyph);
        rest.remove_prefix(bytes);
    }
    CHECK(laid_out(kCat).glyphs().size() == alone.size());
    CHECK(laid_out(kCat).glyphs() != alone);
    CHECK(laid_out(kCat).caret(kCat, 0) > laid_out(kCat).caret(kCat, kCat.size()));
}

TEST_CASE("a sentence keeps its order around words from right to left") {
    if (is_skipped(kCat + kDog)) return;
    const std::string sentence = "“" + kCat + "” looks at “" + kDog + "” 65 %";
    CHECK(place(sentence, kCat) < place(sentence, "looks"));
    CHECK(place(sentence, "looks") < place(sentence, kDog));
    CHECK(place(sentence, kDog) < place(sentence, "65"));
    const std::string list = "“" + kCat + "” “" + kDog + "” last";
    CHECK(place(list, kCat) < place(list, kDog));
    const std::string variant = kCat + " → " + kDog;
    CHECK(place(variant, kCat) < place(variant, kDog));
    const std::string all = kCat + " " + kDog;
    CHECK(place(all, kCat) > place(all, kDog));
    CHECK(fonts::directed(kCat) == kCat);
    CHECK(fonts::directed("no “word” → here") == "no “word” → here");
}

TEST_CASE("a text is as wide on screen as in every figure, and drawn as one picture of its ink") {
    Screen screen;
    figures::Measure measure;
    for (const std::string text : kSamples) {
        if (is_skipped(text)) continue;
        CAPTURE(text);
        const float width = measure.text_size(kDescriptions, text).x;
        screen.shown.clear();
        screen.frame([&](view::Painter& painter) {
            CHECK(painter.text_size(kDescriptions, text).x == width);
            painter.text(kDescriptions, {100.0F, 100.0F}, kInk, text);
        });
        REQUIRE(screen.shown.size() == 1);
        CHECK(screen.shown[0].smooth);
        CHECK(seen_pixels(screen.shown[0].image) > 10);
        CHECK(std::abs(static_cast<float>(screen.shown[0].image.width) - width) < 8.0F);
        CHECK(seen_pixels(screen.shown[0].image) !=
              seen_pixels(laid_out("\uFFFD").image({255, 255, 255})));
    }
}

TEST_CASE("what a face lacks at a size is laid out; Latin letters go ImGui's way") {
    Screen screen;
    CHECK(ui::laid_out(screen.fonts(), screen.fonts().title, "cat √2") == nullptr);
    CHECK(ui::laid_out(screen.fonts(), screen.fonts().body, "Жук") == nullptr);
    const Layout* const title = ui::laid_out(screen.fonts(), screen.fonts().title, "Жук");
    REQUIRE(title);  // the title's size has no Cyrillic
    CHECK(title->is_complete());
    screen.frame([&](view::Painter& painter) { painter.text(kDescriptions, {}, kInk, "cat"); });
    CHECK(screen.shown.empty());
}

TEST_CASE("SVG: text stays text, in the fonts that set it and as wide as measured") {
    if (is_skipped(kCat)) return;
    const std::string svg = svg_of("“" + kCat + "” is a cat");
    CHECK(test::count(svg, "“\u2068" + kCat + "\u2069” is a cat</text>") == 1);
    CHECK(test::count(svg, "textLength=") == 1);
    CHECK(test::count(svg, "font-variant-ligatures:normal\"") == 1);
    for (const std::string& family : laid_out(kCat).families())
        CHECK(test::count(svg, "'" + family + "',") == 1);
}

TEST_CASE("what no font has is U+FFFD on screen, and itself in an SVG, whose width nobody knows") {
    const std::string nowhere = "a\U00100042";
    if (is_in_some_font(0x100042)) return;
    const Layout& layout = laid_out(nowhere);
    CHECK(!layout.is_complete());
    CHECK(layout.text() == "a\uFFFD");
    CHECK(test::count(svg_of(nowhere), ">" + nowhere + "</text>") == 1);
    CHECK(test::count(svg_of(nowhere), "textLength") == 0);
    const Layout& bytes = laid_out(fonts::clean_text("قطة\xFF"));
    CHECK(bytes.width() > 0.0F);
}

TEST_CASE("what is cut is cut between characters, and fits") {
    const std::string word = "क्षत्रियबिल्ली";
    if (is_skipped(word)) return;
    Screen screen;
    screen.frame([&](view::Painter& painter) {
        const ui::Frame frame{screen.fonts(), view::theme(view::ThemeName::dark), 1.0F, painter,
                              painter};
        for (float space = 20.0F; space < frame.text_width(kDescriptions, word); space += 3.0F) {
            const std::string_view cut = ui::cut_text(frame, kDescriptions, word, space);
            CHECK(frame.text_width(kDescriptions, cut) <= space);
            std::size_t end = 0;
            while (end < cut.size())
                end += fonts::first_character(std::string_view(word).substr(end));
            CHECK(end == cut.size());
        }
        CHECK(ui::middle_ellipsis(word, 3) == "क्ष…ल्ली");
    });
}

TEST_CASE("a text field whose text ImGui cannot set is drawn over; any other is left alone") {
    Screen screen;
    const auto drawn = [&](std::string text) {
        test::SeenTexts texts;
        screen.frame([&](view::Painter& painter) {
            test::TextSpy spy(painter);
            const ui::Frame frame = {screen.fonts(), view::theme(view::ThemeName::dark), 1.0F, spy,
                                     spy};
            ImGui::InputText("##field", &text);
            ui::still_field(frame, kDescriptions, text, "hint");
            texts = spy.texts;
        });
        return texts;
    };
    CHECK(drawn("a cat").empty());
    CHECK(drawn("").empty());
    REQUIRE(drawn(kCat).size() == 1);
    CHECK(drawn(kCat)[0].text == kCat);
}

TEST_CASE("ImGui's fields lose no character above U+FFFF beside what is typed") {
    using ui::keep_characters;
    CHECK(keep_characters("a 🐈 b", "a \uFFFD b") == "a 🐈 b");
    CHECK(keep_characters("a 🐈 b", "a \uFFFD xb") == "a 🐈 xb");
    CHECK(keep_characters("a 🐈 b 😀", "\uFFFD b \uFFFD") == "🐈 b 😀");
    CHECK(keep_characters("🐈😀", "\uFFFD") == "🐈");
    CHECK(keep_characters("🐈", "") == "");
    CHECK(keep_characters("a 🐈", std::string("a \uFFFD\0", 6)) == "a 🐈");  // counted too long
    CHECK(keep_characters("a", "a \xED\xA0\xBD\xED\xB8\x80") == "a 😀");    // typed: two halves
    CHECK(keep_characters("🐈", "\uFFFD\xED\xA0\xBD\xED\xB8\x80!") == "🐈😀!");
    CHECK(keep_characters("a😀", "a\xED\xA0\xBD") == "a");  // one of them deleted
    CHECK(keep_characters("", "\uFFFD") == "\uFFFD");
    CHECK(keep_characters("猫", "猫猫") == "猫猫");
    CHECK(keep_characters("cat", "c\uFFFDt") == "c\uFFFDt");
}
