#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/common/document/text_patch.h"
#include "core/large/planted_spec.h"
#include "core/models/row_intervention.h"
#include "core/train/moment.h"
#include "core/train/spec.h"

namespace attn::view {

// Where a document comes from.
/// A sentence with toy weights: everything is in the document itself.
struct ToyOrigin {
    bool operator==(const ToyOrigin&) const = default;
};
/// Tensors of a file that `trace` reads.
struct FileOrigin {
    std::string path;
    std::string options = {};  // how it is read beside the options that it holds: their JSON; ""
    bool operator==(const FileOrigin&) const = default;
};
/// Interventions in a trained model, as a person sets them.
struct ModelChanges {
    std::vector<HeadPlace> off = {};         // heads that are switched off, in order
    std::vector<RowIntervention> rows = {};  // by head and query, one each
    std::vector<TextPatch> patches = {};     // by head and part, one each
    bool empty() const { return off.empty() && rows.empty() && patches.empty(); }
    bool operator==(const ModelChanges&) const = default;
};
/// A text, or an image, as a trained model read it.
struct ModelOrigin {
    std::string path;         // of its folder
    std::string text;         // or the image's file; "": an image whose pixels are all the mean
    std::string before = {};  // the text whose vector is compared; "": none
    ModelChanges changes = {};
    bool image = false;  // `text` is a file
    std::string second_input =
        {};                  // of two stacks: what the decoder has written so far, images' files
    std::string group = {};  // and which of its attentions is looked at; "": the first
    bool operator==(const ModelOrigin&) const = default;
};
/// A moment of a small model that is trained here: the same specification, switches and step give the same tensors.
struct TrainedOrigin {
    train::Spec spec;
    std::vector<train::Switch> switches;
    Index step = 0;
    std::string sentence;       // what it reads; "": the sequence that is the same at every step
    Index layer = 0, head = 0;  // that are looked at first
    train::Moment moment = {};  // where it is there already; null: it is trained again
    bool operator==(const TrainedOrigin& other) const {
        return spec == other.spec && switches == other.switches && step == other.step &&
               sentence == other.sentence && layer == other.layer && head == other.head;
    }
};
using DocumentOrigin =
    std::variant<ToyOrigin, FileOrigin, large::PlantedSpec, ModelOrigin, TrainedOrigin>;

}  // namespace attn::view
