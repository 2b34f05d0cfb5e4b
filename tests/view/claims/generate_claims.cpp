// Generate: what is next, what was taken, which number of the seed falls on it; computed again from the logits.

#include <numeric>

#include "app/common/format.h"
#include "app/common/keys.h"
#include "app/common/text.h"
#include "app/workspaces/generate/view.h"
#include "core/io/npy.h"
#include "core/rng.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

/// The candidates of the step that is looked at, by the definition of each rule.
struct Drawn {
    std::vector<Index> order;           // the largest logit first
    std::vector<double> before, after;  // by id
    std::size_t retained = 0;
    std::size_t next = 0;  // a place in `order`
};

std::vector<double> shares(const std::vector<float>& logits, double temperature,
                           const std::vector<Index>& among) {
    const double most = *std::ranges::max_element(logits);
    std::vector<double> p(logits.size(), 0.0);
    double sum = 0.0;
    for (const Index id : among) {
        const auto n = static_cast<std::size_t>(id);
        sum += p[n] = std::exp((logits[n] - most) / temperature);
    }
    for (double& each : p) each /= sum;
    return p;
}

Drawn drawn(const Match& match) {
    const GenerateControls& how = generate_controls(match.state);
    const auto& logits = shown_of(match.state)->step->logits;
    Drawn all;
    all.order.resize(logits.size());
    std::iota(all.order.begin(), all.order.end(), Index{0});
    std::ranges::stable_sort(all.order, [&](Index a, Index b) { return logits[a] > logits[b]; });
    all.before = shares(logits, 1.0, all.order);
    std::vector<Index> retained = all.order;
    if (how.greedy) {
        retained.resize(1);
    } else {
        if (how.top_k > 0)
            retained.resize(std::min(retained.size(), static_cast<std::size_t>(how.top_k)));
        const auto p = shares(logits, how.temperature, retained);
        double sum = 0.0;
        std::size_t count = 0;
        while (count < retained.size() && (sum < how.top_p || count == 0))
            sum += p[retained[count++]];
        if (how.top_p < 1.0) retained.resize(count);
    }
    all.retained = retained.size();
    all.after = shares(logits, how.greedy ? 1.0 : how.temperature, retained);
    const double u = uniform(how.seed, static_cast<std::uint64_t>(step_of(match.state)));
    double sum = 0.0;
    for (all.next = 0; all.next + 1 < all.retained; ++all.next)
        if ((sum += all.after[retained[all.next]]) > u) break;
    return all;
}

bool names(const Match& match, std::size_t part, Index id) {
    return match.part[part] == quoted_token(match.state, id);
}
double of(const std::vector<double>& p, Index id) { return p[id]; }

/// "{} {} next{}: its probability is {}": the token that the definition draws.
bool check_next(const Match& match, const Drawn& all) {
    const Index next = all.order[all.next];
    const bool at_random = !generate_controls(match.state).greedy && all.retained > 1;
    return names(match, 0, next) &&
           match.part[1] == (is_full(match.state) ? "would come" : "comes") &&
           match.part[2] == (at_random ? ", drawn at random" : "") &&
           shows(match.part[3], of(all.before, next));
}
/// … ", the largest of {} token{}"
bool check_likeliest(const Match& match) {
    const Drawn all = drawn(match);
    const auto& logits = shown_of(match.state)->step->logits;
    return check_next(match, all) && match.count(4) == std::ssize(all.order) &&
           logits[all.order[all.next]] == logits[all.order.front()] &&
           count_largest(logits) == 1 + tied(match.part[5]).others;
}
/// … "; the most likely token, {}, has {}"
bool check_less_likely(const Match& match) {
    const Drawn all = drawn(match);
    const auto& logits = shown_of(match.state)->step->logits;
    const Index best = all.order.front();
    const auto [probability, others] = tied(match.part[5]);
    return check_next(match, all) && names(match, 4, best) &&
           logits[all.order[all.next]] < logits[best] && shows(probability, of(all.before, best)) &&
           count_largest(logits) == 1 + others;
}
/// "Residual stream of {} → {} logit{} → softmax{} → {}"
bool check_chain(const Match& match) {
    const Drawn all = drawn(match);
    const GenerateControls& how = generate_controls(match.state);
    const Generated& written = written_of(match.state);
    const Index step = step_of(match.state);
    const std::string last = step == 0 ? "“" + shown_token(written.prompt.back()) + "”"
                                       : quoted_token(match.state, written.tokens[step - 1]);
    if (match.part[0] != last || match.count(1) != std::ssize(all.order)) return false;
    if (how.greedy) return match.part[3].empty() && match.part[4].starts_with("the largest");
    const auto t = parts_of(" with T = {}", match.part[3]);
    if (!t || !shows(t->front(), how.temperature)) return false;
    if (all.retained == 1) return match.part[4] == "the one token that is kept";
    const auto chosen = parts_of("one of {} tokens at random", match.part[4]);
    if (!chosen) return false;
    const bool cut = chosen->front().ends_with(" kept");
    return cut == (all.retained < all.order.size()) &&
           number_of(split(chosen->front(), " ").front()) == static_cast<double>(all.retained);
}
/// "cumulative p: {} to {}" of the token that the inspector explains.
std::pair<double, double> interval_of(const Match& match) {
    const Drawn all = drawn(match);
    double below = 0.0;
    const std::size_t place = explained_of(match.state);
    for (std::size_t n = 0; n < place; ++n) below += of(all.after, all.order[n]);
    return {below, below + of(all.after, all.order[place])};
}
bool check_cumulative(const Match& match) {
    const auto [low, high] = interval_of(match);
    return shows(match.part[0], low) && shows(match.part[1], high);
}
/// "u: {} (seed {}, step {}): {}"
bool check_u(const Match& match) {
    const auto [low, high] = interval_of(match);
    const double u = uniform(generate_controls(match.state).seed,
                             static_cast<std::uint64_t>(step_of(match.state)));
    const bool inside = match.part[3] == "in this interval, so selected";
    return shows(match.part[0], u) && match.count(2) == step_of(match.state) &&
           match.part[1] == std::to_string(generate_controls(match.state).seed) &&
           (inside ? u >= low - 1e-12 && u < high + 1e-12 : u < low + 1e-12 || u >= high - 1e-12);
}
/// "Step {} took {}: probability {}, {}"
bool check_taken(const Match& match) {
    const Drawn all = drawn(match);
    const Index step = match.count(0);
    const auto taken = taken_of(match.state);
    if (step != step_of(match.state) || step >= std::ssize(taken)) return false;
    const Index id = taken[step];
    if (!names(match, 1, id) || !shows(match.part[2], of(all.before, id))) return false;
    if (match.part[3] == "excluded by these settings") return of(all.after, id) == 0.0;
    const auto with = parts_of("{} with these settings", match.part[3]);
    return with && of(all.after, id) > 0.0 && shows((*with)[0], of(all.after, id));
}
/// "{} more: {} before temperature and truncation, {} after"
bool check_rest(const Match& match) {
    const Drawn all = drawn(match);
    double before = 1.0, after = 1.0;
    const auto bars = bars_of(match.state);
    for (const std::size_t place : bars) {
        before -= of(all.before, all.order[place]);
        after -= of(all.after, all.order[place]);
    }
    return match.count(0) == std::ssize(all.order) - std::ssize(bars) &&
           shows(match.part[1], std::max(before, 0.0)) &&
           shows(match.part[2], std::max(after, 0.0));
}
/// "kept: {} of {} tokens, {} of softmax(z)"
bool check_retained(const Match& match) {
    const Drawn all = drawn(match);
    double sum = 0.0;
    for (std::size_t n = 0; n < all.retained; ++n) sum += of(all.before, all.order[n]);
    return match.count(0) == static_cast<Index>(all.retained) &&
           match.count(1) == std::ssize(all.order) && shows(match.part[2], sum);
}
/// "token: {} of {}": the one that the inspector explains.
bool check_token(const Match& match) {
    const Drawn all = drawn(match);
    return match.count(0) == all.order[explained_of(match.state)] &&
           match.count(1) == std::ssize(all.order);
}
bool check_largest(const Match& match) { return explained_of(match.state) == 0; }
bool check_before(const Match& match) {
    return match.count(0) == static_cast<Index>(explained_of(match.state));
}
/// "top-k {}: {} ranked higher; {}"
bool check_top_k(const Match& match) {
    const Index place = static_cast<Index>(explained_of(match.state));
    const Index k = generate_controls(match.state).top_k;
    return match.count(0) == k && match.count(1) == place &&
           match.part[2] == (place < k ? "kept" : "excluded");
}
/// "top-p {}: higher-ranked tokens have total probability {}; {}": of those that top-k keeps, after temperature.
bool check_top_p(const Match& match) {
    const GenerateControls& how = generate_controls(match.state);
    const Drawn all = drawn(match);
    std::vector<Index> retained = all.order;
    if (how.top_k > 0)
        retained.resize(std::min(retained.size(), static_cast<std::size_t>(how.top_k)));
    const auto p = shares(shown_of(match.state)->step->logits, how.temperature, retained);
    const std::size_t place = explained_of(match.state);
    double sum = 0.0;
    for (std::size_t n = 0; n < place; ++n) sum += of(p, all.order[n]);
    return shows(match.part[0], how.top_p) && shows(match.part[1], sum) &&
           match.part[2] == (of(all.after, all.order[place]) > 0.0 || place < all.retained
                                 ? "kept"
                                 : "excluded");
}
/// "p after sampling settings: 0 (excluded)"
bool check_cut(const Match& match) {
    const Drawn all = drawn(match);
    return of(all.after, all.order[explained_of(match.state)]) == 0.0;
}
/// "KV cache {}": of as many tokens as the model has read there.
bool check_cache(const Match& match) {
    const Generated& written = written_of(match.state);
    const Index tokens = std::ssize(written.prompt) + step_of(match.state);
    return match.count(0) == written.layers && match.count(2) == written.kv_heads &&
           match.count(5) == tokens &&
           8 * match.count(0) * match.count(2) * match.count(4) * tokens ==
               written.bytes_of_token * tokens;
}

/// "KV cache {}; each token adds {}"
bool check_cache_bytes(const Match& match) {
    const Generated& written = written_of(match.state);
    const Index tokens = std::ssize(written.prompt) + step_of(match.state) + written.encoder_tokens;
    return match.part[0] == bytes_text(static_cast<double>(written.bytes_of_token * tokens)) &&
           match.part[1] == bytes_text(static_cast<double>(written.bytes_of_token));
}

constexpr Claim kClaims[] = {
    {"KV cache {}; each token adds {}", check_cache_bytes},
    {"{} {} next{}: its probability is {}, the largest of {} token{}", check_likeliest},
    {"{} {} next{}: its probability is {}; the most likely token, {}, has {}", check_less_likely},
    {"Step {} took {}: probability {}, {}", check_taken},
    {"Residual stream of {} → {} logit{} → softmax{} → {}", check_chain},
    {"cumulative p: {} to {}", check_cumulative},
    {"u: {} (seed {}, step {}): {}", check_u},
    {"{} more: {} before temperature and truncation, {} after", check_rest},
    {"kept: {} of {} tokens, {} of softmax(z)", check_retained},
    {"token: {} of {}", check_token},
    {"greedy: the largest logit, so it is taken", check_largest},
    {"greedy: {} ranked higher", check_before},
    {"top-k {}: {} ranked higher; {}", check_top_k},
    {"top-p {}: higher-ranked tokens have total probability {}; {}", check_top_p},
    {"p after sampling settings: 0 (excluded)", check_cut},
    {"2 · {} layer{} · {} head{} · {} · {} token{} · 4 bytes", check_cache},
};

}  // namespace

std::span<const Claim> generate_claims() { return kClaims; }

}  // namespace attn::view
