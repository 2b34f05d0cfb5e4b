#include <fmt/format.h>

#include <algorithm>

#include "app/common/assets.h"
#include "app/common/exercise/exercise.h"
#include "app/common/fields.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;

constexpr Index kMostSide = 12;  // of a matrix that is drawn

ExerciseDraw read_draw(Fields& fields) {
    ExerciseDraw draw;
    fields.need("name", draw.name);
    fields.read_index("rows", draw.rows, 1, kMostSide);
    fields.read_index("columns", draw.columns, 1, kMostSide);
    fields.need("from", draw.from);
    fields.read("label", draw.label);
    if (draw.from.empty()) fields.complain("has an empty 'from': expected numbers");
    return draw;
}

ExerciseTask read_task(Fields& fields) {
    ExerciseTask task;
    fields.read("text", task.text);
    fields.read("label", task.label);
    fields.need("answer", task.answer);
    fields.read("choices", task.choices);
    fields.read_index("decimals", task.decimals, 0, 9);
    fields.read_index("significant", task.significant, 1, 9);
    if (fields.find("tolerance") != nullptr) fields.read("tolerance", task.tolerance.emplace());
    fields.need("hint", task.hint);
    fields.read("solution", task.solution);
    if (task.text.empty()) fields.complain("has no 'text'");
    if (task.solution.empty()) fields.complain("has no 'solution'");
    return task;
}

/// ["S = Q @ K'", …]
void read_compute(Fields& fields, ExerciseSheet& sheet) {
    std::vector<std::string> lines;
    fields.read("compute", lines);
    for (const std::string& line : lines) {
        const std::size_t equals = line.find(" = ");
        if (equals == line.npos)
            return fields.complain(
                fmt::format("has '{}' in 'compute': expected \"name = formula\"", line));
        sheet.compute.emplace_back(line.substr(0, equals), line.substr(equals + 3));
    }
}

Result<std::vector<ExerciseSheet>> read_sheets() {
    std::vector<ExerciseSheet> sheets;
    for (const auto& path : asset_files("exercises")) {
        auto sheet = read_text_file(path).and_then([&](const std::string& text) {
            return exercise_sheet_from_json(text, path.filename().string());
        });
        if (!sheet) return tl::unexpected(std::move(sheet.error()));
        sheet->key = path.stem().string();
        sheets.push_back(*std::move(sheet));
    }
    std::ranges::stable_sort(sheets, {}, &ExerciseSheet::place);
    if (sheets.empty()) return bad_input("the program's files have no exercises");
    return sheets;
}

}  // namespace

Result<ExerciseSheet> exercise_sheet_from_json(std::string_view text, std::string_view file_name) {
    return parse_json(text, file_name).and_then([&](const json& value) -> Result<ExerciseSheet> {
        Fields fields(value, std::string(file_name));
        ExerciseSheet sheet;
        fields.need("title", sheet.title);
        fields.read_index("place", sheet.place);
        fields.read("formula", sheet.formula);
        fields.read("learn", sheet.learn);
        fields.read("question", sheet.question);
        fields.read("chapter", sheet.chapter);
        fields.read("stage", sheet.stage);
        fields.read("level", sheet.level);
        fields.read_index("minutes", sheet.minutes, 1, 600);
        need_list(fields, "draw", "draw", sheet.draw, read_draw);
        fields.read("require", sheet.require);
        read_compute(fields, sheet);
        fields.read("text", sheet.text);
        need_list(fields, "questions", "question", sheet.tasks, read_task);
        if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
        return sheet;
    });
}

const Result<std::vector<ExerciseSheet>>& exercise_sheets() {
    static const Result<std::vector<ExerciseSheet>> once = read_sheets();
    return once;
}

const ExerciseSheet* find_exercise_sheet(std::string_view key) {
    if (!exercise_sheets()) return nullptr;
    const auto& sheets = *exercise_sheets();
    if (key.empty()) return &sheets.front();
    const auto found = std::ranges::find(sheets, key, &ExerciseSheet::key);
    return found == sheets.end() ? nullptr : &*found;
}

std::string exercise_sheet_keys() {
    std::string keys;
    if (exercise_sheets())
        for (const ExerciseSheet& sheet : *exercise_sheets())
            keys += (keys.empty() ? "" : ", ") + sheet.key;
    return keys;
}

}  // namespace attn::view
