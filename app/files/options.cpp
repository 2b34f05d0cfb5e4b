#include "app/files/options.h"

#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/reading.h"
#include "app/common/or_throw.h"
#include "app/files/layers.h"
#include "app/files/text.h"
#include "core/io/json.h"
#include "core/rope_scale.h"
#include "core/scores/score.h"
#include "core/spec_fields.h"
#include "core/text.h"

namespace attn::files {
namespace {

using nlohmann::json;

Failure expected(const Value& value, std::string_view what) {
    return unexpected_value(value.shown, fmt::format("'{}'", shortened(value.text)),
                            std::string(what));
}

// The whole text or nothing; a + before it is fine.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return number_in<Number>(text);
}

void store(const Value& value, Index& target) { target = parse_whole_number(value); }
void store(const Value& value, double& target) {
    const std::optional<double> number = parse_number<double>(value.text);
    if (!number) throw expected(value, "a number");
    target = *number;
}
template <class Number>
void store(const Value& value, std::optional<Number>& target) {
    store(value, target.emplace());
}

constexpr std::string_view kBare = "true";  // a flag without a value, as JSON writes it

// A number of the call, of its spec, of its mask.
template <auto Member>
void set_own(CallOptions& call, const Value& value) {
    store(value, call.*Member);
}
template <auto Member>
void set_spec(CallOptions& call, const Value& value) {
    store(value, call.spec.*Member);
}
template <auto Member>
void set_mask(CallOptions& call, const Value& value) {
    store(value, call.spec.mask.*Member);
}

/// Keys at multiples of the value from the query, as in a dilated window: Beltagy et al. 2020, arXiv:2004.05150 (Longformer).
void set_dilation(CallOptions& call, const Value& value) {
    const auto allows = [step = parse_whole_number(value)](const MaskSpec& mask, Index p, Index j) {
        const bool global = j < mask.global_tokens || (p >= 0 && p < mask.global_tokens);
        return global || (p - j) % step == 0;
    };
    call.pair_conditions.push_back({"dilation", allows});
}

/// Whether it is the first of two words.
bool is_first(const Value& value, std::string_view first, std::string_view second) {
    if (value.text != first && value.text != second)
        throw expected(value, fmt::format("{} or {}", first, second));
    return value.text == first;
}

/// The keys of a table's rows, as a choice.
std::string key_choices(const auto& table) {
    std::vector<std::string> keys;
    for (const auto& row : table) keys.emplace_back(row.key);
    return choices(keys);
}

void set_layout(CallOptions& call, const Value& value) {
    call.layout = view::find_head_axes(value.text);
    if (call.layout) return;
    std::vector<std::string> keys;
    for (const view::HeadAxesInfo& row : view::head_axes_table())
        keys.push_back(fmt::format("{} ({})", row.key, row.letters));
    throw expected(value, choices(keys));
}

void set_score(CallOptions& call, const Value& value) {
    const auto row = std::ranges::find(score_table(), value.text, &ScoreInfo::key);
    if (row == score_table().end()) throw expected(value, key_choices(score_table()));
    call.spec.score = row->score;
}

void set_scale(CallOptions& call, const Value& value) {
    const std::optional<double> number = parse_number<double>(value.text);
    if (value.text == "sqrt_dk")
        call.spec.scale = ScaleKind::sqrt_dk;
    else if (value.text == "q_and_k")
        call.spec.scale = ScaleKind::q_and_k;
    else if (value.text == "none")
        call.spec.scale = ScaleKind::none;
    else if (number)
        call.spec.scale = ScaleKind::value, call.spec.scale_value = *number;
    else
        throw expected(value, "sqrt_dk, q_and_k, none or a number");
}

void set_d_k(CallOptions& call, const Value& value) {
    store(value, call.d_k);
    if (*call.d_k < 1) throw expected(value, "at least 1");
}

/// Bare, it says no corner: which is meant is asked where that makes a difference.
void set_causal(CallOptions& call, const Value& value) {
    call.causal_alignment_defaulted = value.text == kBare;
    const bool first =
        call.causal_alignment_defaulted || is_first(value, "top-left", "bottom-right");
    call.spec.mask.causal = first ? CausalAlign::top_left : CausalAlign::bottom_right;
}

void set_padding(CallOptions& call, const Value& value) {
    std::vector<Index> lengths;
    for (const std::string_view part : split(value.text)) {
        const auto length = parse_number<Index>(part);
        if (!length)
            throw expected(value, "the number of valid keys of each batch entry, such as 5,3");
        lengths.push_back(*length);
    }
    call.spec.mask.padding = std::move(lengths);
}

void set_rope(CallOptions& call, const Value& value) {
    const bool half = is_first(value, "half", "interleaved");
    call.rope_pairs = half ? RopePairs::half : RopePairs::interleaved;
}

/// Without none.
std::span<const RopeScaleInfo> rope_scales() { return rope_scale_table().subspan(1); }

/// "linear,FACTOR or yarn,FACTOR,LOW,HIGH".
std::string written_choices(auto&& rows) {
    std::vector<std::string> texts;
    for (const RopeScaleInfo& row : rows)
        texts.push_back(fmt::format("{},{}", row.key, row.numbers));
    return choices(texts);
}

std::string rope_scaling_help() {
    std::string text =
        "turn slower: " + written_choices(rope_scales() | std::views::filter([](const auto& row) {
                                              return row.help.empty();
                                          }));
    for (const RopeScaleInfo& row : rope_scales())
        if (!row.help.empty()) text += fmt::format("; {},{}{}", row.key, row.numbers, row.help);
    return text;
}

void set_rope_scaling(CallOptions& call, const Value& value) {
    RopeScaling scaling;
    const auto parts = split(value.text);
    const auto row = std::ranges::find(rope_scales(), parts.front(), &RopeScaleInfo::key);
    bool fits = row != rope_scales().end() && parts.size() == row->count + 1;
    for (std::size_t n = 0; fits && n < row->count; ++n) {
        const auto number = parse_number<double>(parts[n + 1]);
        fits = number.has_value();
        scaling.*kRopeScaleNumbers[n] = number.value_or(0.0);
    }
    if (!fits) throw expected(value, written_choices(rope_scales()));
    scaling.kind = row->kind;
    call.rope_scaling = scaling;
}

void set_rope_sections(CallOptions& call, const Value& value) {
    RotarySections& sections = call.rope_sections.emplace();
    sections.own_frequencies = value.text == "2d";
    if (sections.own_frequencies) return;
    auto parts = split(value.text);
    sections.interleaved = parts.front() == "interleaved";
    if (sections.interleaved) parts.erase(parts.begin());
    for (const std::string_view part : parts) {
        const auto pairs = parse_number<Index>(part);
        if (!pairs)
            throw expected(value,
                           "2d, or the column pairs of each section, such as 16,24,24 or "
                           "interleaved,24,20,20");
        sections.pairs.push_back(*pairs);
    }
}

void set_mla(CallOptions& call, const Value& value) {
    call.mla =
        is_first(value, "expanded", "absorbed") ? LatentForm::expanded : LatentForm::absorbed;
}

void set_log_temperature(CallOptions& call, const Value& value) {
    std::vector<double> numbers;
    for (const std::string_view part : split(value.text))
        if (const auto number = parse_number<double>(part)) numbers.push_back(*number);
    if (numbers.size() != 2 || !(numbers[0] > 0.0) || split(value.text).size() != 2)
        throw expected(value, "FLOOR,SCALE with FLOOR above 0, such as 8192,0.1");
    call.log_temperature = LogTemperature{numbers[0], numbers[1]};
}

/// A bare flag, or what JSON writes: true.
bool is_set(const Value& value) {
    if (value.text != kBare) throw expected(value, "no value");
    return true;
}
void set_bias_before_softcap(CallOptions& call, const Value& value) {
    call.spec.bias_before_softcap = is_set(value);
}
void set_alibi(CallOptions& call, const Value& value) { call.spec.alibi = is_set(value); }
/// The array `sinks` says it all; the option says that it is there.
void set_sinks(CallOptions& call, const Value& value) { call.sinks = is_set(value); }

void set_seed(CallOptions& call, const Value& value) {
    const auto seed = parse_number<std::uint64_t>(value.text);
    if (!seed) throw expected(value, "a whole number from 0 to 2^64 - 1");
    call.spec.seed = *seed;
}

/// JSON says true or false.
void set_training(CallOptions& call, const Value& value) {
    const bool on = value.text == "on" || value.text == "true";
    if (!on && value.text != "off" && value.text != "false") throw expected(value, "on or off");
    call.spec.training = on;
}

void set_empty_rows(CallOptions& call, const Value& value) {
    call.spec.empty_rows = is_first(value, "zero", "nan") ? EmptyRows::zero : EmptyRows::nan;
}

void set_operation(CallOptions& call, const Value& value) {
    call.which_operation = find_operation(value.text);
    if (!call.which_operation) throw expected(value, key_choices(operation_table()));
}
void set_chunk(CallOptions& call, const Value& value) {
    store(value, call.operation_settings.chunk);
}
void set_selected(CallOptions& call, const Value& value) {
    store(value, call.operation_settings.selected);
}
void set_recent(CallOptions& call, const Value& value) {
    store(value, call.operation_settings.recent);
}
void set_discretise(CallOptions& call, const Value& value) {
    const bool zoh = is_first(value, "zoh", "euler");
    call.operation_settings.discretise = zoh ? Discretise::zoh : Discretise::euler;
}

std::vector<std::string> role_names() {
    std::vector<std::string> names;
    for (const view::TensorRole& role : view::tensor_roles()) names.emplace_back(role.key);
    return names;
}

/// A role, or that of a layer: "l0.weights". What belongs to the file has no layer.
bool is_role(std::string_view role) {
    const std::string_view array = array_part(role);
    const bool of_layer = array.size() < role.size();
    return std::ranges::count(role_names(), array) > 0 &&
           (!of_layer || (role.starts_with('l') && !is_file_array(array) && array != "-"));
}

void set_role(CallOptions& call, const Value& value) {
    for (const std::string_view one : split_list(value.text)) {
        const std::size_t sign = one.rfind('=');
        if (sign == one.npos || sign == 0 || !is_role(one.substr(sign + 1)))
            throw expected(
                value, fmt::format("NAME=ROLE,... with a role of {}, of layer N l<N>. before it",
                                   choices(role_names())));
        const std::string name(one.substr(0, sign)), role(one.substr(sign + 1));
        if (const auto [at, is_new] = call.roles.emplace(name, role); !is_new && at->second != role)
            throw bad_input(fmt::format("{} reads {} as {} and as {}; expected one role",
                                        value.shown, shortened(name), at->second, role));
    }
}
/// "Q=bf16,K=bf16", or "bf16" of every array.
void set_dtype(CallOptions& call, const Value& value) {
    constexpr std::pair<std::string_view, Bits> kKinds[] = {
        {"bf16", Bits::bfloat16},    {"bfloat16", Bits::bfloat16},
        {"f16", Bits::float16},      {"float16", Bits::float16},
        {"e4m3", Bits::float8_e4m3}, {"float8_e4m3fn", Bits::float8_e4m3},
        {"e5m2", Bits::float8_e5m2}, {"float8_e5m2", Bits::float8_e5m2},
        {"e8m0", Bits::float8_e8m0}, {"float8_e8m0fnu", Bits::float8_e8m0},
        {"e2m1", Bits::float4_e2m1}, {"float4_e2m1fn_x2", Bits::float4_e2m1},
        {"int", Bits::integers},
    };
    for (const std::string_view one : split_list(value.text)) {
        const std::size_t sign = one.rfind('=');
        const std::string name(one.substr(0, sign == one.npos ? 0 : sign));
        const std::string_view kind = one.substr(sign == one.npos ? 0 : sign + 1);
        const auto* const found =
            std::ranges::find(kKinds, kind, &std::pair<std::string_view, Bits>::first);
        if (found == std::end(kKinds) || sign == 0)
            throw expected(value,
                           "bf16, f16, e4m3, e5m2, e8m0, e2m1 or int for every array of 8 or 16 "
                           "bits, or "
                           "NAME=bf16,NAME=f16,... for some");
        if (const auto [at, is_new] = call.dtypes.emplace(name, found->second);
            !is_new && at->second != found->second)
            throw bad_input(fmt::format("{} reads {} in two ways; expected one", value.shown,
                                        name.empty() ? "every array" : shortened(name)));
    }
}
void set_group(CallOptions& call, const Value& value) {
    if (value.text != "encoder" && value.text != "decoder" && value.text != "cross")
        throw expected(value, "encoder, decoder or cross");
    call.group = value.text;
}
void set_tokens(CallOptions& call, const Value& value) { call.tokens_file = value.text; }

constexpr std::string_view kArrays = "Arrays";
constexpr std::string_view kHeads = "Heads (with X; Q, K, V bring theirs)";
constexpr std::string_view kScore = "Score";
constexpr std::string_view kMask = "Masks (combined by AND, also with the array `mask`)";
constexpr std::string_view kPositions = "Positions (query i is at i + query-offset, key j at j)";
constexpr std::string_view kDropout = "Dropout";
constexpr std::string_view kLayout = "layout";

constexpr auto kOptions = std::to_array<AttentionOption>({
    {"heads", "H", "", kHeads, "query heads (default 1)", set_own<&CallOptions::heads>,
     whole_numbers(1, kMostHeads)},
    {"kv-heads", "G", "", kHeads, "key/value heads, a divisor of H (default H)",
     set_own<&CallOptions::kv_heads>, whole_numbers(1, kMostHeads)},
    {kLayout, "L", "", kHeads, "", set_layout},  // the table of layouts has its help
    {"role", "NAME=ROLE,..", "", kArrays,
     "read an array under another name as Q, K, V, qkv, X, W_Q, weights, mask, ...; - to ignore it",
     set_role},
    {"dtype", "[NAME=]KIND,..", "", kArrays,
     "what arrays of 8 or 16-bit integers hold: bf16 or f16, the bits of such numbers, as "
     "tensor.view(torch.int16) saves them; of 8 bits e4m3 or e5m2, the codes of float8, e8m0, "
     "powers of two, or e2m1, two codes of float4 in each; or int, the integers",
     set_dtype},
    {"group", "G", "", kArrays,
     "which attention: of a file with several encoder, decoder or cross; of a T5 these, of CLIP "
     "text, image or match",
     set_group},
    {"tokens", "FILE", "", kArrays,
     "the tokens, of a text file (a line or a word each) or JSON (a list of strings)", set_tokens},
    {"score", "S", "", kScore, "how a pair is scored (default dot); `--score ?` names the others",
     set_score},
    {"scale", "C", "", kScore,
     "scores are multiplied by: sqrt_dk (1/√d_k, default), none, or a number; q_and_k: q and k by "
     "d_k^(−1/4) each",
     set_scale, real_numbers(-kMostFactor, kMostFactor, NumberRange::Form::parts)},
    {"d-k",
     "N",
     "",
     kScore,
     "width of a query, for the scale 1/√N of raw scores whose queries are not in the file",
     set_d_k,
     whole_numbers(1, 1 << 30),
     {},
     Stage::scaled},
    {"temperature", "T", "", kScore, "scores are divided by T > 0 (default 1)",
     set_spec<&AttentionSpec::temperature>, real_numbers(1.0 / kMostFactor, kMostFactor)},
    {"softcap", "C", "", kScore, "scaled scores S become C·tanh(S / C), C > 0",
     set_spec<&AttentionSpec::softcap>, real_numbers(1.0 / kMostFactor, kMostFactor)},
    {"sinks",
     "",
     "true",
     kScore,
     "array `sinks`, one logit per head, which takes weight but has no value",
     set_sinks,
     {},
     {},
     Stage::weights},
    {"qk-norm", "EPS", "1e-06", kScore,
     "RMSNorm of each query and key before RoPE, EPS added to its mean square (default 1e-06); "
     "arrays `q_norm_weight` and `k_norm_weight` multiply its columns",
     set_spec<&AttentionSpec::qk_norm>, real_numbers(0, kMostFactor)},
    {"rope", "PAIRS", "", kPositions,
     "rotate Q and K by position: half (Llama) or interleaved (RoFormer)", set_rope},
    {"rope-base", "B", "", kPositions, "RoPE's base (default 10000)",
     set_own<&CallOptions::rope_base>, real_numbers(1e-6, kMostFactor)},
    {"rope-dims", "N", "", kPositions, "rotate only the first N columns (default d_k)",
     set_own<&CallOptions::rope_dims>, whole_numbers(2, 1 << 30)},
    {"rope-scaling", "KIND,..", "", kPositions, "", set_rope_scaling,  // its table has its help
     real_numbers(-kMostFactor, kMostFactor, NumberRange::Form::parts)},
    {"rope-sections",
     "[interleaved,]N,..|2d",
     "",
     kPositions,
     "column pairs for each row of `positions`: 16,24,24 (M-RoPE), interleaved,24,20,20 "
     "alternating (Qwen3-VL); 2d: half of the pairs each, with separate frequencies",
     set_rope_sections,
     whole_numbers(1, 1 << 30, NumberRange::Form::parts),
     {},
     Stage::q_rot},
    {"mla", "FORM", "", kArrays,
     "of latents c_kv: expanded (default) forms the keys and values of each head, absorbed folds "
     "W_UK into the queries and W_UV into W_O, as decoding does",
     set_mla},
    {"log-temperature",
     "FLOOR,SCALE",
     "",
     kPositions,
     "without RoPE: multiply the query at position p by 1 + SCALE·ln(1 + ⌊(p + 1) / FLOOR⌋), as "
     "Llama 4's layers without positions",
     set_log_temperature,
     real_numbers(-kMostFactor, kMostFactor, NumberRange::Form::parts),
     {},
     Stage::q_rot},
    {"query-offset", "P", "", kPositions,
     "position of query 0 (default 0; Tk − Tq with --causal=bottom-right)",
     set_spec<&AttentionSpec::query_offset>, whole_numbers(0, kMostPosition)},
    {"bias-before-softcap", "", "true", kScore,
     "add the array `bias` before the soft cap, as ONNX's Attention did until 2026; else after it",
     set_bias_before_softcap},
    {"alibi", "", "true", kPositions, "subtract slope·distance from scores, one slope per head",
     set_alibi},
    {"causal", "ALIGN", kBare, kMask,
     "key j ≤ query i, =top-left; =bottom-right: j ≤ i + Tk − Tq. Required if Tq ≠ Tk without "
     "query-offset",
     set_causal},
    {"window", "W", "", kMask, "|i − j| ≤ W, by position", set_mask<&MaskSpec::window>,
     whole_numbers(0, kMostPosition)},
    {"window-left", "L", "", kMask, "i − j ≤ L, by position", set_mask<&MaskSpec::window_left>,
     whole_numbers(0, kMostPosition)},
    {"window-right", "R", "", kMask, "j − i ≤ R, by position", set_mask<&MaskSpec::window_right>,
     whole_numbers(0, kMostPosition)},
    {"dilation",
     "D",
     "",
     kMask,
     "i − j is a multiple of D, by position: a window W then has ⌊W / D⌋ keys on each side; "
     "global tokens are exempt",
     set_dilation,
     whole_numbers(1, kMostPosition),
     {},
     Stage::masked},
    {"global-tokens", "G", "", kMask,
     "no window for the first G tokens, as queries or keys; other masks still apply",
     set_mask<&MaskSpec::global_tokens>, whole_numbers(0, kMostPosition)},
    {"block", "S", "", kMask, "position and key in the same block of S tokens",
     set_mask<&MaskSpec::block>, whole_numbers(1, kMostPosition)},
    {"padding", "N0,N1,..", "", kMask, "valid keys of each batch entry", set_padding,
     whole_numbers(0, kMostPosition, NumberRange::Form::parts)},
    {"empty-rows", "P", "", kMask, "weights of a row with no key left: zero (default) or nan",
     set_empty_rows},
    {"dropout", "P", "", kDropout, "drop weights with probability P in [0, 1)",
     set_spec<&AttentionSpec::dropout>, real_numbers(0, 1)},
    {"seed", "S", "", kDropout, "of dropout, and of an operation's parameters (default 0)",
     set_seed, whole_numbers(0, kMostSeed)},
    {"training",
     "on|off",
     "",
     kDropout,
     "on (default), or off: dropout does nothing, as in evaluation",
     set_training,
     {},
     "off"},
    {"operation", "NAME", "", kOperationGroup, "", set_operation},
    {"chunk", "C", "", kOperationGroup,
     "of chunked: keys a chunk; of nsa: keys a block (default 4)", set_chunk,
     whole_numbers(1, kMostPosition)},
    {"selected-blocks", "N", "", kOperationGroup,
     "of nsa: blocks that a query reads key by key, its own among them (default 2)", set_selected,
     whole_numbers(1, kMostPosition)},
    {"recent", "R", "", kOperationGroup,
     "of nsa: the window branch reads keys less than R away (default 4)", set_recent,
     whole_numbers(0, kMostPosition)},
    {"latents", "M", "", kOperationGroup,
     "of latents: how many (default: as the array `latents` has, or 4)",
     set_own<&CallOptions::latents>, whole_numbers(1, 1 << 16)},
    {"rank", "M", "", kOperationGroup,
     "of linformer: rows that replace all keys (default: as the array E has, or 2)",
     set_own<&CallOptions::rank>, whole_numbers(1, 1 << 16)},
    {"state", "N", "", kOperationGroup,
     "of state-space: states a column (default: as the array A_log has, or 4)",
     set_own<&CallOptions::state>, whole_numbers(1, 1 << 16)},
    {"discretise", "RULE", "", kOperationGroup,
     "of state-space: zoh (default) or euler, what Mamba runs", set_discretise},
});

const AttentionOption* find_option(std::string_view name) {
    for (const AttentionOption& option : kOptions)
        if (option.name == name) return &option;
    return nullptr;
}

/// Sets every value, from a flag or from a file.
void set_option(const AttentionOption& option, CallOptions& call, const Value& value) {
    if (const std::string fault = complaint_about(option.range, value.text); !fault.empty())
        throw bad_input(fmt::format("{} {}", value.shown, fault));
    option.set(call, value);
}

std::vector<std::string> option_names() {
    std::vector<std::string> names;
    for (const AttentionOption& option : kOptions) names.emplace_back(option.name);
    return names;
}

// 3 -> "3", "none" -> "none", [5, 3] -> "5,3", {"Q": "bf16", "K": "bf16"} -> "K=bf16,Q=bf16".
std::string text_of(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array() && !value.is_object()) return value.dump();
    std::string text;
    for (const auto& [key, entry] : value.items()) {
        if (!text.empty()) text += ',';
        if (value.is_object()) text += key + '=';
        text += text_of(entry);
    }
    return text;
}

// One pair of the object into `values`; null leaves an option unset, and so does false where it is no value.
void add_json_option(std::string_view what, std::string key, const json& value,
                     OptionValues& values) {
    std::replace(key.begin(), key.end(), '_', '-');
    const AttentionOption* const option = find_option(key);
    if (!option)
        throw bad_input(fmt::format("{}: options has the unknown key '{}'{}; expected {}", what,
                                    shortened(key), did_you_mean(key, option_names()),
                                    choices(option_names())));
    if (value.is_null() || (value == false && option->off.empty())) return;
    const bool bare = value == true && !option->alone.empty();
    values[key] = {fmt::format("{}: options: {}", what, key),
                   bare ? std::string(option->alone) : text_of(value)};
}

/// The four options of RoPE make one value; the others mean nothing without rope.
void set_rope_of(CallOptions& call, const OptionValues& values) {
    if (call.rope_pairs) {
        call.spec.rope = Rope{*call.rope_pairs,
                              call.rope_base.value_or(Rope().base),
                              call.rope_dims,
                              call.rope_scaling.value_or(RopeScaling{}),
                              {}};
        return;
    }
    for (const std::string_view name : {"rope-base", "rope-dims", "rope-scaling", "rope-sections"})
        if (const auto given = values.find(name); given != values.end())
            throw bad_input(
                fmt::format("{} is {} without rope; expected rope as well, half or interleaved",
                            given->second.shown, shortened(given->second.text)));
}

/// Options of operations, and the field of OperationSpec of each.
constexpr std::pair<std::string_view, std::string_view> kSettings[] = {
    {"chunk", "chunk"},
    {"selected-blocks", "selected"},
    {"recent", "recent"},
    {"latents", "latents"},
    {"rank", "rank"},
    {"state", "state"},
    {"discretise", "discretise"},
};

/// A setting without its operation is refused.
void set_operation_of(CallOptions& call, const OptionValues& values) {
    for (const auto& [name, field] : kSettings) {
        const auto given = values.find(name);
        if (given == values.end()) continue;
        std::string keys;
        bool has_field = false;
        for (const OperationInfo& row : operation_table()) {
            if (std::ranges::count(row.settings, field) == 0) continue;
            keys += fmt::format("{}{}", keys.empty() ? "" : " or ", row.key);
            has_field = has_field || call.which_operation == row.operation;
        }
        if (has_field) continue;
        throw bad_input(fmt::format("{} is {}; expected it only with operation {}",
                                    given->second.shown, shortened(given->second.text), keys));
    }
    if (!call.which_operation) return;
    call.operation = call.operation_settings;
    call.operation->operation = *call.which_operation;
    if (call.latents) call.operation->latents = *call.latents;
    if (call.rank) call.operation->rank = *call.rank;
    if (call.state) call.operation->state = *call.state;
    call.operation->seed = call.spec.seed;
}

}  // namespace

std::span<const AttentionOption> attention_options() {
    static const std::pair<std::string_view, std::string> kHelp[] = {
        {kLayout, view::head_axes_help()},
        {"rope-scaling", rope_scaling_help()},
        {"operation", key_choices(operation_table())}};
    static const auto kAll = [] {
        auto options = kOptions;
        for (AttentionOption& option : options)
            for (const auto& [name, help] : kHelp)
                if (option.name == name) option.text = help;
        return options;
    }();
    return kAll;
}

const SpecField* field_of(const AttentionOption& option) {
    const auto same_letter = [](char a, char b) { return a == b || (a == '-' && b == '_'); };
    for (const SpecField& field : spec_fields())
        if (std::ranges::equal(option.name, field.key, same_letter)) return &field;
    return nullptr;
}

Index parse_whole_number(const Value& value) {
    const std::optional<Index> number = parse_number<Index>(value.text);
    if (!number) throw expected(value, "a whole number");
    return *number;
}

OptionValues options_from_json(std::string_view text, std::string_view what) {
    const auto parsed = or_throw(parse_json(text, fmt::format("{}: options", what)));
    if (!parsed.is_object())
        throw bad_input(fmt::format("{}: options is {}; expected a JSON object", what,
                                    shortened(parsed.dump())));
    OptionValues values;
    for (const auto& [key, value] : parsed.items()) add_json_option(what, key, value, values);
    return values;
}

std::string options_to_json(const AttentionSpec& spec) {
    json options = json::object();
    for (const SpecField& field : spec_fields())
        if (const std::string text = field.text(spec); !text.empty())
            options[field.key] = json::accept(text) ? json::parse(text) : json(text);
    return options.dump();
}

void check_values(const OptionValues& values) {
    CallOptions call;
    for (const auto& [name, value] : values) set_option(*find_option(name), call, value);
}

CallOptions call_options(const OptionValues& values) {
    CallOptions call;
    for (const auto& [name, value] : values) set_option(*find_option(name), call, value);
    set_rope_of(call, values);
    set_operation_of(call, values);
    if (call.d_k && call.spec.scale != ScaleKind::sqrt_dk)
        throw bad_input(fmt::format("{} is {} together with scale {}; expected one of them",
                                    values.find("d-k")->second.shown, *call.d_k,
                                    shortened(values.find("scale")->second.text)));
    call.spec.heads = call.heads.value_or(1);
    call.spec.kv_heads = call.kv_heads.value_or(call.spec.heads);
    return call;
}

}  // namespace attn::files
