#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/subcommands.h"
#include "core/backend.h"
#include "core/stages.h"
#include "core/tex.h"

namespace attn::cli {
namespace {

std::string_view extent(Axis axis) {
    switch (axis) {
        case Axis::query:
            return "Tq";
        case Axis::key:
            return "Tk";
        case Axis::d_model:
            return "d_model";
        case Axis::d_k:
            return "d_k";
        case Axis::d_v:
            return "d_v";
        case Axis::d_out:
            return "d_out";
        case Axis::hidden:
        case Axis::head:
            break;  // of parameters alone
    }
    return "";
}

std::string shape_words(const StageInfo& stage) {
    const std::string_view heads = stage.heads == HeadAxis::none    ? ""
                                   : stage.heads == HeadAxis::query ? "H,"
                                                                    : "Hkv,";
    // K and V are as long as the keys, whatever the row axis of the table says of self-attention.
    return fmt::format("[B,{}{},{}]", heads, extent(stage.rows), extent(stage.columns));
}

// "reference, staged": who keeps the stage.
std::vector<std::string> keepers(Stage stage, BackendList backends) {
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

std::string table(BackendList backends) {
    std::vector<std::array<std::string, 5>> rows{{"key", "symbol", "shape", "kept by", "formula"}};
    for (const StageInfo& stage : stage_table())
        rows.push_back({std::string(stage.key), std::string(stage.symbol), shape_words(stage),
                        fmt::format("{}", fmt::join(keepers(stage.stage, backends), ", ")),
                        plain_formula(stage)});
    rows.push_back({"logsumexp", "", "[B,H,Tq]", rows.back()[3],
                    tex::plain_text(R"(m_i + \ln \sum_j \exp(M_{i,j} - m_i))")});
    std::array<std::size_t, 5> widths{};
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], columns(row[c]));
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c) text += padded(row[c], widths[c]);
        text += row.back() + '\n';
    }
    return text + "\nThe gradient of a stage is d_<key>.\n";
}

nlohmann::ordered_json table_as_json(BackendList backends) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const StageInfo& stage : stage_table())
        rows.push_back({{"key", stage.key},
                        {"symbol", stage.symbol},
                        {"title", stage.title},
                        {"formula", plain_formula(stage)},
                        {"tex", stage.tex},
                        {"shape", shape_words(stage)},
                        {"kept_by", keepers(stage.stage, backends)},
                        {"words", stage.words},
                        {"source", stage.source}});
    return rows;
}

}  // namespace

int run_stages(Args args, Streams io) {
    CLI::App app("Lists the stages of attention: the arrays that `attnscope trace` writes.",
                 "attnscope stages");
    bool as_json = false;
    app.add_flag("--json", as_json, "as a JSON array");
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    if (as_json)
        io.out << table_as_json(io.backends).dump(2) << '\n';
    else
        io.out << table(io.backends);
    return kSuccess;
}

}  // namespace attn::cli
