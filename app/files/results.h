#pragma once

#include <string>

#include "app/files/options.h"
#include "core/verify/report.h"

namespace attn::files {

using verify::InputNames;

/// A file's side of a comparison. `output` with a head axis is read as `context`.
using ResultFile = verify::Side;

/// `layer`: of names like l3.weights; kOnlyLayer: plain names, or the only layer. "-" is standard input. `other`: how the inputs of
/// another file were unpacked, whose results this file may have.
Result<ResultFile> read_results(const std::string& path, const OptionValues& given, Index layer,
                                const verify::Serving* other = nullptr);

}  // namespace attn::files
