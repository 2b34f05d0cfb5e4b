#pragma once

#include "app/common/action.h"
#include "app/common/document/call.h"
#include "app/common/document/mask_code.h"
#include "app/common/set_field.h"

namespace attn::view {

// An action for each field of the call, which undo covers, and the table of them.

/// Sets a field of the call; what a score or sinks need of a toy comes from its seed. Refused, in one sentence: what
/// validate() says, and what needs tensors that the document does not have.
void set_call_field(AppState& state, const PersistedField& field, const FieldValue& value);
/// Fields that are read of the document itself, and set in it.
template <class T>
struct OfDocument {
    static constexpr auto set = set_call_field;
};
inline constexpr OfDocument<CallSettings> document_call;
Result<void> prepare(const AppState& state, CallSettings& next, std::string_view changed);

using SetScore = SetField<Score, document_call, "score", "set_score">;
using SetSoftCap = SetField<double, document_call, "softcap", "set_softcap">;
using SetSinks = SetField<bool, document_call, "sinks", "set_sinks", "on">;
using SetScaleOperands = SetField<bool, document_call, "scale_q_k", "set_scale_q_k", "on">;
using SetQkNorm = SetField<bool, document_call, "qk_norm", "set_qk_norm", "on">;
using SetSinusoid = SetField<bool, document_call, "sinusoid", "set_sinusoid", "on">;
using SetRope = SetField<RopeTurn, document_call, "rope", "set_rope">;
using SetRopeBase = SetField<double, document_call, "rope_base", "set_rope_base">;
using SetAlibi = SetField<bool, document_call, "alibi", "set_alibi", "on">;
using SetQueryOffset = SetField<Index, document_call, "query_offset", "set_query_offset">;
using SetKeyHeads = SetField<Index, document_call, "kv_heads", "set_kv_heads">;
using SetValueWidth = SetField<Index, document_call, "d_v", "set_value_width">;
using SetDropout = SetField<double, document_call, "dropout", "set_dropout">;
using SetDropoutSeed = SetField<std::uint64_t, document_call, "dropout_seed", "set_dropout_seed">;
using SetTraining = SetField<bool, document_call, "training", "set_training", "on">;

/// W_K := W_Q, a copy: every key of a toy is made as the query of the same vector.
struct CopyQueryWeights {
    static constexpr auto kJournalNames = journal_names("copy_query_weights");
};

/// Python that computes the whole call again, to the clipboard: see call_code().
struct CopyCall {
    MaskCode code;
    static constexpr auto kJournalNames = journal_names("copy_call", "code");
};

using CallActions =
    ActionList<ViewActions<CopyCall>,
               EditActions<SetScore, SetSinks, SetScaleOperands, SetQkNorm, SetSinusoid, SetRope,
                           SetAlibi, SetTraining, CopyQueryWeights>,
               DragActions<SetSoftCap, SetRopeBase, SetQueryOffset, SetKeyHeads, SetValueWidth,
                           SetDropout, SetDropoutSeed>>;
template <ListedIn<CallActions> A>
inline constexpr Meta kMetaOf<A> = CallActions::kMeta<A>;

/// Where a slider goes, and what the switch beside it sets; `on` 0: it has no switch. Any other number can be typed.
struct CallReach {
    double low = 0.0, high = 0.0, on = 0.0;
};
enum class CallGroup : std::uint8_t { sizes, score, positions, dropout };
/// A field as panels and the palette offer it.
struct CallField {
    const PersistedField* field;
    CallGroup group;
    Action (*set)(const FieldValue& value);
    /// Whether it means something in this call.
    bool (*counts)(const CallSettings& call);
    CallReach reach = {};
};
/// In the order in which they are shown.
std::span<const CallField> call_fields();
/// Why the field cannot be set in this document; "": it can.
std::string call_field_unavailable(const Document& document, std::string_view field);

}  // namespace attn::view
