#pragma once

#include <string>
#include <vector>

#include "core/sizes.h"

namespace attn::train {

struct Spec;

/// One named matrix of a model.
struct Matrix {
    std::string name;  // "embedding", "layers.0.w_q", … , "w_out"
    Index rows = 0;
    Index columns = 0;
    bool decays = false;     // weight decay takes from it
    std::size_t offset = 0;  // in State's arrays, row-major
};
/// The matrices of a model in the order in which State has them, for a vocabulary of so many.
std::vector<Matrix> matrices(const Spec& spec, Index vocabulary);

}  // namespace attn::train
