#include <nlohmann/json.hpp>

#include "app/cli/diff_report.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
    return value;
}

ordered_json json_of(const verify::Cell& cell) {
    return {{"index", {cell.b, cell.h, cell.t, cell.d}},
            {"actual", number(cell.actual)},
            {"expected", number(cell.expected)}};
}

ordered_json json_of(const verify::Mismatches& mismatches) {
    ordered_json json{{"count", mismatches.count}};
    if (mismatches.count > 0) json["first"] = json_of(mismatches.first);
    return json;
}

ordered_json json_of(const verify::Errors& errors) {
    ordered_json json{{"cells", errors.count},      {"beyond", errors.beyond},
                      {"max", number(errors.max)},  {"mean", number(errors.mean)},
                      {"rms", number(errors.rms)},  {"ulp", errors.ulp},
                      {"nan", json_of(errors.nan)}, {"inf", json_of(errors.infinite)}};
    json["worst"] = errors.any() ? json_of(errors.worst) : ordered_json();
    return json;
}

ordered_json json_of(const DiffRow& row) {
    const verify::Comparison& c = row.comparison;
    ordered_json json{{"array", row.key},
                      {"shape", {c.shape.b, c.shape.h, c.shape.t, c.shape.d}},
                      {"against", row.expected_from},
                      {"tolerance",
                       {{"absolute", number(c.tolerance.absolute)},
                        {"relative", number(c.tolerance.relative)},
                        {"by_entry", c.tolerance.entries != nullptr}}},
                      {"relative", number(c.relative)},
                      {"extent", row.extent},
                      {"errors", json_of(c.all)},
                      {"heads", ordered_json::array()},
                      {"worst_rows", ordered_json::array()}};
    for (const verify::HeadErrors& head : c.heads)
        json["heads"].push_back(
            {{"batch", head.b}, {"head", head.h}, {"errors", json_of(head.errors)}});
    for (const verify::RowErrors& worst : c.rows)
        json["worst_rows"].push_back({{"batch", worst.b},
                                      {"head", worst.h},
                                      {"row", worst.t},
                                      {"errors", json_of(worst.errors)}});
    return json;
}

ordered_json fault_of(const verify::Fault& fault) {
    return {{"key", fault.key},
            {"words", fault.text},
            {"remedy", fault.remedy},
            {"source", fault.source}};
}

ordered_json json_of(const verify::Outcome& outcome) {
    ordered_json json = fault_of(*outcome.fault);
    json["tested"] = outcome.tried;
    if (!outcome.tried) {
        json["reason"] = outcome.reason;
        return json;
    }
    json["variant"] = outcome.variant;
    json["explains"] = outcome.explains;
    json["error_before"] = number(outcome.before);
    json["error_after"] = number(outcome.after);
    json["factor"] = number(outcome.factor());
    json["arrays"] = ordered_json::array();
    for (const verify::StageChange& stage : outcome.stages)
        json["arrays"].push_back({{"array", stage.key},
                                  {"max_before", number(stage.max_before)},
                                  {"max_after", number(stage.max_after)},
                                  {"beyond_before", stage.beyond_before},
                                  {"beyond_after", stage.beyond_after}});
    return json;
}

ordered_json json_of(const verify::Diagnosis& diagnosis) {
    ordered_json json{{"named", ordered_json::array()},
                      {"explained", diagnosis.explained},
                      {"hypotheses", ordered_json::array()}};
    for (const std::size_t n : diagnosis.named)
        json["named"].push_back(diagnosis.outcomes[n].fault->key);
    for (const verify::Outcome& outcome : diagnosis.outcomes)
        json["hypotheses"].push_back(json_of(outcome));
    return json;
}

ordered_json json_of(const verify::Sign& sign) {
    ordered_json json = fault_of(*sign.fault);
    json["tested"] = sign.tested;
    json["fits"] = sign.fits;
    json["reason"] = sign.text;
    return json;
}

ordered_json json_of(const Examined& file) {
    ordered_json json{{"file", file.path}, {"facts", ordered_json::array()}};
    if (file.has_reference) json["beyond_reference"] = file.beyond;
    for (const verify::Fact& fact : file.facts)
        json["facts"].push_back(
            {{"key", fact.key}, {"words", fact.text}, {"suspicious", fact.suspicious}});
    json["diagnosis"] = file.diagnosis ? json_of(*file.diagnosis) : ordered_json();
    if (file.has_reference) return json;
    json["signs"] = ordered_json::array();
    for (const verify::Sign& sign : file.signs) json["signs"].push_back(json_of(sign));
    return json;
}

ordered_json sizes(const Dimensions& n) {
    return {{"B", n.batch}, {"H", n.heads}, {"Hkv", n.kv_heads}, {"Tq", n.tq},
            {"Tk", n.tk},   {"d_k", n.d_k}, {"d_v", n.d_v}};
}

}  // namespace

std::string diff_json(const DiffReport& report) {
    ordered_json json{{"equal", report.equal},
                      {"verdict", report.verdict.text()},
                      {"verdict_code", report.verdict.code()},
                      {"expected", report.b.empty() ? "reference" : report.a},
                      {"actual", report.b.empty() ? report.a : report.b},
                      {"inputs_from", report.inputs_from},
                      {"options", report.options},
                      {"sizes", report.size ? sizes(*report.size) : ordered_json()},
                      {"arrays", ordered_json::array()},
                      {"only_in_a", report.only_a},
                      {"only_in_b", report.only_b},
                      {"examined", ordered_json::array()},
                      {"notes", ordered_json::array()}};
    for (const Note& note : report.notes) json["notes"].push_back(note.text);
    for (const DiffRow& row : report.rows) json["arrays"].push_back(json_of(row));
    for (const Examined& file : report.examined) json["examined"].push_back(json_of(file));
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace attn::cli
