// The row that a query looks at, masks, softmax, gradients.

#include <regex>
#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/step/attention_text.h"
#include "core/masks.h"
#include "core/trace.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- the row that a query looks at

struct Story {
    std::vector<double> weights;  // of the keys that may be looked at
    std::vector<std::uint8_t> allowed;
    std::vector<double> all;
    Index query = -1;
};
std::optional<Story> story_of(const Match& match) {
    const bool parted = match.part.size() > 1 && match.part[1].find(": ") != std::string::npos &&
                        match.text.find(" of its ") != match.text.npos;
    const std::string opening =
        parted ? match.part[0] + ": " + split(match.part[1], ": ")[0] : match.part[0];
    const auto colon = opening.find(": ");
    const bool headed = opening.starts_with("Head ") || opening.starts_with("After dropout");
    Story story;
    story.query = labelled(match.state, Axis::query, headed ? opening.substr(colon + 2) : opening);
    const bool dropped = match.text.find("fter dropout") != match.text.npos;
    const Rows rows = rows_of(match.state, dropped ? Stage::dropped : Stage::weights);
    if (story.query < 0 || story.query >= rows.rows) return std::nullopt;
    story.allowed.resize(rows.columns);
    for (Index j = 0; j < rows.columns; ++j) {
        const bool may = allows(match.state, story.query, j);
        story.allowed[j] = may ? 1 : 0;
        story.all.push_back(rows(story.query, j));
        if (may) story.weights.push_back(rows(story.query, j));
    }
    return story;
}

bool check_percent(std::string_view bound, double percent, double weight) {
    if (bound == "over ") return weight > percent / 100.0 && weight < 1.0;
    if (bound == "under ") return weight < percent / 100.0 && weight > 0.0;
    return std::abs(100.0 * weight - percent) <= 0.5001;
}

/// A row's headline: without the masked keys, the rest and whether it is rounded.
bool is_headline(std::string_view text) { return text.starts_with("Headline: "); }

bool check_masked(const Story& story, std::string_view text) {
    if (is_headline(text)) return text.find(" masked") == text.npos;
    const auto masked = std::ranges::count(story.allowed, 0);
    const auto at = text.find(" masked");
    if (at == text.npos) return masked == 0;
    const auto start = text.rfind("; ", at);
    return number_of(text.substr(start + 2, at - start - 2)) == static_cast<double>(masked);
}

/// "cat 56 %, the and my 10 % each, and 17 others 24 % (rounded)".
bool check_list(const Match& match) {
    const auto story = story_of(match);
    if (!story || !check_masked(*story, match.text)) return false;
    std::string list = split(match.part[1], ";")[0];
    const bool rounded = list.ends_with(" (rounded)");
    if (rounded) list = list.substr(0, list.size() - 10);
    static const std::regex kItem(
        R"((?:, )?(?:and )?(?:(\d+) others? |(?:(.*?) )??)(over (?=99 )|under (?=1 ))?(\d+) %( each)?(?=, |$))");
    std::vector<double> left = story->weights;
    double last = HUGE_VAL;
    long total = 0;
    bool bounded = false;
    for (std::sregex_iterator it(list.begin(), list.end(), kItem), end; it != end; ++it) {
        const std::smatch& item = *it;
        const double percent = std::stod(item[4]);
        if (item[1].matched) {  // the rest
            double sum = 0.0;
            for (const double each : left) sum += each;
            if (std::ssize(left) != std::stol(item[1])) return false;
            if (percent == 0.0 && !item[3].matched ? sum != 0.0
                                                   : !check_percent(item[3].str(), percent, sum))
                return false;
            bounded = bounded || item[3].matched;
            total += std::lround(percent);
            left.clear();
            continue;
        }
        std::vector<std::string> names;
        Index more = 0;
        for (const std::string& some : split(item[2].str(), ", "))
            for (const std::string& name : split(some, " and "))
                if (const auto n = parts_of("{} more", name))
                    more = static_cast<Index>(number_of((*n)[0]));
                else
                    names.push_back(name);
        for (const std::string& name : names) {
            const Index key = labelled(match.state, Axis::key, name);
            if (key < 0 || story->allowed[key] == 0) return false;
            const double weight = story->all[key];
            if (weight > last || !check_percent(item[3].str(), percent, weight)) return false;
            last = weight;
            left.erase(std::ranges::find(left, weight));
        }
        for (Index n = 0; n < more; ++n) {
            const auto found = std::ranges::find(left, last);
            if (found == left.end()) return false;
            left.erase(found);
        }
        bounded = bounded || item[3].matched;
        total += std::lround(percent) * (std::ssize(names) + more);
    }
    double sum = 0.0;
    for (const double each : story->all) sum += each;
    const bool ordered = std::ranges::none_of(left, [&](double each) { return each > last; });
    if (is_headline(match.text)) return ordered;
    if (const auto parts = parts_of("{}; the sum is {} %{}", match.text))
        return ordered && shows((*parts)[1], 100.0 * sum);
    return ordered && left.empty() && std::abs(sum - 1.0) < 0.006 &&
           (bounded || rounded == (total != 100));
}

bool check_even(const Match& match) {
    const auto story = story_of(match);
    return story && check_masked(*story, match.text) &&
           std::ssize(story->weights) ==
               (match.part[1] == "both"
                    ? 2
                    : static_cast<Index>(number_of(split(match.part[1], "all ").back()))) &&
           std::ranges::all_of(story->weights, [&](double each) {
               return each == story->weights.front() &&
                      std::abs(100.0 * each - number_of(match.part[2])) <= 0.5001;
           });
}

/// "over 21 words: 3 % to 6 % each": no key stands out.
bool check_flat_row(const Match& match) {
    const auto story = story_of(match);
    if (!story || !check_masked(*story, match.text) ||
        std::ssize(story->weights) != match.count(1) || match.count(1) < 5)
        return false;
    const auto [low, high] = std::ranges::minmax(story->weights);
    const auto shows_share = [](std::string_view text, double weight) {
        if (text.starts_with("under 1")) return weight < 0.0051;
        return std::abs(100.0 * weight - number_of(text)) <= 0.5001;
    };
    double entropy = 0.0;
    for (const double weight : story->weights)
        if (weight > 0.0) entropy -= weight * std::log(weight);
    const std::string range = split(match.part[2], ";")[0];
    const auto ends = split(range, " to ");
    const std::string about = "about ";
    const bool one = range.starts_with(about);
    return entropy > 0.949 * std::log(static_cast<double>(match.count(1))) &&
           (one ? shows_share(range.substr(about.size()), low) &&
                      shows_share(range.substr(about.size()), high)
                : ends.size() == 2 && shows_share(ends[0], low) && shows_share(ends[1], high));
}

bool check_only(const Match& match) {
    const auto story = story_of(match);
    return story && check_masked(*story, match.text) && story->weights.size() == 1 &&
           story->allowed[labelled(match.state, Axis::key, match.part[1])] == 1 &&
           shows(split(match.part[2], ";")[0], story->weights.front());
}
bool check_no_word(const Match& match) {
    const auto story = story_of(match);
    const bool nan = match.text.find("NaN") != match.text.npos;
    return story && story->weights.empty() && std::ranges::all_of(story->all, [&](double w) {
               return nan ? std::isnan(w) : w == 0.0;
           });
}
bool check_zero_row(const Match& match) {
    const auto story = story_of(match);
    return story && std::ranges::all_of(story->all, [](double w) { return w == 0.0; });
}
bool check_nan_row(const Match& match) {
    const auto story = story_of(match);
    const auto nans =
        story ? std::ranges::count_if(story->all, [](double w) { return std::isnan(w); }) : -1;
    const bool all = match.text.find("has only NaN weights") != match.text.npos;
    return all ? nans == std::ssize(story->all)
               : nans == static_cast<Index>(number_of(split(match.part[1], ": ").back())) &&
                     std::ssize(story->all) == match.count(2);
}

// ---- masks, softmax, gradients

Index forbidden_pairs(const AppState& state) {
    const Dimensions& size = state.document().size;
    Index forbidden = 0;
    for (const auto [i, j] : each_cell(size.tq, size.tk)) forbidden += allows(state, i, j) ? 0 : 1;
    return forbidden;
}
bool check_forbidden(const Match& match) {
    const Dimensions& size = match.state.document().size;
    const Index forbidden = forbidden_pairs(match.state);
    if (match.part.size() < 2) return forbidden == 0;
    return forbidden == match.count(0) && match.count(1) == size.tq * size.tk;
}

/// "… but 3 of 4 rows hold NaN", "… may attend to no key and are 0", "… are 0".
bool check_softmax_rows(const Match& match) {
    const Rows rows = weights_of(match.state);
    const auto& what = match.part[3];
    Index count = 0;
    for (Index i = 0; i < rows.rows; ++i) {
        const auto row = rows.row(i);
        const auto is = [](auto test) { return [test](float w) { return test(w); }; };
        const bool nan = std::ranges::any_of(row, is([](float w) { return std::isnan(w); }));
        const bool zero = std::ranges::all_of(row, is([](float w) { return w == 0.0F; }));
        count += (what.find("NaN") != what.npos ? nan : zero) ? 1 : 0;
    }
    return count == match.count(1) && rows.rows == match.count(2);
}

/// Of the gradients that the canvas shows.
bool check_gradients(const Match& match) {
    const Rows rows = gradient_of(match.state, match.state.stage);
    std::vector<double> sizes;
    for (Index i = 0; i < rows.rows; ++i)
        for (const float each : rows.row(i)) sizes.push_back(std::abs(each));
    if (match.text.starts_with("Some"))
        return std::ranges::any_of(sizes, [](double each) { return std::isnan(each); });
    const auto [value, others] = tied(match.part.back());
    const double stated = std::abs(number_of(split(value, " in size")[0]));
    const bool all = match.part.size() == 1;
    return shows(std::string(value.starts_with("−") ? value.substr(3) : value)
                     .substr(0, value.find(" in")),
                 std::ranges::max(sizes)) &&
           stated >= 0.0 && count_largest(sizes) == (all ? std::ssize(sizes) : 1 + others);
}

bool check_alone(const Match& match) {
    const Rows rows = weights_of(match.state);
    const Index row = labelled(match.state, Axis::query, match.part[0]);
    if (row < 0 || row >= rows.rows) return false;
    Index allowed = 0;
    for (Index j = 0; j < rows.columns; ++j) allowed += allows(match.state, row, j) ? 1 : 0;
    const Index key = labelled(match.state, Axis::key, match.part[1]);
    return allowed == 1 && key >= 0 && rows(row, key) == 1.0F;
}
bool check_left_out(const Match& match) {  // of some head: a joined context shows them all
    const Document& document = match.state.document();
    const auto masked = [&](Index h, Index row) {
        Index count = 0;
        for (Index j = 0; j < document.size.tk; ++j)
            count +=
                may_attend(document.spec.mask, document.size, match.state.batch, h, row, j) ? 0 : 1;
        return count;
    };
    for (const auto& cell : {match.state.selected, match.state.hovered})
        for (Index h = 0; cell && cell->row < document.size.tq && h < document.size.heads; ++h)
            if (masked(h, cell->row) == match.count(0)) return true;
    return false;
}
/// "cat → sat: masked, so the weight is 0", "…: allowed by every rule, weight 0.14".
bool check_pair(const Match& match) {
    const Rows rows = weights_of(match.state);
    const Index row = labelled(match.state, Axis::query, match.part[0]);
    const Index key = labelled(match.state, Axis::key, match.part[1]);
    if (row < 0 || key < 0) return false;
    const bool may = allows(match.state, row, key);
    const bool masked = match.text.ends_with("masked, so the weight is 0");
    if (row >= rows.rows || masked)
        return masked != may && (row >= rows.rows || rows(row, key) == 0.0F);
    return may && shows(match.part[2], rows(row, key));
}
bool check_masked_word(const Match& match) {
    const Index row = labelled(match.state, Axis::query, match.part[0]);
    const Index key = labelled(match.state, Axis::key, match.part[1]);
    return row >= 0 && key >= 0 && !allows(match.state, row, key);
}
/// Of the pair that is looked at.
bool check_masked_pair(const Match& match) {
    const Rows rows = weights_of(match.state);
    for (const auto [i, j] : each_cell(rows))
        if (!allows(match.state, i, j)) return true;
    return false;
}
/// Of the pair that is looked at, where that is one of weights: 0 before dropout.
bool check_masked_before_dropout(const Match& match) {
    const Rows rows = weights_of(match.state);
    for (const auto [i, j] : each_cell(rows)) {
        const auto& cell = match.state.hovered ? match.state.hovered : match.state.selected;
        const bool other = cell && cell->tensor == OperandId(Stage::dropped) &&
                           (cell->row != i || cell->column != j);
        if (!other && rows(i, j) == 0.0F && !allows(match.state, i, j)) return true;
    }
    return false;
}
bool check_no_mask(const Match& match) { return forbidden_pairs(match.state) == 0; }
bool check_dropout(const Match& match) {
    const Rows was = weights_of(match.state), is = rows_of(match.state, Stage::dropped);
    Index out = 0, least = 0;
    for (const auto [i, j] : each_cell(is)) {
        out += is(i, j) == 0.0F ? 1 : 0;
        least += is(i, j) == 0.0F && was(i, j) != 0.0F ? 1 : 0;
    }
    return match.count(0) >= least && match.count(0) <= out &&
           static_cast<Index>(number_of(split(match.part[1], " ")[0])) <= is.rows * is.columns;
}
/// "m: max of 3 scores = 1.41": of some row.
bool check_row_largest(const Match& match) {
    const Rows m = rows_of(match.state, Stage::masked);
    if (match.text.find("sink") != match.text.npos || match.state.workspace != "step") return true;
    for (Index i = 0; i < m.rows; ++i) {
        Index allowed = 0;
        for (Index j = 0; j < m.columns; ++j) allowed += allows(match.state, i, j) ? 1 : 0;
        if (allowed == static_cast<Index>(number_of(split(match.part[0], " ")[0])) &&
            shows(match.part[1], std::ranges::max(m.row(i))))
            return true;
    }
    return false;
}
bool check_some_nan(const Match& match) {
    const Rows rows = weights_of(match.state);
    for (Index i = 0; i < rows.rows; ++i)
        if (std::ranges::any_of(rows.row(i), [](float w) { return std::isnan(w); })) return true;
    return false;
}
/// "The 3 scores that count in this row are all 0: …".
bool check_equal_scores(const Match& match) {
    const Rows m = rows_of(match.state, Stage::masked), a = weights_of(match.state);
    for (Index i = 0; i < m.rows; ++i) {
        std::vector<float> finite;
        for (const float each : m.row(i))
            if (std::isfinite(each)) finite.push_back(each);
        const auto count = match.count(0) - (match.text.find("sink") != match.text.npos ? 1 : 0);
        if (std::ssize(finite) == count && std::ranges::min(finite) == std::ranges::max(finite) &&
            std::abs(std::ranges::max(a.row(i)) - 1.0 / match.number(0)) < 1e-5)
            return true;
    }
    return false;
}
/// "The largest products by magnitude: columns 1 (0.80) and 0 (0.80)": of the pair that is looked at.
bool check_products(const Match& match) {
    const bool turned = match.state.document().spec.rope.has_value();
    const Rows q = rows_of(match.state, turned ? Stage::q_rot : Stage::q),
               k = rows_of(match.state, turned ? Stage::k_rot : Stage::k);
    for (const auto [i, j] : each_cell(q.rows, k.rows)) {
        std::vector<double> sizes;
        for (Index c = 0; c < q.columns; ++c) sizes.push_back(std::abs(double{q(i, c)} * k(j, c)));
        const double most = std::ranges::max(sizes);
        if (match.part.empty()
                ? most == 0.0
                : std::ranges::any_of(split(match.part[0], ", "), [&](const std::string& each) {
                      const auto parts = parts_of("{} ({}){}", each);
                      return parts && shows((*parts)[1].starts_with("−") ? (*parts)[1].substr(3)
                                                                         : (*parts)[1],
                                            most);
                  }))
            return true;
    }
    return false;
}
/// "Against “cat” (score 1.20): column 1 (0.80) favours “sat”; no column favours “cat”": the rival's score.
bool check_rival(const Match& match) {
    const Rows scores = rows_of(match.state, Stage::scores);
    const Index key = labelled(match.state, Axis::key, match.part[0]);
    for (Index i = 0; i < scores.rows && key >= 0 && key < scores.columns; ++i)
        if (shows(match.part[1], scores(i, key))) return true;
    return false;
}
bool check_same_scores(const Match& match) {
    const Rows scores = rows_of(match.state, Stage::scores);
    const Index a = labelled(match.state, Axis::key, match.part[0]);
    const Index b = labelled(match.state, Axis::key, match.part[1]);
    for (Index i = 0; i < scores.rows && a >= 0 && b >= 0; ++i)
        if (std::abs(scores(i, a) - scores(i, b)) <= kTie * std::abs(scores(i, a))) return true;
    return false;
}
bool check_asymmetric(
    const Match& match) {  // "M[a, b] and M[b, a] are the same score, and yet A[b, a] is 20 %: …"
    const auto one = named(match.state, match.part[0]), two = named(match.state, match.part[1]),
               three = named(match.state, match.part[2]);
    return one && two && three &&
           rows_of(match.state, one->stage)(one->row, one->column) ==
               rows_of(match.state, two->stage)(two->row, two->column) &&
           shows(match.part[3], weights_of(match.state)(three->row, three->column)) &&
           weights_of(match.state)(three->row, three->column) !=
               weights_of(match.state)(three->column, three->row);
}
bool check_all_nan(const Match& match) {
    return std::ranges::any_of(match.state.trace->stages, [](const Tensor& tensor) {
        return std::ranges::any_of(tensor.values(), [](float v) { return std::isnan(v); });
    });
}

/// "Q[cat, 1] in head 0 is NaN, so 2 rows of weights here hold NaN".
bool check_first_nan(const Match& match) {
    const Rows weights = rows_of(match.state, Stage::weights);
    Index rows = 0;
    for (Index i = 0; i < weights.rows; ++i) {
        bool any = false;
        for (Index j = 0; j < weights.columns; ++j) any = any || std::isnan(weights(i, j));
        rows += any ? 1 : 0;
    }
    if (match.text.find(" of weights ") == match.text.npos)
        return rows == 0 || match.part[0].find_first_of("VO") != std::string::npos;
    return static_cast<Index>(number_of(match.part[1])) == rows;
}

bool check_headline(const Match& match) {
    for (const Claim& each : row_claims())
        if (!is_headline(each.pattern))
            if (auto parts = parts_of(each.pattern, match.part[0]))
                return each.holds(Match{match.state, match.text, *std::move(parts)});
    return false;
}

constexpr Claim kClaims[] = {
    {"Headline: {}", check_headline},
    {"{} attends equally to {} tokens, {} %{}", check_even},
    {"{} attends equally to {} tokens that it can see, {} %{}", check_even},
    {"{} spreads its weight over {} tokens: {} each{}", check_flat_row},
    {"{} spreads its weight over {} tokens that it can see: {} each{}", check_flat_row},
    {"{} looks at no token: its weights are 0{}", check_zero_row},
    {"{} looks at {}", check_list},
    {"{} can see no token{}", check_no_word},
    {"{} can see only {}: {}", check_only},
    {"{} is NaN, so {} rows of weights here hold NaN", check_first_nan},
    {"{} is NaN, so {} row of weights here holds NaN", check_first_nan},
    {"{} is NaN, so the {} holds NaN", check_first_nan},
    {"{} has only NaN weights", check_nan_row},
    {"{} has NaN in {} of {} weights", check_nan_row},
    {"{} has NaN in {} of {} weights; {} masked", check_nan_row},
    {"{} → {}: masked, so the weight is 0", check_pair},
    {"{} → {}: masked", check_masked_word},
    {"{} → {}: forbidden by {}", check_masked_word},
    {"{} → {}: allowed by every rule, weight {}", check_pair},
    {"{} → {}: allowed, because no rule is set, weight {}", check_pair},
    {"The pair is masked: exp(−∞) = 0, the weight is exactly 0", check_masked_pair},
    {"The pair is masked: its weight is 0 before dropout", check_masked_before_dropout},
    {"The mask forbids the pair, so its score changes no weight", check_masked_pair},
    {"The mask leaves no key: {}", check_masked_pair},
    {"the mask forbids the pair", check_masked_pair},
    {"Causal mask off; no other mask is set, so every query may see every key", check_no_mask},
    {"Causal mask off. No other mask is set, so every query may see every key", check_no_mask},
    {"no rule is set: every pair is allowed", check_no_mask},
    {"Dropout sets {} of {} to 0 at random{}", check_dropout},
    {"m: max of {} = {}", check_row_largest},
    {"All allowed scores are −∞: 0 ÷ 0 is NaN", check_some_nan},
    {"A score of the row is {}, so all its allowed weights are NaN", check_some_nan},
    {"The {} scores that count in this row{} are all {}", check_equal_scores},
    {"The largest product by magnitude: column{}", check_products},
    {"The largest products by magnitude: column{}", check_products},
    {"Against “{}” (score {}): {}", check_rival},
    {"No column distinguishes “{}” from “{}”: their scores are equal", check_same_scores},
    {"Every product is 0: q and k share no column, and the score is 0", check_products},
    {"All numbers of this head are NaN", check_all_nan},
    {"The mask sets {} of {} scores to −∞", check_forbidden},
    {"The mask forbids no pair here: every query may attend to every key", check_forbidden},
    {"There is no mask: every query may attend to every key", check_forbidden},
    {"Softmax turns {} weights that sum to 1, but {} of {} row{}", check_softmax_rows},
    {"Softmax turns {} without a value, but {} of {} row{}", check_softmax_rows},
    {"Largest magnitude: {} = {}", check_gradients},
    {"All of these gradients are {}", check_gradients},
    {"Some of these gradients are NaN", check_gradients},
    {"{} → {} is the only key of its row, so its weight stays 1", check_alone},
    {"{} masked keys have weight 0 and are left out", check_left_out},
    {"{} masked key has weight 0 and is left out", check_left_out},
    {"{} and {} are the same score, and yet {} is {}: softmax divides{}", check_asymmetric},
};

}  // namespace

std::span<const Claim> row_claims() { return kClaims; }

}  // namespace attn::view
