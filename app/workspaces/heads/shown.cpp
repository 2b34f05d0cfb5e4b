#include "app/workspaces/heads/shown.h"

#include <algorithm>
#include <cmath>

#include "app/workspaces/heads/state.h"

namespace attn::view {
namespace {

HeadMatrix lacking(std::string why) {
    HeadMatrix none;
    none.lacks = std::move(why);
    return none;
}

HeadMatrix owning(std::vector<float> values, Index rows, Index columns) {
    HeadMatrix matrix;
    matrix.own = std::move(values);
    matrix.values = {matrix.own.data(), rows, columns, columns};
    return matrix;
}

HeadMatrix by_norms(const HeadsResult& result, HeadPlace place,
                    const std::vector<std::vector<double>>& norms, const std::string& fault) {
    if (!fault.empty()) return lacking(fault);
    const auto weights = result.weights(place);
    return owning(
        times_norms(weights, norms[static_cast<std::size_t>(place.head)], result.allowed(place)),
        weights.rows, weights.columns);
}

HeadMatrix by_gradient(const HeadsResult& result, const HeadsLayer& layer, HeadPlace place) {
    if (!layer.gradient_fault.empty()) return lacking(layer.gradient_fault);
    if (layer.gradient.empty()) return lacking("its gradient is not computed");
    const auto weights = result.weights(place);
    return owning(times_gradient(weights, layer.gradient.matrix(result.batch, place.head),
                                 result.allowed(place)),
                  weights.rows, weights.columns);
}

HeadMatrix matrix_of(const HeadsResult& result, HeadShow show, HeadPlace place) {
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(place.layer)];
    switch (show) {
        case HeadShow::value_norm:
            return by_norms(result, place, layer.value_norms, layer.value_fault);
        case HeadShow::output_norm:
            return by_norms(result, place, layer.output_norms, layer.output_fault);
        case HeadShow::gradient:
            return by_gradient(result, layer, place);
        case HeadShow::rollout: {
            if (!layer.rollout_fault.empty()) return lacking(layer.rollout_fault);
            HeadMatrix matrix;
            matrix.values = {layer.rollout.data(), layer.tq, layer.tk, layer.tk};
            return matrix;
        }
        case HeadShow::weights:
            break;
    }
    HeadMatrix matrix;
    matrix.values = result.weights(place);
    return matrix;
}

/// Keys whose mean over queries is at least the limit; of weights, and of rollout itself.
std::vector<std::uint8_t> heavy_keys(MatrixView<const float> weights, double limit) {
    std::vector<std::uint8_t> keys(static_cast<std::size_t>(weights.columns), 0);
    for (Index j = 0; j < weights.columns; ++j) {
        double sum = 0.0;
        for (Index i = 0; i < weights.rows; ++i) sum += weights(i, j);
        if (sum >= limit * static_cast<double>(weights.rows)) keys[static_cast<std::size_t>(j)] = 1;
    }
    return std::ranges::find(keys, 1) == keys.end() ? std::vector<std::uint8_t>() : keys;
}

std::vector<std::uint8_t> clipped_of(const HeadsShown& shown, HeadPlace place,
                                     const HeadMatrix& matrix) {
    if (shown.clip == SinkClip::none || matrix.values.columns == 0) return {};
    if (shown.clip == SinkClip::limit)
        return heavy_keys(
            shown.show == HeadShow::rollout ? matrix.values : shown.of->weights(place),
            shown.limit);
    std::vector<std::uint8_t> keys(static_cast<std::size_t>(matrix.values.columns), 0);
    keys.front() = 1;
    return keys;
}

double largest_of(const HeadMatrix& matrix, const std::vector<std::uint8_t>& clipped) {
    double largest = 0.0;
    for (Index i = 0; i < matrix.values.rows; ++i)
        for (Index j = 0; j < matrix.values.columns; ++j) {
            const double size = std::abs(double{matrix.values(i, j)});
            if (!std::isfinite(size)) continue;
            if (clipped.empty() || clipped[static_cast<std::size_t>(j)] == 0)
                largest = std::max(largest, size);
        }
    return largest;
}

bool is_current(const HeadsLook& look) {
    const HeadsShown* const shown = look.shown.get();
    return shown != nullptr && shown->of == look.result && shown->show == look.show &&
           shown->clip == look.clip && shown->limit == look.clip_limit;
}

HeadsShown shown_of(const HeadsLook& look) {
    HeadsShown shown{look.result, look.show, look.clip, look.clip_limit, {}, {}, 0.0};
    for (const HeadFacts& facts : look.result->heads) {
        const HeadMatrix matrix = head_matrix(*look.result, look.show, facts.place);
        shown.clipped.push_back(clipped_of(shown, facts.place, matrix));
        shown.largest.push_back(largest_of(matrix, shown.clipped.back()));
        shown.largest_of_all = std::max(shown.largest_of_all, shown.largest.back());
    }
    return shown;
}

}  // namespace

HeadMatrix head_matrix(const HeadsResult& result, HeadShow show, HeadPlace place) {
    HeadMatrix matrix = matrix_of(result, show, place);
    if (matrix.lacks.empty() && show != HeadShow::rollout) matrix.allowed = result.allowed(place);
    return matrix;
}

void follow_shown(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (!has_current_heads(state))
        look.shown = nullptr;
    else if (!is_current(look))
        look.shown = std::make_shared<const HeadsShown>(shown_of(look));
}

HeadColors head_colors(const HeadsLook& look, HeadPlace place) {
    const HeadsShown& shown = *look.shown;
    const auto n = static_cast<std::size_t>(shown.of->find(place) - shown.of->heads.data());
    double high = look.own_range ? shown.largest[n] : shown.largest_of_all;
    const bool whole = look.show == HeadShow::weights && look.clip == SinkClip::none;
    if (!look.own_range && whole) high = std::max(high, 1.0);
    if (high == 0.0) high = 1.0;
    const bool sign = info(look.show).has_sign;
    return {{sign ? ColorScale::diverging : ColorScale::unit, sign ? -high : 0.0, high, look.curve},
            shown.clipped[n]};
}

Color clipped_color(ThemeName name) {
    return blend(theme(name).background, theme(name).warning, 0.45);
}

Index clipped_keys(const HeadsShown& shown) {
    std::vector<std::uint8_t> any;
    for (const auto& keys : shown.clipped) {
        any.resize(std::max(any.size(), keys.size()), 0);
        for (std::size_t j = 0; j < keys.size(); ++j) any[j] = any[j] | keys[j];
    }
    return std::ranges::count(any, 1);
}

}  // namespace attn::view
