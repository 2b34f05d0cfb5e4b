#include "core/train/language.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "core/check.h"
#include "core/io/json.h"
#include "core/note.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/train/words.h"

namespace attn::train {

using nlohmann::json;

namespace {

constexpr int kMostDraws = 100'000;   // of one text, until it is of the requested part
constexpr int kCheckedDraws = 1'000;  // within which parse() must find a text of each part
constexpr Index kMostLength = 256;    // words of a text
constexpr Index kMostWeight = 1'000'000;

std::vector<std::string> cut(std::string_view text) { return split_words(text); }

/// A fault that parse() found; never leaves this file.
struct Fault {
    std::string sentence;
};

std::string shown(const json& value) {
    return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

/// A word of a text before it is drawn: fixed, a form of a variable, or the form of it that another variable's form names.
struct Piece {
    std::string word;
    Index token = -1, variable = -1, form = -1;
    Index agrees_with = -1, agreeing_form = -1;
    bool is_fixed() const { return variable < 0; }
};
struct Item {
    Piece word;
    std::optional<Piece> answer;
};

struct Variable {
    std::string name;
    Index kind = 0;
    Index differs_from = -1;
};

}  // namespace

struct Language::Entry {
    Index weight = 1;
    std::vector<std::string> texts;        // by form of the class
    std::vector<std::vector<Item>> forms;  // the same, read
    std::vector<Variable> variables;
};

struct Language::Kind {
    std::string name;
    std::vector<std::string> forms;  // "": the only one
    std::vector<Entry> entries;
    Index weight = 0;

    Index form_of(std::string_view form) const {
        const auto found = std::ranges::find(forms, form);
        return found == forms.end() ? -1 : found - forms.begin();
    }
};

Language::Language() = default;
Language::~Language() = default;

// --- reading

class LanguageReader {
  public:
    explicit LanguageReader(const json& object) : object_(object) {}

    std::shared_ptr<const Language> read() {
        if (!object_.is_object())
            throw Fault{fmt::format("is {}; expected an object", shown(object_))};
        allow_only(object_, "",
                   {"about", "text", "contrast", "classes", "answers_from", "end", "echo",
                    "unknown", "held_out", "in_turn", "leave_out", "own_text", "require"});
        made_->json_ = object_.dump();
        made_->tokens_.emplace(kUnknownWord, 0);
        made_->vocabulary_.emplace_back(kUnknownWord);
        read_classes();
        for (auto& kind : made_->kinds_)
            for (auto& entry : kind.entries) read_entry(kind, entry);
        made_->root_ = kind_named("text", "classes");
        if (kinds()[made_->root_].forms != std::vector<std::string>{""})
            throw Fault{"class 'text' has forms; expected texts alone"};
        made_->longest_ = visit(made_->root_, 0);
        if (made_->longest_ < 1 || made_->longest_ > kMostLength)
            throw Fault{fmt::format("a text has up to {} words; expected 1 to {}", made_->longest_,
                                    kMostLength)};
        read_settings();
        return std::shared_ptr<const Language>(std::move(made_));
    }

  private:
    std::vector<Language::Kind>& kinds() { return made_->kinds_; }

    static void allow_only(const json& object, std::string_view where,
                           std::initializer_list<std::string_view> keys) {
        for (const auto& each : object.items())
            if (std::ranges::find(keys, each.key()) == keys.end())
                throw Fault{fmt::format("{}there is no field '{}'; expected {}", where,
                                        shortened(each.key()), fmt::join(keys, ", "))};
    }

    void read_classes() {
        const auto classes = object_.find("classes");
        if (classes == object_.end() || !classes->is_object() || classes->empty())
            throw Fault{"has no 'classes'; expected an object of classes, one of them 'text'"};
        for (const auto& each : classes->items()) {
            Language::Kind kind;
            kind.name = each.key();
            if (!each.value().is_array() || each.value().empty())
                throw Fault{fmt::format("class '{}' is {}; expected a list of entries",
                                        shortened(kind.name), shown(each.value()))};
            for (const json& entry : each.value()) take_entry(kind, entry);
            kinds().push_back(std::move(kind));
        }
    }

    /// "word", or {"weight": 2, "form": "text", …}.
    static void take_entry(Language::Kind& kind, const json& value) {
        Language::Entry entry;
        std::vector<std::string> forms;
        const json object = value.is_string() ? json{{"", value}} : value;
        const auto wrong = [&](std::string_view expected) {
            return Fault{fmt::format("class '{}': the entry {} is not valid; expected {}",
                                     shortened(kind.name), shown(value), expected)};
        };
        if (!object.is_object()) throw wrong("a text, or an object of forms");
        for (const auto& each : object.items()) {
            const json& text = each.value();
            if (each.key() == "weight") {
                if (!text.is_number_unsigned() || text.get<std::uint64_t>() < 1 ||
                    text.get<std::uint64_t>() > std::uint64_t{kMostWeight})
                    throw wrong(fmt::format("a weight from 1 to {}", kMostWeight));
                entry.weight = text.get<Index>();
                continue;
            }
            if (!text.is_string() || cut(text.get<std::string>()).empty())
                throw wrong("texts of at least one word");
            forms.push_back(each.key() == "text" ? "" : each.key());
            entry.texts.push_back(text.get<std::string>());
        }
        if (kind.entries.empty()) kind.forms = forms;
        if (forms.empty() || forms != kind.forms)
            throw wrong(kind.forms == std::vector<std::string>{""}
                            ? "a text, as the first entry is"
                            : fmt::format("the forms {}", fmt::join(kind.forms, ", ")));
        kind.weight += entry.weight;
        kind.entries.push_back(std::move(entry));
    }

    Index kind_named(std::string_view name, std::string_view where) {
        const auto found = std::ranges::find(kinds(), name, &Language::Kind::name);
        if (found == kinds().end())
            throw Fault{fmt::format("{}: there is no class '{}'", where, shortened(name))};
        return found - kinds().begin();
    }

    // A slot is {name}, {name:class}, {name:class!other}, each with .form or @other.form behind it.
    struct Slot {
        std::string name, kind, other, form, agrees_with;
    };
    Slot slot_of(std::string_view text) const {
        Slot slot;
        std::string* part = &slot.name;
        for (const char c : text.substr(1, text.size() - 2)) {
            if (c == ':' && part == &slot.name)
                part = &slot.kind;
            else if (c == '!' && part == &slot.kind)
                part = &slot.other;
            else if (c == '@' && part != &slot.form && part != &slot.agrees_with)
                part = &slot.agrees_with;
            else if (c == '.' && part != &slot.form)
                part = &slot.form;
            else if (std::string_view(":!@.{}/").find(c) != std::string_view::npos)
                throw Fault{
                    fmt::format("{}: '{}' is not a slot; expected {{name:class!other.form}} or "
                                "{{name:class@other.form}}",
                                entry_, shortened(text))};
            else
                *part += c;
        }
        if (slot.name.empty())
            throw Fault{fmt::format("{}: '{}' has no name", entry_, shortened(text))};
        return slot;
    }
    static bool is_slot(std::string_view text) {
        return text.size() > 2 && text.front() == '{' && text.back() == '}';
    }

    /// A word and, behind "/", its answer.
    std::pair<std::string, std::string> halves_of(std::string_view word) const {
        const auto cut = word.find('/');
        if (cut == std::string_view::npos) return {std::string(word), ""};
        if (cut == 0 || cut + 1 == word.size())
            throw Fault{fmt::format("{}: '{}' has an empty side; expected word/answer", entry_,
                                    shortened(word))};
        return {std::string(word.substr(0, cut)), std::string(word.substr(cut + 1))};
    }

    void read_entry(const Language::Kind& kind, Language::Entry& entry) {
        entry_ =
            fmt::format("class '{}', \"{}\"", shortened(kind.name), shortened(entry.texts.front()));
        for (const std::string& text : entry.texts)
            for (const std::string& word : cut(text)) {
                const auto [first, second] = halves_of(word);
                for (const std::string& half : {first, second})
                    if (is_slot(half)) declare(entry, slot_of(half));
            }
        for (const std::string& text : entry.texts) {
            std::vector<Item>& form = entry.forms.emplace_back();
            for (const std::string& word : cut(text)) {
                const auto [first, second] = halves_of(word);
                form.push_back({piece_of(entry, first), {}});
                if (!second.empty()) form.back().answer = piece_of(entry, second);
            }
        }
    }

    void declare(Language::Entry& entry, const Slot& slot) {
        const auto found = std::ranges::find(entry.variables, slot.name, &Variable::name);
        if (slot.kind.empty() && found != entry.variables.end()) return;
        Variable variable{slot.name, kind_named(slot.kind.empty() ? slot.name : slot.kind, entry_)};
        if (!slot.other.empty()) variable.differs_from = variable_named(entry, slot.other);
        if (found == entry.variables.end())
            entry.variables.push_back(std::move(variable));
        else if (found->kind != variable.kind)
            throw Fault{fmt::format("{}: '{}' has two classes", entry_, shortened(slot.name))};
        if (variable.differs_from >= 0 &&
            entry.variables[variable.differs_from].kind != variable.kind)
            throw Fault{fmt::format("{}: '{}' and '{}' have different classes", entry_,
                                    shortened(slot.name), shortened(slot.other))};
        if (variable.differs_from >= 0 && std::ssize(kinds()[variable.kind].entries) < 2)
            throw Fault{fmt::format("{}: class '{}' has one entry; expected two that differ",
                                    entry_, shortened(kinds()[variable.kind].name))};
    }
    Index variable_named(const Language::Entry& entry, const std::string& name) const {
        const auto found = std::ranges::find(entry.variables, name, &Variable::name);
        if (found == entry.variables.end())
            throw Fault{fmt::format("{}: there is no '{}' before it", entry_, shortened(name))};
        return found - entry.variables.begin();
    }

    Index form_named(Index kind, const std::string& form) {
        const Index found = kinds()[kind].form_of(form);
        if (found >= 0) return found;
        throw Fault{fmt::format("{}: class '{}' has no form '{}'; expected {}", entry_,
                                shortened(kinds()[kind].name), shortened(form),
                                fmt::join(kinds()[kind].forms, ", "))};
    }

    Piece piece_of(const Language::Entry& entry, const std::string& text) {
        if (!is_slot(text)) {
            if (text.find_first_of("{}") != std::string::npos)
                throw Fault{fmt::format("{}: '{}' has a brace; expected a word or {{a slot}}",
                                        entry_, shortened(text))};
            return {text};
        }
        const Slot slot = slot_of(text);
        Piece piece;
        piece.variable = variable_named(entry, slot.name);
        const Index kind = entry.variables[piece.variable].kind;
        if (slot.agrees_with.empty()) {
            piece.form = form_named(kind, slot.form);
            return piece;
        }
        piece.agrees_with = variable_named(entry, slot.agrees_with);
        const Index other = entry.variables[piece.agrees_with].kind;
        piece.agreeing_form = form_named(other, slot.form);
        for (const auto& each : kinds()[other].entries)
            form_named(kind, each.texts[piece.agreeing_form]);
        return piece;
    }

    Index token(const std::string& word) {
        const auto [at, added] = made_->tokens_.try_emplace(word, std::ssize(made_->vocabulary_));
        if (added) made_->vocabulary_.push_back(word);
        return at->second;
    }

    /// Gives the words of a form their tokens; returns the most words that it can have.
    Index visit(Index kind, Index form) {
        const std::pair key{kind, form};
        if (const auto known = lengths_.find(key); known != lengths_.end()) return known->second;
        if (!open_.insert(key).second)
            throw Fault{fmt::format("class '{}' contains itself; expected finite texts",
                                    shortened(kinds()[kind].name))};
        Index most = 0;
        for (auto& entry : kinds()[kind].entries) {
            Index length = 0;
            for (Item& item : entry.forms[form]) {
                const Index count = visit_piece(entry, item.word);
                length = std::min(length + count, kMostLength + 1);
                made_->marks_answers_ = made_->marks_answers_ || item.answer.has_value();
                if (item.answer && item.word.is_fixed()) made_->marked_.insert(item.word.token);
                if (item.answer && (count != 1 || visit_piece(entry, *item.answer) != 1))
                    throw Fault{
                        fmt::format("class '{}', \"{}\": a word and its answer are one "
                                    "word each",
                                    shortened(kinds()[kind].name), shortened(entry.texts[form]))};
            }
            most = std::max(most, length);
        }
        open_.erase(key);
        return lengths_[key] = most;
    }
    Index visit_piece(const Language::Entry& entry, Piece& piece) {
        if (piece.is_fixed()) {
            piece.token = token(piece.word);
            return 1;
        }
        const Index kind = entry.variables[piece.variable].kind;
        if (piece.agrees_with < 0) return visit(kind, piece.form);
        const Index other = entry.variables[piece.agrees_with].kind;
        Index most = 0;
        for (const auto& each : kinds()[other].entries)
            most =
                std::max(most, visit(kind, kinds()[kind].form_of(each.texts[piece.agreeing_form])));
        return most;
    }

    // --- the other fields

    const json* member(const json& object, const char* name) {
        const auto found = object.find(name);
        return found == object.end() ? nullptr : &*found;
    }
    std::string text_of(const json& object, const char* name) {
        const json* found = member(object, name);
        if (found == nullptr || !found->is_string())
            throw Fault{fmt::format("{} is {}; expected a text", name,
                                    found ? shown(*found) : "not there")};
        return found->get<std::string>();
    }
    /// From 0 to 1; `otherwise` where it is not there.
    std::optional<double> share_of(const json& object, const char* name) {
        const json* found = member(object, name);
        if (found == nullptr) return std::nullopt;
        if (!found->is_number() || !(found->get<double>() >= 0.0 && found->get<double>() <= 1.0))
            throw Fault{
                fmt::format("{} is {}; expected a number from 0 to 1", name, shown(*found))};
        return found->get<double>();
    }
    double need_share(const json& object, const char* name) {
        const auto share = share_of(object, name);
        if (!share)
            throw Fault{fmt::format("{} is not there; expected a number from 0 to 1", name)};
        return *share;
    }
    Index whole_of(const json& object, const char* name, Index otherwise, Index most) {
        const json* found = member(object, name);
        if (found == nullptr) return otherwise;
        if (!found->is_number_unsigned() ||
            found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
            throw Fault{
                fmt::format("{} is {}; expected a number from 0 to {}", name, shown(*found), most)};
        return found->get<Index>();
    }
    const json& list_of(const json& object, const char* name) {
        static const json kEmpty = json::array();
        const json* found = member(object, name);
        if (found == nullptr) return kEmpty;
        if (!found->is_array())
            throw Fault{fmt::format("{} is {}; expected a list", name, shown(*found))};
        return *found;
    }
    std::vector<Index> known_tokens(std::string_view field, const std::string& text) {
        std::vector<Index> tokens;
        for (const std::string& word : cut(text)) {
            const auto found = made_->token_of(word);
            if (!found)
                throw Fault{
                    fmt::format("{}: '{}' is not a word of any text", field, shortened(word))};
            tokens.push_back(*found);
        }
        return tokens;
    }

    std::optional<Index> word_of(const char* name) {
        if (member(object_, name) == nullptr) return std::nullopt;
        const auto tokens = known_tokens(name, text_of(object_, name));
        if (tokens.size() != 1)
            throw Fault{
                fmt::format("{} has {}; expected one word", name, counted(tokens.size(), "word"))};
        return tokens.front();
    }

    /// A text that the model can read.
    std::string shown_text(const char* name) {
        std::string text = text_of(object_, name);
        if (std::ssize(known_tokens(name, text)) > made_->longest_)
            throw Fault{fmt::format("{} has more words than any text of the classes, {}", name,
                                    made_->longest_)};
        return text;
    }

    void read_settings() {
        made_->text_ = shown_text("text");
        if (member(object_, "contrast") != nullptr) made_->contrast_ = shown_text("contrast");
        made_->answers_from_ = word_of("answers_from");
        made_->end_ = word_of("end");
        made_->echo_ = share_of(object_, "echo").value_or(0.0);
        made_->unknown_ = share_of(object_, "unknown").value_or(0.0);
        for (const json& each : list_of(object_, "held_out")) read_combination(each);
        check_parts();
        read_turns();
        if (member(object_, "own_text") != nullptr) made_->own_text_ = text_of(object_, "own_text");
        if (const json* require = member(object_, "require")) read_requirements(*require);
    }

    /// ["black cat"], or ["animal", "street"]: runs of words; the text has them all.
    void read_combination(const json& value) {
        if (!value.is_array() || value.empty())
            throw Fault{fmt::format("held_out: {} is not a list of texts", shown(value))};
        auto& combination = made_->held_out_.emplace_back();
        for (const json& part : value) {
            if (!part.is_string() || cut(part.get<std::string>()).empty())
                throw Fault{fmt::format("held_out: {} is not a text", shown(part))};
            combination.push_back(known_tokens("held_out", part.get<std::string>()));
        }
    }
    /// Which entries of the class `text` training reads in turn.
    void read_turns() {
        const json* in_turn = member(object_, "in_turn");
        const json* left_out = member(object_, "leave_out");
        if (in_turn != nullptr && !in_turn->is_boolean())
            throw Fault{fmt::format("in_turn is {}; expected true or false", shown(*in_turn))};
        const bool turns = in_turn != nullptr && in_turn->get<bool>();
        if (left_out != nullptr && !turns) throw Fault{"leave_out needs in_turn: true"};
        if (!turns) return;
        if (made_->holds_out())
            throw Fault{"in_turn and held_out are both given; expected one of them"};
        const Index count = std::ssize(kinds()[made_->root_].entries);
        const Index skipped =
            left_out == nullptr ? count : whole_of(object_, "leave_out", count, count - 1);
        for (Index n = 0; n < count; ++n)
            if (n != skipped) made_->turns_.push_back(n);
        if (made_->turns_.empty()) throw Fault{"leave_out leaves no text; expected at least two"};
    }
    void check_parts() {
        if (!made_->holds_out()) return;
        bool training = false, held_out = false;
        for (int n = 0; n < kCheckedDraws; ++n) {
            const bool out = made_->is_held_out(made_->draw_any(static_cast<std::uint64_t>(n)));
            (out ? held_out : training) = true;
        }
        if (!training || !held_out)
            throw Fault{
                fmt::format("held_out: {} of {} texts has such a combination; expected some texts "
                            "with one and some without",
                            held_out ? "every one" : "none", kCheckedDraws)};
    }

    void read_requirements(const json& object) {
        Requirements& require = made_->requirements_;
        if (!object.is_object())
            throw Fault{fmt::format("require is {}; expected an object", shown(object))};
        allow_only(object, "require: ",
                   {"texts", "answers", "whole_texts", "attention", "alignment", "examples"});
        require.texts = std::max<Index>(whole_of(object, "texts", 512, 100'000), 1);
        require.answers = share_of(object, "answers");
        require.whole_texts = share_of(object, "whole_texts");
        constexpr Index kMostLayers = 63;
        if (const json* each = member(object, "attention")) {
            allow_only(*each, "attention: ", {"layer", "weight", "share"});
            require.attention = {whole_of(*each, "layer", 0, kMostLayers),
                                 need_share(*each, "weight"), need_share(*each, "share")};
        }
        if (const json* each = member(object, "alignment")) {
            allow_only(*each, "alignment: ", {"layer", "share", "classes"});
            require.alignment = {
                whole_of(*each, "layer", 0, kMostLayers), need_share(*each, "share"), {}};
            for (const json& name : list_of(*each, "classes"))
                require.alignment->kinds.push_back(kind_named(
                    name.is_string() ? name.get<std::string>() : shown(name), "alignment"));
        }
        for (const json& each : list_of(object, "examples")) {
            allow_only(each, "examples: ", {"text", "word", "answer", "layer", "weight"});
            require.examples.push_back(
                {text_of(each, "text"), text_of(each, "word"), text_of(each, "answer"),
                 whole_of(each, "layer", 0, kMostLayers), need_share(each, "weight")});
            known_tokens("examples", require.examples.back().answer);
            const std::vector<std::string> parts = cut(require.examples.back().text);
            known_tokens("examples", require.examples.back().text);
            for (const std::string& word :
                 {require.examples.back().word, require.examples.back().answer})
                if (std::ranges::find(parts, word) == parts.end())
                    throw Fault{fmt::format("examples: '{}' is not in \"{}\"", shortened(word),
                                            shortened(require.examples.back().text))};
        }
    }

    const json& object_;
    std::shared_ptr<Language> made_{new Language};
    std::string entry_;  // the entry that is read, for faults
    std::map<std::pair<Index, Index>, Index> lengths_;
    std::set<std::pair<Index, Index>> open_;
};

Result<std::shared_ptr<const Language>> Language::parse(std::string_view text,
                                                        std::string_view where) {
    auto object = parse_json(text, where);
    if (!object) return tl::unexpected(std::move(object.error()));
    try {
        return LanguageReader(*object).read();
    } catch (const Fault& fault) {
        return bad_input(fmt::format("{}: {}", where, fault.sentence));
    }
}

// --- drawing

/// One text while it is drawn: variables are numbered in the order in which they get their entries.
class Language::Drawing {
  public:
    Drawing(const Language& language, std::uint64_t stream)
        : language_(language), stream_(stream) {}

    DrawnText text() {
        const Index root = choose(language_.root_, -1);
        write(root, 0);
        return std::move(drawn_);
    }
    DrawnText text_of(Index entry) {
        const Index root = take(language_.root_, entry);
        write(root, 0);
        return std::move(drawn_);
    }

  private:
    struct Node {
        Index kind = 0, entry = 0;
        std::vector<Index> variables;  // nodes of the entry's variables
    };

    Index below(Index count) {
        const std::uint64_t high = mix(stream_, counter_++) >> 32;
        return static_cast<Index>((high * static_cast<std::uint64_t>(count)) >> 32);
    }

    /// An entry of a class by weight, another one than `not_this`.
    Index choose(Index kind_index, Index not_this) {
        const Kind& kind = language_.kinds_[kind_index];
        Index rest = below(kind.weight - (not_this < 0 ? 0 : kind.entries[not_this].weight));
        Index entry = 0;
        while (entry == not_this || rest >= kind.entries[entry].weight) {
            if (entry != not_this) rest -= kind.entries[entry].weight;
            ++entry;
        }
        return take(kind_index, entry);
    }
    /// An entry, and then those of its variables.
    Index take(Index kind_index, Index entry) {
        const Kind& kind = language_.kinds_[kind_index];
        const Index node = std::ssize(nodes_);
        nodes_.push_back({kind_index, entry, {}});
        for (const Variable& each : kind.entries[entry].variables) {
            const Index other = each.differs_from < 0
                                    ? -1
                                    : nodes_[nodes_[node].variables[each.differs_from]].entry;
            const Index made = choose(each.kind, other);
            nodes_[node].variables.push_back(made);
        }
        return node;
    }

    const Entry& entry_of(Index node) const {
        return language_.kinds_[nodes_[node].kind].entries[nodes_[node].entry];
    }
    Index form_of(Index node, const Piece& piece) const {
        if (piece.agrees_with < 0) return piece.form;
        const Index other = nodes_[node].variables[piece.agrees_with];
        return language_.kinds_[nodes_[nodes_[node].variables[piece.variable]].kind].form_of(
            entry_of(other).texts[piece.agreeing_form]);
    }

    void write(Index node, Index form) {
        const std::vector<Item>& items = entry_of(node).forms[form];
        // A text that is one fixed word is a word of its class.
        if (items.size() == 1 && items.front().word.is_fixed() && !items.front().answer)
            return drawn_.push_back({items.front().word.token, node, nodes_[node].kind});
        for (const Item& item : items) {
            const std::size_t first = drawn_.size();
            write_piece(node, item.word);
            if (!item.answer) continue;
            write_piece(node, *item.answer);
            drawn_[first].answer = drawn_.back().token;
            drawn_[first].answer_variable = drawn_.back().variable;
            drawn_.pop_back();
        }
    }
    void write_piece(Index node, const Piece& piece) {
        if (piece.is_fixed()) {
            drawn_.push_back({piece.token, -1, -1});
            return;
        }
        write(nodes_[node].variables[piece.variable], form_of(node, piece));
    }

    const Language& language_;
    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
    std::vector<Node> nodes_;
    DrawnText drawn_;
};

DrawnText Language::draw_any(std::uint64_t stream) const { return Drawing(*this, stream).text(); }

DrawnText Language::draw_entry(Index entry, std::uint64_t stream) const {
    return Drawing(*this, stream).text_of(entry);
}

DrawnText Language::draw(std::uint64_t stream, Part part) const {
    if (!holds_out()) return draw_any(mix(stream, 0));
    for (int n = 0; n < kMostDraws; ++n) {
        DrawnText text = draw_any(mix(stream, static_cast<std::uint64_t>(n)));
        if (is_held_out(text) == (part == Part::held_out)) return text;
    }
    ATTN_CHECK(false, "parse() found a text of each part");
    return {};
}

/// Finds the entries that the variables of one form of an entry have in a text, from left to right.
class Language::Matching {
  public:
    Matching(const std::vector<Kind>& kinds, const Entry& entry, std::span<const Index> tokens)
        : kinds_(kinds), entry_(entry), tokens_(tokens), bound_(entry.variables.size(), -1) {}

    std::optional<std::vector<Index>> answers(const std::vector<Item>& items) {
        if (!matches(items, 0, 0)) return std::nullopt;
        std::vector<Index> answers;
        for (const Item& item : items) {
            const std::vector<Index> found = item.answer ? tokens_of(*item.answer) : none_;
            const std::size_t count = tokens_of(item.word).size();
            answers.insert(answers.end(), count, found.size() == 1 ? found.front() : -1);
        }
        return answers;
    }

  private:
    bool matches(const std::vector<Item>& items, std::size_t n, std::size_t at) {
        if (n == items.size()) return at == tokens_.size();
        const Piece& piece = items[n].word;
        if (piece.is_fixed() || bound_[piece.variable] >= 0) return follows(items, n, at);
        const Variable& variable = entry_.variables[piece.variable];
        const Index count = std::ssize(kinds_[variable.kind].entries);
        for (Index value = 0; value < count; ++value) {
            if (variable.differs_from >= 0 && bound_[variable.differs_from] == value) continue;
            bound_[piece.variable] = value;
            if (follows(items, n, at)) return true;
        }
        bound_[piece.variable] = -1;
        return false;
    }
    /// The item has its tokens at `at`, and the rest follows.
    bool follows(const std::vector<Item>& items, std::size_t n, std::size_t at) {
        const std::vector<Index> own = tokens_of(items[n].word);
        if (own.empty() || own.size() > tokens_.size() - at) return false;
        return std::ranges::equal(own, tokens_.subspan(at, own.size())) &&
               matches(items, n + 1, at + own.size());
    }
    /// Empty: a variable has no entry yet, or its text has variables.
    std::vector<Index> tokens_of(const Piece& piece) const {
        if (piece.is_fixed()) return {piece.token};
        const Index value = bound_[piece.variable];
        if (value < 0) return {};
        const Index kind = entry_.variables[piece.variable].kind;
        Index form = piece.form;
        if (piece.agrees_with >= 0) {
            const Index other = bound_[piece.agrees_with];
            if (other < 0) return {};
            const Kind& named = kinds_[entry_.variables[piece.agrees_with].kind];
            form = kinds_[kind].form_of(named.entries[other].texts[piece.agreeing_form]);
        }
        std::vector<Index> tokens;
        for (const Item& item : kinds_[kind].entries[value].forms[form]) {
            if (!item.word.is_fixed()) return {};
            tokens.push_back(item.word.token);
        }
        return tokens;
    }

    const std::vector<Kind>& kinds_;
    const Entry& entry_;
    const std::span<const Index> tokens_;
    const std::vector<Index> none_;
    std::vector<Index> bound_;  // of each variable: an entry of its class; −1: none yet
};

std::optional<std::vector<Index>> Language::answers_of(std::span<const Index> tokens) const {
    for (const Entry& entry : kinds_[root_].entries)
        for (const std::vector<Item>& form : entry.forms)
            if (auto answers = Matching(kinds_, entry, tokens).answers(form)) return answers;
    return std::nullopt;
}

bool Language::is_held_out(const DrawnText& text) const {
    const auto has = [&](const std::vector<Index>& part) {
        return !std::ranges::search(text, part, {}, &DrawnWord::token).empty();
    };
    return std::ranges::any_of(
        held_out_, [&](const auto& combination) { return std::ranges::all_of(combination, has); });
}

std::optional<Index> Language::token_of(std::string_view word) const {
    const auto found = tokens_.find(word);
    return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::pair<std::string, std::vector<std::string>>> Language::class_vocabularies() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> classes;
    for (const Kind& kind : kinds_) {
        std::vector<std::string> own;
        for (const Entry& entry : kind.entries)
            for (const std::vector<Item>& form : entry.forms)
                if (form.size() == 1 && form.front().word.token >= 0 &&
                    std::ranges::find(own, form.front().word.word) == own.end())
                    own.push_back(form.front().word.word);
        if (!own.empty()) classes.emplace_back(kind.name, std::move(own));
    }
    return classes;
}

}  // namespace attn::train
