#include "core/train/own_data.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/io/json.h"
#include "core/note.h"
#include "core/text.h"
#include "core/train/course.h"
#include "core/train/language.h"
#include "core/train/pass.h"

namespace attn::train {
namespace {

constexpr std::string_view kPairEnd = ".";  // of a pair
constexpr Index kSpareTokens = 8;           // of a sentence that is longer than every line
constexpr Index kMostBatch = 64;

using WordList = std::vector<std::string>;

WordList split_line(std::string_view text) {
    std::istringstream stream{std::string(text)};
    return {std::istream_iterator<std::string>(stream), {}};
}

bool is_pronoun(std::string_view word) { return word == "it" || word == "It"; }

std::string_view trimmed_line(std::string_view text) {
    constexpr std::string_view kWhite = " \t\r\n";
    const auto first = text.find_first_not_of(kWhite);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

OwnKind own_kind_of(std::string_view line) {
    if (line.find('|') != line.npos) return OwnKind::pronouns;
    return line.find('=') != line.npos ? OwnKind::pairs : OwnKind::next_word;
}

/// The form of a line of each kind.
std::string_view own_form_of(OwnKind kind) {
    if (kind == OwnKind::pronouns) return "a sentence with “it”, then | and a noun for each “it”";
    if (kind == OwnKind::pairs) return "two texts with one = between them";
    return "a sentence without | and =";
}

/// Reads the lines one after the other.
class OwnReader {
  public:
    Result<OwnData> read(std::string_view text) {
        Index number = 0;
        for (std::size_t first = 0; first <= text.size() && fault_.empty();) {
            const auto end = std::min(text.find('\n', first), text.size());
            const std::string_view line = trimmed_line(text.substr(first, end - first));
            first = end + 1;
            ++number;
            if (!line.empty() && line.front() != '#') add(number, line);
        }
        if (fault_.empty() && data_.lines.size() < kLeastOwnLines)
            fault_ =
                fmt::format("the data has {}; expected {} to {}, one text each",
                            counted(data_.lines.size(), "line"), kLeastOwnLines, kMostOwnLines);
        if (!fault_.empty()) return bad_input(fault_);
        return std::move(data_);
    }

  private:
    void wrong(const std::string& fault) {
        if (fault_.empty()) fault_ = fmt::format("line {}: {}", number_, fault);
    }

    void add(Index number, std::string_view line) {
        number_ = number;
        if (data_.lines.empty()) data_.kind = own_kind_of(line);
        if (data_.lines.size() == kMostOwnLines)
            return wrong(fmt::format("expected at most {} lines", kMostOwnLines));
        if (own_kind_of(line) != data_.kind)
            return wrong(fmt::format("“{}” has another format than line {}; expected {}",
                                     shortened(line), data_.lines.front().number,
                                     own_form_of(data_.kind)));
        const WordList terms = data_.kind == OwnKind::pronouns ? sentence_of(line)
                               : data_.kind == OwnKind::pairs  ? pair_of(line)
                                                               : text_of(line);
        if (!fault_.empty()) return;
        if (terms.size() > kMostOwnTerms)
            return wrong(
                fmt::format("it has {} words; expected at most {}", terms.size(), kMostOwnTerms));
        data_.lines.push_back(
            {number, std::string(line), fmt::format("{}", fmt::join(terms, " "))});
    }

    /// WordList without the signs of the format.
    WordList plain(std::string_view text) {
        WordList terms = split_line(text);
        for (const std::string& word : terms)
            if (word.find_first_of("/{}|=") != word.npos)
                wrong(fmt::format(
                    "the word '{}' has a character of the format; expected none of / {{ }} | =",
                    shortened(word)));
            else if (word == kUnknownWord)
                wrong(fmt::format("the word {} stands for unknown words; expected another", word));
        return terms;
    }

    WordList text_of(std::string_view line) {
        WordList terms = plain(line);
        if (terms.size() < 2) wrong("it has one word; expected two or more");
        return terms;
    }

    WordList pair_of(std::string_view line) {
        const auto at = line.find('=');
        if (line.find('=', at + 1) != line.npos) wrong("it has more than one =; expected one");
        WordList terms = plain(line.substr(0, at));
        const WordList right = plain(line.substr(at + 1));
        if (terms.empty() || right.empty())
            wrong(fmt::format("one side of = is empty; expected {}", own_form_of(data_.kind)));
        terms.emplace_back("=");
        terms.insert(terms.end(), right.begin(), right.end());
        if (terms.back() != kPairEnd) terms.emplace_back(kPairEnd);
        return terms;
    }

    WordList sentence_of(std::string_view line) {
        const auto at = line.find('|');
        if (line.find('|', at + 1) != line.npos) wrong("it has more than one |; expected one");
        WordList terms = plain(line.substr(0, at));
        const WordList nouns = plain(line.substr(at + 1));
        const auto count = static_cast<std::size_t>(std::ranges::count_if(terms, is_pronoun));
        if (count == 0) wrong(fmt::format("it has no “it”; expected {}", own_form_of(data_.kind)));
        if (nouns.size() != count)
            wrong(fmt::format("it has {} after | for {} “it”; expected a noun for each",
                              counted(nouns.size(), "word"), count));
        for (const std::string& noun : nouns)
            if (is_pronoun(noun) || std::ranges::find(terms, noun) == terms.end())
                wrong(fmt::format("the noun '{}' is not in the sentence; expected one of its words",
                                  shortened(noun)));
        if (!fault_.empty()) return terms;
        auto noun = nouns.begin();
        for (std::string& word : terms)
            if (is_pronoun(word)) word += "/" + *noun++;
        return terms;
    }

    OwnData data_;
    Index number_ = 0;
    std::string fault_;
};

/// A line without the words that a model answers with, and these.
struct Question {
    std::string sentence;
    WordList expected;
};

/// Of OwnLine::text.
Question question_of(OwnKind kind, const std::string& text) {
    if (kind == OwnKind::pairs) {
        const std::size_t end = text.find(" =") + 2;
        return {text.substr(0, end), split_line(text.substr(end))};
    }
    if (kind == OwnKind::next_word) {
        const std::size_t end = text.rfind(' ');
        return {text.substr(0, end), {text.substr(end + 1)}};
    }
    WordList terms = split_line(text);
    WordList nouns;
    for (std::string& word : terms) {
        const std::size_t at = word.find('/');
        if (at == word.npos) continue;
        nouns.push_back(word.substr(at + 1));
        word.resize(at);
    }
    return {fmt::format("{}", fmt::join(terms, " ")), std::move(nouns)};
}

nlohmann::json language_json(std::string_view text, const OwnData& data) {
    nlohmann::json texts = nlohmann::json::array();
    for (const OwnLine& line : data.lines) texts.push_back(line.text);
    nlohmann::json language{{"text", question_of(data.kind, data.lines.front().text).sentence},
                            {"classes", {{"text", std::move(texts)}}},
                            {"in_turn", true},
                            {"unknown", 0.02},
                            {"own_text", text}};
    if (data.kind == OwnKind::pronouns) language["echo"] = 0.1;
    if (data.kind == OwnKind::pairs) {
        language["answers_from"] = "=";
        language["end"] = kPairEnd;
    }
    return language;
}

OwnKind own_kind_of(const Spec& spec) {
    if (spec.task == Task::marked) return OwnKind::pronouns;
    return spec.language->answers_from() ? OwnKind::pairs : OwnKind::next_word;
}

/// softmax of one row at `token`.
double probability_at(std::span<const float> row, Index token) {
    const float largest = *std::ranges::max_element(row);
    double sum = 0.0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit) - largest);
    return std::exp(static_cast<double>(row[token]) - largest) / sum;
}

std::vector<Index> own_tokens_of(const Language& language, const WordList& terms) {
    std::vector<Index> tokens;
    for (const std::string& word : terms) tokens.push_back(language.token_of(word).value_or(0));
    return tokens;
}

Example unanswered(std::vector<Index> tokens) {
    const std::size_t count = tokens.size();
    return {std::move(tokens), std::vector<Index>(count, kNoTarget)};
}

/// Answers at a position, and takes part in the answer's probability.
Index predict(Pass& pass, Index position, OwnAnswer& answer) {
    const std::span<const float> row = pass.logits().row(position);
    const Index token = std::ranges::max_element(row) - row.begin();
    const double probability = probability_at(row, token);
    answer.predictions.push_back({position, token, probability});
    answer.probability *= probability;
    return token;
}

/// A model after its training.
Result<Moment> trained_moment(const Spec& spec, std::span<const Switch> switches, Index steps,
                              std::stop_token stop) {
    auto course = Course::make(spec);
    if (!course) return tl::unexpected(std::move(course.error()));
    course->set_switches({switches.begin(), switches.end()});
    while (course->advance(steps, stop)) {
    }
    if (course->step_count() != steps) return failed("the training was stopped");
    return std::make_shared<const State>(switched(spec, *course->keep(), switches));
}

}  // namespace

Result<OwnData> read_own_data(std::string_view text) { return OwnReader().read(text); }

Result<Spec> own_spec(std::string_view text) {
    const auto data = read_own_data(text);
    if (!data) return tl::unexpected(data.error());
    auto language = Language::parse(language_json(text, *data).dump(), "own data");
    if (!language) return tl::unexpected(language.error());
    Spec spec;
    spec.task = data->kind == OwnKind::pronouns ? Task::marked : Task::sentences;
    spec.language.value = *std::move(language);
    const auto most = static_cast<Index>(limits_of("tokens").most);
    spec.tokens = std::min(std::max<Index>(spec.language->longest(), 2) + kSpareTokens, most);
    spec.layers = 2;
    spec.heads = 2;
    spec.d_model = 32;
    spec.d_k = 16;
    spec.mlp = true;
    spec.positions = Positions::sinusoidal;  // longer sentences have positions of the same form
    spec.learning_rate = 3e-3;
    spec.warmup = 20;
    spec.schedule = Schedule::linear;
    spec.batch = std::min<Index>(std::ssize(data->lines), kMostBatch);
    spec.steps = 200;
    if (auto valid = check(spec); !valid) return tl::unexpected(valid.error());
    return spec;
}

bool has_own_data(const Spec& spec) {
    return !spec.language.empty() && !spec.language->own_text().empty();
}

Result<std::string> own_sentence(const Spec& spec, std::string_view typed) {
    ATTN_CHECK(has_own_data(spec), "the sentence is for a model of own data");
    const OwnKind kind = own_kind_of(spec);
    WordList terms = split_line(typed);
    if (kind == OwnKind::pairs) {
        if (!terms.empty() && terms.back() == "=") terms.pop_back();
        if (std::ranges::find(terms, "=") != terms.end())
            return bad_input("the sentence has words after =; expected the left side alone");
    }
    if (terms.empty()) return bad_input("the sentence has no words; expected at least one");
    const auto is_marked = [&](const std::string& word) {
        const auto token = spec.language->token_of(word);
        return token && spec.language->marks(*token);
    };
    if (kind == OwnKind::pronouns && std::ranges::none_of(terms, is_marked))
        return bad_input("the sentence has no “it”; expected at least one, as in the lines");
    if (kind == OwnKind::pairs) terms.emplace_back("=");
    const Index most = kind == OwnKind::pairs ? spec.tokens - 1 : spec.tokens;
    if (std::ssize(terms) > most)
        return bad_input(fmt::format("the sentence has {}; expected at most {}",
                                     counted(terms.size(), "word"), most));
    return fmt::format("{}", fmt::join(terms, " "));
}

Result<OwnAnswer> own_answer(const Spec& spec, const State& moment, std::string_view sentence) {
    auto normal = own_sentence(spec, sentence);
    if (!normal) return tl::unexpected(normal.error());
    const Language& language = *spec.language.value;
    const OwnKind kind = own_kind_of(spec);
    OwnAnswer answer;
    answer.terms = split_line(*normal);
    for (const std::string& word : answer.terms)
        if (!language.token_of(word) &&
            std::ranges::find(answer.unknown, word) == answer.unknown.end())
            answer.unknown.push_back(word);
    std::vector<Index> tokens = own_tokens_of(language, answer.terms);
    Pass pass(spec, moment);
    const auto read = [&](const Example& example) { pass.read(example); };
    if (kind == OwnKind::pronouns) {
        const Example example = unanswered(tokens);
        read(example);
        for (std::size_t p = 0; p < tokens.size(); ++p)
            if (language.marks(tokens[p])) predict(pass, static_cast<Index>(p), answer);
        return answer;
    }
    while (true) {
        const Example example = unanswered(tokens);
        read(example);
        const Index token = predict(pass, std::ssize(tokens) - 1, answer);
        if (kind == OwnKind::next_word || token == *language.end()) return answer;
        if (std::ssize(tokens) == spec.tokens) return answer;
        tokens.push_back(token);
        answer.terms.push_back(language.vocabulary()[token]);
    }
}

double probability_of(const Spec& spec, const State& moment, const OwnAnswer& answer) {
    Pass pass(spec, moment);
    const Example example = unanswered(own_tokens_of(*spec.language.value, answer.terms));
    pass.read(example);
    const MatrixView<const float> logits = pass.logits();
    double probability = 1.0;
    for (const OwnPrediction& each : answer.predictions)
        probability *= probability_at(logits.row(each.position), each.token);
    return probability;
}

Spec without_line(const Spec& spec, Index line) {
    ATTN_CHECK(has_own_data(spec), "a line is left out of own data");
    auto json = nlohmann::json::parse(spec.language->json_text());
    json["leave_out"] = line;
    Spec without = spec;
    without.language.value = Language::parse(json.dump(), "own data").value();
    const auto lines = static_cast<Index>(json["classes"]["text"].size());
    if (without.batch == lines) --without.batch;  // a step reads every line once
    return without;
}

Result<LineAnswer> answer_of_line(const Spec& spec, const State& moment, Index line) {
    const auto data = read_own_data(spec.language->own_text());
    if (!data) return tl::unexpected(data.error());
    const Question question = question_of(data->kind, data->lines.at(line).text);
    auto answer = own_answer(spec, moment, question.sentence);
    if (!answer) return tl::unexpected(answer.error());
    LineAnswer made{*std::move(answer), question.expected, true};
    const auto& predicted = made.answer.predictions;
    made.right = std::ranges::equal(predicted, made.expected, {}, [&](const OwnPrediction& each) {
        return spec.language->vocabulary()[each.token];
    });
    return made;
}

Result<LeftOut> leave_out_each(const Spec& spec, std::span<const Switch> switches, Index steps,
                               const RunControl& control) {
    const auto data = read_own_data(spec.language->own_text());
    if (!data) return tl::unexpected(data.error());
    const auto lines = static_cast<Index>(data->lines.size());
    LeftOut made;
    for (Index line = -1; line < lines; ++line) {  // −1: with all
        auto moment = trained_moment(line < 0 ? spec : without_line(spec, line), switches, steps,
                                     control.stop);
        if (!moment) return tl::unexpected(moment.error());
        if (line < 0)
            made.all = *moment;
        else
            made.reduced.push_back(*moment);
        if (control.progress)
            control.progress(static_cast<double>(line + 2) / static_cast<double>(lines + 1));
    }
    for (Index line = 0; line < lines; ++line) {
        auto read = answer_of_line(spec, *made.all, line);
        auto not_read = answer_of_line(spec, *made.reduced[line], line);
        if (!read) return tl::unexpected(read.error());
        if (!not_read) return tl::unexpected(not_read.error());
        made.read.push_back(*std::move(read));
        made.not_read.push_back(*std::move(not_read));
    }
    return made;
}

Result<Influences> influences_of(const Spec& spec, const LeftOut& models,
                                 std::string_view sentence) {
    auto answer = own_answer(spec, *models.all, sentence);
    if (!answer) return tl::unexpected(answer.error());
    Influences made{*std::move(answer), {}};
    for (std::size_t line = 0; line < models.reduced.size(); ++line)
        made.lines.push_back(
            {static_cast<Index>(line), probability_of(spec, *models.reduced[line], made.answer)});
    std::ranges::stable_sort(made.lines, std::greater(), [&](const LineInfluence& each) {
        return std::abs(each.change(made.answer.probability));
    });
    return made;
}

}  // namespace attn::train
