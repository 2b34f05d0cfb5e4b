// Writes every stage of a whole model, so that another program can compute them too:   model_stages MODEL TOKENS|IMAGE OUT.npz
// TOKENS: ids as 3,1,4. Arrays `lN.<stage>` of each layer, with the keys of core/models/model_stages.h; `entry`s and `final_norm` are
// in each. `logits` [T, vocabulary] has the rows of all tokens.

#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/io/npz.h"
#include "core/models/model.h"
#include "core/models/model_stages.h"

namespace {

using namespace attn;

Result<ModelRun> run_of(const Model& model, const std::string& reads) {
    const Backend& backend = *find_backend("staged");
    if (reads.ends_with(".png")) return model.read(reads, backend, model_stage_set());
    std::vector<ModelToken> tokens;
    for (const char *at = reads.data(), *const end = at + reads.size(); at < end; ++at) {
        ModelToken token{};
        at = std::from_chars(at, end, token.id).ptr;
        tokens.push_back(token);
    }
    return model.run(tokens, backend, model_stage_set());
}

NpzEntry entry_of(std::string name, const Tensor& tensor) {
    const auto values = tensor.values();
    const Index columns = tensor.shape().d;
    return {std::move(name), {static_cast<Index>(values.size()) / columns, columns}, values};
}

Result<void> write(const std::string& folder, const std::string& reads, const std::string& out) {
    auto model = Model::open(folder);
    if (!model) return tl::unexpected(model.error());
    auto run = run_of(*model, reads);
    if (!run) return tl::unexpected(run.error());
    std::vector<ModelStages> layers;
    std::vector<NpzEntry> entries;
    for (Index layer = 0; layer < std::ssize(run->layers); ++layer) {
        auto stages = model_stages(*model, *run, layer, 0);
        if (!stages) return tl::unexpected(stages.error());
        layers.push_back(*std::move(stages));
    }
    for (const ModelStages& stages : layers)
        for (const ModelStage stage : stages.order)
            entries.push_back(
                entry_of(fmt::format("l{}.{}", stages.layer, info(stage).key), stages[stage]));
    if (!run->read_out.empty()) entries.push_back(entry_of("logits", run->read_out));
    return write_npz(out, entries);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return 2;
    if (const auto written = write(arguments[1], arguments[2], arguments[3]); !written) {
        std::cerr << written.error().text() << '\n';
        return 1;
    }
}
