// Causal attention of a file, by one backend, every stage saved: what attnscope trace does, with core alone, for node.
//   engine IN.npz OUT.npz BACKEND       IN: Q, K and V [B,H,T,d], float32
#include <cstdio>

#include "core/engine.h"
#include "core/io/npz.h"

namespace {

using namespace attn;

int fail(const Error& error) {
    std::fprintf(stderr, "engine: %s\n", error.sentence.c_str());
    return 1;
}

Result<Tensor> tensor_of(const Npz& file, const std::string& name) {
    const auto found = file.arrays.find(name);
    if (found == file.arrays.end() || found->second.extents.size() != 4)
        return bad_input(name + " is not there as [B,H,T,d]");
    const auto& extents = found->second.extents;
    const auto* const values = std::get_if<std::vector<float>>(&found->second.values);
    if (values == nullptr) return bad_input(name + " is not float32");
    return Tensor({extents[0], extents[1], extents[2], extents[3]}, *values);
}

NpzEntry entry_of(std::string_view name, const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    return {std::string(name), {shape.b, shape.h, shape.t, shape.d}, tensor.values()};
}

Result<void> run(const std::string& in, const std::string& out, std::string_view backend) {
    const auto file = read_npz(in);
    if (!file) return tl::unexpected(file.error());
    Inputs inputs;
    for (const auto& [name, to] : {std::pair{"Q", &inputs.q}, {"K", &inputs.k}, {"V", &inputs.v}}) {
        auto tensor = tensor_of(*file, name);
        if (!tensor) return tl::unexpected(tensor.error());
        *to = *std::move(tensor);
    }
    AttentionSpec spec;
    spec.mask.causal = CausalAlign::top_left;
    const auto trace = attend(inputs, spec, backend);
    if (!trace) return tl::unexpected(trace.error());
    std::vector<NpzEntry> entries{entry_of("logsumexp", trace->logsumexp)};
    for (const StageInfo& stage : stage_table())
        if (const Tensor& kept = (*trace)[stage.stage]; !kept.empty())
            entries.push_back(entry_of(stage.key, kept));
    return write_npz(out, entries);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return fail({"engine IN.npz OUT.npz BACKEND", ErrorKind::input});
    const auto done = run(argv[1], argv[2], argv[3]);
    return done ? 0 : fail(done.error());
}
