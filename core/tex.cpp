#include "core/tex.h"

#include <algorithm>
#include <optional>

#include "core/tex_signs.h"
#include "core/text.h"

namespace attn::tex {
namespace {

constexpr std::string_view kPrime = "′";
constexpr std::string_view kMinus = "−";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Node symbol(std::string_view text, Spacing spacing, Form form) {
    Node node;
    node.kind = Kind::symbol;
    node.text = text;
    node.spacing = spacing;
    node.form = form;
    return node;
}

Node compound(Kind kind, std::vector<Node> parts) {
    Node node;
    node.kind = kind;
    node.parts = std::move(parts);
    return node;
}

Node space(double em) {
    Node node = symbol(" ", Spacing::space, Form::upright);
    node.space_em = em;
    return node;
}

/// What a single character says; none where it says nothing in mathematics.
std::optional<Node> sign(char c) {
    const std::string_view text(&c, 1);
    if (is_letter(c)) return symbol(text, Spacing::ordinary, Form::italic);
    if (is_digit(c)) return symbol(text, Spacing::ordinary, Form::upright);
    switch (c) {
        case '+':
            return symbol("+", Spacing::binary, Form::upright);
        case '-':
            return symbol(kMinus, Spacing::binary, Form::upright);
        case '=':
        case '<':
        case '>':
        case ':':
            return symbol(text, Spacing::relation, Form::upright);
        case ',':
        case ';':
            return symbol(text, Spacing::punctuation, Form::upright);
        case '.':
        case '/':
        case '|':
        case '!':
            return symbol(text, Spacing::ordinary, Form::upright);
        default:
            return std::nullopt;
    }
}

/// A + or − with nothing before it to add to is a sign of its number.
void resolve_signs(std::vector<Node>& nodes) {
    const Node* before = nullptr;
    for (Node& node : nodes) {
        const bool begins = !before || before->spacing == Spacing::binary ||
                            before->spacing == Spacing::relation ||
                            before->spacing == Spacing::punctuation;
        if (node.spacing == Spacing::binary && begins) node.spacing = Spacing::ordinary;
        if (node.spacing != Spacing::space && node.form != Form::text) before = &node;
        if (node.form == Form::text) before = nullptr;
    }
}

class Parser {
  public:
    explicit Parser(std::string_view source) : rest_(source), whole_(source) {}

    Result<Node> whole() {
        auto row = row_until("");
        if (row && !rest_.empty()) return wrong(std::string("nothing opens ") + rest_.front());
        return row;
    }

  private:
    Failure wrong(std::string what) const {
        return bad_input("the formula \"" + shortened(whole_, 200) + "\": " + std::move(what));
    }

    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
            rest_.remove_prefix(1);
    }
    bool take(std::string_view token) {
        if (token.empty() || !rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    /// Nodes up to what closes them, which stays; to the end where nothing does.
    Result<Node> row_until(std::string_view close) {
        Node row;
        for (skip_blanks(); !rest_.empty() && !ends_row(close); skip_blanks()) {
            if (rest_.front() == '_' || rest_.front() == '^' || rest_.front() == '\'') {
                if (auto done = attach(row); !done) return tl::unexpected(done.error());
                continue;
            }
            auto node = atom();
            if (!node) return node;
            row.parts.push_back(std::move(*node));
        }
        resolve_signs(row.parts);
        return row;
    }
    bool ends_row(std::string_view close) const {
        if (!close.empty() && rest_.starts_with(close)) return true;
        return rest_.front() == '}' || rest_.front() == ')' || rest_.front() == ']' ||
               rest_.starts_with("\\right");
    }

    /// "{row}", or the next atom alone.
    Result<Node> argument() {
        skip_blanks();
        if (rest_.empty()) return wrong("it ends where an argument is expected");
        if (!take("{")) {
            auto one = atom();
            if (!one) return one;
            return compound(Kind::row, {std::move(*one)});
        }
        auto inside = row_until("}");
        if (inside && !take("}")) return wrong("a { stays open");
        return inside;
    }

    /// _, ^ or ' belongs to the last node of the row.
    Result<bool> attach(Node& row) {
        if (row.parts.empty()) return wrong(std::string("nothing comes before ") + rest_.front());
        Node& base = row.parts.back();
        if (take("'")) {
            if (base.kind != Kind::symbol) return wrong("a prime follows a symbol");
            base.text += kPrime;
            return true;
        }
        const bool below = rest_.front() == '_';
        rest_.remove_prefix(1);
        auto script = argument();
        if (!script) return tl::unexpected(script.error());
        const bool limits = base.kind == Kind::big_op;
        if (!limits && base.kind != Kind::script)
            base = compound(Kind::script, {std::move(base), Node{}, Node{}});
        base.parts[(limits ? 0U : 1U) + (below ? 0U : 1U)] = std::move(*script);
        return true;
    }

    Result<Node> atom() {
        if (depth_ == kDeepest) return wrong("it is nested too deeply");
        ++depth_;
        auto node = any_atom();
        --depth_;
        return node;
    }

    Result<Node> any_atom() {
        if (take("\\")) return command();
        if (take("{")) {
            auto inside = row_until("}");
            if (inside && !take("}")) return wrong("a { stays open");
            return inside;
        }
        if (take("(")) return fence("(", ")", ")");
        if (take("[")) return fence("[", "]", "]");
        if (const auto known = sign(rest_.front())) {
            rest_.remove_prefix(1);
            return *known;
        }
        const CodePoint found = first_code_point(rest_);
        return wrong("\"" + std::string(rest_.substr(0, found.bytes)) + "\" is not part of it");
    }

    Result<Node> fence(std::string_view open, std::string_view close, std::string_view closing) {
        auto inside = row_until(closing);
        if (!inside) return inside;
        take("\\right");
        if (!take(closing)) return wrong("a " + std::string(open) + " stays open");
        Node node = compound(Kind::fence, {std::move(*inside)});
        node.text = open;
        node.close = close;
        return node;
    }

    std::string_view command_name() {
        std::size_t length = 0;
        while (length < rest_.size() && is_letter(rest_[length])) ++length;
        const std::string_view name = rest_.substr(0, std::max<std::size_t>(length, 1));
        rest_.remove_prefix(name.size());
        return name;
    }

    Result<Node> command() {
        const std::string_view name = command_name();
        if (name == "left") return atom();
        if (name == "|") return fence("‖", "‖", "\\|");
        if (name == "text") return text();
        if (name == "mathrm" || name == "operatorname") return word();
        if (name == "tilde" || name == "hat") return accent(name);
        if (name == "frac") return of_arguments(Kind::fraction, 2);
        if (name == "sqrt") return of_arguments(Kind::root, 1);
        if (const auto* row = find_row(kOperators, name)) {
            Node node = compound(Kind::big_op, {Node{}, Node{}});
            node.text = row->text;
            return node;
        }
        if (const auto* row = find_row(kSpaces, name)) return space(row->em);
        if (const auto* row = find_row(kCommands, name))
            return symbol(row->text, row->spacing, row->form);
        return wrong("\\" + std::string(name) + " is not known");
    }

    Result<Node> of_arguments(Kind kind, int count) {
        std::vector<Node> parts;
        for (int n = 0; n < count; ++n) {
            auto part = argument();
            if (!part) return part;
            parts.push_back(std::move(*part));
        }
        return compound(kind, std::move(parts));
    }

    /// \mathrm{scores}: one upright word.
    Result<Node> word() {
        const std::size_t end = rest_.find('}');
        if (!take("{") || end == rest_.npos) return wrong("a word in { } is expected");
        const std::string_view inside = rest_.substr(0, end - 1);
        if (!std::all_of(inside.begin(), inside.end(),
                         [](char c) { return is_letter(c) || is_digit(c); }))
            return wrong(std::string("\"").append(inside) + "\" is not a word of letters");
        rest_.remove_prefix(end);
        return symbol(inside, Spacing::ordinary, Form::upright);
    }

    Result<Node> accent(std::string_view name) {
        auto inside = argument();
        if (!inside) return inside;
        if (plain_text(*inside) != "A")
            return wrong("\\" + std::string(name) + " is known only of A");
        return symbol(name == "hat" ? "Â" : "Ã", Spacing::ordinary, Form::italic);
    }

    /// \text{…}: anything, with its escapes.
    Result<Node> text() {
        if (!take("{")) return wrong("words in { } are expected");
        Node node = symbol("", Spacing::ordinary, Form::text);
        while (!rest_.empty() && rest_.front() != '}')
            if (!take_letter(node.text)) return wrong("an escape in words is not known");
        if (!take("}")) return wrong("a { stays open");
        return node;
    }

    /// The next letter of words, or what an escape stands for.
    bool take_letter(std::string& to) {
        if (take("\\textbackslash{}")) return to += '\\', true;
        if (take("\\^{}")) return to += '^', true;
        if (take("\\~{}")) return to += '~', true;
        if (rest_.size() >= 4 && rest_.starts_with("$_") && is_digit(rest_[2]) && rest_[3] == '$') {
            append_code_point(to, U'₀' + static_cast<char32_t>(rest_[2] - '0'));
            rest_.remove_prefix(4);
            return true;
        }
        if (rest_.front() == '\\') {
            rest_.remove_prefix(1);
            if (rest_.empty() || is_letter(rest_.front())) return false;
        }
        const CodePoint found = first_code_point(rest_);
        to += rest_.substr(0, found.bytes);
        rest_.remove_prefix(found.bytes);
        return true;
    }

    static constexpr int kDeepest = 64;  // far more than a formula that a person reads has
    int depth_ = 0;
    std::string_view rest_, whole_;
};

}  // namespace

Result<Node> parse(std::string_view source) { return Parser(source).whole(); }

std::string text_of(std::string_view text) {
    std::string escaped;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const char c = text[n];
        if (std::string_view("_%&#${}").find(c) != std::string_view::npos)
            escaped += {'\\', c};
        else if (c == '\\')
            escaped += "\\textbackslash{}";
        else if (c == '^' || c == '~')
            escaped += std::string("\\") + c + "{}";
        else if (const CodePoint found = first_code_point(text.substr(n));
                 found.value >= U'₀' && found.value <= U'₉') {
            escaped += "$_" + std::to_string(found.value - U'₀') + "$";
            n += found.bytes - 1;
        } else
            escaped += c;
    }
    return "\\text{" + escaped + "}";
}

}  // namespace attn::tex
