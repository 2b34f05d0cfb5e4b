#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/cli.h"
#include "app/files/options.h"

namespace attn::cli {

/// Parses the words of a subcommand. nullopt: go on. Otherwise the exit code: 0 after --help,
/// 2 after one line on `err` that names the word that was wrong and, for a typing mistake, the
/// option that was probably meant; 0 where `io.describe` was given `app`. It must not use required(): check by hand, for a
/// better line.
std::optional<int> parse(CLI::App& app, Args args, Streams io);

/// An option that takes a value, which the help calls `value`.
template <class T>
void add_value(CLI::App& app, std::string names, T& into, std::string value, std::string text) {
    app.add_option(std::move(names), into, std::move(text))->type_name(std::move(value));
}

/// The same of a number, or a list of them: any other is refused, and the help gives the range.
template <class T>
void add_number(CLI::App& app, std::string names, T& into, std::string value,
                const files::NumberRange& range, std::string_view description) {
    app.add_option(std::move(names), into, files::with_bounds(description, range))
        ->type_name(std::move(value))
        ->check([range](const std::string& text) {
            return text.empty() ? "" : files::complaint_about(range, text);
        });
}

/// Parses the words of a subcommand and does its `work`. The exit code: of parse(), of the error that `work` throws, which
/// is reported, or what `work` returns.
int run_command(CLI::App& app, Args args, Streams io, const std::function<int()>& work);

/// The options of an attention call, and what was typed for each, by its name.
using AttentionArguments = std::map<std::string, std::string>;
void add_attention_options(CLI::App& app, AttentionArguments& text);
/// Those of a call of softmax attention: all but --operation and what belongs to it.
void add_call_options(CLI::App& app, AttentionArguments& text);
files::OptionValues given_options(const CLI::App& app, const AttentionArguments& text);
/// --row and --patch.
void add_head_options(CLI::App& app, std::vector<std::string>& rows,
                      std::vector<std::string>& patches);

/// Of --layer, which add_number() has checked; "": the only one.
Index parse_layer(const std::string& text);
/// The value of `flag`, which add_number() has checked; above `most` it is that.
int parse_count(std::string_view flag, const std::string& text, int most);

}  // namespace attn::cli
