#include "app/figure.h"

#include <cctype>
#include <utility>

#include "app/common/document/document.h"
#include "app/common/draw/figure_painters.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/null_context.h"
#include "app/common/draw/typeset.h"
#include "app/common/figure_size.h"
#include "app/common/workspace.h"
#include "app/figures/measure.h"
#include "app/window/draw/window.h"
#include "core/io/file.h"

namespace attn {
namespace {

using figures::Page, view::Point;

constexpr int kLayoutFrames = 3;  // ImGui lays out with the sizes of the frame before
constexpr float kMargin = 16.0F;  // around the canvas, in design units

constexpr view::Color kWhite{255, 255, 255, 255}, kCream{251, 246, 232, 255};

/// A figure of a fixed width: the canvas alone, as when presenting, in type of 7 to 9 pt, on paper in the light theme.
struct Preset {
    float width, least_height, scale;  // pixels of 1/96 inch
};
constexpr float kMillimetre = 96.0F / 25.4F;
constexpr float kTypeScale = 0.85F;                           // letters of 14 units are 8 pt
constexpr float kLeastLetters = 10.9F, kMostLetters = 13.9F;  // heights of their lines: 7 and 9 pt
constexpr float kAspect = 0.75F;                              // of what fills any height
constexpr float kLeastHeight = 390.0F;  // of a column: a matrix is as wide as it
constexpr Preset kPresets[] = {{},
                               {85.0F * kMillimetre, kLeastHeight, kTypeScale},
                               {120.0F * kMillimetre, kLeastHeight, kTypeScale},
                               {180.0F * kMillimetre, kLeastHeight, kTypeScale},
                               {1280.0F, 720.0F, 1.5F}};

view::FigureSize size_of(const view::AppState& state) { return view::figure_look(state).size; }

view::FigurePaper paper_of(const view::AppState& state) { return view::figure_look(state).paper; }

/// What is drawn over cells and lines to keep words clear of them has the colour of the paper too.
view::Theme theme_of(const view::AppState& state) {
    view::Theme theme = view::theme(state.theme);
    if (paper_of(state) == view::FigurePaper::cream)
        theme.background = kCream;
    else if (is_paper(size_of(state)))
        theme.background = kWhite;
    return theme;
}

/// What it is drawn from.
view::AppState prepared(view::AppState state) {
    const view::FigureSize size = size_of(state);
    state.prompt.reset();  // it asks for this figure
    state.presenter = state.presenter || size != view::FigureSize::screen;
    if (is_paper(size) || paper_of(state) == view::FigurePaper::cream)
        state.theme = view::ThemeName::light;
    return state;
}

/// On paper the heading is a caption: it is left out, and what it says is kept. Letters are neither small nor large.
class HeadingPainter : public ui::PassingPainter, public ui::Measuring {
  public:
    HeadingPainter(view::Painter& to, bool paper) : PassingPainter(to), paper_(paper) {}
    const std::string& text() const { return description_; }

    view::Point text_size(const view::Font& font, std::string_view text) override {
        return PassingPainter::text_size(set(font), text);
    }
    void record_rect(Kind kind, Point low, Point high) override {
        if (kind == Kind::heading) low_ = low, high_ = high;
    }
    void text(const view::Font& font, Point at, view::Color color, std::string_view text) override {
        const view::Font shown = set(font);
        PassingPainter::text(shown, {at.x, at.y + (font.px - shown.px) / 2}, color, text);
        if (!is_heading(at, {at.x, at.y + font.px})) return;
        const bool apart = at.y != after_.y || std::abs(at.x - after_.x) > font.px;
        const bool wrapped = apart && at.y > after_.y && font.face == font_.face &&
                             font.px == font_.px && std::abs(at.x - low_.x) < font.px;
        if (apart && !description_.empty()) description_ += wrapped ? ' ' : '\n';
        description_ += text;
        font_ = font;
        after_ = {at.x + text_size(font, text).x, at.y};
    }

  protected:
    bool admits(Point low, Point high) override { return !paper_ || !is_heading(low, high); }

  private:
    /// A formula reaches above its line, and where it has no room beyond the end.
    bool is_heading(Point low, Point high) const {
        const float middle = (low.y + high.y) / 2;
        return low.x >= low_.x - 1.0F && middle >= low_.y - kMargin && middle <= high_.y;
    }
    view::Font set(view::Font font) const {
        if (paper_) font.px = std::clamp(font.px, kLeastLetters, kMostLetters);
        return font;
    }
    bool paper_;
    std::string description_;
    Point low_, high_{-1.0F, -2.0F * kMargin}, after_;
    view::Font font_;  // of the last text
};

/// "Press B to pin the baseline": an instruction for the window, not part of a caption.
bool is_instruction(std::string_view sentence) {
    for (const std::string_view verb :
         {"Press ", "Space ", "Click ", "Double-click ", "Drag ", "Choose "})
        if (sentence.starts_with(verb)) return true;
    return false;
}

/// The subject of a figure of that workspace, with which its caption begins; "": the heading alone.
std::string_view figure_subject(std::string_view workspace) {
    constexpr std::pair<std::string_view, std::string_view> kSubjects[] = {
        {"step", "One stage of attention. Rows are queries and columns are keys."},
        {"masks", "Attention weights. Rows are queries and columns are keys."},
        {"heads", "Attention weights of each head. Rows are queries and columns are keys."},
        {"compare", "Change of the attention weights. Rows are queries and columns are keys."},
        {"gradients", "Gradients of the loss L, with and without scaling."},
        {"saturation", "Gradient of the loss L over the key width d_k, with and without scaling."},
        {"learn", "Attention weights of two models during training."},
        {"large", "Attention weights of a long sequence. Rows are queries and columns are keys."},
        {"positions", "Score over the distance of two tokens."},
        {"cost", "Memory over the number of tokens."}};
    for (const auto& [key, subject] : kSubjects)
        if (key == workspace) return subject;
    return {};
}

/// The lines of the heading as sentences: each begins with a capital and ends with a full stop.
void add_sentence(std::string_view line, const view::AppState& state, std::string& caption) {
    while (line.ends_with(' ')) line.remove_suffix(1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line.empty() || is_instruction(line)) return;
    std::string text(line);
    const std::string& title = state.document().title;
    if (!title.empty() && text.starts_with(title)) text = "Data: " + text;
    const std::string first = text.substr(0, text.find(' '));
    if (text.substr(first.size()).starts_with(" looks at "))  // a token keeps its case
        text = "“" + first + "”" + text.substr(first.size());
    else if (first.size() < text.size())
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
    caption += (caption.empty() ? "" : " ") + text;
}

/// The subject of the figure and the sentences of the heading, without instructions for the window. A line of the heading
/// that was wrapped is one sentence with the next.
std::string caption_from(std::string_view heading, const view::AppState& state) {
    std::string caption(figure_subject(state.workspace));
    while (!heading.empty()) {
        const std::size_t stop = std::min(heading.find(". "), heading.find('\n'));
        const std::size_t end = stop == heading.npos ? heading.size() : stop + 1;
        std::string_view sentence = heading.substr(0, end);
        if (sentence.ends_with('\n')) sentence.remove_suffix(1);
        add_sentence(sentence, state, caption);
        heading.remove_prefix(end);
    }
    if (!caption.empty()) return caption;
    return std::string(view::shown_workspace(state).title) + ": " + state.document().title + ".";
}

/// The panels of one state in a context of their own, drawn by whatever painter.
class Stage {
  public:
    Stage(const view::AppState& state, const FigureWindow& window)
        : window_(window),
          size_(size_of(state)),
          paper_(paper_of(state)),
          theme_(theme_of(state)),
          scale_(scale_in(state, window)),
          context_(size(), scale_, theme_) {}

    static float scale_in(const view::AppState& state, const FigureWindow& window) {
        const view::FigureSize size = size_of(state);
        if (size != view::FigureSize::screen) return kPresets[static_cast<std::size_t>(size)].scale;
        const double height = window.size.height / window.device_scale;
        return static_cast<float>(window.device_scale * shown_scale(state, height));
    }

    Point size() const {
        const Preset& preset = kPresets[static_cast<std::size_t>(size_)];
        if (size_ == view::FigureSize::slide) return {preset.width, preset.least_height};
        if (is_paper(size_))
            return {preset.width, std::max(preset.least_height, kAspect * preset.width)};
        return {static_cast<float>(window_.size.width), static_cast<float>(window_.size.height)};
    }

    /// `heading`: what it said.
    view::Actions draw(const view::AppState& state, view::Painter& painter,
                       std::string* heading = nullptr) {
        view::Actions asked;
        context_.begin_frame();
        {
            const float least = is_paper(size_) ? kLeastLetters : ui::kLeastScript * scale_;
            ui::TypesettingPainter typeset(painter, least);
            ui::WindowClipPainter clipped(typeset);
            HeadingPainter canvas(clipped, is_paper(size_));
            ui::SilentPainter silent(typeset);
            view::Painter& around = window_.chrome ? static_cast<view::Painter&>(canvas) : silent;
            const bool still = true;
            ui::draw_window(state, {context_.fonts(), theme_, scale_, canvas, around, still},
                            asked);
            if (heading != nullptr) *heading = canvas.text();
        }
        context_.end_frame();
        return asked;
    }

    /// The whole window, or what was drawn on the canvas and a margin; of a fixed width in any case.
    Page page(const figures::Measure& measure) const {
        const auto& drawn = measure.drawn();
        const bool whole = window_.chrome || !drawn || size_ == view::FigureSize::slide;
        view::Color behind = theme_.background;
        if (paper_ == view::FigurePaper::transparent) behind.a = 0;
        if (whole) return {{0.0F, 0.0F}, size(), behind};
        const float margin = std::round(kMargin * scale_);
        Page page{{std::floor(drawn->low.x) - margin, std::floor(drawn->low.y) - margin},
                  {std::ceil(drawn->high.x) + margin, std::ceil(drawn->high.y) + margin},
                  behind};
        if (!is_paper(size_)) return page;
        page.png_scale = figures::kPrintScale;
        page.low.x = (page.low.x + page.high.x - size().x) / 2;
        page.high.x = page.low.x + size().x;
        return page;
    }

  private:
    FigureWindow window_;
    view::FigureSize size_;
    view::FigurePaper paper_;
    view::Theme theme_;
    float scale_;
    ui::NullContext context_;
};

class FigureStudio : public cli::Studio {
  public:
    FigureStudio(figures::Format format, const FigureWindow& window)
        : format_(format), window_(window) {}

    view::Actions draw(const view::AppState& state) override {
        measure_.clear();
        const view::AppState shown = prepared(state);
        return stage(shown).draw(shown, measure_);
    }

    Result<std::string> picture(const view::AppState& state) override {
        const view::AppState shown = prepared(state);
        const Page page = stage(shown).page(measure_);
        const auto figure = figures::make_figure(format_, page, window_.titles);
        stage(shown).draw(shown, *figure);
        return figure->finish();
    }

    /// As a window that has room for all of it says it.
    std::string caption(const view::AppState& state) override {
        if (!is_paper(size_of(state))) return {};
        view::AppState shown = state;
        view::figure_look(shown).size = view::FigureSize::screen;
        Stage stage(shown, {});
        std::string heading;
        figures::Measure measure;
        for (int frame = 0; frame < kLayoutFrames; ++frame) stage.draw(shown, measure, &heading);
        return caption_from(heading, state) + '\n';
    }

  private:
    /// One theme, size, paper and scale a stage.
    Stage& stage(const view::AppState& state) {
        const std::tuple of{state.theme, size_of(state), paper_of(state),
                            Stage::scale_in(state, window_)};
        if (!stage_ || of != of_) stage_.emplace(state, window_);
        of_ = of;
        return *stage_;
    }

    figures::Format format_;
    FigureWindow window_;
    figures::Measure measure_;
    std::optional<Stage> stage_;
    std::tuple<view::ThemeName, view::FigureSize, view::FigurePaper, float> of_;
};

std::shared_ptr<const view::Image> with_alpha(const RgbImage& image) {
    auto pixels = std::make_shared<view::Image>();
    pixels->width = static_cast<int>(image.width);
    pixels->height = static_cast<int>(image.height);
    for (std::size_t n = 0; n + 2 < image.rgb.size(); n += 3)
        pixels->rgba.insert(pixels->rgba.end(),
                            {image.rgb[n], image.rgb[n + 1], image.rgb[n + 2], 255});
    return pixels;
}

}  // namespace

Result<std::string> draw_figure(const view::AppState& state, figures::Format format,
                                const FigureWindow& window) {
    FigureStudio studio(format, window);
    for (int frame = 0; frame < kLayoutFrames; ++frame) studio.draw(state);
    return studio.picture(state);
}

std::shared_ptr<const view::Image> figure_preview(view::AppState state,
                                                  const FigureWindow& window) {
    auto& paper = view::figure_look(state).paper;
    if (paper == view::FigurePaper::transparent) paper = view::FigurePaper::plain;
    const auto image =
        draw_figure(state, figures::Format::png, window).and_then([](const std::string& bytes) {
            return parse_png(bytes, "figure");
        });
    return image ? with_alpha(*image) : nullptr;
}

Result<void> export_figure(const view::AppState& state, const std::filesystem::path& path,
                           const FigureWindow& window) {
    const auto format = figures::format_of(path);
    if (!format) return tl::unexpected(format.error());
    FigureStudio studio(*format, window);
    for (int frame = 0; frame < kLayoutFrames; ++frame) studio.draw(state);
    return studio.picture(state)
        .and_then([&](const std::string& bytes) { return write_file_atomically(path, bytes); })
        .and_then([&]() -> Result<void> {
            const std::string caption = studio.caption(state);
            return caption.empty() ? Result<void>()
                                   : write_file_atomically(view::caption_file(path), caption);
        });
}

std::unique_ptr<cli::Studio> open_figure_studio(figures::Format format,
                                                const FigureWindow& window) {
    return std::make_unique<FigureStudio>(format, window);
}

}  // namespace attn
