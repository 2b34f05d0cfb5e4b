#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/document/head_axes.h"
#include "app/files/number_range.h"
#include "core/mla.h"
#include "core/operations/operation.h"
#include "core/rotary.h"
#include "core/spec.h"

namespace attn {
struct SpecField;
}  // namespace attn

namespace attn::files {

using view::HeadAxes;

/// What an array of integers of 8 or 16 bits holds.
enum class Bits : std::uint8_t {
    bfloat16,  // its numbers' bits, as tensor.view(torch.int16) gives them; of 8 bits two entries make one number
    float16,      // the same
    float8_e4m3,  // its numbers' codes, one in each 8 bits
    float8_e5m2,  // the same
    float8_e8m0,  // powers of two, as the scales of MXFP8 are
    float4_e2m1,  // two numbers in each 8 bits, the first in the lower half, as the codes of NVFP4 are
    integers,     // the integers
};

/// A mask rule that MaskSpec has no field for. It becomes a part of the mask's array, a byte a pair, which every backend reads.
struct PairCondition {
    std::string_view option;
    /// Whether a query at position p may attend to the key at position j; `mask` has the other rules.
    std::function<bool(const MaskSpec& mask, Index p, Index j)> allows;
};

/// What the options say about one attention call. Head counts are unset unless given.
struct CallOptions {
    AttentionSpec spec;
    std::optional<Index> heads;
    std::optional<Index> kv_heads;
    std::optional<HeadAxes> layout;
    // Of RoPE, together spec.rope.
    std::optional<RopePairs> rope_pairs;
    std::optional<double> rope_base;
    std::optional<Index> rope_dims;
    std::optional<RopeScaling> rope_scaling;
    std::optional<LatentForm> mla;                  // of latents of keys and values
    std::optional<LogTemperature> log_temperature;  // of a call without RoPE
    std::optional<RotarySections> rope_sections;    // 2d: without numbers of pairs
    std::optional<Index> d_k;                       // where the file has no queries that say it
    bool causal_alignment_defaulted = false;        // causal was given without its corner
    bool sinks = false;                             // an option announces the array
    std::vector<PairCondition> pair_conditions;     // all of them hold
    std::map<std::string, std::string> roles;  // name of an array -> Q, weights, ..., - for none
    std::map<std::string, Bits, std::less<>> dtypes;  // by the array's name; "": of every other
    std::string group;                                // encoder, decoder or cross; "": not said
    std::string tokens_file;                          // of text or JSON; "": the array `tokens`
    // Of operations, together `operation`.
    std::optional<Operation> which_operation;
    OperationSpec operation_settings;
    std::optional<Index> latents, rank, state;
    std::optional<OperationSpec> operation;  // not set: softmax attention
};

/// A value as it was written, and how to name it in an error: "--window" or "IN.npz: options: window".
struct Value {
    std::string shown;
    std::string text;
};

/// One option of an attention call, the same on the command line and in the array `options` of a
/// file: a row of the table.
struct AttentionOption {
    std::string_view name;         // the flag without "--", the key in JSON
    std::string_view placeholder;  // of the value, in the help
    std::string_view alone;        // the value of the bare flag; "" when a value is needed
    std::string_view group;
    std::string_view text;
    void (*set)(CallOptions& call, const Value& value);
    NumberRange range = {};           // none: it takes no number
    std::string_view off = {};        // the value that JSON's false stands for; "": none, unset
    std::optional<Stage> stage = {};  // that it enters, where it is not a field of the spec
};
/// The field of AttentionSpec that the option sets; null: it concerns the arrays or the operation, for all layers at once.
const SpecField* field_of(const AttentionOption& option);
std::span<const AttentionOption> attention_options();
inline constexpr std::string_view kOperationGroup = "Operations (instead of softmax attention)";

/// Values by option name.
using OptionValues = std::map<std::string, Value, std::less<>>;

/// The array `options` of a file: a JSON object such as {"causal": true, "window": 3, "scale": 0.07}.
/// An unknown key, or a value that no flag could have, is an error. `what` names the file.
OptionValues options_from_json(std::string_view json, std::string_view what);

/// The array `options` of a file that says a call: every option that is not as by default. Read again it makes the same
/// spec, but for its heads, which Q and K bring, and the mask's own array. "{}": all is as by default.
std::string options_to_json(const AttentionSpec& spec);

/// Ranges are left to attn::validate, which knows the shapes.
CallOptions call_options(const OptionValues& values);
/// Throws where one of them is no value of its option; what they need beside them may stand in the file.
void check_values(const OptionValues& values);

/// A whole number: "--threads is 'x'; expected a whole number".
Index parse_whole_number(const Value& value);

}  // namespace attn::files
