#include "app/cli/trace_parts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "app/files/standard.h"

namespace attn::cli {
namespace {

std::vector<Index> stage_extents(const StageInfo& stage, const Shape& shape) {
    if (stage.heads == HeadAxis::none) return {shape.b, shape.t, shape.d};
    return {shape.b, shape.h, shape.t, shape.d};
}

std::string lower_case(std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower;
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

}  // namespace

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
    if (!gradient) return entries;
    add_stages(*gradient, keep, "d_", entries);
    add_param_gradients(call, gradient->params, entries);
    return entries;
}

void add_param_gradients(const files::FileCall& call, const Params& gradients,
                         std::vector<NpzEntry>& entries) {
    for (const ParamInfo& param : param_table()) {
        const Tensor& tensor = gradients[param.param];
        if (tensor.empty()) continue;
        entries.push_back({fmt::format("d_{}", lower_case(param.npz)),
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

double elapsed_ms(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
        .count();
}

std::vector<std::string> absent_notes(Stage from, bool has_values) {
    std::vector<std::string_view> before;
    for (const StageInfo& row : stage_table())
        if (row.stage < from && row.stage != Stage::v && row.exists == Exists::always)
            before.push_back(row.key);
    std::vector<std::string> notes{fmt::format("{} come before {}, which are given: there are none",
                                               fmt::join(before, ", "), info(from).key)};
    if (from == Stage::weights)
        notes.push_back("there is no logsumexp: weights do not say by what they were divided");
    if (!has_values) notes.push_back("there is no context and no output: they need V beside");
    return notes;
}

}  // namespace attn::cli
