#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/format.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/controls.h"
#include "app/workspaces/step/draw/row_items.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kWidth = 320.0F;  // of a column
constexpr float kLeastWidth = 244.0F;
constexpr float kTallest = 560.0F;     // from this height on, in two columns
constexpr float kColumnSpace = 24.0F;  // columns
constexpr float kRow = 35.0F, kHeading = 26.0F;
constexpr float kLeastRow = 31.0F;    // where rows of the usual height would scroll
constexpr Index kMostFileHeads = 64;  // that the slider reaches

using Row = std::function<void(const Frame& frame, Actions& out)>;

struct Group {
    const char* heading;
    std::vector<Row> rows = {};
};

// ---- sizes

/// Where the tracks of all sliders and the lists begin.
float label_px(const Frame& frame) { return frame.text_width(frame.fonts.body, "d_model"); }

template <class Make>
Row size_row(const char* name, Index value, Index high, const Tip& tip, Make make) {
    return [=](const Frame& frame, Actions& out) {
        const SliderText text{name, std::to_string(value), "000", label_px(frame)};
        const auto next = log_slider(frame, ("##" + text.label).c_str(), text, value, 1, high,
                                     ImGui::CalcItemWidth(), tip, out);
        if (next) out.push_back(make(*next));
    };
}

void draw_label(const Frame& frame, const std::string& text) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(label_px(frame), frame.text_width(frame.fonts.body, text));
    draw_text_in(frame, frame.fonts.body, at, {at.x + width, at.y + ImGui::GetFrameHeight()},
                 Align::left, frame.theme.text, text);
    ImGui::SetCursorScreenPos({at.x + width + frame.px(8), at.y});
}

/// The divisors of the heads: no other number of key/value heads can be shared evenly.
void draw_key_heads(const ControlsView& view, const Tip& tip, const Frame& frame, Actions& out) {
    std::vector<Index> counts;
    std::vector<std::string> names;
    int current = -1;
    for (Index n = 1; n <= view.heads; ++n) {
        if (view.heads % n != 0) continue;
        if (n == view.call.kv_heads) current = static_cast<int>(counts.size());
        counts.push_back(n);
        names.push_back(std::to_string(n));
    }
    draw_label(frame, "kv heads");
    if (const auto chosen = choice(frame, "kv heads", names, current, tip))
        out.push_back(SetKeyHeads{counts[*chosen]});
}

// ---- fields of the call

/// The first line of the description's tip as heading.
Tip tip_of(const FieldNow& now) {
    const std::string_view tip = now.about.tip;
    const std::size_t end = std::min(tip.find('\n'), tip.size());
    return {std::string(tip.substr(0, end)),
            std::string(tip.substr(std::min(end + 1, tip.size())))};
}

/// One control: its id is the field's name.
struct FieldRow {
    const ControlsView& view;
    const CallField& field;
    const FieldNow& now;
    const Frame& frame;
    Actions& out;

    std::string id() const { return "##" + std::string(field.field->name); }

    std::optional<FieldValue> operator()(bool on) const {
        return toggle(frame, id().c_str(), now.text, on, tip_of(now));
    }
    std::optional<FieldValue> operator()(Chosen chosen) const {
        std::vector<std::string> names = now.names;
        if (field.field->name == "score") names = view.score_titles;
        const float left = ImGui::GetCursorScreenPos().x;
        draw_label(frame, now.text);
        const float width = left + ImGui::CalcItemWidth() - ImGui::GetCursorScreenPos().x;
        const Options options{names, static_cast<int>(chosen.n), {}};
        const auto n = combo(frame, id().c_str(), options, width, tip_of(now), out);
        if (!n) return std::nullopt;
        return Chosen{static_cast<std::size_t>(*n)};
    }
    std::optional<FieldValue> operator()(Index value) const {
        const auto high = std::max(static_cast<Index>(field.reach.high), value);
        return number_field(frame, id().c_str(), now.text.c_str(), value,
                            static_cast<Index>(field.reach.low), high,
                            number_width(frame, now.text, high), tip_of(now), out);
    }
    std::optional<FieldValue> operator()(std::uint64_t seed) const {
        return seed_field(frame, id().c_str(), seed, seed_width(frame, seed), tip_of(now), out);
    }
    /// A slider; behind a switch where 0 is off.
    std::optional<FieldValue> operator()(double value) const {
        const bool on = value != 0.0;
        float space = ImGui::CalcItemWidth();
        std::string label = now.text;
        if (field.reach.on != 0.0) {
            const std::string of_switch = id() + " switch";
            if (const auto set = toggle(frame, of_switch.c_str(), now.text, on, tip_of(now)))
                return *set ? field.reach.on : 0.0;
            if (!on) return std::nullopt;
            const float gap = frame.px(8);
            ImGui::SameLine(0.0F, gap);
            space -= toggle_width(frame, now.text) + gap;
            label.clear();
        }
        const SliderText text{label, view::exact(value), "000.00",
                              label.empty() ? 0.0F : label_px(frame)};
        return real_slider(frame, id().c_str(), text, value, field.reach.low, field.reach.high,
                           space, tip_of(now), out);
    }
    template <class Other>
    std::optional<FieldValue> operator()(const Other&) const {
        ATTN_CHECK(false, "no field of a call is of this type");
        return std::nullopt;
    }
};

void draw_call_field(const CallField& field, const ControlsView& view, const Frame& frame,
                     Actions& out) {
    const FieldNow now = view::field_now(*field.field, &view.call);
    if (const auto value = std::visit(FieldRow{view, field, now, frame, out}, now.value))
        out.push_back(field.set(*value));
}

/// QK-norm is next to the switch before it: a row more would scroll at 1280 × 720.
void add_call(const ControlsView& view, CallGroup group, Group& to) {
    for (const CallField& field : view.call_fields) {
        if (field.group != group) continue;
        const Row row = [&view, &field](const Frame& frame, Actions& out) {
            draw_call_field(field, view, frame, out);
        };
        if (field.field->name != "qk_norm" || to.rows.empty()) {
            to.rows.push_back(row);
            continue;
        }
        to.rows.back() = [before = to.rows.back(), row](const Frame& frame, Actions& out) {
            before(frame, out);
            ImGui::SameLine(0.0F, frame.px(16));
            row(frame, out);
        };
    }
}

/// Sliders over whole numbers of the model; the tracks of all of them begin at one place.
Group sizes_of(const ControlsView& view) {
    Group group{"Sizes"};
    const char* how = "The slider stops at powers of two. Double-click to type.";
    const auto tip_in_table = [&view](std::string_view name) {
        const auto found = std::ranges::find(
            view.call_fields, name, [](const CallField& field) { return field.field->name; });
        return found == view.call_fields.end() ? Tip{}
                                               : tip_of(view::field_now(*found->field, &view.call));
    };
    if (view.toy) {
        group.rows.push_back(size_row("d_model", view.d_model, view::kMaxModelWidth,
                                      {"d_model: columns of X. X is [T, d_model]", how},
                                      [](Index n) { return SetModelWidth{n}; }));
        group.rows.push_back(
            size_row("d_k", view.d_k, view::kMaxKeyWidth,
                     {"d_k: columns of Q and K in each head. W_Q is [d_model, heads · d_k]", how},
                     [](Index n) { return SetKeyWidth{n}; }));
        group.rows.push_back(size_row("d_v", view.call.d_v, view::kMaxKeyWidth, tip_in_table("d_v"),
                                      [](Index n) { return SetValueWidth{n}; }));
    }
    const Index most = view.toy ? view::kMaxHeads : std::max(kMostFileHeads, view.heads);
    if (view.projects)
        group.rows.push_back(size_row("heads", view.heads, most,
                                      {"H: attention heads", "Each has its own columns of W_Q."},
                                      [](Index n) { return SetHeads{n}; }));
    if (view.toy && view.heads > 1)
        group.rows.emplace_back(
            [&view, tip = tip_in_table("kv_heads")](const Frame& frame, Actions& out) {
                draw_key_heads(view, tip, frame, out);
            });
    return group;
}

// ---- mask, weights

/// A switch, and a number while it is on.
struct SwitchedNumber {
    const char* id;
    std::string text;
    const char* label;  // of the number
    bool on;
    std::optional<Index> value;
    Index first, high;  // the values of the switch
    Tip tip;
};
template <class Make>
Row switched_row(const SwitchedNumber& number, Make make) {
    return [=](const Frame& frame, Actions& out) {
        if (const auto on = toggle(frame, number.id, number.text, number.on, number.tip))
            out.push_back(make(*on ? std::optional<Index>(number.first) : std::nullopt));
        if (!number.value) return;
        ImGui::SameLine(0.0F, frame.px(16));
        const Index high = std::max(number.high, *number.value);
        const auto next = number_field(frame, (std::string("##") + number.id).c_str(), number.label,
                                       *number.value, 0, high,
                                       number_width(frame, number.label, high), number.tip, out);
        if (next) out.push_back(make(*next));
    };
}

Group mask_of(const ControlsView& view) {
    Group group{"Mask"};
    group.rows.push_back(
        switched_row({"window",
                      view.window_text,
                      "w",
                      view.windowed,
                      view.window,
                      1,
                      view.tokens - 1,
                      {"Window mask: |i − j| ≤ w", "A query sees only the keys near it. [T, T]"}},
                     [](std::optional<Index> reach) { return SetWindow{reach}; }));
    if (view.tokens > 0)
        group.rows.push_back(switched_row(
            {"padding",
             "padding",
             "keys",
             view.padding.has_value(),
             view.padding,
             view.tokens - 1,
             view.tokens,
             {"Padding mask: key j < the number of valid keys",
              "Later keys only pad the sequence to the length of the longest one in the batch."}},
            [](std::optional<Index> keys) { return SetPadding{keys}; }));
    return group;
}

void draw_seed(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Seed of the toy weights", "The same seed gives the same W_Q, W_K, W_V."};
    const float width = seed_width(frame, view.seed);
    if (const auto next = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(SetSeed{*next});
    ImGui::SameLine(0.0F, frame.px(8));
    if (button(frame, "reseed", "re-seed",
               {"The next seed", "New weights: row r of each W is drawn from N(0, 1/(2r + 4))."}))
        out.push_back(SetSeed{view.seed + 1});
}

Group weights_of(const ControlsView& view) {
    Group group{"Weights"};
    if (!view.toy) return group;
    group.rows.emplace_back(
        [&view](const Frame& frame, Actions& out) { draw_seed(view, frame, out); });
    group.rows.emplace_back([](const Frame& frame, Actions& out) {
        if (button(
                frame, "copy", "W_K := W_Q",
                {"Copies W_Q to W_K",
                 "Keys are then projected like queries, so the dot products QKᵀ are symmetric."}))
            out.push_back(CopyQueryWeights{});
    });
    return group;
}

// ---- content of the popover

/// What did not fit the row of controls goes where it belongs.
void add_left_out(const ControlsView& view, unsigned left_out, std::initializer_list<RowItem> items,
                  Group& to) {
    for (const RowItem item : items)
        if ((left_out & bit_of(item)) != 0)
            to.rows.emplace_back([&view, item](const Frame& frame, Actions& out) {
                draw_row_item(item, view, frame, out);
            });
}

std::vector<Group> groups_of(const ControlsView& view, unsigned left_out) {
    Group shown{"Shown"};
    add_left_out(
        view, left_out,
        {RowItem::layer, RowItem::sequence, RowItem::head, RowItem::gradients, RowItem::loss},
        shown);
    Group text{"Sentence"};
    add_left_out(view, left_out,
                 {RowItem::preset, RowItem::group, RowItem::sentence, RowItem::beside}, text);
    Group score{"Score"};
    add_left_out(view, left_out, {RowItem::scaling, RowItem::temperature}, score);
    add_call(view, CallGroup::score, score);
    Group positions{"Positions"};
    add_call(view, CallGroup::positions, positions);
    Group mask = mask_of(view);
    add_left_out(view, left_out, {RowItem::causal}, mask);
    Group dropout{"Dropout"};
    add_call(view, CallGroup::dropout, dropout);
    std::vector<Group> groups{text,      sizes_of(view), std::move(shown), score,
                              positions, mask,           dropout,          weights_of(view)};
    std::erase_if(groups, [](const Group& group) { return group.rows.empty(); });
    return groups;
}

// ---- place of the popover

/// A heading or a row, from the popover's upper left corner.
struct ModelPlace {
    const char* heading = nullptr;  // null: a row
    const Row* row = nullptr;
    std::size_t column = 0;
    float top = 0.0F;
};
struct ModelLayout {
    std::vector<ModelPlace> placed;
    std::size_t columns = 1;
    float column = 0.0F;  // the width of one
    float width = 0.0F;   // of all
    float height = 0.0F;  // of the highest one
    float bar = 0.0F;     // the width of a scroll bar; 0: none is needed
};

/// Groups beneath each other, in columns of at most that height; a group that is higher alone goes on in the next.
ModelLayout laid_out(const std::vector<Group>& groups, float most, float row, const Frame& frame) {
    ModelLayout layout;
    const float heading = frame.px(kHeading);
    std::size_t column = 0;
    float top = 0.0F;
    const auto go_on = [&] {
        ++column;
        top = 0.0F;
    };
    for (const Group& group : groups) {
        const float height = heading + row * static_cast<float>(group.rows.size());
        if (top > 0.0F) top += frame.px(kSpace8);
        if (top > 0.0F && top + std::min(height, most) > most) go_on();
        layout.placed.push_back({group.heading, nullptr, column, top});
        top += heading;
        for (const Row& each : group.rows) {
            if (top > heading && top + row > most) go_on();
            layout.placed.push_back({nullptr, &each, column, top});
            top += row;
            layout.height = std::max(layout.height, top);
        }
    }
    layout.columns = column + 1;
    return layout;
}

/// As many columns as it needs to be low; where the window has no room for them, fewer, which scroll.
ModelLayout layout_with(const std::vector<Group>& groups, float space, float row,
                        const Frame& frame) {
    const float between = frame.px(kColumnSpace);
    const float across = ImGui::GetIO().DisplaySize.x - 2 * frame.px(kSpace16) + between;
    const auto beside =
        static_cast<std::size_t>(std::max(1.0F, across / (frame.px(kLeastWidth) + between)));
    float most = std::min(frame.px(kTallest), space);
    ModelLayout layout = laid_out(groups, most, row, frame);
    while (layout.columns > beside) layout = laid_out(groups, most += row / 2, row, frame);
    float tallest = 0.0F;
    for (const Group& group : groups)
        tallest =
            std::max(tallest, frame.px(kHeading) + row * static_cast<float>(group.rows.size()));
    for (float lower = most; lower >= tallest; lower -= row / 2)  // even columns
        if (ModelLayout even = laid_out(groups, lower, row, frame); even.columns == layout.columns)
            layout = std::move(even);
    layout.bar = layout.height > space ? ImGui::GetStyle().ScrollbarSize : 0.0F;
    const auto columns = static_cast<float>(layout.columns);
    layout.column = std::min(frame.px(kWidth), (across - layout.bar) / columns - between);
    layout.width = columns * (layout.column + between) - between + layout.bar;
    return layout;
}
ModelLayout layout_of(const std::vector<Group>& groups, float space, const Frame& frame) {
    ModelLayout layout = layout_with(groups, space, frame.px(kRow), frame);
    return layout.bar > 0.0F ? layout_with(groups, space, frame.px(kLeastRow), frame) : layout;
}

void draw_layout(const ModelLayout& layout, ImVec2 low, const Frame& frame, Actions& out) {
    ImGui::PushItemWidth(layout.column);
    for (const ModelPlace& each : layout.placed) {
        const float left =
            static_cast<float>(each.column) * (layout.column + frame.px(kColumnSpace));
        const ImVec2 at{low.x + left, low.y + each.top};
        ImGui::SetCursorScreenPos(at);
        if (each.row != nullptr)
            (*each.row)(frame, out);
        else
            draw_text_in(frame, frame.fonts.small, at,
                         {at.x + layout.column, at.y + frame.px(kHeading - 4)}, Align::left,
                         frame.theme.muted, each.heading);
    }
    ImGui::PopItemWidth();
}

}  // namespace

void draw_model(const ControlsView& view, const ModelButton& model, const Frame& frame,
                Actions& out) {
    const std::vector<Group> groups = groups_of(view, model.left_out);
    const ModelLayout layout = layout_of(groups, popover_space(model.button, frame), frame);
    const bool left = draw_popover("model", model.button, {layout.width, layout.height}, frame, out,
                                   [&](ImVec2 low) { draw_layout(layout, low, frame, out); });
    if (left) out.push_back(ShowModel{false});
}

}  // namespace attn::ui
