#include "core/corpus/statistics.h"
#include "core/models/family.h"
#include "core/text.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

namespace attn {
namespace {

/// Whether b takes the place of a.
template <class Better>
void take(std::optional<Extreme>& a, const std::optional<Extreme>& b, Better better) {
    if (!b) return;
    const auto place = [](const Extreme& each) {
        return std::tie(each.text->number, each.text->file);
    };
    if (!a || better(b->value, a->value) || (b->value == a->value && place(*b) < place(*a))) a = b;
}

/// Where both have a text; nullopt: nowhere.
std::optional<Index> common_text(const TextsOf& a, const TextsOf& b) {
    for (const TextRange& range : b.ranges) {
        const auto after = std::ranges::upper_bound(a.ranges, range.first, {}, &TextRange::end);
        if (after != a.ranges.end() && after->first < range.end)
            return std::max(after->first, range.first);
    }
    return std::nullopt;
}

void add_range(std::vector<TextRange>& ranges, TextRange range) {
    auto at = std::ranges::lower_bound(ranges, range.first, {}, &TextRange::end);
    while (at != ranges.end() && at->first <= range.end) {
        range = {std::min(range.first, at->first), std::max(range.end, at->end)};
        at = ranges.erase(at);
    }
    ranges.insert(at, range);
}

}  // namespace

void MeasureStatistics::add(double value, const std::shared_ptr<const CorpusText>& text) {
    const ExactSum exact(value);
    ++texts;
    sum.add(exact);
    squares.add(exact * exact);
    take(least, Extreme{value, text}, std::less());
    take(most, Extreme{value, text}, std::greater());
}

void MeasureStatistics::add(const MeasureStatistics& other) {
    texts += other.texts;
    sum.add(other.sum);
    squares.add(other.squares);
    take(least, other.least, std::less());
    take(most, other.most, std::greater());
}

std::optional<double> MeasureStatistics::mean() const {
    if (texts == 0) return std::nullopt;
    return sum.value() / static_cast<double>(texts);
}

// n Σx² − (Σx)² is n² times the variance.
std::optional<double> MeasureStatistics::deviation() const {
    if (texts == 0) return std::nullopt;
    const auto count = static_cast<double>(texts);
    return std::sqrt((ExactSum(count) * squares - sum * sum).value()) / count;
}

bool TextsOf::contains(Index number) const { return contains({number, number + 1}); }

bool TextsOf::contains(const TextRange& range) const {
    const auto after = std::ranges::upper_bound(ranges, range.first, {}, &TextRange::end);
    return after != ranges.end() && after->first <= range.first && range.end <= after->end;
}

void LeftOutTexts::add(Index number, const std::string& file) {
    ++count;
    first.emplace(number, file);
    if (first.size() > kMostNamed) first.erase(std::prev(first.end()));
}

void LeftOutTexts::add(const LeftOutTexts& other) {
    count += other.count;
    first.insert(other.first.begin(), other.first.end());
    while (first.size() > kMostNamed) first.erase(std::prev(first.end()));
}

CorpusResult::CorpusResult(CorpusModel of) : model(std::move(of)) {
    for (Index layer = 0; layer < model.layers; ++layer)
        for (Index head = 0; head < model.heads; ++head) heads.push_back({{layer, head}, {}});
}

void CorpusResult::add(const std::shared_ptr<const CorpusText>& text, Index count,
                       const std::vector<HeadMeasures>& measures) {
    ++texts;
    tokens += count;
    for (std::size_t n = 0; n < heads.size(); ++n)
        for (std::size_t m = 0; m < kCorpusMeasures; ++m)
            if (const auto& value = measures[n].values[m]) heads[n].measures[m].add(*value, text);
}

void CorpusResult::leave_out(const CorpusText& text, LeftOut why) {
    left_out[static_cast<std::size_t>(why)].add(text.number, text.file);
}

void CorpusResult::cover(const std::string& mark, const std::string& name, TextRange range) {
    TextsOf& of = files[mark];
    of.name = of.name.empty() ? name : std::min(of.name, name);
    if (range.first < range.end) add_range(of.ranges, range);
}

bool CorpusResult::contains(const CorpusResult& other) const {
    return std::ranges::all_of(other.files, [&](const auto& file) {
        const auto found = files.find(file.first);
        return std::ranges::all_of(file.second.ranges, [&](const TextRange& range) {
            return found != files.end() && found->second.contains(range);
        });
    });
}

Result<void> CorpusResult::merge(const CorpusResult& other) {
    const auto kind = [](const CorpusModel& of) {
        return std::tie(of.mark, of.family, of.layers, of.heads);
    };
    if (kind(model) != kind(other.model))
        return bad_input(fmt::format("one is of {} ({}), the other of {} ({}); expected one model",
                                     model.path, model.family, other.model.path,
                                     other.model.family));
    if (model.batch != other.model.batch)
        return bad_input(
            fmt::format("one was computed with {} at a time, the other with {}; expected the same, "
                        "because other numbers are rounded differently",
                        counted(model.batch, "text"), other.model.batch));
    for (const auto& [mark, of] : other.files) {
        if (const auto found = files.find(mark); found != files.end()) {
            if (const auto twice = common_text(found->second, of))
                return bad_input(fmt::format("text {} of {} is in both", *twice, of.name));
            continue;
        }
        for (const auto& [own, named] : files)
            if (named.name == of.name)
                return bad_input(fmt::format("{} is a different file in each", of.name));
    }
    model.path = std::min(model.path, other.model.path);
    for (const auto& [mark, of] : other.files) {
        cover(mark, of.name, {});
        for (const TextRange& range : of.ranges) cover(mark, of.name, range);
    }
    texts += other.texts;
    tokens += other.tokens;
    for (std::size_t n = 0; n < kLeftOutCount; ++n) left_out[n].add(other.left_out[n]);
    for (std::size_t n = 0; n < heads.size(); ++n)
        for (std::size_t m = 0; m < kCorpusMeasures; ++m)
            heads[n].measures[m].add(other.heads[n].measures[m]);
    return {};
}

}  // namespace attn
