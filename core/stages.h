#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/role.h"
#include "core/stage.h"

namespace attn {

// THE table of stages. One row is all that a stage is: the engine, names of arrays, tests,
// and the titles, texts and colours of every view of a stage are made from it.
// T tokens, H heads; i query row, j key row, c column; d_ = gradient of.

/// The part that a parameter belongs to: X's projections, the output's mixing, the score function, softmax, or QK-norm.
enum class ParamUse : std::uint8_t { projection, output, score, sink, norm };

/// The unit of a row or column of a stage.
enum class Axis : std::uint8_t {
    query,
    key,
    d_model,
    d_k,
    d_v,
    d_out,
    hidden,
    head,
    distance,  // from query i to key j: column j − i + Tq − 1
    // of operations (operations/operation.h)
    one,
    chunk,        // of keys
    chunk_value,  // chunk · d_v + c
    latent,
    state,        // n of N
    value_state,  // c · N + n
    key_value,    // a · d_v + c, a a column of K and c one of V
};
/// How long it is, as shapes write it: "Tq", "d_v·N".
std::string_view extent(Axis axis);
/// Which head axis a stage has: none (joined), the H query heads, or the Hkv key/value heads.
enum class HeadAxis : std::uint8_t { none, query, key_value };
/// Which cells of an operand make the result cell (row i, column j).
enum class Lights : std::uint8_t {
    same_cell,      // (i, j)
    same_row,       // row i, every column
    row_of_column,  // row j, every column: K in scores
    column,         // column j, every row: a weight matrix, V in context
    whole,          // every cell: the parameters of a score
    own_head,       // column h: the sink of head h
};

struct Operand {
    OperandId id;
    Lights lights;
};

/// When a call has a stage.
enum class Exists : std::uint8_t {
    always,
    with_x,
    with_x_kv,
    with_qk_norm,
    with_rope,
    with_bias,
    with_dropout,
    with_causal
};

struct StageInfo {
    Stage stage;
    std::string_view key;     // its name in files
    std::string_view symbol;  // as in formulas
    std::string_view step;    // what happens to get here, shorter than the title
    std::string_view title;   // a heading
    std::string_view tex;     // the formula, in the subset that tex.h reads
    Axis rows;
    Axis columns;
    HeadAxis heads;
    Exists exists;
    ColorScale colors;
    Role role;
    std::array<std::optional<Operand>, 3> operands;  // operands -> result, left to right
    std::string_view text;                           // one plain sentence: what just happened
    std::string_view source;                         // where the mathematics comes from
};

struct ParamInfo {
    Param param;
    ParamUse use;
    std::string_view key;  // gradients are d_<key>
    std::string_view npz;  // name in an input file
    std::string_view symbol;
    Role role;
    Axis rows;
    Axis columns;
    bool bias;
};

std::span<const StageInfo, kStageCount> stage_table();
std::span<const ParamInfo, kParamCount> param_table();

const StageInfo& info(Stage stage);
const ParamInfo& info(Param param);
/// The stage's formula as one line of plain text, made from its TeX.
std::string plain_formula(const StageInfo& stage);
/// nullopt when no stage has that key.
std::optional<Stage> find_stage(std::string_view key);

}  // namespace attn
