#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/step/view_parts.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

// What the canvas shows, in one sentence that holds for this document's mask, scale, heads and numbers.

std::string given_text(const Document& document, Stage stage) {
    const bool edited = std::ranges::any_of(
        document.edits, [&](const InputEdit& edit) { return edit.tensor == OperandId(stage); });
    const bool file = std::holds_alternative<FileOrigin>(document.origin);
    const std::string_view origin = model_of(document) != nullptr ? "computed by the model"
                                    : file                        ? "given by the file"
                                                                  : "given with the sentence";
    return fmt::format("{}{}", origin, edited ? ", some of them edited" : "");
}

std::string vector_text(const AppState& state, Stage stage) {
    const Document& document = state.document();
    const Index rows = sheet_of(state, stage).values.rows;
    Index computed = 0;
    for (Index i = 0; i < rows; ++i) computed += is_embedding(state, stage, i);
    if (computed == 0)
        return fmt::format("Each token is a row of numbers, {}. You can change any of them.",
                           given_text(document, stage));
    const char* const vector = document.sinusoid ? "its word vector plus its position vector"
                                                 : "its word vector, without a position vector";
    if (computed == rows) return fmt::format("Each token is a row of numbers: {}.", vector);
    return fmt::format(
        "Each token is a row of numbers: {}, except in {} of {} rows, which {} given or edited.",
        vector, rows - computed, rows, rows - computed == 1 ? "was" : "were");
}

/// "The query of a token says what it looks for: its row of X times W_Q, plus b_Q."
std::string projection_text(const Document& document, Stage stage) {
    struct Description {
        std::string_view does, letter;
        Param bias;
    };
    const bool match = group_of(document) == "match";  // of images with texts
    const Description text =
        stage == Stage::q ? Description{match ? "Each image is a query for the text that fits it"
                                              : "A token's query says what the token looks for",
                                        "Q", Param::b_q}
        : match ? Description{stage == Stage::k ? "The vector of each text is its key"
                                                : "The vector of each text is also its value",
                              stage == Stage::k ? "K" : "V",
                              stage == Stage::k ? Param::b_k : Param::b_v}
        : stage == Stage::k
            ? Description{"A token's key says what the token offers", "K", Param::b_k}
            : Description{"A token's value is what the token passes on", "V", Param::b_v};
    if (!document.inputs->projects())
        return fmt::format("{}: the numbers are {}.", text.does, given_text(document, stage));
    const std::string bias =
        has_param(document, text.bias) ? fmt::format(", plus b_{}", text.letter) : "";
    return fmt::format("{}: its row of {} times W_{}{}.", text.does,
                       stage == Stage::q ? "X" : name_of(key_stage(document)), text.letter, bias);
}

std::string scaled_text(const Document& document) {
    const AttentionSpec& spec = document.spec;
    const std::string warm =
        spec.temperature == 1.0
            ? ""
            : fmt::format(" the temperature {}", significant(spec.temperature, 4));
    if (spec.scale == ScaleKind::none)
        return warm.empty()
                   ? "Scaling is off: S equals the raw scores."
                   : fmt::format("Scaling is off: the scores are divided only by{}.", warm);
    if (spec.scale == ScaleKind::q_and_k)
        return fmt::format("The scores {}: queries and keys were scaled before their product.",
                           warm.empty() ? "do not change" : "are divided by" + warm);
    const std::string then = warm.empty() ? "" : " and divided by" + warm;
    if (spec.scale == ScaleKind::value)
        return fmt::format("The scores are multiplied by {}{}.", significant(spec.scale_value, 4),
                           then);
    const bool dot = spec.score == Score::dot;
    return fmt::format("The scores are divided by √{} = {}{}{}.", document.size.d_k,
                       significant(std::sqrt(static_cast<double>(document.size.d_k)), 4), then,
                       dot ? ": √d_k is the standard deviation of q·k for independent entries "
                             "of mean 0 and variance 1"
                           : "");
}

std::string score_description(const Document& document) {
    const std::string text(info(document.spec.score).text);
    if (document.spec.scale != ScaleKind::q_and_k) return text;
    return fmt::format("{} Queries and keys were first multiplied by {}^(−¼) = {}.", text,
                       document.size.d_k,
                       significant(operand_factor(document.spec, document.size.d_k), 4));
}

/// "Columns c and c + 4 of each query rotate together, by its position times 10000^(−2c/8)."
std::string rotated_text(const Document& document, Stage stage) {
    const Rope& rope = *document.spec.rope;
    const bool query = stage == Stage::q_rot;
    const Index dims = rope.dims.value_or(document.size.d_k);
    const std::string pair = rope.pairs == RopePairs::half ? fmt::format("c and c + {}", dims / 2)
                                                           : std::string("2c and 2c + 1");
    const auto fixed = [&] {
        return dims < document.size.d_k
                   ? fmt::format(" The columns from {} on do not rotate.", dims)
                   : std::string();
    };
    if (rope.tables)
        return fmt::format(
            "Columns {} of each {} rotate together, by the given cosine and sine of "
            "the token and c.{}",
            pair, query ? "query" : "key", fixed());
    Index rescaled = 0;
    for (Index c = 0; c < dims / 2; ++c) rescaled += is_rescaled(rope, c, dims);
    std::string text = fmt::format(
        "Columns {} of each {} rotate together, by the token’s position times {}^(−2c/{}) "
        "radians{}.",
        pair, query ? "query" : "key", significant(rope.base, 6), dims,
        rescaled == 0
            ? ""
            : fmt::format(", which RoPE scaling changes for {} of {} pairs", rescaled, dims / 2));
    text += fixed();
    if (query && document.size.query_offset != 0)
        text += fmt::format(" Query 0 is at position {}.", document.size.query_offset);
    return text;
}

std::string biased_text(const AppState& state) {
    const AttentionSpec& spec = state.document().spec;
    std::vector<std::string> parts;
    const auto add_bias = [&](bool here) {
        if (spec.mask.bias && here) parts.emplace_back("the bias is added to every score");
    };
    add_bias(spec.bias_before_softcap);
    if (spec.softcap)
        parts.push_back(fmt::format("a soft cap keeps every score between −{0} and {0}",
                                    significant(*spec.softcap, 4)));
    add_bias(!spec.bias_before_softcap);
    if (spec.alibi)
        parts.push_back(
            fmt::format("ALiBi subtracts {} times the distance between query and key",
                        significant(alibi_slope(state.head, state.document().size.heads), 4)));
    return sentence(fmt::format("{}", fmt::join(parts, ", then ")));
}

std::string masked_text(const AppState& state) {
    const auto allowed = allowed_pairs(state);
    const auto forbidden = std::ranges::count(allowed, std::uint8_t{0});
    if (!state.document().spec.mask.any())
        return "There is no mask: every query may attend to every key.";
    if (forbidden == 0)
        return "The mask forbids no pair here: every query may attend to every key.";
    return fmt::format("The mask sets {} of {} scores to −∞.", forbidden, allowed.size());
}

/// Rows of A that are no shares.
struct Odd {
    Index empty = 0, nan = 0;
    bool keyless = true;  // the empty ones may attend to no key
};
Odd odd_rows(const AppState& state) {
    const auto a = sheet_of(state, Stage::weights).values;
    const auto allowed = allowed_pairs(state);
    Odd odd;
    for (Index i = 0; i < a.rows; ++i) {
        odd.nan += std::ranges::any_of(a.row(i), [](float weight) { return std::isnan(weight); });
        if (std::ranges::any_of(a.row(i), [](float weight) { return weight != 0.0F; })) continue;
        ++odd.empty;
        odd.keyless &= std::ranges::count(std::span(allowed).subspan(
                                              i * a.columns, static_cast<std::size_t>(a.columns)),
                                          std::uint8_t{1}) == 0;
    }
    return odd;
}

std::string weights_text(const AppState& state) {
    const Index rows = sheet_of(state, Stage::weights).values.rows;
    const Odd odd = odd_rows(state);
    const Tensor& sinks = state.document().inputs->params[Param::sinks];
    const std::string shares = sinks.empty() ? "weights that sum to 1"
                                             : fmt::format(
                                                   "weights that sum to 1 together with the weight "
                                                   "of the sink, a logit of {} without a value",
                                                   number(sinks(0, 0, 0, state.head)));
    if (odd.empty + odd.nan == 0)
        return fmt::format("Softmax turns each row of scores into {}.", shares);
    std::vector<std::string> parts;
    if (odd.empty > 0)
        parts.push_back(fmt::format("{} of {} rows {}{} 0", odd.empty, rows,
                                    odd.keyless ? "may attend to no key and " : "",
                                    odd.empty == 1 ? "is" : "are"));
    if (odd.nan > 0)
        parts.push_back(
            fmt::format("{} of {} rows hold{} NaN", odd.nan, rows, odd.nan == 1 ? "s" : ""));
    return fmt::format("Softmax turns a row of scores into {}, but {}.", shares,
                       fmt::join(parts, ", and "));
}

std::string dropped_text(const AppState& state) {
    const auto before = sheet_of(state, Stage::weights).values;
    const auto after = sheet_of(state, Stage::dropped).values;
    if (before.rows != after.rows) return std::string(info(Stage::dropped).text);
    Index dropped = 0;
    Index all = 0;
    for (const auto [i, j] : each_cell(after)) {
        all += before(i, j) != 0.0F;
        dropped += before(i, j) != 0.0F && after(i, j) == 0.0F;
    }
    return fmt::format(
        "Dropout sets {} of {} weights to 0 at random and divides the others by 1 − p = {}.",
        dropped, all, significant(1.0 - state.document().spec.dropout, 4));
}

std::string output_text(const Document& document) {
    const bool one = document.size.heads == 1;
    if (!has_param(document, Param::w_o))
        return one ? "There is no W_O: the output is the context."
                   : "There is no W_O: the output is the concatenated context.";
    return fmt::format("W_O maps the {} to one new vector for each token{}.",
                       one ? "context" : "concatenated contexts of all heads",
                       has_param(document, Param::b_o) ? ", plus b_O" : "");
}

}  // namespace

std::string description_of(const AppState& state, Stage stage) {
    const Document& document = state.document();
    if (state.show_gradients) return gradient_text(state, stage);
    const bool projected = stage == Stage::q || stage == Stage::k || stage == Stage::v;
    if (is_empty(document) || (!is_stored_stage(state, stage) && !projected))
        return std::string(info(stage).text);
    if (stage == Stage::x || stage == Stage::x_kv) return vector_text(state, stage);
    if (projected) return projection_text(document, stage);
    if (stage == Stage::q_rot || stage == Stage::k_rot) return rotated_text(document, stage);
    if (stage == Stage::scores) return score_description(document);
    if (stage == Stage::scaled) return scaled_text(document);
    if (stage == Stage::biased) return biased_text(state);
    if (stage == Stage::masked) return masked_text(state);
    if (stage == Stage::weights) return weights_text(state);
    if (stage == Stage::dropped) return dropped_text(state);
    if (stage == Stage::context)
        return fmt::format(
            "The context of {} is the sum of the values, each times its weight in {}.",
            group_of(document) == "match" ? "an image" : "a token",
            name_of(weight_stage(document)));
    return stage == Stage::output ? output_text(document) : std::string(info(stage).text);
}

}  // namespace attn::view
