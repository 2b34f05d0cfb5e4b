// The row that a query looks at, masks, softmax, gradients.

#include <regex>
#include "app/common/sheet.h"
#include "app/workspaces/step/attention_words.h"
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
std::optional<Story> story_of(const Match& told) {
    const bool parted = told.part.size() > 1 && told.part[1].find(": ") != std::string::npos &&
                        told.words.find(" of its ") != told.words.npos;
    const std::string opening =
        parted ? told.part[0] + ": " + split(told.part[1], ": ")[0] : told.part[0];
    const auto colon = opening.find(": ");
    const bool headed = opening.starts_with("Head ") || opening.starts_with("After dropout");
    Story story;
    story.query = labelled(told.state, Axis::query, headed ? opening.substr(colon + 2) : opening);
    const bool dropped = told.words.find("fter dropout") != told.words.npos;
    const Rows rows = rows_of(told.state, dropped ? Stage::dropped : Stage::weights);
    if (story.query < 0 || story.query >= rows.rows) return std::nullopt;
    story.allowed.resize(rows.columns);
    for (Index j = 0; j < rows.columns; ++j) {
        const bool may = allows(told.state, story.query, j);
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
bool is_headline(std::string_view words) { return words.starts_with("Headline: "); }

bool check_masked(const Story& story, std::string_view words) {
    if (is_headline(words)) return words.find(" masked") == words.npos;
    const auto masked = std::ranges::count(story.allowed, 0);
    const auto at = words.find(" masked");
    if (at == words.npos) return masked == 0;
    const auto start = words.rfind("; ", at);
    return number_of(words.substr(start + 2, at - start - 2)) == static_cast<double>(masked);
}

/// "cat 56 %, the and my 10 % each, and 24 % on 17 others (rounded)".
bool check_list(const Match& told) {
    const auto story = story_of(told);
    if (!story || !check_masked(*story, told.words)) return false;
    std::string list = split(told.part[1], ";")[0];
    const bool rounded = list.ends_with(" (rounded)");
    if (rounded) list = list.substr(0, list.size() - 10);
    static const std::regex kItem(
        R"((?:, )?(?:and )?(?:(nothing)|(?:(.*?) )??(over (?=99 )|under (?=1 ))?(\d+) %( each)?)(?: on (\d+) others?)?(?=, |$))");
    std::vector<double> left = story->weights;
    double last = HUGE_VAL;
    long total = 0;
    bool bounded = false;
    for (std::sregex_iterator it(list.begin(), list.end(), kItem), end; it != end; ++it) {
        const std::smatch& item = *it;
        const double percent = item[4].matched ? std::stod(item[4]) : 0.0;
        if (item[6].matched) {  // the rest
            double sum = 0.0;
            for (const double each : left) sum += each;
            if (std::ssize(left) != std::stol(item[6])) return false;
            if (item[1].matched ? sum != 0.0 : !check_percent(item[3].str(), percent, sum))
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
            const Index key = labelled(told.state, Axis::key, name);
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
    if (is_headline(told.words)) return ordered;
    if (const auto parts = parts_of("{}; the sum is {} %{}", told.words))
        return ordered && shows((*parts)[1], 100.0 * sum);
    return ordered && left.empty() && std::abs(sum - 1.0) < 0.006 &&
           (bounded || rounded == (total != 100));
}

bool check_even(const Match& told) {
    const auto story = story_of(told);
    return story && check_masked(*story, told.words) &&
           std::ssize(story->weights) ==
               (told.part[1] == "both"
                    ? 2
                    : static_cast<Index>(number_of(split(told.part[1], "all ").back()))) &&
           std::ranges::all_of(story->weights, [&](double each) {
               return each == story->weights.front() &&
                      std::abs(100.0 * each - number_of(told.part[2])) <= 0.5001;
           });
}

bool check_only(const Match& told) {
    const auto story = story_of(told);
    return story && check_masked(*story, told.words) && story->weights.size() == 1 &&
           story->allowed[labelled(told.state, Axis::key, told.part[1])] == 1 &&
           shows(split(told.part[2], ";")[0], story->weights.front());
}
bool check_no_word(const Match& told) {
    const auto story = story_of(told);
    const bool nan = told.words.find("NaN") != told.words.npos;
    return story && story->weights.empty() && std::ranges::all_of(story->all, [&](double w) {
               return nan ? std::isnan(w) : w == 0.0;
           });
}
bool check_zero_row(const Match& told) {
    const auto story = story_of(told);
    return story && std::ranges::all_of(story->all, [](double w) { return w == 0.0; });
}
bool check_nan_row(const Match& told) {
    const auto story = story_of(told);
    const auto nans =
        story ? std::ranges::count_if(story->all, [](double w) { return std::isnan(w); }) : -1;
    const bool all = told.words.find("all its weights") != told.words.npos;
    return all ? nans == std::ssize(story->all)
               : nans == static_cast<Index>(number_of(split(told.part[1], ": ").back())) &&
                     std::ssize(story->all) == told.count(2);
}

// ---- masks, softmax, gradients

Index forbidden_pairs(const AppState& state) {
    const Dimensions& size = state.document().size;
    Index forbidden = 0;
    for (const auto [i, j] : each_cell(size.tq, size.tk)) forbidden += allows(state, i, j) ? 0 : 1;
    return forbidden;
}
bool check_forbidden(const Match& told) {
    const Dimensions& size = told.state.document().size;
    const Index forbidden = forbidden_pairs(told.state);
    if (told.part.size() < 2) return forbidden == 0;
    return forbidden == told.count(0) && told.count(1) == size.tq * size.tk;
}

/// "… but 3 of 4 rows hold NaN", "… may attend to no key and are 0", "… are 0".
bool check_softmax_rows(const Match& told) {
    const Rows rows = weights_of(told.state);
    const auto& what = told.part[3];
    Index count = 0;
    for (Index i = 0; i < rows.rows; ++i) {
        const auto row = rows.row(i);
        const auto is = [](auto test) { return [test](float w) { return test(w); }; };
        const bool nan = std::ranges::any_of(row, is([](float w) { return std::isnan(w); }));
        const bool zero = std::ranges::all_of(row, is([](float w) { return w == 0.0F; }));
        count += (what.find("NaN") != what.npos ? nan : zero) ? 1 : 0;
    }
    return count == told.count(1) && rows.rows == told.count(2);
}

/// Of the gradients that the canvas shows.
bool check_gradients(const Match& told) {
    const Rows rows = gradient_of(told.state, told.state.stage);
    std::vector<double> sizes;
    for (Index i = 0; i < rows.rows; ++i)
        for (const float each : rows.row(i)) sizes.push_back(std::abs(each));
    if (told.words.starts_with("Some"))
        return std::ranges::any_of(sizes, [](double each) { return std::isnan(each); });
    const auto [value, others] = tied(told.part.back());
    const double said = std::abs(number_of(split(value, " in size")[0]));
    const bool all = told.part.size() == 1;
    return shows(std::string(value.starts_with("−") ? value.substr(3) : value)
                     .substr(0, value.find(" in")),
                 std::ranges::max(sizes)) &&
           said >= 0.0 && count_largest(sizes) == (all ? std::ssize(sizes) : 1 + others);
}

bool check_alone(const Match& told) {
    const Rows rows = weights_of(told.state);
    const Index row = labelled(told.state, Axis::query, told.part[0]);
    if (row < 0 || row >= rows.rows) return false;
    Index allowed = 0;
    for (Index j = 0; j < rows.columns; ++j) allowed += allows(told.state, row, j) ? 1 : 0;
    const Index key = labelled(told.state, Axis::key, told.part[1]);
    return allowed == 1 && key >= 0 && rows(row, key) == 1.0F;
}
bool check_left_out(const Match& told) {  // of some head: a joined context shows them all
    const Document& document = told.state.document();
    const auto masked = [&](Index h, Index row) {
        Index count = 0;
        for (Index j = 0; j < document.size.tk; ++j)
            count +=
                may_attend(document.spec.mask, document.size, told.state.batch, h, row, j) ? 0 : 1;
        return count;
    };
    for (const auto& cell : {told.state.selected, told.state.hovered})
        for (Index h = 0; cell && cell->row < document.size.tq && h < document.size.heads; ++h)
            if (masked(h, cell->row) == told.count(0)) return true;
    return false;
}
/// "cat → sat: masked: the weight is 0", "…: allowed by every rule, weight 0.14".
bool check_pair(const Match& told) {
    const Rows rows = weights_of(told.state);
    const Index row = labelled(told.state, Axis::query, told.part[0]);
    const Index key = labelled(told.state, Axis::key, told.part[1]);
    if (row < 0 || key < 0) return false;
    const bool may = allows(told.state, row, key);
    const bool masked = told.words.ends_with("masked: the weight is 0");
    if (row >= rows.rows || masked)
        return masked != may && (row >= rows.rows || rows(row, key) == 0.0F);
    return may && shows(told.part[2], rows(row, key));
}
bool check_masked_word(const Match& told) {
    const Index row = labelled(told.state, Axis::query, told.part[0]);
    const Index key = labelled(told.state, Axis::key, told.part[1]);
    return row >= 0 && key >= 0 && !allows(told.state, row, key);
}
/// Of the pair that is looked at.
bool check_masked_pair(const Match& told) {
    const Rows rows = weights_of(told.state);
    for (const auto [i, j] : each_cell(rows))
        if (!allows(told.state, i, j)) return true;
    return false;
}
/// Of the pair that is looked at, where that is one of weights: 0 before dropout.
bool check_masked_before_dropout(const Match& told) {
    const Rows rows = weights_of(told.state);
    for (const auto [i, j] : each_cell(rows)) {
        const auto& cell = told.state.hovered ? told.state.hovered : told.state.selected;
        const bool other = cell && cell->tensor == OperandId(Stage::dropped) &&
                           (cell->row != i || cell->column != j);
        if (!other && rows(i, j) == 0.0F && !allows(told.state, i, j)) return true;
    }
    return false;
}
bool check_no_mask(const Match& told) { return forbidden_pairs(told.state) == 0; }
bool check_dropout(const Match& told) {
    const Rows was = weights_of(told.state), is = rows_of(told.state, Stage::dropped);
    Index out = 0, least = 0;
    for (const auto [i, j] : each_cell(is)) {
        out += is(i, j) == 0.0F ? 1 : 0;
        least += is(i, j) == 0.0F && was(i, j) != 0.0F ? 1 : 0;
    }
    return told.count(0) >= least && told.count(0) <= out &&
           static_cast<Index>(number_of(split(told.part[1], " ")[0])) <= is.rows * is.columns;
}
/// "m: max of 3 scores = 1.41": of some row.
bool check_row_largest(const Match& told) {
    const Rows m = rows_of(told.state, Stage::masked);
    if (told.words.find("sink") != told.words.npos || told.state.workspace != "step") return true;
    for (Index i = 0; i < m.rows; ++i) {
        Index allowed = 0;
        for (Index j = 0; j < m.columns; ++j) allowed += allows(told.state, i, j) ? 1 : 0;
        if (allowed == static_cast<Index>(number_of(split(told.part[0], " ")[0])) &&
            shows(told.part[1], std::ranges::max(m.row(i))))
            return true;
    }
    return false;
}
bool check_some_nan(const Match& told) {
    const Rows rows = weights_of(told.state);
    for (Index i = 0; i < rows.rows; ++i)
        if (std::ranges::any_of(rows.row(i), [](float w) { return std::isnan(w); })) return true;
    return false;
}
/// "The 3 scores that count in this row are all 0: …".
bool check_equal_scores(const Match& told) {
    const Rows m = rows_of(told.state, Stage::masked), a = weights_of(told.state);
    for (Index i = 0; i < m.rows; ++i) {
        std::vector<float> finite;
        for (const float each : m.row(i))
            if (std::isfinite(each)) finite.push_back(each);
        const auto count = told.count(0) - (told.words.find("sink") != told.words.npos ? 1 : 0);
        if (std::ssize(finite) == count && std::ranges::min(finite) == std::ranges::max(finite) &&
            std::abs(std::ranges::max(a.row(i)) - 1.0 / told.number(0)) < 1e-5)
            return true;
    }
    return false;
}
/// "The largest products in size: columns 1 (0.80) and 0 (0.80)": of the pair that is looked at.
bool check_products(const Match& told) {
    const bool turned = told.state.document().spec.rope.has_value();
    const Rows q = rows_of(told.state, turned ? Stage::q_rot : Stage::q),
               k = rows_of(told.state, turned ? Stage::k_rot : Stage::k);
    for (const auto [i, j] : each_cell(q.rows, k.rows)) {
        std::vector<double> sizes;
        for (Index c = 0; c < q.columns; ++c) sizes.push_back(std::abs(double{q(i, c)} * k(j, c)));
        const double most = std::ranges::max(sizes);
        if (told.part.empty()
                ? most == 0.0
                : std::ranges::any_of(split(told.part[0], ", "), [&](const std::string& each) {
                      const auto parts = parts_of("{} ({}){}", each);
                      return parts && shows((*parts)[1].starts_with("−") ? (*parts)[1].substr(3)
                                                                         : (*parts)[1],
                                            most);
                  }))
            return true;
    }
    return false;
}
/// "Against cat (score 1.20): column 1 (0.80) speaks for sat; no column speaks for cat": the rival's score.
bool check_rival(const Match& told) {
    const Rows scores = rows_of(told.state, Stage::scores);
    const Index key = labelled(told.state, Axis::key, told.part[0]);
    for (Index i = 0; i < scores.rows && key >= 0 && key < scores.columns; ++i)
        if (shows(told.part[1], scores(i, key))) return true;
    return false;
}
bool check_same_scores(const Match& told) {
    const Rows scores = rows_of(told.state, Stage::scores);
    const Index a = labelled(told.state, Axis::key, told.part[0]);
    const Index b = labelled(told.state, Axis::key, told.part[1]);
    for (Index i = 0; i < scores.rows && a >= 0 && b >= 0; ++i)
        if (std::abs(scores(i, a) - scores(i, b)) <= kTie * std::abs(scores(i, a))) return true;
    return false;
}
bool check_asymmetric(
    const Match& told) {  // "M[a, b] and M[b, a] are the same score, and yet A[b, a] is 20 %: …"
    const auto one = named(told.state, told.part[0]), two = named(told.state, told.part[1]),
               three = named(told.state, told.part[2]);
    return one && two && three &&
           rows_of(told.state, one->stage)(one->row, one->column) ==
               rows_of(told.state, two->stage)(two->row, two->column) &&
           shows(told.part[3], weights_of(told.state)(three->row, three->column)) &&
           weights_of(told.state)(three->row, three->column) !=
               weights_of(told.state)(three->column, three->row);
}
bool check_all_nan(const Match& told) {
    return std::ranges::any_of(told.state.trace->stages, [](const Tensor& tensor) {
        return std::ranges::any_of(tensor.values(), [](float v) { return std::isnan(v); });
    });
}

bool check_headline(const Match& told) {
    for (const Claim& each : row_claims())
        if (!is_headline(each.pattern))
            if (auto parts = parts_of(each.pattern, told.part[0]))
                return each.holds(Match{told.state, told.words, *std::move(parts)});
    return false;
}

constexpr Claim kClaims[] = {
    {"Headline: {}", check_headline},
    {"{} attends equally to {} words, {} %{}", check_even},
    {"{} attends equally to {} words that it can see, {} %{}", check_even},
    {"{} looks at no word: its weights are 0{}", check_zero_row},
    {"{} looks at {}", check_list},
    {"{} can see no word{}", check_no_word},
    {"{} can only see {}: {}", check_only},
    {"{}: all its weights are NaN", check_nan_row},
    {"{}: {} of its {} weights are NaN", check_nan_row},
    {"{}: {} of its {} weights are NaN; {} masked", check_nan_row},
    {"{} → {}: masked: the weight is 0", check_pair},
    {"{} → {}: masked", check_masked_word},
    {"{} → {}: forbidden by {}", check_masked_word},
    {"{} → {}: allowed by every rule, weight {}", check_pair},
    {"{} → {}: allowed, no rule is set, weight {}", check_pair},
    {"The pair is masked: exp(−∞) = 0, the weight is exactly 0", check_masked_pair},
    {"The pair is masked: its weight is 0 before dropout", check_masked_before_dropout},
    {"The mask cuts the pair off: its score reaches no weight", check_masked_pair},
    {"The mask leaves no key: {}", check_masked_pair},
    {"the mask forbids the pair", check_masked_pair},
    {"Causal mask off, no other mask is set: every query may see every key", check_no_mask},
    {"no rule is set: every pair is allowed", check_no_mask},
    {"Dropout took out {} of {} at random{}", check_dropout},
    {"m: max of {} = {}", check_row_largest},
    {"All allowed scores are −∞: 0 ÷ 0 is NaN", check_some_nan},
    {"A score of the row is {}, so all its allowed weights are NaN", check_some_nan},
    {"The {} scores that count in this row{} are all {}", check_equal_scores},
    {"The largest product in size: column{}", check_products},
    {"The largest products in size: column{}", check_products},
    {"Against {} (score {}): {}", check_rival},
    {"No column tells {} from {}: the scores are the same", check_same_scores},
    {"Every product is 0: q and k share no column, and the score is 0", check_products},
    {"All its numbers are NaN", check_all_nan},
    {"The mask sets {} of {} scores to −∞", check_forbidden},
    {"The mask forbids no pair here: every query may attend to every key", check_forbidden},
    {"There is no mask: every query may attend to every key", check_forbidden},
    {"Softmax turns {} shares that sum to 1, but {} of {} row{}", check_softmax_rows},
    {"Softmax turns {} that has no value, but {} of {} row{}", check_softmax_rows},
    {"Largest in size: {} = {}", check_gradients},
    {"All of these gradients are {}", check_gradients},
    {"Some of these gradients are NaN", check_gradients},
    {"{} → {} has no competitor: it is the only key of its row, and its weight stays 1",
     check_alone},
    {"{} masked keys weigh exactly 0 and are left out", check_left_out},
    {"{} masked key weighs exactly 0 and is left out", check_left_out},
    {"{} and {} are the same score, and yet {} is {}: softmax divides{}", check_asymmetric},
};

}  // namespace

std::span<const Claim> row_claims() { return kClaims; }

}  // namespace attn::view
