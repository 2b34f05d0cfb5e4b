#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dimensions.h"
#include "core/note.h"
#include "core/spec.h"
#include "core/verify/compare.h"
#include "core/verify/diagnose.h"
#include "core/verify/serving.h"
#include "core/verify/signs.h"

namespace attn::verify {

/// Which names a side's inputs have.
enum class InputNames : std::uint8_t {
    none,
    call,   // Q, K, V or X, W_Q, W_K, W_V
    stages  // q, k, v, as `trace` and model dumps write them
};

/// What one side brings to a comparison: results under the names of stages, and perhaps the inputs that they were made
/// from.
struct Side {
    std::string path;                  // as sentences name it: a file, or whatever made the results
    Trace results;                     // q, k and v are not among them where they are the inputs
    Trace gradients;                   // d_q as q, …, of parameters in its params
    std::optional<Upstream> upstream;  // where they start; not set: not known
    Inputs inputs;                     // as input_names says
    InputNames input_names = InputNames::none;
    bool has_values = false;     // V, or what it is made from
    Tensor gate = {};            // [B,H,Tq,d_v], G of context = σ(G) ∘ (A V); empty: no gate
    AttentionSpec spec;          // with the side's own mask in it
    std::string options;         // as they were given, "causal=top-left, window=3"; "" for none
    bool mentions_call = false;  // its file itself says options of the call, or a mask
    std::map<std::string, FloatFormat, std::less<>>
        formats;  // of results that were saved in a short format
    std::shared_ptr<const Serving> serving =
        {};                                  // how its call, or that of its results, was padded
    std::optional<SplitResults> parts = {};  // results of splits of the keys
    std::optional<FloatFormat> parts_format = {};
    std::vector<std::string> keys;    // of the results, in the order of the table
    std::vector<std::string> unused;  // names that mean nothing here
    std::vector<Note> notes;
};

/// Whether both say the same of a call; heads are its inputs' own.
bool same_call(const AttentionSpec& a, const AttentionSpec& b);

/// One array of the results and what it is compared with.
struct DiffRow {
    std::string key;
    std::string expected_from;  // a side's path, or "reference"
    Comparison comparison;
    std::string extent;  // where it is beyond tolerance, and what stands there; "" where it is not
    std::shared_ptr<const Tensor> actual;  // null unless they were to be kept
    std::shared_ptr<const TensorD> expected;
};

/// What was found out about one side's results.
struct Examined {
    std::string path;
    bool has_reference = false;
    Index beyond = 0;  // cells, against the reference
    std::optional<Diagnosis> diagnosis;
    std::vector<Fact> facts;
    std::vector<Sign> signs;  // where there is no reference
};

/// The result of a comparison.
struct Verdict {
    enum class Kind {
        unchecked,   // one side without inputs, where nothing is suspicious
        suspicious,  // one side without inputs: `detail` is the sign
        equal,
        equal_sides,  // within tolerance of each other, but the side `detail` differs from the reference
        different,  // `detail` is the cause
    };
    Kind kind = Kind::equal;
    Index arrays = 0, beyond = 0;  // compared; with cells beyond tolerance
    std::string detail;

    /// "equal", "different", …: stable, for programs.
    std::string_view code() const;
    /// One line, without a full stop.
    std::string text() const;
};

/// Everything that can be said of two sides, or of one.
struct DiffReport {
    std::string a, b;         // sides; b "" where one is compared with the reference
    std::string inputs_from;  // a side; "" where there are no inputs
    std::string options;      // "" for none
    std::optional<Dimensions> size;
    std::vector<DiffRow> rows;
    std::vector<std::string> only_a, only_b;  // arrays that nothing is compared with
    std::vector<Examined> examined;
    std::vector<Note> notes;
    bool equal = false;
    Verdict verdict;
};

struct Keeping {
    bool keep = false;  // DiffRow::actual and expected
};
/// One side against the reference of its inputs, or the second of two against the first, and against the reference where
/// the first has no such array. The options are those of the side with the inputs; where another alone says some, that one's.
/// `bounds`: the tolerance that was given; not set: what float32 may be off by, and a short
/// format in which results were saved, of two sides the sum. Inputs in both must be equal. An error names the sides and what does not fit.
/// Stopped by `control` between two faults of the diagnosis: then the report is not to be used.
Result<DiffReport> compare_sides(std::vector<Side> sides, std::optional<Bounds> bounds,
                                 Keeping keeping = {}, const RunControl& control = {});

}  // namespace attn::verify
