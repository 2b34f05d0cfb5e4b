#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/common/document/document.h"
#include "app/files/options.h"
#include "app/files/sparse_arrays.h"
#include "core/given.h"
#include "core/verify/serving.h"

namespace attn {
struct RgbImage;
}

namespace attn::files {

/// The axes of each parameter as its array was given; empty: there is none.
using ParamExtents = std::array<std::vector<Index>, kParamCount>;

/// What a file of tensors (.npz) holds: one attention call a layer, all of the same sizes.
struct TensorFile {
    std::vector<Inputs> layers;                     // at least one, in the order of `numbers`
    std::vector<Index> numbers;                     // N of l<N>.Q, ascending; {0} for plain names
    std::vector<Upstream> upstreams;                // of each layer: dO, dY, or empty: ones
    std::vector<ParamExtents> param_extents;        // of each layer
    AttentionSpec spec;                             // of every layer, the file's mask in it
    std::vector<AttentionSpec> layer_specs;         // of each, where a layer has options of its own
    std::optional<OperationSpec> operation;         // in place of softmax attention, of every layer
    std::vector<OperationParams> operation_params;  // of each layer: given, or fresh ones
    bool fresh_params = false;                      // some of them are fresh
    Dimensions size;                                // of every layer
    std::vector<GivenPairs>
        given;  // of each layer: in place of Q and K, or as they are stored beside them; empty: none
    std::map<std::string, std::string> roles;  // of every array that is used
    std::vector<std::string> tokens;           // Tq of them; empty: the file has none
    std::vector<std::string> tokens_kv;        // Tk of them; empty: the file has none
    std::shared_ptr<const RgbImage> image;     // whose patches are tokens; null: none
    SparseArrays sparse;                       // of every layer
    std::shared_ptr<const verify::Serving>
        serving;  // how the padded call was made of pages or packed sequences; null: it was not
    std::vector<Note> notes;  // what a person should know, one line each

    const AttentionSpec& spec_of(std::size_t n) const {
        return layer_specs.empty() ? spec : layer_specs[n];
    }
};

/// Whether V may be missing beside Q and K: weights can be looked at without it.
enum class Values : std::uint8_t { needed, optional };

/// Scores and weights that stand beside the queries and keys that make them: not looked at; compared with what these give; or
/// also kept in `given` where that is not what they are, bit for bit.
enum class Stored : std::uint8_t { ignored, compared, shown };

/// Reads every layer and checks it against the options. `given` are the options of the command line; those in
/// the file's array `options` fill the gaps. "-" is standard input.
/// Shapes: Q, K, V, dO [T,d], [H,T,d] or [B,H,T,d]; X, X_kv, dY [T,d], [B,T,d] or [B,1,T,d]; weights [in,out];
/// biases [n] or [1,n]; parameters of an operation [H,rows,columns]; mask bool or uint8, [Tq,Tk] or 4-D; tokens and tokens_kv an array of Tq or Tk strings,
/// or a text scalar with a JSON array of them. Arrays that mean nothing are named in a note.
/// Weights that are 0, or masked scores that are −inf, above the diagonal in every row of every layer make the call causal.
/// Stored::shown where V may be missing, else Stored::compared.
/// `asks`: gets the question and its answers where the error is that a person has to say something.
Result<TensorFile> read_tensors(const std::string& path, const OptionValues& given = {},
                                Values values = Values::needed,
                                std::optional<view::FileQuestion>* asks = nullptr);
/// The same with one layer only; nothing of the others is read. `layer`: a number, kFirstLayer or kOnlyLayer.
TensorFile read_layer(const std::string& path, const OptionValues& given, Index layer,
                      Values values = Values::needed, Stored stored = Stored::compared);

}  // namespace attn::files
