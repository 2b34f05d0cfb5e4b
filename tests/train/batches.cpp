// Writes the sequences that a run is trained on, so that another program can train on them:   train_batches SPEC.json STEPS OUT.npz
// `tokens` and `targets` [STEPS, batch, T], −1 where there is no answer; `vocabulary` [1].

#include <cstdlib>
#include <iostream>

#include "core/io/file.h"
#include "core/io/npz.h"
#include "core/train/task_table.h"
#include "core/train/tasks.h"

int main(int count, char** description) {
    using attn::Index;
    if (count != 4) return 2;
    const auto text = attn::read_text_file(description[1]);
    const auto spec =
        text ? attn::train::spec_from_json(*text, description[1]) : tl::unexpected(text.error());
    if (!spec) {
        std::cerr << spec.error().text() << '\n';
        return 2;
    }
    const attn::train::Sequences sequences(*spec);
    const Index steps = std::atoi(description[2]);
    std::vector<float> tokens;
    std::vector<float> targets;
    for (Index step = 0; step < steps; ++step)
        for (Index place = 0; place < spec->batch; ++place) {
            const attn::train::Example example = sequences.training(step, place);
            tokens.insert(tokens.end(), example.tokens.begin(), example.tokens.end());
            targets.insert(targets.end(), example.targets.begin(), example.targets.end());
        }
    const std::vector<Index> extents{steps, spec->batch, spec->tokens};
    const std::vector<float> vocabulary{static_cast<float>(sequences.size())};
    const attn::NpzEntry entries[] = {{"tokens", extents, tokens},
                                      {"targets", extents, targets},
                                      {"vocabulary", {1}, vocabulary}};
    if (const auto written = attn::write_npz(description[3], entries); !written) {
        std::cerr << written.error().text() << '\n';
        return 1;
    }
}
