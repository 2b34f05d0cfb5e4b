#include "app/cli/arguments.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/or_throw.h"
#include "app/files/layers.h"
#include "app/files/text.h"
#include "core/note.h"
#include "core/text.h"

namespace attn::cli {
namespace {

/// CLI11's help, with the "Usage: " that versions from 2.5 on leave out.
struct HelpLayout : CLI::Formatter {
    std::string make_usage(const CLI::App* app, std::string name) const override {
        std::string usage = CLI::Formatter::make_usage(app, std::move(name));
        const std::size_t start = usage.find_first_not_of('\n');
        if (start == std::string::npos || usage.compare(start, 5, "Usage") == 0) return usage;
        return usage.insert(start, "Usage: ");
    }
};

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// Called when words were left over; an unknown option explains stray words better than they do.
std::string complaint_about(const std::vector<std::string>& arguments, const CLI::App& app) {
    const auto option = std::find_if(
        arguments.begin(), arguments.end(),
        [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
    if (option == arguments.end())
        return fmt::format("'{}' is one argument too many", arguments.front());
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("there is no option {}{}", name,
                       files::did_you_mean(name, option_names(app)));
}

/// The option that CLI11 found to have too few or too many values, in our words.
std::string complaint_about_count(const CLI::ParseError& error, const CLI::App& app) {
    const std::string what = error.what();
    const std::string name = what.substr(0, what.find(':'));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) return what;
    if (option->count() > 1)
        return fmt::format("{} is given {} times; expected once", name, option->count());
    return fmt::format("{} has no value; expected {}", name, option->get_type_name());
}

/// What a person may well type nothing for.
constexpr std::string_view kMayBeEmpty[] = {"--text", "--sentence"};

/// Of the first value that is "": what was expected; "" where there is none.
std::string complaint_about_empty(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        if (std::ranges::count(option->results(), "") == 0 || std::ranges::count(kMayBeEmpty, name))
            continue;
        const std::string type = option->get_type_name();
        return fmt::format("{} is ''; expected {}", name,
                           option->get_positional() ? "a file" : type);
    }
    return {};
}

// A value that is quoted may hold line breaks, and what a terminal would obey.
std::string one_line(std::string text) {
    const auto is_break = [](char c) { return c == '\n' || c == '\t' || c == '\r'; };
    std::replace_if(text.begin(), text.end(), is_break, ' ');
    return bounded_text(printable(text));
}

/// "--tokens is '0'; expected a whole number from 1 to 2^20": CLI11 puts "NAME: " before what a check says.
std::string complaint_about_value(const CLI::ValidationError& error) {
    std::string text = error.what();
    if (const std::size_t colon = text.find(": "); colon != text.npos) text.erase(colon, 1);
    return text;
}

using Json = nlohmann::ordered_json;

/// One line; bytes that are no UTF-8 become U+FFFD.
std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Members without a text are left out.
Json members(std::initializer_list<std::pair<std::string_view, std::string>> texts) {
    Json json = Json::object();
    for (const auto& [key, text] : texts)
        if (!text.empty()) json[std::string(key)] = text;
    return json;
}

/// {"level", "command", "code", "where", "subject", "value", "expected", "remedies", "text"}
Json error_json(const Error& error, std::string_view command) {
    Json json = members({{"level", "error"},
                         {"command", std::string(command)},
                         {"code", std::string(key_of(error))},
                         {"where", error.where},
                         {"subject", error.subject},
                         {"value", error.value},
                         {"expected", error.expected},
                         {"text", one_line(error.text())}});
    for (const Remedy& remedy : error.remedies)
        json["remedies"].push_back(members({{"option", remedy.option},
                                            {"value", remedy.value},
                                            {"meaning", remedy.meaning},
                                            {"when", remedy.when},
                                            {"advice", remedy.advice}}));
    return json;
}

template <class Wanted>
void add_options(CLI::App& app, AttentionArguments& text, const Wanted& wanted) {
    for (const files::AttentionOption& option : files::attention_options()) {
        if (!wanted(option)) continue;
        const std::string flag = fmt::format("--{}", option.name);
        if (app.get_option_no_throw(flag) != nullptr) continue;  // --scale of the window
        std::string& value = text[std::string(option.name)];
        const std::string help = files::with_bounds(option.text, option.range);
        CLI::Option* const declared =
            option.alone.empty()
                ? app.add_option(flag, value, help)->type_name(std::string(option.placeholder))
                : app.add_flag(fmt::format("{}{{{}}}", flag, option.alone), value, help);
        declared->group(std::string(option.group));
    }
}

}  // namespace

int report(const Error& error, std::string_view command, Streams io) {
    io.err << (io.json_messages ? dumped(error_json(error, command))
                                : fmt::format("{}: {}", command, one_line(error.text())))
           << '\n';
    return error.kind == ErrorKind::input ? kBadInput : kFailure;
}

void write_note(const Note& note, std::string_view command, Streams io) {
    const Json message = members({{"level", "note"},
                                  {"command", std::string(command)},
                                  {"code", std::string(key_of(note.code))},
                                  {"text", one_line(note.text)}});
    io.err << (io.json_messages ? dumped(message)
                                : fmt::format("{}: note: {}", command, one_line(note.text)))
           << '\n';
}

std::optional<int> parse(CLI::App& app, Args args, Streams io) {
    if (app.get_option_no_throw("--json") == nullptr)
        app.add_flag(
            "--json", [](std::int64_t) {},
            "errors and notes as JSON, one object a line, on standard error");
    const auto bad_usage = [&](std::string sentence) {
        return report({std::move(sentence), ErrorKind::input}, app.get_name(), io);
    };
    if (io.describe) {
        io.describe(app);
        return kSuccess;
    }
    app.allow_extras();
    app.allow_windows_style_options(false);  // "/tmp/in.npz" is a file on every system
    app.formatter(std::make_shared<HelpLayout>());
    app.get_formatter()->column_width(28);
    try {
        app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::Success&) {
        io.out << app.help();
        return kSuccess;
    } catch (const CLI::ArgumentMismatch& error) {
        return bad_usage(complaint_about_count(error, app));
    } catch (const CLI::ValidationError& error) {
        return bad_usage(complaint_about_value(error));
    } catch (const CLI::ParseError& error) {
        return bad_usage(error.what());
    }
    const std::vector<std::string> extra = app.remaining();
    if (!extra.empty()) return bad_usage(complaint_about(extra, app));
    if (std::string empty = complaint_about_empty(app); !empty.empty())
        return bad_usage(std::move(empty));
    return std::nullopt;
}

int run_command(CLI::App& app, Args args, Streams io, const std::function<int()>& work) {
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    const Result<int> done = contained(work);
    return done ? *done : report(done.error(), app.get_name(), io);
}

void add_attention_options(CLI::App& app, AttentionArguments& text) {
    add_options(app, text, [](const files::AttentionOption&) { return true; });
}

void add_call_options(CLI::App& app, AttentionArguments& text) {
    app.parse_complete_callback([&app, &text] {  // what was not typed
        std::erase_if(text, [&](const auto& each) { return app.count("--" + each.first) == 0; });
    });
    add_options(app, text, [](const files::AttentionOption& option) {
        return option.group != files::kOperationGroup;
    });
}

files::OptionValues given_options(const CLI::App& app, const AttentionArguments& description) {
    files::OptionValues given;
    for (const auto& [name, text] : description)
        if (app.count("--" + name) > 0) given[name] = {"--" + name, text};
    return given;
}

void add_head_options(CLI::App& app, std::vector<std::string>& rows,
                      std::vector<std::string>& patches) {
    app.add_option("--row", rows,
                   "replaces the weights of one query of a head of the model; may be repeated")
        ->allow_extra_args(false)
        ->type_name("LAYER.HEAD.QUERY=W,W,..");
    app.add_option("--patch", patches,
                   "replaces q, k or v of a head of the model by those of another text with as "
                   "many tokens, position by position; may be repeated")
        ->allow_extra_args(false)
        ->type_name("LAYER.HEAD.q|k|v=TEXT");
}

Index parse_layer(const std::string& text) {
    if (text.empty()) return files::kOnlyLayer;
    return files::parse_whole_number({"--layer", text});
}

int parse_count(std::string_view flag, const std::string& text, int most) {
    const Index number = files::parse_whole_number({std::string(flag), text});
    return static_cast<int>(std::min<Index>(number, most));
}

}  // namespace attn::cli
