// attnscope sheet: a sheet of exercises with numbers of its own, as PDF or as JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/common/exercise/exercise.h"
#include "app/common/fields.h"
#include "app/common/or_throw.h"
#include "app/figures/sheet_pdf.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/io/file.h"
#include "core/text.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFooter =
    "Each seed gives other numbers; the same seed gives the same sheet on every machine.\n"
    "--json: the given numbers, and the answer, tolerance and choices of each question.\n\n"
    "Examples:\n"
    "  attnscope sheet --list\n"
    "  attnscope sheet causal-row --seed 7 -o causal-7.pdf\n"
    "  attnscope sheet causal-row --seed 7 --solutions --paper letter -o causal-7-solved.pdf\n";

/// The command line, as it was written.
struct Arguments {
    std::string name;
    std::string seed = "1";
    std::string paper = "a4";
    std::string output;
    bool solutions = false, list = false, json = false;
};

void declare_sheet(CLI::App& app, Arguments& text) {
    app.add_option("NAME", text.name, "name of the sheet; --list shows all");
    add_number(app, "--seed", text.seed, "S", files::whole_numbers(0, files::kMostSeed),
               "seed of the numbers, default 1");
    app.add_flag("--solutions", text.solutions, "add answers and solutions");
    add_value(app, "--paper", text.paper, "SIZE", "a4 (default) or letter");
    add_value(app, "-o,--output", text.output, "FILE.pdf", "- for standard output");
    app.add_flag("--json", text.json, "numbers and answers as JSON on standard output");
    app.add_flag("--list", text.list, "list every sheet with its title");
    app.footer(std::string(kFooter));
}

std::string list_of_sheets() {
    std::string text;
    for (const view::ExerciseSheet& sheet : or_throw(view::exercise_sheets()))
        text += fmt::format("{:<18} {}\n", sheet.key, sheet.title);
    return text;
}

const view::ExerciseSheet& sheet_named(const std::string& name) {
    std::vector<std::string> keys;
    for (const view::ExerciseSheet& sheet : or_throw(view::exercise_sheets()))
        keys.push_back(sheet.key);
    if (name.empty())
        throw bad_input(fmt::format("no sheet was named; expected {}", choices(keys)));
    if (const view::ExerciseSheet* const found = view::find_exercise_sheet(name)) return *found;
    throw bad_input(fmt::format("there is no sheet '{}'{}; expected {}", name,
                                files::did_you_mean(name, keys), choices(keys)));
}

std::uint64_t parse_seed(const std::string& text) {
    if (const auto seed = files::number_in<std::uint64_t>(text)) return *seed;
    throw bad_input(fmt::format("--seed is '{}'; expected a whole number from 0", text));
}

figures::Paper parse_paper(const std::string& text) {
    const auto* const found = std::ranges::find(figures::kPaperNames, text);
    if (found != std::end(figures::kPaperNames))
        return static_cast<figures::Paper>(found - figures::kPaperNames);
    throw bad_input(fmt::format("--paper is '{}'; expected a4 or letter", text));
}

ordered_json json_of(const SmallMatrix& matrix) {
    ordered_json rows = ordered_json::array();
    for (Index i = 0; i < matrix.rows; ++i) {
        ordered_json& row = rows.emplace_back(ordered_json::array());
        for (Index j = 0; j < matrix.columns; ++j) row.push_back(view::number_to(matrix(i, j)));
    }
    return rows;
}

ordered_json json_of(const view::Exercise& exercise) {
    ordered_json given = ordered_json::object();
    for (const std::string& name : exercise.drawn) given[name] = json_of(exercise.values.at(name));
    ordered_json questions = ordered_json::array();
    for (const view::ExerciseQuestion& question : exercise.questions)
        questions.push_back({{"answer", json_of(question.answer)},
                             {"tolerance", question.tolerance},
                             {"relative", question.relative},
                             {"choices", question.choices}});
    return {{"sheet", exercise.key},
            {"seed", exercise.seed},
            {"given", std::move(given)},
            {"questions", std::move(questions)}};
}

void check_options(const CLI::App& app, const Arguments& text) {
    const bool pdf = !text.output.empty();
    if (pdf == text.json)
        throw bad_input(pdf ? "-o was given with --json; expected one of the two"
                            : "no output was named; expected -o FILE.pdf, --json or --list");
    if (pdf) return or_throw(files::check_extension({"-o", text.output}, ".pdf"));
    for (const char* flag : {"--solutions", "--paper"})
        if (app.count(flag) > 0)
            throw bad_input(fmt::format("{} was given with --json; expected it with -o", flag));
}

void sheet(const CLI::App& app, const Arguments& text, Streams io) {
    if (text.list) {
        if (!text.name.empty() || !text.output.empty() || text.json)
            throw bad_input("--list was given with a sheet or an output; expected only --list");
        io.out << list_of_sheets();
        return;
    }
    check_options(app, text);
    const auto exercise =
        or_throw(view::make_exercise(sheet_named(text.name), parse_seed(text.seed)));
    if (text.json) {
        io.out << json_of(exercise).dump(2) << '\n';
        return;
    }
    const std::string bytes =
        or_throw(figures::sheet_pdf(exercise, parse_paper(text.paper), text.solutions));
    if (files::is_standard(text.output))
        io.out << bytes;
    else
        or_throw(write_file_atomically(text.output, bytes));
}

}  // namespace

int run_sheet(Args args, Streams io) {
    return run_command("Writes an exercise sheet with numbers from a seed.", "attnscope sheet",
                       args, io, declare_sheet, sheet);
}

}  // namespace attn::cli
