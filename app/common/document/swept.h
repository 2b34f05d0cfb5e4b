#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/document/opened.h"
#include "core/heads/place.h"
#include "core/models/alignment.h"
#include "core/models/circuits.h"
#include "core/models/path_patching.h"
#include "core/models/sweep.h"
#include "core/models/sweep_part.h"

namespace attn::view {

/// One head of a model as two products of its weights.
struct ModelCircuit {
    HeadPlace at;
    HeadCircuit head;
    std::vector<Composition> composed;
    std::string over_fault;                  // why there is nothing over tokens; "": there is
    TokenCircuit over;                       // the text's tokens, or the vocabulary's nearest
    std::vector<std::string> read, written;  // the tokens of the columns of QK and of OV
};

/// The edges between the parts of a model.
struct ModelEdges {
    PathEdges made;
    std::vector<LargestWeight> weights;  // of each head at the position of the answer
    std::vector<std::string> tokens;     // of the text
};

struct ModelRead;

/// What came of a sweep over the parts of a model, or of a look at one head or at the whole of it.
struct SweptModel {
    SweepModel of;
    std::string fault;  // why there is none; "": there is one
    HeadSweep sweep;
    std::string a, b;                      // its two tokens
    std::string options = {};              // what else was asked for
    std::vector<std::string> others = {};  // of a patch: the tokens of the other text
    std::shared_ptr<const ModelCircuit> circuit = {};
    std::shared_ptr<const ModelEdges> edges = {};
    std::shared_ptr<const ModelRead> read = {};  // see model_read.h
};

/// What is asked of a model's parts beside SweepModel, as OpenRequest::options has it.
struct SweepAsked {
    SweepPart part = SweepPart::heads;
    std::string from;         // of a patch: the text
    PairedTokens pairs = {};  // of its tokens; empty: common_ends()
    // in place of a sweep: QK and OV of this head, and over the vocabulary's nearest tokens too
    std::optional<HeadPlace> circuit = {};
    bool nearest = false;
    bool edges = false;  // in place of a sweep: each edge cut in turn
    bool operator==(const SweepAsked&) const = default;
};
std::string options_of(const SweepAsked& asked);
SweepAsked sweep_asked(const std::string& options);

}  // namespace attn::view
