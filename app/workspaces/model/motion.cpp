#include "app/workspaces/model/motion.h"

#include <algorithm>
#include <cmath>

#include "app/common/state.h"
#include "app/workspaces/model/state.h"
#include "core/models/model.h"

namespace attn::view {
namespace {

template <class T>
T mixed_number(T from, T to, double part) {
    const double whole = double{to} - double{from};
    return std::isfinite(whole) ? static_cast<T>(from + whole * part) : to;
}

Tensor mixed_tensor(const Tensor& from, const Tensor& to, double part) {
    if (to.empty() || from.shape() != to.shape()) return to;
    auto mixed = Tensor::uninitialised(to.shape());
    std::ranges::transform(from.values(), to.values(), mixed.values().begin(),
                           [part](float a, float b) { return mixed_number(a, b, part); });
    return mixed;
}

/// Of a layer the numbers that the picture has.
ModelLayer mixed_layer(const ModelLayer& from, const ModelLayer& to, double part) {
    ModelLayer mixed;
    mixed.inputs = to.inputs;
    mixed.trace[Stage::weights] =
        mixed_tensor(from.trace[Stage::weights], to.trace[Stage::weights], part);
    mixed.residual = mixed_tensor(from.residual, to.residual, part);
    return mixed;
}

std::vector<ModelLayer> mixed_layers(const std::vector<ModelLayer>& from,
                                     const std::vector<ModelLayer>& to, double part) {
    std::vector<ModelLayer> mixed;
    for (std::size_t n = 0; n < to.size(); ++n) mixed.push_back(mixed_layer(from[n], to[n], part));
    return mixed;
}

bool same_layers(const std::vector<ModelLayer>& a, const std::vector<ModelLayer>& b) {
    return std::ranges::equal(a, b, [](const ModelLayer& x, const ModelLayer& y) {
        return x.residual.shape() == y.residual.shape() &&
               x.trace[Stage::weights].shape() == y.trace[Stage::weights].shape();
    });
}

Index numbers_of(const ModelRead& read) {
    Index count = 0;
    for (const Tensor& values : read.stages.values) count += values.count();
    for (const auto* layers : {&read.run->layers, &read.run->cross})
        for (const ModelLayer& layer : *layers)
            count += layer.residual.count() + layer.trace[Stage::weights].count();
    return count;
}

/// The same question: nothing moves when only a head was switched off.
bool is_same_reading(const ReadModel& a, const ReadModel& b) {
    return a.model == b.model && a.layer == b.layer && a.row == b.row &&
           a.difference == b.difference;
}

}  // namespace

bool have_same_shapes(const ModelRead& a, const ModelRead& b) {
    const auto same_shape = [](const Tensor& x, const Tensor& y) { return x.shape() == y.shape(); };
    return a.model == b.model && a.stages.layer == b.stages.layer &&
           a.run->tokens.size() == b.run->tokens.size() &&
           std::ranges::equal(a.stages.values, b.stages.values, same_shape) &&
           same_layers(a.run->layers, b.run->layers) && same_layers(a.run->cross, b.run->cross) &&
           a.sum.has_value() == b.sum.has_value() &&
           (!a.sum || a.sum->parts.size() == b.sum->parts.size());
}

ModelRead mixed_read(const ModelRead& from, const ModelRead& to, double t) {
    const double part = t * t * (3.0 - 2.0 * t);
    ModelRead mixed = to;
    for (std::size_t n = 0; n < kModelStageCount; ++n)
        mixed.stages.values[n] = mixed_tensor(from.stages.values[n], to.stages.values[n], part);
    ModelRun run;
    run.tokens = to.run->tokens;
    run.embedded = to.run->embedded;
    run.layers = mixed_layers(from.run->layers, to.run->layers, part);
    run.cross = mixed_layers(from.run->cross, to.run->cross, part);
    mixed.run = std::make_shared<const ModelRun>(std::move(run));
    const Tensor& p = from.stages[ModelStage::probabilities];
    for (ModelAnswer& answer : mixed.answers)
        if (answer.id < p.count())
            answer.probability =
                mixed_number(double{p.values()[answer.id]}, answer.probability, part);
    if (!mixed.sum) return mixed;
    for (std::size_t n = 0; n < mixed.sum->parts.size(); ++n)
        mixed.sum->parts[n].value =
            mixed_number(from.sum->parts[n].value, to.sum->parts[n].value, part);
    mixed.sum->logit = mixed_number(from.sum->logit, to.sum->logit, part);
    return mixed;
}

void begin_model_motion(AppState& state, const std::shared_ptr<const ModelRead>& before) {
    ModelLook& look = model_look(state);
    const bool moves = look.ticks && !state.reduced_motion && before && look.read &&
                       !is_same_reading(before->request, look.read->request) &&
                       have_same_shapes(*before, *look.read) &&
                       numbers_of(*look.read) <= kMostMoving;
    look.before = moves ? before : nullptr;
    look.moved = 0.0;
    look.moving =
        moves ? std::make_shared<const ModelRead>(mixed_read(*before, *look.read, 0.0)) : nullptr;
}

void move_model_on(AppState& state, double seconds) {
    const ModelLook& now = model_look(std::as_const(state));
    if (now.ticks && !now.moving) return;
    ModelLook& look = model_look(state);
    look.ticks = true;
    if (!look.moving) return;
    look.moved += seconds / kModelMotionSeconds;
    if (look.moved >= 1.0 || state.reduced_motion)
        look.moving = look.before = nullptr;
    else
        look.moving =
            std::make_shared<const ModelRead>(mixed_read(*look.before, *look.read, look.moved));
}

}  // namespace attn::view
