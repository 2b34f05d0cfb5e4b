#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/words.h"
#include "app/workspaces/compare/view.h"
#include "core/scores/score.h"

namespace attn::view {
namespace {

std::string on_off(bool on) { return on ? "on" : "off"; }

std::string scaling_words(const Document& document) {
    if (document.spec.scale == ScaleKind::none) return "off";
    if (document.spec.scale == ScaleKind::q_and_k)
        return fmt::format("q and k × {}^(−¼)", document.size.d_k);
    if (document.spec.scale == ScaleKind::value) return "× " + number(document.spec.scale_value);
    return fmt::format("÷ √{}", document.size.d_k);
}

std::string limit_words(const std::optional<Index>& limit) {
    return limit ? fmt::format("{}", *limit) : std::string("none");
}

std::string causal_name(const MaskSpec& mask) {
    if (!mask.causal) return "off";
    return *mask.causal == CausalAlign::top_left ? "top-left" : "bottom-right";
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

    void operator()(const char* name, std::string a, std::string b) const {
        if (a != b) list.push_back({name, std::move(a), std::move(b)});
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
    if (scaling.kind == RopeScale::none) return "none";
    if (scaling.kind == RopeScale::linear)
        return fmt::format("linear, factor {}", number(scaling.factor));
    if (scaling.kind == RopeScale::yarn)
        return fmt::format("YaRN, factor {}, from pair {} to {}", number(scaling.factor),
                           number(scaling.low), number(scaling.high));
    return fmt::format("llama3, factor {}, {} to {} turns in {}", number(scaling.factor),
                       number(scaling.low), number(scaling.high), number(scaling.original_length));
}

void add_settings(const Adder& add, const Document& a, const Document& b) {
    const AttentionSpec& x = a.spec;
    const AttentionSpec& y = b.spec;
    add("score", score_title(a), score_title(b));
    add("scaling", scaling_words(a), scaling_words(b));
    add("temperature", number(x.temperature), number(y.temperature));
    if (x.temperature != y.temperature && number(x.temperature) == number(y.temperature))
        add("temperature", exact(x.temperature), exact(y.temperature));
    add("RoPE", on_off(x.rope.has_value()), on_off(y.rope.has_value()));
    if (x.rope && y.rope) {
        add("RoPE's base", number(x.rope->base), number(y.rope->base));
        add("RoPE's scaling", rope_scaling_name(x.rope->scaling),
            rope_scaling_name(y.rope->scaling));
        add("RoPE's columns", limit_words(x.rope->dims), limit_words(y.rope->dims));
        add("RoPE's pairs", x.rope->pairs == RopePairs::half ? "halves" : "neighbours",
            y.rope->pairs == RopePairs::half ? "halves" : "neighbours");
    }
    add("soft cap", x.softcap ? number(*x.softcap) : "none",
        y.softcap ? number(*y.softcap) : "none");
    add("ALiBi", on_off(x.alibi), on_off(y.alibi));
    add("dropout", number(x.active_dropout()), number(y.active_dropout()));
    if (x.drops() && y.drops())
        add("seed of dropout", fmt::format("{}", x.seed), fmt::format("{}", y.seed));
    add("position of query 0", limit_words(x.query_offset), limit_words(y.query_offset));
}

void add_masks(const Adder& add, const MaskSpec& a, const MaskSpec& b) {
    add("causal mask", causal_name(a), causal_name(b));
    add("window", limit_words(a.window), limit_words(b.window));
    add("window to the left", limit_words(a.window_left), limit_words(b.window_left));
    add("window to the right", limit_words(a.window_right), limit_words(b.window_right));
    add("global tokens", fmt::format("{}", a.global_tokens), fmt::format("{}", b.global_tokens));
    add("block mask", limit_words(a.block), limit_words(b.block));
    if (a.padding != b.padding) add.list.push_back({"the padding mask", {}, {}});
    if (a.custom != b.custom) add.list.push_back({"the painted mask", {}, {}});
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
            list.push_back({"where the document comes from", {}, {}});
        if (a.tokens != b.tokens && a.title == b.title) list.push_back({"the words", {}, {}});
        add("queries", fmt::format("{}", a.size.tq), fmt::format("{}", b.size.tq));
        add("keys", fmt::format("{}", a.size.tk), fmt::format("{}", b.size.tk));
        add("d_k", fmt::format("{}", a.size.d_k), fmt::format("{}", b.size.d_k));
        add("heads", fmt::format("{}", a.size.heads), fmt::format("{}", b.size.heads));
        add_settings(add, a, b);
        add_masks(add, a.spec.mask, b.spec.mask);
        add("empty rows", a.spec.empty_rows == EmptyRows::nan ? "NaN" : "0",
            b.spec.empty_rows == EmptyRows::nan ? "NaN" : "0");
    }
    add("layer", fmt::format("{}", a.layer), fmt::format("{}", b.layer));
    add("head", fmt::format("{}", pin.head), fmt::format("{}", state.head));
    add("sequence", fmt::format("{}", pin.batch), fmt::format("{}", state.batch));
    if (&a != &b) add_numbers(add, a, b);
    return list;
}

std::string difference_words(const Difference& difference) {
    if (difference.a.empty() && difference.b.empty()) return difference.name;
    return fmt::format("{} {} → {}", difference.name, difference.a, difference.b);
}

std::string pin_words(const AppState& state) {
    const Document& document = state.document();
    std::string words =
        fmt::format("{} · scaling {}", shown_token(document.title), scaling_words(document));
    if (document.spec.temperature != 1.0)
        words += fmt::format(" · τ = {}", number(document.spec.temperature));
    if (document.spec.mask.any()) words += " · masked";
    if (document.layers.size() > 1) words += fmt::format(" · layer {}", document.layer);
    return words + fmt::format(" · head {}", state.head);
}

ComparePin pin_of(const AppState& state) {
    return {state.shared_document(), state.trace, state.backend, state.batch, state.head,
            pin_words(state)};
}

}  // namespace attn::view
