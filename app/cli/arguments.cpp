#include "app/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

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

/// Levenshtein's edit distance: insertions, deletions and replacements from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);  // distances from a[0..i) to each b[0..j)
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

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
    return fmt::format("there is no option {}{}", name, did_you_mean(name, option_names(app)));
}

/// The option that CLI11 found to have too few or too many values, in our words.
std::string complaint_about_count(const CLI::ParseError& error, const CLI::App& app) {
    const std::string what = error.what();
    const std::string name = what.substr(0, what.find(':'));
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option == nullptr) return what;
    if (option->count() > 1)
        return fmt::format("{} is given {} times; once was wanted", name, option->count());
    return fmt::format("{} has no value; {} was wanted", name, option->get_type_name());
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    std::size_t best_distance = 3;
    std::string_view best;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance || distance * 2 >= candidate.size()) continue;
        best_distance = distance;
        best = candidate;
    }
    return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

std::optional<int> parse(CLI::App& app, Args args, Streams io) {
    const auto bad_usage = [&](std::string sentence) {
        return report({std::move(sentence), ErrorKind::input}, app.get_name(), io);
    };
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
