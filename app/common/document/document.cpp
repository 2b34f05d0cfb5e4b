#include "app/common/document/document.h"

#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/opened.h"
#include "app/common/document/preset.h"
#include "app/common/document/targets.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state_text.h"
#include "core/call.h"
#include "core/check_mask.h"
#include "core/given.h"
#include "core/io/file.h"
#include "core/large/weight_source.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// As const as the inputs are.
template <class AnyInputs>
auto& given_in(AnyInputs& inputs, const OperandId& id) {
    constexpr std::pair<Stage, Tensor Inputs::*> kOthers[] = {{Stage::x_kv, &Inputs::x_kv},
                                                              {Stage::q, &Inputs::q},
                                                              {Stage::k, &Inputs::k},
                                                              {Stage::v, &Inputs::v}};
    if (const Param* param = std::get_if<Param>(&id)) return inputs.params[*param];
    for (const auto& [stage, tensor] : kOthers)
        if (id == OperandId(stage)) return inputs.*tensor;
    return inputs.x;
}

// ---- presets

namespace fs = std::filesystem;

Result<Document> read_preset(const fs::path& path) {
    return read_text_file(path)
        .and_then([&](const std::string& text) { return document_from_json(text, path.string()); })
        .map([&](Document document) {
            document.name = path.stem().string();
            return document;
        });
}

/// What a list says of a preset, by its file; read again when the file is another.
class Titles {
  public:
    std::string of(const fs::path& path) {
        std::error_code failed;
        const auto written = fs::last_write_time(path, failed);
        const std::lock_guard lock(mutex_);
        Known& known = known_[path];
        if (failed || known.title.empty() || known.written != written)
            known = {written, title_of(path)};
        return known.title;
    }

  private:
    struct Known {
        fs::file_time_type written;
        std::string title;
    };
    static std::string title_of(const fs::path& path) {
        const auto document = read_preset(path);
        return document ? document->title : path.stem().string() + " (has an error)";
    }

    std::mutex mutex_;
    std::map<fs::path, Known> known_;
};

double bytes_of(const Document& document) {
    double floats = 0.0;
    const auto add = [&](const Tensor& tensor) { floats += static_cast<double>(tensor.count()); };
    for (const auto& inputs : document.layers) {
        if (!inputs) continue;  // not set yet
        for (const Tensor* tensor : {&inputs->x, &inputs->x_kv, &inputs->q, &inputs->k, &inputs->v})
            add(*tensor);
        for (const Tensor& tensor : inputs->params.tensors) add(tensor);
    }
    for (const auto& given : document.given) add(given->values);
    return 4.0 * floats;
}

/// A model's numbers for a score in whose place another is computed: that has no use for them.
void drop_unused(Document& document) {
    if (model_of(document) == nullptr) return;
    for (Index n = 0; auto& layer : document.layers) {
        const auto used = info(spec_of(document, n++).score).params;
        const bool looked_at = layer == document.inputs;
        for (const ParamInfo& row : param_table()) {
            if (row.use != ParamUse::score || layer->params[row.param].empty()) continue;
            if (std::ranges::count(used, row.param) > 0) continue;
            Inputs inputs = *layer;
            inputs.params[row.param] = {};
            layer = std::make_shared<const Inputs>(std::move(inputs));
        }
        if (looked_at) document.inputs = layer;
    }
}

}  // namespace

bool is_toy(const Document& document) { return std::holds_alternative<ToyOrigin>(document.origin); }

const std::vector<std::string>& tokens_of(const Document& document, Index batch) {
    return batch > 0 && !document.tokens_next.empty() ? document.tokens_next : document.tokens;
}

bool has_param(const Document& document, Param param) {
    return !document.inputs->params[param].empty();
}

const ModelOrigin* model_of(const Document& document) {
    return std::get_if<ModelOrigin>(&document.origin);
}

bool reads_image(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    return model != nullptr && model->image;
}

bool takes_image(const Document& document) {
    return reads_image(document) || (!document.groups.empty() && document.groups.front() == "text");
}

std::string group_of(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || document.groups.empty()) return {};
    return model->group.empty() ? document.groups.front() : model->group;
}

const std::string& text_of(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    return model != nullptr ? model->text : document.sentence;
}

bool is_empty(const Document& document) {
    return document.inputs->x.empty() && document.inputs->q.empty();
}

bool is_without_values(const Document& document) {
    const Inputs& in = *document.inputs;
    return !in.projects() && !in.q.empty() && in.v.empty();
}

std::string empty_text(const Document& document) {
    if (!document.no_attention.empty())
        return fmt::format("{} gives no attention to compute. Arrays shows why (3 T).",
                           document.title);
    if (!document.given.empty())
        return fmt::format("{} has {} without their queries and keys. Heads shows them (3 H).",
                           document.title,
                           document.given.front()->stage == Stage::weights ? "weights" : "scores");
    return "There is no sentence yet: type one in Step (1 S).";
}

const AttentionSpec& spec_of(const Document& document, Index layer) {
    const bool other = layer != document.layer && !document.layer_specs.empty();
    return other ? document.layer_specs[layer] : document.spec;
}

void look_at_layer(Document& document, Index layer) {
    if (!document.layer_specs.empty()) {
        document.layer_specs[document.layer] = document.spec;
        document.spec = document.layer_specs[layer];
    }
    document.layer = layer;
    document.inputs = document.layers[layer];
}

void set_inputs(Document& document, Inputs inputs) {
    document.inputs = std::make_shared<const Inputs>(std::move(inputs));
    document.layers.resize(
        std::max<Index>(document.layer + 1, static_cast<Index>(document.layers.size())));
    document.layers[document.layer] = document.inputs;
    document.bytes = bytes_of(document);
}

const Tensor& tensor_of(const Inputs& inputs, const OperandId& id) { return given_in(inputs, id); }

void set_input(Document& document, const InputEdit& edit) {
    Inputs inputs = *document.layers[edit.layer];
    given_in(inputs, edit.tensor)(edit.batch, edit.head, edit.row, edit.column) = edit.value;
    const auto changed = std::make_shared<const Inputs>(std::move(inputs));
    document.layers[edit.layer] = changed;
    if (edit.layer == document.layer) document.inputs = changed;
}

Result<void> check_input(const Document& document, const InputEdit& edit) {
    const Index layers = static_cast<Index>(document.layers.size());
    Shape shape;
    if (edit.layer >= 0 && edit.layer < layers)
        shape = tensor_of(*document.layers[edit.layer], edit.tensor).shape();
    const bool there = edit.batch >= 0 && edit.batch < shape.b && edit.head >= 0 &&
                       edit.head < shape.h && edit.row >= 0 && edit.row < shape.t &&
                       edit.column >= 0 && edit.column < shape.d;
    if (there) return {};
    return bad_input(fmt::format("layer {} has no {}[{}, {}, {}, {}] to edit", edit.layer,
                                 key_of(edit.tensor), edit.batch, edit.head, edit.row,
                                 edit.column));
}

Result<Document> with_size(Document document) {
    drop_unused(document);
    document.bytes = bytes_of(document);
    if (is_empty(document)) {
        if (document.given.empty()) document.size = {};
        if (!takes_masks(document)) return document;
        return check_mask(document.spec.mask, document.size).map([&] { return document; });
    }
    const bool whole = document.inputs->projects() || !document.inputs->v.empty();
    if (!whole)  // queries and keys alone: their sizes do not change with the spec
        return check_mask(document.spec.mask, document.size).map([&] { return document; });
    const auto call = validate(*document.inputs, document.spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    document.size = size;
    document.heads = size.heads;
    document.d_k = size.d_k;
    if (size.d_model > 0) document.d_model = size.d_model;
    keep_targets_inside(document);
    return document;
}

std::string description_of(const OpenRequest& request) {
    if (const auto* path = std::get_if<std::string>(&request.what))
        return is_state_text(*path) ? std::string(kStateTextName) : *path;
    if (const auto* text = std::get_if<ModelText>(&request.what)) return text->model.path;
    if (const auto* trained = std::get_if<TrainedOrigin>(&request.what))
        return fmt::format("{} after {} training steps", train::info(trained->spec.task).key,
                           trained->step);
    if (const auto* results = std::get_if<ResultsOf>(&request.what)) return results->path;
    if (const auto* text = std::get_if<GenerateText>(&request.what)) return text->path;
    if (const auto* swept = std::get_if<SweepModel>(&request.what)) return swept->path;
    const auto& spec = std::get<large::PlantedSpec>(request.what);
    return fmt::format("generated matrix of {} tokens, seed {}", spec.tokens, spec.seed);
}

std::string stages_lack(const Document& document) {
    if (is_empty(document) && !is_toy(document)) return empty_text(document);
    if (is_empty(document)) return "Type a sentence and press Enter.";
    const Dimensions& size = document.size;
    if (size.tq > kMostCells / std::max<Index>(size.tk, 1))
        return fmt::format(
            "{} × {} scores are too many to compute every stage{}.", grouped(size.tq),
            grouped(size.tk),
            has_map(document) ? ": those from QKᵀ to softmax are a map, without gradients" : "");
    if (is_without_values(document))
        return fmt::format("These are queries and keys without values: {}Heads shows {} (3 H).",
                           has_map(document) ? "Long context shows their weights (3 M), and " : "",
                           has_map(document) ? "those of every head" : "their weights");
    return {};
}

bool has_map(const Document& document) {
    const Score score = document.spec.score;
    return is_dot(score) ||
           (score == Score::relative && document.size.tk <= large::kMostDistanceKeys);
}

std::vector<Preset> list_presets() {
    static Titles titles;
    std::vector<Preset> presets;
    for (const fs::path& path : asset_files("presets"))
        presets.push_back({path.stem().string(), titles.of(path), path});
    return presets;
}

Result<Document> load_preset(std::string_view key) {
    for (const fs::path& path : asset_files("presets"))
        if (path.stem().string() == key) return read_preset(path);
    std::string keys;
    for (const Preset& preset : list_presets()) keys += (keys.empty() ? "" : ", ") + preset.key;
    return bad_input(fmt::format(
        "there is no preset '{}': {}", shortened(key),
        keys.empty() ? "no preset files were found" : fmt::format("choose one of {}", keys)));
}

}  // namespace attn::view
