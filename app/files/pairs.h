#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/document/document.h"
#include "app/files/arrays.h"
#include "app/files/layers.h"
#include "app/files/options.h"

namespace attn::files {

struct TensorFile;

/// Scores or weights that stand in a file without the queries and keys that make them: by the names of Hugging Face's
/// output_attentions, of TransformerLens and of a trace, or by the roles of the options.
struct PairsListing {
    Stage stage = Stage::weights;
    std::vector<Index> layers;       // ascending; {0} where the name is plain
    std::vector<std::string> names;  // of each layer
    std::optional<Index> only;       // of an array that holds several layers
    bool stacked = false;            // one array, whose four axes are [L, H, Tq, Tk]
    std::vector<std::string>
        titles;  // of each layer, "cross 0", where there are several groups; else empty
};
/// `group`: of encoder, decoder and cross attention that one; "": all that there are, in that order.
/// nullopt: there are none, or more of other programs' kinds than one: the first of the table is taken.
std::optional<PairsListing> list_pairs(const ArrayReader& reader,
                                       const std::map<std::string, std::string>& roles,
                                       std::string_view group = {});
/// The only array of a file, of which nothing is known, where it has four axes or five: weights, as if it had no name. With two
/// or three axes it is weights where its rows are probabilities.
std::optional<PairsListing> lone_pairs(const ArrayReader& reader,
                                       std::span<const std::string> unknown);
/// Every stage of them that the file has, weights first, then what comes before.
std::vector<PairsListing> list_all_pairs(const ArrayReader& reader,
                                         const std::map<std::string, std::string>& roles);
/// What stands beside scores or weights, and what is shown of it.
struct Beside {
    const AttentionSpec& spec;
    bool values;   // V
    bool dropped;  // weights after dropout, or what follows from them
};
/// "causal, window change no number: weights are given", of options that a person gave; "": all count.
std::string idle_note(const OptionValues& given, Stage stage, const Beside& beside);
/// Leaves one layer, as find_layer() finds it. One plain array may hold several: read_pairs() takes the one.
void choose_pairs(const ArrayReader& reader, Index layer, PairsListing& listing);

/// Where V, W_O and the rest of a call stand, and what the options say of it.
struct BesidePairs {
    const Listing& listing;
    const CallOptions& options;
    const OptionValues& given;                          // the options that a person gave, by name
    std::optional<view::FileQuestion>* asks = nullptr;  // see read_tensors()
};
/// [Tq,Tk], [H,Tq,Tk] or [B,H,Tq,Tk] each; one plain array may be [L,B,H,Tq,Tk], and `attentions` or numpy.savez's arr_0 alone
/// [L,H,Tq,Tk]. With V, W_O, b_O and sinks of the same
/// layer where they are there. The scale of raw scores is not in the file: the options must say it.
void read_pairs(ArrayReader& reader, const PairsListing& pairs, const BesidePairs& beside,
                TensorFile& file);

}  // namespace attn::files
