#include "app/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/files/words.h"

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
std::string complaint_about(const std::vector<std::string>& words, const CLI::App& app) {
    const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-');
    });
    if (option == words.end()) return fmt::format("'{}' is one argument too many", words.front());
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

}  // namespace

std::optional<int> parse(CLI::App& app, Args args, Streams io) {
    const auto bad_usage = [&](std::string sentence) {
        return report({std::move(sentence), ErrorKind::input}, app.get_name(), io);
    };
    if (io.describe) {
        io.describe(app);
        return kSuccess;
    }
    app.allow_extras();
    app.formatter(std::make_shared<HelpLayout>());
    app.get_formatter()->column_width(28);
    try {
        app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::Success&) {
        io.out << app.help();
        return kSuccess;
    } catch (const CLI::ArgumentMismatch& error) {
        return bad_usage(complaint_about_count(error, app));
    } catch (const CLI::ParseError& error) {
        return bad_usage(error.what());
    }
    const std::vector<std::string> extra = app.remaining();
    if (!extra.empty()) return bad_usage(complaint_about(extra, app));
    return std::nullopt;
}

}  // namespace attn::cli
