// The words of two texts as two rows, and the weights between them.

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/common/tokens.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/models/family.h"

namespace attn::view {
namespace {

std::vector<Index> counted_from(Index first, Index end) {
    std::vector<Index> all;
    for (Index n = first; n < end; ++n) all.push_back(n);
    return all;
}

/// Spaces around a token, which a vocabulary of subwords has, do not count.
std::string_view trimmed(std::string_view token) {
    for (const std::string_view space : {" ", "Ġ", "▁"})
        if (token.starts_with(space)) return trimmed(token.substr(space.size()));
    while (token.ends_with(' ')) token.remove_suffix(1);
    return token;
}

bool has_other_keys(const Document& document) {
    return !document.tokens_kv.empty() || !document.inputs->x_kv.empty();
}

/// A model that predicts the token after each query.
bool predicts_next(const Document& document) {
    return model_of(document) != nullptr && !document.read_out.next.empty() &&
           document.read_out.word.empty() && document.spec.mask.causal.has_value();
}

/// Of the text that the model itself offers.
bool has_own_parts(const AppState& state) {
    const Document& document = state.document();
    for (const std::string& token : tokenize(document.default_text))
        if (token == heads_look(state).parting) return true;
    return false;
}

/// The word of a query.
Index word_of(const AlignedParts& parts, Index query) { return parts.predicts ? query + 1 : query; }

template <class Positions>
std::optional<Index> place_in(const Positions& positions, Index position) {
    const auto found = std::ranges::find(positions, position);
    if (found == positions.end()) return std::nullopt;
    return found - positions.begin();
}

/// "3 pairs of lines cross", "no lines cross".
std::string crossings_text(Index crossings) {
    if (crossings == 0) return "no lines cross";
    return fmt::format("{} of lines {}", counted(crossings, "pair"),
                       crossings == 1 ? "crosses" : "cross");
}

/// The lines of one head, by the words' places.
void add_lines(HeadLinesView one, const AlignedParts& parts, std::vector<HeadLine>& lines) {
    for (HeadLine& line : one.lines) {
        const auto query = place_in(parts.queries, line.query);
        const auto key = place_in(parts.keys, line.key);
        if (!query || !key) continue;
        line.query = *query;
        line.key = *key;
        lines.push_back(line);
    }
}

/// Of each pair the strongest, the weaker ones left out.
void keep_strongest(std::vector<HeadLine>& lines) {
    std::ranges::stable_sort(lines, {}, &HeadLine::strength);
    std::vector<HeadLine> largest;
    for (auto line = lines.begin(); line != lines.end(); ++line)
        if (std::none_of(line + 1, lines.end(), [&](const HeadLine& later) {
                return later.query == line->query && later.key == line->key;
            }))
            largest.push_back(*line);
    lines = std::move(largest);
}

/// The target word with the largest weight on its source word: of those whose lines cross another, where there are some.
std::optional<large::Cell> clearest_pair(const AppState& state) {
    const AlignedParts parts = aligned_parts(state);
    const auto weights = heads_look(state).result->weights(head_here(state));
    const HeadAlignment found = head_alignment(weights, parts);
    std::optional<large::Cell> best;
    std::pair<bool, float> most{false, 0.0F};
    for (std::size_t n = 0; n < found.source.size(); ++n) {
        if (!found.source[n]) continue;
        const auto at = [&](std::size_t k) { return *found.source[k]; };
        bool crosses = false;
        for (std::size_t m = 0; m < found.source.size(); ++m)
            if (found.source[m]) crosses |= at(n) != at(m) && (n < m) == (at(n) > at(m));
        const large::Cell cell{parts.queries[n], parts.keys[*found.source[n]]};
        const std::pair each{crosses, weights(cell.row, cell.column)};
        if (best && each <= most) continue;
        best = cell;
        most = each;
    }
    return best;
}

}  // namespace

AlignedParts aligned_parts(const AppState& state) {
    const Document& document = state.document();
    AlignedParts parts;
    if (has_other_keys(document)) {
        parts.keys = counted_from(0, document.size.tk);
        parts.queries = counted_from(0, document.size.tq);
        return parts;
    }
    const std::string& parting = heads_look(state).parting;
    const auto& tokens = tokens_of(document, state.batch);
    const auto at = static_cast<Index>(
        std::ranges::find_if(tokens,
                             [&](const std::string& token) { return trimmed(token) == parting; }) -
        tokens.begin());
    const Index count = std::ssize(tokens);
    const bool square = document.size.tq == count && document.size.tk == count;
    if (at == 0 || at + 1 >= count || parting.empty() || !square) {
        parts.missing_data = fmt::format(
            "No token “{}” separates two parts of this text. Set “parts at” to the token that "
            "ends the source.",
            shown_token(parting));
        return parts;
    }
    parts.predicts = predicts_next(document);
    parts.keys = counted_from(0, at);
    parts.queries = parts.predicts ? counted_from(at, count - 1) : counted_from(at + 1, count);
    return parts;
}

HeadAlignment head_alignment(MatrixView<const float> weights, const AlignedParts& parts) {
    HeadAlignment found;
    std::vector<bool> seen(parts.keys.size(), false);
    for (const Index query : parts.queries) {
        auto& source = found.source.emplace_back();
        for (std::size_t n = 0; n < parts.keys.size() && query < weights.rows; ++n) {
            if (parts.keys[n] >= weights.columns) break;
            const double weight = weights(query, parts.keys[n]);
            if (!(weight > 0.5)) continue;
            source = static_cast<Index>(n);
            found.weight += weight;
            ++found.joined;
            if (!seen[n]) ++found.different;
            seen[n] = true;
            break;
        }
    }
    for (std::size_t n = 0; n < found.source.size(); ++n)
        for (std::size_t m = 0; m < n; ++m)
            if (found.source[n] && found.source[m] && *found.source[m] > *found.source[n])
                ++found.crossings;
    return found;
}

std::optional<HeadPlace> clearest_head(const AppState& state, Index layer) {
    const HeadsResult& result = *heads_look(state).result;
    const AlignedParts parts = aligned_parts(state);
    std::optional<HeadPlace> best;
    HeadAlignment most;
    for (const HeadFacts& facts : result.heads) {
        if (facts.place.layer != layer) continue;
        HeadAlignment each = head_alignment(result.weights(facts.place), parts);
        const auto key = [](const HeadAlignment& of) {
            return std::tuple(of.different, of.joined, of.weight);
        };
        if (best && key(each) <= key(most)) continue;
        best = facts.place;
        most = std::move(each);
    }
    return best;
}

std::string alignment_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (look.form != HeadForm::alignment || look.show != HeadShow::weights) return {};
    const HeadPlace here = head_here(state);
    const AlignedParts parts = aligned_parts(state);
    if (!parts.missing_data.empty() || look.result->find(here) == nullptr) return {};
    const HeadAlignment found = head_alignment(look.result->weights(here), parts);
    const Index all = std::ssize(parts.queries);
    if (found.joined == 0)
        return fmt::format("{} joins none of {} to a source word with a weight above 0.5.",
                           head_name(here), counted(all, "target word"));
    return fmt::format("{} joins {} of {} to {} with a weight above 0.5; {}.", head_name(here),
                       found.joined, counted(all, "target word"),
                       counted(found.different, "source word"), crossings_text(found.crossings));
}

void show_alignment_once(AppState& state) {
    const HeadsLook& now = heads_look(std::as_const(state));
    const ModelOrigin* const model = model_of(state.document());
    const std::string path = model == nullptr ? std::string() : model->path;
    if (!has_current_heads(state) || now.aligned_model == path) return;
    HeadsLook& look = heads_look(state);
    look.aligned_model = path;
    const bool plain = look.form == HeadForm::matrix || look.form == HeadForm::alignment;
    if (!plain || !has_own_parts(state) || !aligned_parts(state).missing_data.empty()) return;
    look.form = HeadForm::alignment;
    const Message message = state.message;
    if (const auto head = clearest_head(state, std::ssize(state.document().layers) - 1))
        carry_out(state, ShowHead{head->head, {}, head->layer});
    state.message = message;
    if (!has_current_heads(state)) run(heads_request(state), {}).carry_out(state);
    if (const auto pair = clearest_pair(state)) heads_look(state).pair = *pair;
}

HeadAlignmentView head_alignment_view(const AppState& state, const std::vector<HeadPlace>& places) {
    HeadAlignmentView view;
    view.parts = aligned_parts(state);
    view.missing_data = view.parts.missing_data;
    if (!view.missing_data.empty()) return view;
    const AlignedParts& parts = view.parts;
    HeadLinesView& made = view.lines;
    const bool one = places.size() == 1;
    const std::size_t count = std::min(places.size(), kMostOver);
    for (std::size_t n = 0; n < count; ++n) {
        HeadLinesView lines = head_lines(state, places[n]);
        if (!one) {
            const Color color = head_color(n, state.theme);
            for (HeadLine& line : lines.lines) line.color = color;
            made.heads.emplace_back(head_name(places[n]), color);
        }
        if (n == 0) made.title = lines.title, made.legend = {lines.legend.front()};
        add_lines(std::move(lines), parts, made.lines);
    }
    keep_strongest(made.lines);
    if (!one)
        made.title = fmt::format("the largest weight of {} at each pair",
                                 counted(static_cast<Index>(count), "head"));
    const auto queries = axis_labels(state, Axis::query, state.document().size.tq);
    const auto keys = axis_labels(state, Axis::key, state.document().size.tk);
    for (const Index key : parts.keys) made.keys.push_back(keys[key]);
    for (const Index query : parts.queries)
        made.queries.push_back(parts.predicts ? keys[word_of(parts, query)] : queries[query]);
    view.query = place_in(parts.queries, heads_look(state).pair.row);
    view.key = place_in(parts.keys, heads_look(state).pair.column);
    made.legend.insert(made.legend.begin(),
                       parts.predicts
                           ? "a target word's lines start at the query that predicts it: the "
                             "token before"
                           : "lines: weights of each target word's query");
    return view;
}

}  // namespace attn::view
