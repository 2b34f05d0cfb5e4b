// The texts behind ⓘ: leads between scores and what softmax makes of them, computed again from the scores.

#include <algorithm>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/sheet.h"
#include "app/common/text.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/generate/view.h"
#include "app/workspaces/gradients/view.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"
#include "app/workspaces/lookup/state.h"
#include "app/workspaces/saturation/state.h"
#include "app/workspaces/step/sentence.h"
#include "core/train/record.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

std::vector<double> sorted(std::vector<double> values) {
    std::ranges::sort(values, std::greater());
    return values;
}
std::vector<double> row_of(Rows rows, Index n) {
    if (n < 0 || n >= rows.rows) return {};
    const auto row = rows.row(n);
    return {row.begin(), row.end()};
}

/// "The score of “{}” for “{}” is {}; the second largest of its row is {}"
bool check_scores(const Match& match) {
    const Index query = labelled(match.state, Axis::query, match.part[0]);
    const Index key = labelled(match.state, Axis::key, match.part[1]);
    const auto row = row_of(rows_of(match.state, Stage::masked), query);
    if (key < 0 || key >= std::ssize(row) || row.size() < 2) return false;
    const auto order = sorted(row);
    return row[key] == order[0] && shows(match.part[2], order[0]) && shows(match.part[3], order[1]);
}
/// "Softmax takes e^score, so a lead of {} makes a weight e^{} = {} times as large"
bool check_lead(const Match& match) {
    const auto query = build_sentence_view(match.state).query;
    const auto order = sorted(row_of(rows_of(match.state, Stage::masked), query.value_or(-1)));
    if (order.size() < 2) return false;
    const double lead = order[0] - order[1];
    return lead > 0.0 && shows(match.part[0], lead) && match.part[1] == match.part[0] &&
           shows(match.part[2], std::exp(lead));
}
/// "“{}” gives “{}” {} of its weight, so its context lies near the value of “{}” if …"
bool check_given(const Match& match) {
    const Index query = labelled(match.state, Axis::query, match.part[0]);
    const Index key = labelled(match.state, Axis::key, match.part[1]);
    const auto row = row_of(weights_of(match.state), query);
    return key >= 0 && key < std::ssize(row) && match.part[1] == match.part[3] && row[key] > 0.9 &&
           shows(match.part[2], row[key]);
}
/// "If their factors are independent …, the sum has variance {} and standard deviation {}"
bool check_spread(const Match& match) {
    const auto d_k = static_cast<double>(match.state.document().size.d_k);
    return match.number(0) == d_k && shows(match.part[1], std::sqrt(d_k));
}
/// "A score is a sum of {}, independent and with variance 1, so its standard deviation is √{} {} {}"
bool check_root(const Match& match) {
    const Index d_k = saturation_controls(match.state).d_k;
    return match.part[0] == counted(d_k, "product") && match.count(1) == d_k &&
           shows(match.part[3], std::sqrt(static_cast<double>(d_k)));
}
/// "Without scaling, the logits are multiplied by √{} {} {}, …"
bool check_factor(const Match& match) {
    const Index d_k = saturation_controls(match.state).d_k;
    return match.count(0) == d_k && shows(match.part[2], std::sqrt(static_cast<double>(d_k)));
}
/// "About 99.7 % of raw scores lie between −{} and {}; …": the excess kurtosis of q·k, 6/d_k, is small.
bool check_normal(const Match& match) {
    const auto d_k = static_cast<double>(saturation_controls(match.state).d_k);
    const double outside = std::erfc(3.0 / std::sqrt(2.0)) +  // Edgeworth: (κ/12) He₃(3) φ(3)
                           6.0 / d_k / 12.0 * 18.0 * 0.004432;
    return match.part[0] == match.part[1] && shows(match.part[0], 3.0 * std::sqrt(d_k)) &&
           std::abs(outside - 0.003) < 0.0005;
}
/// "A dot product is a sum of {} product{}": of the dot product alone.
bool check_products(const Match& match) {
    const Document& document = match.state.document();
    return document.spec.score == Score::dot &&
           match.part[0] == counted(document.size.d_k, "product");
}
/// "In row {}, the largest weight a is {}, so a (1 − a) = {}"
bool check_slope(const Match& match) {
    const auto weights = jacobian_weights(match.state);
    double most = 0.0;
    for (std::size_t key = 0; key < weights.size(); ++key)
        if (may_attend_in_row(match.state, static_cast<Index>(key)) && weights[key] > most)
            most = weights[key];
    return match.part[0] == axis_label(match.state, Axis::query, gradients_look(match.state).row) &&
           shows(match.part[1], most) && shows(match.part[2], most * (1.0 - most));
}
/// "In the first step, {} of the rows are saturated {} and {}"
bool check_saturated(const Match& match) {
    const LearnSeries& series = *learn_look(match.state).series;
    const LearnControls& controls = series.request.plan.controls;
    const std::string second = match.part[2], name = " " + learn_run_text(controls, 1);
    if (!second.ends_with(name) || match.part[1] != learn_run_text(controls, 0)) return false;
    return shows(match.part[0], series.sides[0].records[0]->saturated) &&
           shows(second.substr(0, second.size() - name.size()),
                 series.sides[1].records[0]->saturated);
}
std::vector<double> logits_of(const Match& match) {
    const auto& logits = shown_of(match.state)->step->logits;
    return {logits.begin(), logits.end()};
}
/// "The model's last vector and the unembedding give {} logit{}: one for each token of the vocabulary"
bool check_logits(const Match& match) { return match.count(0) == std::ssize(logits_of(match)); }
/// The quoted token of a part has the n-th largest logit.
bool has_rank(const Match& match, std::size_t part, std::size_t n) {
    const auto logits = logits_of(match);
    const double wanted = sorted(logits)[n];
    for (std::size_t id = 0; id < logits.size(); ++id)
        if (logits[id] == wanted &&
            match.part[part] == quoted_token(match.state, static_cast<Index>(id)))
            return true;
    return false;
}
/// "The logit of {} leads that of {} by {}, so the model finds it e^{} = {} times as likely"
bool check_likelier(const Match& match) {
    const auto order = sorted(logits_of(match));
    const double lead = order[0] - order[1];
    return has_rank(match, 0, 0) && has_rank(match, 1, 1) && lead > 0.0 &&
           shows(match.part[2], lead) && match.part[3] == match.part[2] &&
           shows(match.part[4], std::exp(lead));
}
/// "{} and {} have the same logit, so they are equally likely"
bool check_equally_likely(const Match& match) {
    const auto order = sorted(logits_of(match));
    return order[0] == order[1] && has_rank(match, 0, 0) && has_rank(match, 1, 1);
}
Index keys_of(const Match& match) { return map_look(match.state).size.columns; }
bool check_even(const Match& match) {
    return match.count(0) == keys_of(match) && match.part[0] == match.part[1];
}
/// "Over {} equal scores, one more needs a lead of ln {} = {} to get half of the weight": e^d / (e^d + n − 1) = 1/2.
bool check_half(const Match& match) {
    const auto others = static_cast<double>(keys_of(match) - 1);
    const double power = std::exp(std::log(others));
    return match.number(0) == others && match.part[1] == match.part[0] &&
           shows(match.part[2], std::log(others)) &&
           std::abs(power / (power + others) - 0.5) < 1e-9;
}
/// "A head has a weight for each of {} × {} pairs, …"
bool check_pairs(const Match& match) {
    const CostSizes& sizes = cost_controls(match.state).sizes;
    return match.count(0) == sizes[CostSize::tq] && match.count(1) == sizes[CostSize::tk];
}
std::vector<double> lookup_scores(const Match& match) {
    const LookupControls& controls = lookup_controls(match.state);
    std::vector<double> scores;
    for (const LookupPair& pair : controls.pairs)
        scores.push_back(controls.query[0] * pair.k[0] + controls.query[1] * pair.k[1]);
    return scores;
}
/// "The score of “{}” leads that of “{}” by {}"
bool check_lookup_lead(const Match& match) {
    const auto scores = lookup_scores(match);
    const auto order = sorted(scores);
    const auto has = [&](std::size_t part, double score) {
        for (std::size_t n = 0; n < scores.size(); ++n)
            if (std::abs(scores[n] - score) < 1e-12 &&
                match.part[part] ==
                    shown_token(lookup_controls(match.state).pairs[n].key, kMostNamed))
                return true;
        return false;
    };
    return has(0, order[0]) && has(1, order[1]) && shows(match.part[2], order[0] - order[1]);
}
/// "Softmax compares differences: with τ = {}, this lead makes the weight e^({} / {}) = {} times as large"
bool check_lookup_factor(const Match& match) {
    const auto order = sorted(lookup_scores(match));
    const double tau = lookup_controls(match.state).temperature, lead = order[0] - order[1];
    return match.part[0] == significant(tau, 3) && match.part[2] == match.part[0] &&
           shows(match.part[1], lead) && shows(match.part[3], std::exp(lead / tau));
}
/// "Random directions in d_k = {} dimensions have cosines of mean 0 and standard deviation 1/√{} = {}"
bool check_directions(const Match& match) {
    const Index width = lookup_controls(match.state).width;
    return match.count(0) == width && match.count(1) == width &&
           shows(match.part[2], 1.0 / std::sqrt(static_cast<double>(width)));
}

constexpr Claim kClaims[] = {
    {"The score of “{}” for “{}” is {}; the second largest of its row is {}", check_scores},
    {"Softmax takes e^score, so a lead of {} makes a weight e^{} = {} times as large", check_lead},
    {"“{}” gives “{}” {} of its weight, so its context lies near the value of “{}” if the values "
     "are of similar length",
     check_given},
    {"If their factors are independent with mean 0 and variance 1, the sum has variance {} and "
     "standard deviation {}",
     check_spread},
    {"A score is a sum of {}, independent and with variance 1, so its standard deviation is √{} {} "
     "{}",
     check_root},
    {"Without scaling, the logits are multiplied by √{} {} {}, the standard deviation of q·k",
     check_factor},
    {"About 99.7 % of raw scores lie between −{} and {}; with scaling, between −3 and 3",
     check_normal},
    {"A dot product is a sum of {}", check_products},
    {"In row {}, the largest weight a is {}, so a (1 − a) = {}", check_slope},
    {"In the first step, {} of the rows are saturated {} and {}", check_saturated},
    {"The model's last vector and the unembedding give {} logit{}: one for each token of the "
     "vocabulary",
     check_logits},
    {"The logit of {} leads that of {} by {}, so the model finds it e^{} = {} times as likely",
     check_likelier},
    {"{} and {} have the same logit, so they are equally likely", check_equally_likely},
    {"Softmax gives each of {} equal scores the weight 1/{}", check_even},
    {"Over {} equal scores, one more needs a lead of ln {} = {} to get half of the weight",
     check_half},
    {"A head has a weight for each of {} × {} pairs, so twice the tokens make four times the "
     "weights",
     check_pairs},
    {"The score of “{}” leads that of “{}” by {}", check_lookup_lead},
    {"Softmax compares differences: with τ = {}, this lead makes the weight e^({} / {}) = {} times "
     "as large",
     check_lookup_factor},
    {"Random directions in d_k = {} dimensions have cosines of mean 0 and standard deviation "
     "1/√{} = {}",
     check_directions},
};

}  // namespace

std::span<const Claim> reason_claims() { return kClaims; }

}  // namespace attn::view
