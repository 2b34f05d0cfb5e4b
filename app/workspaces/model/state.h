#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/document/model_read.h"
#include "app/common/slots.h"

namespace attn::view {

/// A number that the inspector explained before a click on one of its operands.
struct ExplainedBefore {
    Index layer = 0;
    std::string stage;
    std::optional<Index> row, column, answer;
};

/// What the Whole model workspace looks at. Not undone. The layer is the document's.
struct ModelLook {
    std::string stage;            // the matrix that is shown large, by its key; "": the stack
    std::optional<Index> row;     // the token, whose answer it is too; nullopt: the last
    std::optional<Index> column;  // of the number that is explained
    std::optional<Index> answer;  // that is explained, by its number in the vocabulary
    std::optional<Index> part;    // of the answer's sum, in its order
    bool difference = false;
    bool gradients = false;      // of the loss, with each block
    bool known = false;          // parameters of known models in place of the picture
    std::optional<Index> until;  // rows of the picture that are computed so far; nullopt: all

    // of the moment: in no session and no journal
    std::shared_ptr<const ReadModel> request;  // the last one
    std::shared_ptr<const ModelRead> read;     // what came of it last; null: nothing
    std::string fault;                         // why there is nothing of `of`; "": there is
    double done = 0.0;                         // of the run, 0 … 1
    std::vector<ExplainedBefore> trail;        // the number explained last is the last
    bool ticks = false;                        // the clock of a window does
    std::shared_ptr<const ModelRead> before;   // shown before `read`, while numbers move; else null
    std::shared_ptr<const ModelRead> moving;   // between the two, see motion.h
    double moved = 0.0;                        // 0 … 1 of the way
    bool keeps_matrix = false;  // Step was shown from the large matrix, which comes back
};
inline void describe(Visitor& visit, ModelLook& look) {
    visit("stage", look.stage);
    visit("row", look.row, About{.low = 0});
    visit("column", look.column, About{.low = 0});
    visit("answer", look.answer, About{.low = 0});
    visit("part", look.part, About{.low = 0});
    visit("difference", look.difference,
          {.text = "difference",
           .tip = "The sum of the difference of the two largest logits\nIt shows why the first "
                  "answer wins over the second. Key: D"});
    visit("gradients", look.gradients,
          {.text = "gradients",
           .tip = "The norm of the gradient of the loss −ln p(target) by what each block gives\n"
                  "The target is the next token of the text. Key: G"});
    visit("known", look.known);
    visit("until", look.until, About{.low = 0});
    if (visit.reads() && !look.stage.empty() && !find_model_stage(look.stage))
        visit.complain(": there is no stage '" + look.stage + "' of a model");
}

inline constexpr Look<ModelLook> model_look;

}  // namespace attn::view
