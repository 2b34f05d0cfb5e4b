#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/common/document/opened.h"
#include "app/common/document/sweep_asked.h"
#include "core/models/circuits.h"
#include "core/models/sweep.h"

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

/// What came of a sweep over the parts of a model, or of a look at one head.
struct SweptModel {
    SweepModel of;
    std::string fault;  // why there is none; "": there is one
    HeadSweep sweep;
    std::string a, b;                      // its two tokens
    std::string options = {};              // what else was asked for
    std::vector<std::string> others = {};  // of a patch: the tokens of the other text
    std::shared_ptr<const ModelCircuit> circuit = {};
};

}  // namespace attn::view
