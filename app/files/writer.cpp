#include "app/files/writer.h"

#include "app/common/document/opened.h"
#include "app/common/or_throw.h"
#include "core/backend.h"
#include "core/models/groups.h"
#include "core/models/lens.h"
#include "core/models/read_out.h"

namespace attn::files {
namespace {

/// The rows of the token that was read last, of every layer.
std::vector<Tensor> last_weights(const GenerationStep& step) {
    std::vector<Tensor> all;
    const Index last = std::ssize(step.rows.tokens) - 1;
    for (Index layer = 0; layer < std::ssize(step.rows.layers); ++layer) {
        const Shape retained = step.rows.layers[layer].trace[Stage::weights].shape();
        Tensor& rows = all.emplace_back(Shape{1, retained.h, 1, retained.d});
        for (Index head = 0; head < retained.h; ++head)
            std::ranges::copy(step.weights(layer, head, last), rows.matrix(0, head).row(0).begin());
    }
    return all;
}

/// Who writes, and what it has read: the model and its text, or the decoder over that and what it began with.
struct Beginning {
    std::shared_ptr<const Model> model;
    std::vector<ModelToken> prompt;
    Index encoder_tokens = 0;
};
Beginning beginning_of(const Model& model, const view::GenerateText& wanted,
                       const RunControl& control) {
    const bool over = model.second() != nullptr &&
                      (model.second()->reads_across() || model.config().image_prompt);
    if (!over)  // its holder holds this too
        return {
            {std::shared_ptr<const Model>(), &model}, or_throw(model.tokens_of(wanted.text)), 0};
    auto decoding = or_throw(decoding_of(model, {wanted.text, wanted.second_input, {}},
                                         *find_backend("staged"), {control.stop, {}}));
    return {std::make_shared<const Model>(std::move(decoding.decoder)), std::move(decoding.tokens),
            std::ssize(decoding.tokens_kv)};
}

/// Of a text the weights of its last token alone are kept: those of all are tokens² a head. Shares of experts are of all.
GenerationStep read_prompt(Generation& generation, std::vector<ModelToken> prompt,
                           const RunControl& control) {
    const auto count = std::ssize(prompt);
    if (count < 2 || count > generation.most_tokens().value_or(count))
        return or_throw(generation.read(std::move(prompt), control));
    std::vector<ModelToken> last{std::move(prompt.back())};
    prompt.pop_back();
    generation.keep_stages({});
    GenerationStep before = or_throw(generation.read(std::move(prompt), control));
    generation.keep_stages(only_stage(Stage::weights));
    GenerationStep step = or_throw(generation.read(std::move(last), control));
    if (step.first == 0) return step;  // it was read again as a whole
    for (std::size_t n = 0; n < step.rows.layers.size(); ++n)
        if (Tensor& routing = step.rows.layers[n].routing; !routing.empty())
            routing = in_a_row(before.rows.layers[n].routing, std::move(routing));
    return step;
}

}  // namespace

std::shared_ptr<const view::Generated> Writer::written(const Model& model,
                                                       const view::GenerateText& wanted,
                                                       const RunControl& control) {
    const std::scoped_lock lock(mutex_);
    if (!generation_ || written_.text != wanted.text ||
        written_.second_input != wanted.second_input)
        begin(model, wanted, control);
    go_on(wanted.tokens, control);
    if (wanted.lens && written_.no_lens.empty()) look_through(model, *wanted.lens);
    return std::make_shared<const view::Generated>(written_);
}

void Writer::begin(const Model& model, const view::GenerateText& wanted,
                   const RunControl& control) {
    generation_.reset();
    rows_.clear();
    const auto names = std::move(written_.names);
    written_ = {};
    const Beginning from = beginning_of(model, wanted, control);
    auto made = or_throw(Generation::of(from.model, *find_backend("staged")));
    keep(read_prompt(made, from.prompt, control));
    prompt_ = from.prompt.size();
    for (const ModelToken& token : from.prompt) written_.prompt.push_back(token.text);
    if (from.model->reads_across())
        written_.no_lens = "The logit lens does not follow a decoder that reads an encoder.";
    const ModelConfig& config = from.model->config();
    written_.most_tokens = made.most_tokens();
    written_.ends = config.end_tokens;
    written_.layers = config.layers;
    for (Index layer = 0; layer < config.layers; ++layer)
        written_.specs.push_back(layer_spec(config, layer));
    written_.kv_heads = config.kv_heads;
    written_.bytes_of_token = cache_bytes(config, 1);
    written_.encoder_tokens = from.encoder_tokens;
    written_.names = names;
    if (!names) {
        std::vector<std::string> all;
        for (Index id = 0; id < std::ssize(written_.steps.front()->logits); ++id)
            all.push_back(model.shown(id));
        written_.names = std::make_shared<const std::vector<std::string>>(std::move(all));
    }
    written_.path = wanted.path;
    written_.text = wanted.text;
    written_.second_input = wanted.second_input;
    generation_ = std::move(made);
}

void Writer::go_on(const std::vector<Index>& tokens, const RunControl& control) {
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(tokens, written_.tokens).in1 -
                                               tokens.begin());
    if (same < written_.tokens.size()) {
        generation_->truncate(static_cast<Index>(prompt_ + same));
        written_.tokens.resize(same);
        written_.steps.resize(same + 1);
        written_.lenses.resize(same + 1);
        rows_.resize(same + 1);
    }
    for (std::size_t n = same; n < tokens.size(); ++n) {
        keep(or_throw(generation_->read(tokens[n], control)));
        written_.tokens.push_back(tokens[n]);
        if (control.progress)
            control.progress(static_cast<double>(n + 1 - same) /
                             static_cast<double>(tokens.size() - same));
    }
}

void Writer::keep(GenerationStep step) {
    const auto logits = step.logits();
    view::GeneratedStep made{{logits.begin(), logits.end()}, last_weights(step)};
    for (const ModelLayer& layer : step.rows.layers) made.routing.push_back(layer.routing);
    written_.steps.push_back(std::make_shared<const view::GeneratedStep>(std::move(made)));
    written_.lenses.emplace_back();
    for (ModelLayer& layer : step.rows.layers) layer.trace = {};
    rows_.push_back(std::move(step.rows));
}

void Writer::look_through(const Model& model, Index step) {
    const auto n = static_cast<std::size_t>(step);
    if (step < 0 || n >= rows_.size() || written_.lenses[n]) return;
    const Index last = std::ssize(rows_[n].tokens) - 1;
    written_.lenses[n] =
        std::make_shared<const Lens>(or_throw(logit_lens(model, rows_[n], last, {}, 1)));
}

std::shared_ptr<const view::Generated> Writer::continued(const Model& model,
                                                         const view::GenerateText& wanted,
                                                         const RunControl& control) {
    const std::scoped_lock lock(mutex_);
    if (!generation_ || written_.text != wanted.text ||
        written_.second_input != wanted.second_input)
        begin(model, wanted, control);
    const auto same = std::ranges::mismatch(wanted.tokens, written_.tokens).in1;
    if (same != wanted.tokens.end()) go_on(wanted.tokens, control);
    const Index step = std::ssize(wanted.tokens);
    const Index before = static_cast<Index>(prompt_) + step;
    const auto most = written_.most_tokens;
    const auto& ends = written_.ends;
    auto made = std::make_shared<view::Branches>();
    made->step = step;
    Generation ahead = *generation_;
    ahead.keep_stages({});
    for (const TokenShare& first : likeliest(written_.steps[step]->logits, view::kBranches)) {
        if (most && before >= *most) break;
        view::Branch branch{{first.id}, {}};
        ahead.truncate(before);
        while (std::ssize(branch.tokens) < view::kBranchTokens &&
               std::ranges::find(ends, branch.tokens.back()) == ends.end() &&
               (!most || before + std::ssize(branch.tokens) < *most)) {
            const GenerationStep read = or_throw(ahead.read(branch.tokens.back(), control));
            const auto next = likeliest(read.logits(), 1);
            if (next.empty()) break;
            branch.logits.emplace_back(read.logits().begin(), read.logits().end());
            branch.tokens.push_back(next.front().id);
        }
        made->all.push_back(std::move(branch));
    }
    view::Generated result = written_;
    result.branches = std::move(made);
    return std::make_shared<const view::Generated>(std::move(result));
}

}  // namespace attn::files
