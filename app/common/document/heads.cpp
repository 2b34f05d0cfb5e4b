#include "app/common/document/heads.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/format.h"
#include "core/given.h"

namespace attn::view {

HeadsInput heads_input(const Document& document) {
    HeadsInput input{document.layers, document.given, document.spec, document.size, {}};
    const bool alike =
        document.tokens_kv.empty() && document.tokens_next.empty() && document.inputs->x_kv.empty();
    if (alike) input.tokens = document.tokens;
    if (const ModelOrigin* const model = model_of(document)) input.rows = model->changes.rows;
    if (document.effects) input.effects = &document.effects->run;
    input.own_heads = has_own_heads(document);
    for (Index n = 0; n < std::ssize(document.layer_specs); ++n)
        input.specs.push_back(spec_of(document, n));
    return input;
}

Index heads_in_layer(const Document& document, Index layer) {
    if (layer == document.layer) return document.size.heads;
    return heads_in_layer(heads_input(document), layer);
}

bool is_there(const Document& document, HeadPlace place) {
    return place.layer >= 0 && place.head >= 0 &&
           place.head < heads_in_layer(document, place.layer);
}

bool has_own_heads(const Document& document) {
    return document.own_heads == 0 || document.own_heads == document.size.heads;
}

std::string attention_fault(const Document& document) {
    if (!is_empty(document) || !document.given.empty()) return {};
    return document.no_attention.empty() ? "There is no sentence yet" : document.no_attention;
}

std::string heads_fault(const Document& document) {
    if (std::string fault = attention_fault(document); !fault.empty()) return fault;
    if (document.layers.size() == 1 && document.size.tq * document.size.tk <= kMostCells &&
        document.size.batch * document.size.heads <= kMostHeadCells / kMostCells)
        return {};
    const Index cells = head_cells(heads_input(document));
    if (cells <= kMostHeadCells) return {};
    return fmt::format(
        "All heads of all layers have {} weights, more than the {} that are held at once",
        grouped(cells), grouped(kMostHeadCells));
}

std::string head_name(HeadPlace place) { return fmt::format("L{} H{}", place.layer, place.head); }

std::string missing_head_text(const Document& document, HeadPlace place) {
    const auto layers = std::ssize(document.layers);
    if (place.layer >= layers)
        return fmt::format("There is no layer {}: layers count from 0, and there {} {}.",
                           place.layer, layers == 1 ? "is" : "are", layers);
    return fmt::format("There is no {}: layers and heads count from 0, and layer {} has {}.",
                       head_name(place), place.layer,
                       counted(heads_in_layer(document, place.layer), "head"));
}

}  // namespace attn::view
