#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/cell.h"
#include "app/common/document/origin.h"
#include "core/dimensions.h"
#include "core/forward.h"
#include "core/result.h"
#include "core/spec.h"
#include "core/stage.h"

namespace attn {
struct GivenPairs;
struct RgbImage;
}  // namespace attn

namespace attn::view {

struct InterventionEffects;

/// A token that may follow the text, or a class that the image may be of.
struct NextToken {
    std::string text;
    double probability = 0.0;
};
/// What a model says in the end.
struct ReadOut {
    std::vector<NextToken> next;       // the likeliest, best first; empty: the model gives none
    std::string word = {};             // the token that is read as one of these; "": they come next
    Index position = -1;               // of that token; -1: none
    bool has_vector = false;           // it gives one vector for the whole text
    std::optional<double> similarity;  // cosine of the vectors of the text and of the one before
};

/// What is known of a long document besides its tensors.
struct Landmarks {
    std::vector<std::uint32_t> token_ids;  // of queries and keys; empty: unknown
    std::vector<Index> document_starts;    // ascending, first 0; empty: unknown
    std::optional<large::Cell> needle;
};

/// One number of a file's tensors that a person changed.
struct InputEdit {
    Index layer = 0;
    Index batch = 0;
    Index head = 0;  // of a tensor with heads; 0 for the others
    OperandId tensor = Stage::x;
    Index row = 0;
    Index column = 0;  // of the whole tensor
    float value = 0.0F;
    bool operator==(const InputEdit&) const = default;
};

/// Numbers painted into the bias of a call: every pair of a line or a rectangle gets the value.
struct BiasStroke {
    Index layer = 0;
    Index batch = 0, head = 0;  // of a bias that has several
    Index row = 0, column = 0, to_row = 0, to_column = 0;
    bool rectangle = false;
    float value = 0.0F;
    bool operator==(const BiasStroke&) const = default;
};

/// What a file leaves open and nothing is computed without: asked of whoever opened it.
struct FileQuestion {
    struct Answer {
        std::string title;          // "bottom-right"
        std::string meaning;        // one sentence
        std::string option, value;  // what it adds to the file's options
        bool operator==(const Answer&) const = default;
    };
    std::string text;  // "Where does the causal mask start?"
    std::vector<Answer> answers;
    bool operator==(const FileQuestion&) const = default;
};

/// What one output should be, for the squared error; 0 where nothing else is said.
struct Target {
    OutputCell cell;
    float value = 0.0F;
    bool operator==(const Target&) const = default;
};

/// What is open: all that determines every number on screen. Every workspace is a view of it. Immutable values; undo
/// keeps old ones. A preset file holds a toy as JSON, a session any document: a file's by its path and edits.
struct Document {
    DocumentOrigin origin;
    std::string name;      // of the preset it came from, or "custom"
    std::string title;     // "The cat sat down", "heads.npz"
    std::string note;      // one line on where the numbers come from: "toy weights, hand-set"
    std::string sentence;  // a toy's
    std::vector<std::string> tokens;       // queries; empty: known by their number
    std::vector<std::string> tokens_kv;    // keys, where they are others; empty: the same
    std::vector<std::string> tokens_next;  // of a toy's second sentence, as many; empty: it has one
    std::uint64_t seed = 1;                // a toy's
    bool sinusoid = true;  // a toy's computed rows of X have that of their position added
    std::string hand_set;  // a toy's: the preset whose W it has, by title; "": seeded or edited
    std::vector<std::string> head_names;  // what each head was built to do; empty: nothing is known
    // sizes as a person sets them; `size` has all of them as validated
    Index d_model = 4;
    Index d_k = 4;  // of each head
    Index heads = 1;
    AttentionSpec spec;
    std::optional<Rope> rope_before;  // that was switched off: of the file, or set before
    bool painted = false;             // spec.mask.custom was set here, not in the file
    std::vector<std::shared_ptr<const Inputs>> layers;  // never empty; widths may differ
    std::vector<AttentionSpec>
        layer_specs;                       // of each layer where they differ; empty: spec is all's
    Index layer = 0;                       // the one that is looked at, whose options spec is
    std::shared_ptr<const Inputs> inputs;  // layers[layer]; never null
    std::vector<std::shared_ptr<const GivenPairs>> given;  // of each layer; empty: all is computed
    std::string no_attention;  // why no attention can be made of the file's arrays; "": it can
    std::optional<FileQuestion> question;      // whose answer would make attention of them
    std::map<std::string, std::string> roles;  // of a file's arrays: name -> what it was read as
    Dimensions size;               // of `inputs` under `spec`; all 0 while there is no token
    double bytes = 0.0;            // of all layers' tensors
    std::vector<InputEdit> edits;  // of a file's tensors, oldest first
    std::vector<BiasStroke> bias_strokes;  // over the bias of the file, or over zeros; oldest first
    std::vector<Target> targets;           // of outputs, one each
    // Of each layer: ∂L/∂output [B,1,Tq,d_out] as the file gives it, see given_gradient(); null, or the list empty: it gives none.
    std::vector<std::shared_ptr<const Tensor>> d_output;
    std::shared_ptr<const Landmarks> landmarks;  // null: none are known
    ReadOut read_out;                            // of a model
    std::string default_text, contrast_text;     // that a model offers; "": none
    std::vector<std::string> groups;             // of a model of two stacks: its kinds of attention
    Index own_heads = 0, own_kv_heads = 0;       // of each layer of a model; 0: it is none
    std::shared_ptr<const InterventionEffects> effects;  // null: nothing is changed
    std::shared_ptr<const RgbImage> image;  // that a model read: what its patches cover; null: none
    bool reads_sound = false;               // its model reads a WAV in place of a text
};

bool is_toy(const Document& document);
/// Its queries' words in that entry of the batch.
const std::vector<std::string>& tokens_of(const Document& document, Index batch);
bool has_param(const Document& document, Param param);
inline bool has_sinks(const Document& document) { return has_param(document, Param::sinks); }
/// nullptr: it is not a model's.
const ModelOrigin* model_of(const Document& document);
/// A model reads an image there: its tokens are a class token and patches, row by row.
bool reads_image(const Document& document);
/// A PNG can be given to it: it reads images, or texts and images.
bool takes_image(const Document& document);
/// Which of document.groups is looked at; "": there are none.
std::string group_of(const Document& document);
/// What a person can type anew: a toy's sentence, what a model read; "" of others.
const std::string& text_of(const Document& document);
/// Nothing is there to be computed: a toy without a sentence.
/// Or neither Q and K nor X are known: a file gives weights, or arrays that are no attention.
bool is_empty(const Document& document);
/// Queries and keys are there, values are not: nothing after the weights is computed.
bool is_without_values(const Document& document);
/// What is missing in an empty document, and which workspace helps: for whoever shows none.
std::string empty_text(const Document& document);
/// Up to so many cells of one matrix are computed and drawn one by one.
inline constexpr Index kMostCells = Index{1} << 16;
/// Why it has no trace: nothing typed, too many scores, no values; "": it has one.
std::string stages_lack(const Document& document);
/// Whether its scores are dot products of what queries and keys become: a map of any length can be made of those.
bool has_map(const Document& document);
/// The options of that layer.
const AttentionSpec& spec_of(const Document& document, Index layer);
/// Looks at that layer, with its options; what was set at the one before stays with that.
void look_at_layer(Document& document, Index layer);
/// Replaces the layer that is looked at.
void set_inputs(Document& document, Inputs inputs);
/// The given tensor of that name: a parameter, X, X_kv, Q, K or V.
const Tensor& tensor_of(const Inputs& inputs, const OperandId& id);
/// Carries out one edit; check_input() says whether it can be.
void set_input(Document& document, const InputEdit& edit);
Result<void> check_input(const Document& document, const InputEdit& edit);
/// With `size` and `bytes` worked out from inputs and spec. An error names what does not fit.
Result<Document> with_size(Document document);

/// JSON <-> document. An error names the key or the row that is wrong and what was expected.
Result<Document> document_from_json(std::string_view text, std::string_view file_name);
/// `folder`: of the file that the JSON goes to; it then names a file of tensors relative to it, and absolutely.
std::string document_to_json(const Document& document, const std::filesystem::path& folder = {});

}  // namespace attn::view
