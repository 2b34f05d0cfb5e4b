#pragma once

#include <map>

#include "core/train/run.h"

namespace attn::train {

/// The file of each moment, without its folder.
using MomentFiles = std::map<Moment, std::string>;

/// Of a run that is saved again and again, so that no moment is looked at twice: `files` are those of the save before, and become
/// this one's. A moment's file that is there is left as it is; where step-<N>.safetensors holds another moment, or is no file
/// of a run, the moment's has a hash in its name besides. New ones are written before run.json, and those that only the run.json
/// before listed are removed after it: a save that fails or is ended leaves that run whole.
Result<void> save_run(const std::filesystem::path& folder, const Run& run, MomentFiles& files);

}  // namespace attn::train
