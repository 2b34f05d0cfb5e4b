#include <cmath>

#include "app/cli/trace_parts.h"

#include <fmt/ranges.h>

#include <fmt/format.h>

#include "app/common/lower_case.h"
#include "app/common/or_throw.h"
#include "app/files/call.h"
#include "app/files/standard.h"
#include "core/io/png_image.h"
#include "core/models/weights.h"
#include "core/narrow.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::cli {
namespace {

std::vector<Index> stage_extents(const StageInfo& stage, const Shape& shape) {
    if (stage.heads == HeadAxis::none) return {shape.b, shape.t, shape.d};
    return {shape.b, shape.h, shape.t, shape.d};
}

void add_stages(const Trace& trace, StageSet keep, std::string_view prefix,
                std::vector<NpzEntry>& entries) {
    for (const StageInfo& stage : stage_table()) {
        const Tensor& tensor = trace[stage.stage];
        if (!keep[index_of(stage.stage)] || tensor.empty()) continue;
        entries.push_back({fmt::format("{}{}", prefix, stage.key),
                           stage_extents(stage, tensor.shape()), tensor.values()});
    }
}

bool holds(StageSet held, std::initializer_list<Stage> stages) {
    return std::ranges::all_of(stages, [&](Stage stage) { return held[index_of(stage)]; });
}

/// Queries and keys are read, before RoPE or after it.
bool has_heads(StageSet held) {
    return holds(held, {Stage::q, Stage::k}) || holds(held, {Stage::q_rot, Stage::k_rot});
}

/// Queries and keys, or scores or weights: a file of nothing else is no call.
bool can_be_read(StageSet held) { return has_heads(held) || (held & pair_stages()).any(); }

/// The spec as the file is read: of what it holds no step is done twice.
AttentionSpec spec_as_read(AttentionSpec spec, Index d_k, StageSet held) {
    if (holds(held, {Stage::q, Stage::k})) return spec;
    if (has_heads(held)) {
        spec.qk_norm.reset();
        spec.rope.reset();
        return spec;
    }
    for (const Stage from :
         {Stage::weights, Stage::masked, Stage::biased, Stage::scaled, Stage::scores}) {
        if (!held[index_of(from)]) continue;
        AttentionSpec after = following(from, std::move(spec));
        if (from != Stage::scores) {
            after.scale = ScaleKind::sqrt_dk;  // as by default: no scores are there to be scaled
        } else if (after.scale == ScaleKind::sqrt_dk) {
            after.scale = ScaleKind::value;
            after.scale_value = 1.0 / std::sqrt(static_cast<double>(d_k));
        }
        return after;
    }
    return spec;
}

/// Where gradients start, for whoever reads the file as the same call.
void add_upstream(const files::FileCall& call, std::vector<NpzEntry>& entries) {
    const Tensor& gradient = call.upstream.gradient;
    const Shape s = gradient.shape();
    if (gradient.empty()) return;
    if (call.upstream.stage == Stage::context)
        entries.push_back({"dO", {s.b, s.h, s.t, s.d}, gradient.values()});
    else
        entries.push_back({"dY", {s.b, s.t, s.d}, gradient.values()});
}

}  // namespace

void add_params(const Inputs& inputs, StageSet held, std::string_view prefix,
                std::vector<NpzEntry>& entries) {
    for (const ParamInfo& param : param_table()) {
        const Tensor& tensor = inputs.params[param.param];
        const bool needed = param.use == ParamUse::score    ? has_heads(held)
                            : param.use == ParamUse::norm   ? holds(held, {Stage::q, Stage::k})
                            : param.use == ParamUse::output ? holds(held, {Stage::v, Stage::output})
                                                            : param.use == ParamUse::sink;
        if (tensor.empty() || !needed) continue;
        const Shape shape = tensor.shape();
        NpzEntry& entry = entries.emplace_back(NpzEntry{
            fmt::format("{}{}", prefix, param.npz),
            param.bias ? std::vector<Index>{shape.d} : std::vector<Index>{shape.t, shape.d},
            {}});
        const Narrow* const narrow = tensor.narrow();
        if (narrow != nullptr && narrow->blocks() == nullptr) {
            entry.halves = {narrow->data(), static_cast<std::size_t>(tensor.count())};
            entry.format = narrow->format();
        } else {
            entry.values = tensor.values();
        }
    }
}

void add_options(const AttentionSpec& spec, Index d_k, StageSet held,
                 std::vector<NpzEntry>& entries) {
    if (!can_be_read(held)) return;
    entries.push_back({"options", {}, {}, {files::options_to_json(spec_as_read(spec, d_k, held))}});
    if (const auto bias = spec_as_read(spec, d_k, held).mask.bias) {
        const Shape shape = bias->values.shape();
        entries.push_back({"bias", {shape.b, shape.h, shape.t, shape.d}, bias->values.values()});
    }
    if (const auto rope = spec_as_read(spec, d_k, held).rope; rope && rope->tables) {
        const RotaryTables& tables = *rope->tables;
        for (const auto& [name, table] :
             {std::pair("q_cos", &tables.q_cos), std::pair("q_sin", &tables.q_sin),
              std::pair("k_cos", &tables.k_cos), std::pair("k_sin", &tables.k_sin)})
            entries.push_back(
                {name, {table->shape().b, table->shape().t, table->shape().d}, table->values()});
    }
    if (!spec.mask.custom) return;
    const Shape shape = spec.mask.custom->shape();
    const std::span<const std::uint8_t> values = std::as_const(*spec.mask.custom).values();
    entries.push_back({"mask", {shape.b, shape.h, shape.t, shape.d}, {}, {}, values});
}

void add_image(const RgbImage* image, std::vector<NpzEntry>& entries) {
    if (image == nullptr) return;
    NpzEntry entry{"image", {image->height, image->width, 3}, {}};
    entry.bytes = image->rgb;
    entries.push_back(std::move(entry));
}

void add_call(const files::FileCall& call, StageSet held, std::vector<NpzEntry>& entries) {
    if (!can_be_read(held)) return;
    add_params(call.inputs, held, "", entries);
    add_options(call.spec, call.size.d_k, held, entries);
    if (!call.tokens.empty()) entries.push_back({"tokens", {}, {}, call.tokens});
    if (!call.tokens_kv.empty()) entries.push_back({"tokens_kv", {}, {}, call.tokens_kv});
    add_image(call.image.get(), entries);
}

std::vector<NpzEntry> stage_entries(const Trace& trace, StageSet keep) {
    std::vector<NpzEntry> entries;
    add_stages(trace, keep, "", entries);
    if (trace.logsumexp.empty()) return entries;  // of given weights
    const Shape rows = trace.logsumexp.shape();
    entries.push_back({"logsumexp", {rows.b, rows.h, rows.t}, trace.logsumexp.values()});
    return entries;
}

std::vector<NpzEntry> trace_entries(const files::FileCall& call, const Trace& forward,
                                    const Trace* gradient, StageSet keep) {
    std::vector<NpzEntry> entries = stage_entries(forward, keep);
    const StageSet held = keep & held_stages(forward);
    add_call(call, held, entries);
    if (gradient || (has_heads(held) && held[index_of(Stage::v)])) add_upstream(call, entries);
    if (!gradient) return entries;
    add_stages(*gradient, keep, "d_", entries);
    add_param_gradients(call, gradient->params, entries);
    if (!gradient->bias.empty()) {
        const Shape bias = gradient->bias.shape();
        entries.push_back({"d_bias", {bias.b, bias.h, bias.t, bias.d}, gradient->bias.values()});
    }
    return entries;
}

void add_param_gradients(const files::FileCall& call, const Params& gradients,
                         std::vector<NpzEntry>& entries) {
    for (const ParamInfo& param : param_table()) {
        const Tensor& tensor = gradients[param.param];
        if (tensor.empty()) continue;
        entries.push_back({fmt::format("d_{}", view::lower_case(std::string(param.npz))),
                           call.param_extents[index_of(param.param)], tensor.values()});
    }
}

std::vector<std::string> missing_stages(const Trace& forward, StageSet keep) {
    std::vector<std::string> notes;
    for (const StageInfo& stage : stage_table())
        if (keep[index_of(stage.stage)] && forward[stage.stage].empty())
            notes.push_back(fmt::format("this call has no stage {}", stage.key));
    return notes;
}

void write_entries(const std::string& path, std::span<const NpzEntry> entries, Streams io) {
    if (files::is_standard(path))
        io.out << or_throw(npz_bytes(entries, "standard output"));
    else
        or_throw(write_npz(path, entries));
}

std::vector<std::string> absent_notes(Stage from, bool has_values) {
    std::vector<std::string_view> before;
    for (const StageInfo& row : stage_table())
        if (row.stage < from && row.stage != Stage::v && row.exists == Exists::always)
            before.push_back(row.key);
    std::vector<std::string> notes{fmt::format("no {}: the file gives {}, which come later",
                                               fmt::join(before, ", "), info(from).key)};
    if (from == Stage::weights)
        notes.push_back("there is no logsumexp: it does not follow from weights");
    if (!has_values) notes.push_back("context and output are missing: they need V");
    return notes;
}

}  // namespace attn::cli
