#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/compare/view.h"
#include "core/rope_scale.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/trace.h"

namespace attn::view {
namespace {

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string scaling_text(const Document& document) {
    if (document.spec.scale == ScaleKind::none) return "off";
    if (document.spec.scale == ScaleKind::q_and_k)
        return fmt::format("q and k × {}^(−¼)", document.size.d_k);
    if (document.spec.scale == ScaleKind::value) return "× " + number(document.spec.scale_value);
    return fmt::format("÷ √{}", document.size.d_k);
}

std::string score_title(const Document& document) {
    for (const ScoreInfo& each : score_table())
        if (each.score == document.spec.score) return std::string(each.title);
    return {};
}

/// Bits, so that NaN is itself.
bool same_number(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct Adder {
    std::vector<Difference>& list;

    void operator()(std::string_view name, std::string a, std::string b) const {
        if (a != b) list.push_back({std::string(name), std::move(a), std::move(b)});
    }
    /// How many numbers of a tensor are others.
    void tensor(std::string_view name, const Tensor& a, const Tensor& b) const {
        const auto x = a.values();
        const auto y = b.values();
        if (a.empty() && b.empty()) return;
        if (a.empty() != b.empty()) {
            list.push_back(
                {std::string(name), a.empty() ? "none" : "there", b.empty() ? "none" : "there"});
            return;
        }
        if (x.data() == y.data() && x.size() == y.size()) return;
        if (a.shape() != b.shape()) {
            list.push_back({fmt::format("the shape of {}", name), {}, {}});
            return;
        }
        Index others = 0;
        for (std::size_t n = 0; n < x.size(); ++n) others += same_number(x[n], y[n]) ? 0 : 1;
        if (others > 0)
            list.push_back({fmt::format("{} of {} numbers of {}", grouped(others),
                                        grouped(static_cast<Index>(x.size())), name),
                            {},
                            {}});
    }
};

/// "llama3, factor 8"; two that differ in nothing else are told apart by their bounds.
std::string rope_scaling_name(const RopeScaling& scaling) {
    return fmt::format(fmt::runtime(info(scaling.kind).title), number(scaling.factor),
                       number(scaling.low), number(scaling.high), number(scaling.original_length));
}

/// The value of a setting as a sentence has it, where that is not the option's text.
struct OwnText {
    std::string_view key;
    std::string (*text)(const Document& document);
};
constexpr OwnText kOwnTexts[] = {
    {"score", score_title},
    {"scale", scaling_text},
    {"temperature", [](const Document& d) { return number(d.spec.temperature); }},
    {"rope", [](const Document& d) { return on_off(d.spec.rope.has_value()); }},
    {"rope_base", [](const Document& d) { return number(d.spec.rope->base); }},
    {"rope_scaling", [](const Document& d) { return rope_scaling_name(d.spec.rope->scaling); }},
    {"softcap",
     [](const Document& d) { return d.spec.softcap ? number(*d.spec.softcap) : "none"; }},
    {"dropout", [](const Document& d) { return number(d.spec.active_dropout()); }},
    {"empty_rows",
     [](const Document& d) {
         return std::string(d.spec.empty_rows == EmptyRows::nan ? "NaN" : "0");
     }},
};

std::string value_text(const SpecField& field, const Document& document) {
    const auto* const own = std::ranges::find(kOwnTexts, field.key, &OwnText::key);
    if (own != std::end(kOwnTexts)) return own->text(document);
    const std::string text = field.text(document.spec);
    if (text.empty()) return std::string(field.usual);
    return text == "true" ? "on" : text;
}

/// RoPE's settings count where both turn, a seed where both drop weights.
bool counts(const SpecField& field, const AttentionSpec& a, const AttentionSpec& b) {
    if (field.key == "rope_base" || field.key == "rope_scaling")  // of no effect with tables
        return a.rope && b.rope && !a.rope->tables && !b.rope->tables;
    if (field.key.starts_with("rope_")) return a.rope && b.rope;
    return field.key != "seed" || (a.drops() && b.drops());
}

void add_settings(const Adder& add, const Document& a, const Document& b) {
    const AttentionSpec &x = a.spec, &y = b.spec;
    const auto pairs = [](const AttentionSpec& spec) {
        return spec.rope->pairs == RopePairs::half ? "halves" : "neighbours";
    };
    for (const SpecField& field : spec_fields()) {
        if (field.title.empty() || !counts(field, x, y)) continue;
        if (field.key == "empty_rows" && x.mask.custom != y.mask.custom)
            add.list.push_back({"the painted mask", {}, {}});
        if (field.key == "empty_rows" && x.mask.bias != y.mask.bias)
            add.list.push_back({"the bias", {}, {}});
        if (field.key == "padding" && !same(field, x, y))
            add.list.push_back({std::string(field.title), {}, {}});
        else if (field.key != "padding")
            add(field.title, value_text(field, a), value_text(field, b));
        if (field.key == "temperature" && number(x.temperature) == number(y.temperature))
            add(field.title, exact(x.temperature), exact(y.temperature));
        if (field.key == "rope_dims") {
            add("RoPE's pairs", pairs(x), pairs(y));
            if (x.rope->tables != y.rope->tables)
                add.list.push_back({"RoPE's cosines and sines", {}, {}});
        }
    }
}

void add_numbers(const Adder& add, const Document& a, const Document& b) {
    if (a.inputs == b.inputs) return;
    add.tensor("X", a.inputs->x, b.inputs->x);
    add.tensor("X_kv", a.inputs->x_kv, b.inputs->x_kv);
    add.tensor("Q", a.inputs->q, b.inputs->q);
    add.tensor("K", a.inputs->k, b.inputs->k);
    add.tensor("V", a.inputs->v, b.inputs->v);
    for (const ParamInfo& param : param_table())
        add.tensor(param.symbol, a.inputs->params[param.param], b.inputs->params[param.param]);
}

}  // namespace

std::vector<Difference> differences(const AppState& state, const ComparePin& pin) {
    const Document& a = *pin.document;
    const Document& b = state.document();
    std::vector<Difference> list;
    const Adder add{list};
    if (&a != &b) {
        const auto name = [](const Document& document) {
            return fmt::format("“{}”", shown_token(document.title));
        };
        add("document", name(a), name(b));
        if (a.title == b.title && !(a.origin == b.origin))
            list.push_back({"the source of the document", {}, {}});
        if (a.tokens != b.tokens && a.title == b.title) list.push_back({"the words", {}, {}});
        add("queries", fmt::format("{}", a.size.tq), fmt::format("{}", b.size.tq));
        add("keys", fmt::format("{}", a.size.tk), fmt::format("{}", b.size.tk));
        add("d_k", fmt::format("{}", a.size.d_k), fmt::format("{}", b.size.d_k));
        add("heads", fmt::format("{}", a.size.heads), fmt::format("{}", b.size.heads));
        add_settings(add, a, b);
    }
    add("layer", fmt::format("{}", a.layer), fmt::format("{}", b.layer));
    add("head", fmt::format("{}", pin.head), fmt::format("{}", state.head));
    add("sequence", fmt::format("{}", pin.batch), fmt::format("{}", state.batch));
    if (&a != &b) add_numbers(add, a, b);
    return list;
}

std::string difference_text(const Difference& difference) {
    if (difference.a.empty() && difference.b.empty()) return difference.name;
    return fmt::format("{} {} → {}", difference.name, difference.a, difference.b);
}

std::string pin_text(const AppState& state) {
    const Document& document = state.document();
    std::string text =
        fmt::format("{} · scaling {}", shown_token(document.title), scaling_text(document));
    if (document.spec.temperature != 1.0)
        text += fmt::format(" · τ = {}", number(document.spec.temperature));
    if (document.spec.mask.any()) text += " · masked";
    if (document.layers.size() > 1) text += fmt::format(" · layer {}", document.layer);
    return text + fmt::format(" · head {}", state.head);
}

ComparePin pin_of(const AppState& state) {
    return {state.shared_document(), state.trace, state.backend, state.batch, state.head,
            pin_text(state)};
}

}  // namespace attn::view
