#include "app/common/draw/axis_labels.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/measured.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTitles = 96.0F;  // left of the bars
constexpr float kWidestKey = 112.0F;
constexpr float kScores = 0.6F;           // of the height of both kinds of bars
constexpr float kAroundVectors = 152.0F;  // their titles, labels and words
constexpr int kVectorRows = 7;
constexpr float kLeastBars = 120.0F, kOnlineFormula = 18.0F, kFormulaLine = 44.0F;
constexpr float kFormulas = 0.46F;  // of the width
constexpr float kLargestHeight = 34.0F, kLeastHeight = 20.0F;
constexpr float kLeastText = 34.0F;  // a key narrower than this has no number
constexpr double kSeen = 0.5;        // how strong what was gone through before is

/// Where the keys stand.
struct Keys {
    const OnlineView& view;
    const Frame& frame;
    float left, pitch;

    float x(std::size_t n) const { return left + pitch * static_cast<float>(n); }
    float right() const { return x(view.keys.size()); }
};

/// The bars of one number of each key, between y = low and high.
struct Bars {
    float top, bottom;
    double low, high;

    float y(double value) const {
        const auto share = static_cast<float>((value - low) / (high - low));
        return bottom - (bottom - top) * within(share, 0.0F, 1.0F);
    }
};

Bars bars_of(const OnlineView& view, float top, float bottom, double OnlineKey::*number,
             std::optional<double> line) {
    Bars bars{top, bottom, 0.0, 0.0};
    const auto include = [&](double value) {
        if (!std::isfinite(value)) return;
        bars.low = std::min(bars.low, value);
        bars.high = std::max(bars.high, value);
    };
    for (const OnlineKey& key : view.keys) include(key.*number);
    if (line) include(*line);
    if (bars.high == bars.low) bars.high = bars.low + 1.0;
    return bars;
}

/// A place that is still to come: its edge alone.
void draw_coming(const Keys& keys, std::size_t n, const Bars& bars) {
    const Frame& frame = keys.frame;
    const float inset = std::min(frame.px(2), keys.pitch * 0.1F);
    frame.painter.outline({keys.x(n) + inset, bars.top},
                          {keys.x(n) + keys.pitch - inset, bars.bottom}, frame.theme.line,
                          frame.px(1), frame.px(2));
}

void draw_key(const Keys& keys, std::size_t n, const Bars& bars, double number,
              const std::string& text, Color color) {
    const Frame& frame = keys.frame;
    const OnlineKey& key = keys.view.keys[n];
    if (key.when == OnlineKey::When::later) return draw_coming(keys, n, bars);
    const float inset = std::min(frame.px(4), keys.pitch * 0.12F);
    const float left = keys.x(n) + inset;
    const float right = keys.x(n) + keys.pitch - inset;
    const Color fill = key.when == OnlineKey::When::now ? color : view::translucent(color, kSeen);
    float top = bars.y(0.0);
    if (key.masked)
        frame.painter.rect({left, bars.top}, {right, bars.bottom}, frame.theme.masked);
    else if (std::isfinite(number)) {
        const float end = bars.y(number);
        const float bottom = std::max({top, end, std::min(top, end) + 1.0F});
        top = std::min(top, end);
        frame.painter.rect({left, top}, {right, bottom}, fill);
    }
    if (keys.pitch < frame.px(kLeastText)) return;
    const Font& font = frame.fonts.digits_small;
    const float middle = (bars.top + bars.bottom) / 2;
    const float bottom = key.masked ? middle + font.px / 2 : top - frame.px(2);
    const float half = frame.text_width(font, text) / 2 + frame.px(2);
    const float at = keys.x(n) + keys.pitch / 2;
    if (!key.masked)  // the line of m does not strike it through
        frame.painter.rect({at - half, bottom - font.px}, {at + half, bottom},
                           frame.theme.background);
    draw_text_in(frame, font, {keys.x(n), bottom - font.px}, {keys.x(n) + keys.pitch, bottom},
                 Align::center, key.masked ? frame.theme.muted : frame.theme.text, text);
}

/// Boundaries of the chunks, and which one is looked at.
void draw_chunks(const Keys& keys, float top, float bottom) {
    const Frame& frame = keys.frame;
    const auto size = static_cast<std::size_t>(keys.view.chunk_keys);
    for (std::size_t n = size; n < keys.view.keys.size(); n += size)
        frame.painter.line({keys.x(n), top}, {keys.x(n), bottom}, frame.theme.control, frame.px(1));
    if (keys.view.taken == 0) return;
    const std::size_t first = static_cast<std::size_t>(keys.view.taken - 1) * size;
    const std::size_t last = std::min(first + size, keys.view.keys.size());
    frame.painter.rect({keys.x(first), bottom}, {keys.x(last), bottom + frame.px(3)},
                       frame.theme.accent);
}

/// What the bars are, left of them.
void draw_title(const Keys& keys, const Bars& bars, float left, const char* title,
                const char* text) {
    const Frame& frame = keys.frame;
    const ImVec2 low{left, bars.top};
    draw_text_in(frame, frame.fonts.strong, low, {keys.left, low.y + frame.px(20)}, Align::left,
                 frame.theme.text, title);
    draw_text_in(frame, frame.fonts.small, {low.x, low.y + frame.px(20)},
                 {keys.left, low.y + frame.px(38)}, Align::left, frame.theme.muted, text);
}

/// The running maximum, over all that was gone through.
void draw_maximum(const Keys& keys, const Bars& bars) {
    const Frame& frame = keys.frame;
    if (!keys.view.largest) return;
    const float y = bars.y(*keys.view.largest);
    const std::size_t seen = std::min(
        static_cast<std::size_t>(keys.view.taken * keys.view.chunk_keys), keys.view.keys.size());
    const float end = keys.x(seen);
    frame.painter.line({keys.left, y}, {end, y}, frame.theme.accent, frame.px(1.5F));
    frame.painter.text(
        frame.fonts.strong,
        {end + frame.px(6), std::max(y - frame.fonts.strong.px / 2, bars.top - frame.px(10))},
        frame.theme.accent, keys.view.largest_text);
}

void point_at_keys(const Keys& keys, float top, float bottom) {
    ImGui::SetCursorScreenPos({keys.left, top});
    invisible_button("keys", {std::max(keys.right() - keys.left, 1.0F), bottom - top});
    if (!ImGui::IsItemHovered()) return;
    const float x = ImGui::GetMousePos().x;
    const auto n = static_cast<std::size_t>(std::max(x - keys.left, 0.0F) / keys.pitch);
    if (n < keys.view.keys.size()) tooltip(keys.frame, keys.view.keys[n].tooltip);
}

void draw_formulas(const OnlineView& view, ImVec2 low, float width, const Frame& frame) {
    float y = low.y;
    for (const std::string& tex : view.tex) {
        const auto box = fitted_math(frame, tex, kOnlineFormula, width);
        if (!box) continue;
        const float line = std::max(frame.px(kFormulaLine), box->ascent + box->descent);
        draw_formula(frame, *box,
                     {low.x, y + (line - box->ascent - box->descent) / 2 + box->ascent});
        y += line;
    }
}

void draw_state(const OnlineView& view, ImVec2 low, float width, float row_height,
                const Frame& frame) {
    float y =
        draw_vectors(view.state, "state", low, width, row_height, frame) + frame.px(kSpace16 / 2);
    if (!view.result) return;
    y = draw_vectors(*view.result, "result", {low.x, y}, width, row_height, frame) + frame.px(4);
    ImGui::SetCursorScreenPos({low.x, y});
    ImGui::BeginGroup();
    wrapped_text(frame, frame.fonts.body, frame.theme.text, view.result_text);
    ImGui::EndGroup();
}

}  // namespace

void draw_online_keys(const OnlineView& view, const Box& box, const Frame& frame) {
    const ImVec2 low = box.low;
    const ImVec2 space = box.size();
    const float count = static_cast<float>(std::max<std::size_t>(view.keys.size(), 1));
    const float titles = frame.px(kTitles);
    const float after = frame.px(kTitles);  // of "m = …"
    const float pitch = std::min((space.x - titles - after) / count, frame.px(kWidestKey));
    const Keys keys{view, frame, low.x + titles, pitch};
    std::vector<std::string> names;
    for (const OnlineKey& key : view.keys) names.push_back(key.label);
    const AxisLabels labels{names, pitch, Role::key, {}, {}};
    const float head = column_labels_height(labels, frame);
    const float text = frame.fonts.digits_small.px + frame.px(4);
    draw_column_labels(labels, frame, keys.left, low.y + head);
    const float top = low.y + head + text;
    const float bars =
        std::max(space.y - head - 2 * text - frame.px(kSpace16 + 12), frame.px(kLeastBars));
    const Bars scores = bars_of(view, top, top + bars * kScores, &OnlineKey::score, view.largest);
    const float below = scores.bottom + frame.px(kSpace16) + text;
    const Bars terms = bars_of(view, below, below + bars * (1.0F - kScores), &OnlineKey::term, 1.0);
    draw_title(keys, scores, low.x, "M", "score");
    draw_title(keys, terms, low.x, "exp(M − m)", "with the current m");
    draw_maximum(keys, scores);
    for (std::size_t n = 0; n < view.keys.size(); ++n) {
        const OnlineKey& key = view.keys[n];
        draw_key(keys, n, scores, key.score, key.score_text, frame.theme.role(Role::score));
        draw_key(keys, n, terms, key.term, key.term_text, frame.theme.role(Role::weight));
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {keys.left, scores.top},
                          {keys.right(), terms.bottom});
    draw_chunks(keys, low.y + head, terms.bottom + frame.px(4));
    point_at_keys(keys, low.y, terms.bottom);
}

void draw_online_row(const OnlineView& view, const Box& box, const Frame& frame) {
    const float row = within((box.size().y - frame.px(kAroundVectors)) / kVectorRows,
                             frame.px(kLeastHeight), frame.px(kLargestHeight));
    const float left = box.size().x * kFormulas;
    draw_formulas(view, box.low, left - frame.px(kSpace16), frame);
    draw_state(view, {box.low.x + left, box.low.y}, box.size().x - left, row, frame);
}

}  // namespace attn::ui
