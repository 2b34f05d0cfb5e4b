#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/subcommands.h"
#include "app/files/text.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::cli {
namespace {

/// Of a row of softmax attention's table or of an operation's.
std::string shape_text(const auto& stage) {
    const std::string_view heads = stage.heads == HeadAxis::none    ? ""
                                   : stage.heads == HeadAxis::query ? "H,"
                                                                    : "Hkv,";
    // One number a row has no columns in a file.
    if (stage.columns == Axis::one) return fmt::format("[B,{}{}]", heads, extent(stage.rows));
    // K and V are as long as the keys, whatever the row axis of the table says of self-attention.
    return fmt::format("[B,{}{},{}]", heads, extent(stage.rows), extent(stage.columns));
}

// "reference, staged": who keeps the stage.
std::vector<std::string> backends_with(Stage stage, BackendList backends) {
    std::vector<std::string> names;
    for (const Backend* backend : backends)
        if (backend->stages()[index_of(stage)]) names.emplace_back(backend->name());
    return names;
}

// std::format's widths count code points' columns wrongly for combining letters; these have none.
std::size_t columns(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(std::string_view text, std::size_t width) {
    return std::string(text).append(width - std::min(width, columns(text)) + 2, ' ');
}

/// Columns as wide as their widest entry, the last one as long as it is.
template <std::size_t kColumns>
std::string aligned(const std::vector<std::array<std::string, kColumns>>& rows) {
    std::array<std::size_t, kColumns> widths{};
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], columns(row[c]));
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c) text += padded(row[c], widths[c]);
        text += row.back() + '\n';
    }
    return text;
}

std::string table(BackendList backends) {
    std::vector<std::array<std::string, 5>> rows{{"key", "symbol", "shape", "kept by", "formula"}};
    for (const StageInfo& stage : stage_table())
        rows.push_back({std::string(stage.key), std::string(stage.symbol), shape_text(stage),
                        fmt::format("{}", fmt::join(backends_with(stage.stage, backends), ", ")),
                        plain_formula(stage)});
    rows.push_back({"logsumexp", "", "[B,H,Tq]", rows.back()[3],
                    tex::plain_text(R"(m_i + \ln \sum_j \exp(M_{i,j} - m_i))")});
    return aligned<5>(rows) + "\nThe gradient of a stage is d_<key>.\n";
}

/// `own`: what only rows of this table have, by its name.
nlohmann::ordered_json row_json(const auto& stage, std::string formula, const char* name,
                                nlohmann::ordered_json own) {
    return {{"key", stage.key},      {"symbol", stage.symbol},
            {"title", stage.title},  {"formula", std::move(formula)},
            {"tex", stage.tex},      {"shape", shape_text(stage)},
            {name, std::move(own)},  {"words", stage.text},
            {"source", stage.source}};
}

nlohmann::ordered_json table_as_json(BackendList backends) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const StageInfo& stage : stage_table())
        rows.push_back(
            row_json(stage, plain_formula(stage), "kept_by", backends_with(stage.stage, backends)));
    return rows;
}

std::string param_shape(const OperationParam& param) {
    return fmt::format("[H,{},{}]", extent(param.rows), extent(param.columns));
}

std::string table_of(const OperationInfo& operation) {
    std::vector<std::array<std::string, 4>> rows{{"key", "symbol", "shape", "formula"}};
    for (const OperationStage& stage : operation.stages)
        rows.push_back({std::string(stage.key), std::string(stage.symbol), shape_text(stage),
                        tex::plain_text(stage.tex)});
    std::string text = fmt::format("{}: {}\n{}\n{}\n\n{}", operation.key, operation.title,
                                   operation.text, operation.source, aligned<4>(rows));
    if (!operation.params.empty()) {
        std::vector<std::array<std::string, 4>> params{{"array", "symbol", "shape", "parameter"}};
        for (const OperationParam& param : operation.params)
            params.push_back({std::string(param.npz), std::string(param.symbol), param_shape(param),
                              std::string(param.text)});
        text += '\n' + aligned<4>(params);
    }
    return text +
           "\nThe gradient of a stage is d_<key>, that of an array d_<array in lower case>.\n";
}

nlohmann::ordered_json json_of(const OperationInfo& operation) {
    nlohmann::ordered_json stages = nlohmann::ordered_json::array(), params = stages;
    for (const OperationStage& stage : operation.stages)
        stages.push_back(row_json(stage, tex::plain_text(stage.tex), "gradient", stage.gradient));
    for (const OperationParam& param : operation.params)
        params.push_back({{"key", param.key},
                          {"array", param.npz},
                          {"symbol", param.symbol},
                          {"shape", param_shape(param)},
                          {"words", param.text}});
    return {{"key", operation.key},
            {"title", operation.title},
            {"formula", tex::plain_text(operation.tex)},
            {"tex", operation.tex},
            {"words", operation.text},
            {"source", operation.source},
            {"exact", operation.exact},
            {"stages", std::move(stages)},
            {"parameters", std::move(params)}};
}

std::string table_of_options() {
    std::vector<std::array<std::string, 4>> rows{{"option", "value", "range", "meaning"}};
    for (const files::AttentionOption& option : files::attention_options())
        rows.push_back({std::string(option.name), std::string(option.placeholder),
                        option.range ? files::bounds_of(option.range) : std::string(),
                        std::string(option.text)});
    return aligned<4>(rows);
}

nlohmann::ordered_json options_as_json() {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const files::AttentionOption& option : files::attention_options())
        rows.push_back({{"name", option.name},
                        {"value", option.placeholder},
                        {"group", option.group},
                        {"range", option.range ? files::bounds_of(option.range) : ""},
                        {"words", option.text}});
    return rows;
}

std::vector<std::string> operation_keys() {
    std::vector<std::string> keys;
    for (const OperationInfo& row : operation_table()) keys.emplace_back(row.key);
    return keys;
}

}  // namespace

int run_stages(Args args, Streams io) {
    CLI::App app("Lists the stages of attention: the arrays that `attnscope trace` writes.",
                 "attnscope stages");
    bool as_json = false;
    app.add_flag("--json", as_json, "as a JSON array");
    std::string operation;
    add_value(app, "--operation", operation, "NAME",
              "the stages of " + choices(operation_keys()) + " instead of softmax attention's");
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    if (!operation.empty()) {
        const std::optional<Operation> known = find_operation(operation);
        if (!known)
            return report({fmt::format("--operation is '{}'{}; expected {}", operation,
                                       files::did_you_mean(operation, operation_keys()),
                                       choices(operation_keys()))},
                          app.get_name(), io);
        io.out << (as_json ? json_of(info(*known)).dump(2) + '\n' : table_of(info(*known)));
        return kSuccess;
    }
    io.out << (as_json ? table_as_json(io.backends).dump(2) + '\n' : table(io.backends));
    return kSuccess;
}

int run_options(Args args, Streams io) {
    CLI::App app(
        "Lists the options of an attention call, which `trace` and the array `options` take.",
        "attnscope options");
    bool as_json = false;
    app.add_flag("--json", as_json, "as a JSON array");
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    io.out << (as_json ? options_as_json().dump(2) + '\n' : table_of_options());
    return kSuccess;
}

}  // namespace attn::cli
