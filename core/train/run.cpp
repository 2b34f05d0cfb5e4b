#include "core/train/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/io/arrays/array_file.h"
#include "core/io/arrays/safetensors_write.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/text.h"

namespace attn::train {
namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr std::string_view kFormat = "attnscope run 1";
constexpr std::string_view kRunFile = "run.json";

std::string moment_file(Index step) { return fmt::format("step-{:07}.safetensors", step); }

// --- numbers that JSON has no word for

ordered_json number_to_json(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

/// Of a float as few digits as bring it back.
ordered_json number_to_json(float value) {
    if (!std::isfinite(value)) return number_to_json(static_cast<double>(value));
    return std::stod(fmt::format("{}", value));
}

std::optional<double> number_of(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

// --- switches and records: a record is a list of lists, short where there are thousands of steps

ordered_json switches_to_json(const Switches& switches) {
    ordered_json silenced = ordered_json::array();
    for (std::size_t n = 0; n < switches.silenced.size(); ++n)
        if (switches.silenced[n]) silenced.push_back(n);
    return {{"scaling", switches.scaling}, {"silenced", std::move(silenced)}};
}

ordered_json record_to_json(const Record& record) {
    ordered_json heads = ordered_json::array();
    for (const HeadRecord& head : record.heads)
        heads.push_back({number_to_json(head.entropy), number_to_json(head.max_probability),
                         number_to_json(head.saturated)});
    ordered_json norms = ordered_json::array();
    for (const float norm : record.gradient_norms) norms.push_back(number_to_json(norm));
    return {{"loss", number_to_json(record.loss)},
            {"accuracy", number_to_json(record.accuracy)},
            {"gradient_norm", number_to_json(record.gradient_norm)},
            {"learning_rate", number_to_json(record.learning_rate)},
            {"saturated", number_to_json(record.saturated)},
            {"heads", std::move(heads)},
            {"gradient_norms", std::move(norms)},
            {"switches", switches_to_json(record.switches)}};
}

/// Reads what this file writes, and says which field is not as it should be.
class Reader {
  public:
    Reader(std::string what, const Spec& spec, std::size_t matrix_count)
        : what_(std::move(what)),
          heads_(static_cast<std::size_t>(spec.layers * spec.heads)),
          matrices_(matrix_count) {}

    const std::string& fault() const { return fault_; }

    const json& field(const json& object, const char* name) {
        static const json kNothing;
        if (object.is_object() && object.contains(name)) return object[name];
        wrong(name, kNothing, "to be there");
        return kNothing;
    }
    double number(const json& value, const char* name) {
        const std::optional<double> found = number_of(value);
        if (!found) wrong(name, value, "a number");
        return found.value_or(0.0);
    }
    Index whole(const json& value, const char* name) {
        const bool fine = value.is_number_unsigned() && value.get<std::uint64_t>() <= 1'000'000'000;
        if (!fine) wrong(name, value, "a whole number");
        return fine ? value.get<Index>() : 0;
    }

    Switches switches(const json& value) {
        Switches switches;
        switches.silenced.resize(heads_);
        const json& scaling = field(value, "scaling");
        if (!scaling.is_boolean()) wrong("scaling", scaling, "true or false");
        switches.scaling = scaling == true;
        for (const json& head : list(field(value, "silenced"), "silenced")) {
            const auto n = static_cast<std::size_t>(whole(head, "silenced"));
            if (n >= heads_)
                wrong("silenced", head, "a head of the model");
            else
                switches.silenced[n] = true;
        }
        return switches;
    }

    Record record(const json& value) {
        Record record;
        const auto read = [&](const char* name) { return number(field(value, name), name); };
        record.loss = read("loss");
        record.accuracy = read("accuracy");
        record.gradient_norm = read("gradient_norm");
        record.learning_rate = read("learning_rate");
        record.saturated = read("saturated");
        for (const json& head : list(field(value, "heads"), "heads", heads_)) {
            const json& numbers = list(head, "heads", 3);
            if (!fault_.empty()) break;
            record.heads.push_back({static_cast<float>(number(numbers[0], "heads")),
                                    static_cast<float>(number(numbers[1], "heads")),
                                    static_cast<float>(number(numbers[2], "heads"))});
        }
        for (const json& norm : list(field(value, "gradient_norms"), "gradient_norms", matrices_))
            record.gradient_norms.push_back(static_cast<float>(number(norm, "gradient_norms")));
        record.switches = switches(field(value, "switches"));
        return record;
    }

    static constexpr std::size_t kAny = static_cast<std::size_t>(-1);
    const json& list(const json& value, const char* name, std::size_t size = kAny) {
        static const json kEmpty = json::array();
        if (value.is_array() && (size == kAny || value.size() == size)) return value;
        wrong(name, value, size == kAny ? "a list" : fmt::format("a list of {}", size));
        return kEmpty;
    }
    void wrong(std::string_view name, const json& value, std::string_view expected) {
        if (!fault_.empty()) return;
        fault_ = fmt::format("{}: {} is {}; expected {}", what_, name,
                             shortened(value.dump(-1, ' ', false, json::error_handler_t::replace)),
                             expected);
    }

  private:
    std::string what_;
    std::size_t heads_;
    std::size_t matrices_;
    std::string fault_;
};

// --- moments

Result<void> save_moment(const std::filesystem::path& path, const std::vector<Matrix>& matrices,
                         const State& state) {
    std::vector<NamedMatrix> named;
    const auto add = [&](std::string_view prefix, const std::vector<float>& values) {
        for (const Matrix& matrix : matrices) {
            if (values.empty()) return;
            const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
            named.push_back({fmt::format("{}{}", prefix, matrix.name), matrix.rows, matrix.columns,
                             std::span(values).subspan(matrix.offset, count)});
        }
    };
    add("", state.weights);
    add("first.", state.first);
    add("second.", state.second);
    const std::pair<std::string, std::string> texts[] = {{"format", std::string(kFormat)}};
    return write_safetensors(path, named, texts);
}

Result<std::vector<float>> read_matrices(const ArrayFile& file, std::string_view prefix,
                                         const std::vector<Matrix>& matrices) {
    std::vector<float> values;
    for (const Matrix& matrix : matrices) {
        const std::string name = fmt::format("{}{}", prefix, matrix.name);
        const auto array = file.read(name);
        if (!array) return tl::unexpected(array.error());
        const auto* floats = std::get_if<std::vector<float>>(&array->values);
        if (!floats || array->extents != std::vector<Index>{matrix.rows, matrix.columns})
            return bad_input(
                fmt::format("{}: {} has another type or shape; expected float32 [{}, {}]",
                            file.what(), name, matrix.rows, matrix.columns));
        values.insert(values.end(), floats->begin(), floats->end());
    }
    return values;
}

Result<Moment> open_moment(const std::filesystem::path& path, const std::vector<Matrix>& matrices,
                           State state) {
    auto file = open_arrays(path);
    if (!file) return tl::unexpected(file.error());
    auto weights = read_matrices(**file, "", matrices);
    if (!weights) return tl::unexpected(weights.error());
    auto first = read_matrices(**file, "first.", matrices);
    if (!first) return tl::unexpected(first.error());
    state.weights = *std::move(weights);
    state.first = *std::move(first);
    if ((*file)->contains("second." + matrices.front().name)) {
        auto second = read_matrices(**file, "second.", matrices);
        if (!second) return tl::unexpected(second.error());
        state.second = *std::move(second);
    }
    return std::make_shared<const State>(std::move(state));
}

/// Moments' files that the run does not have are removed; one that cannot be is left.
void remove_others(const std::filesystem::path& folder, const Run& run) {
    std::set<std::string> kept;
    for (const Moment& moment : run.moments) kept.insert(moment_file(moment->step));
    std::error_code fault;
    std::vector<std::filesystem::path> others;
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("step-") && name.ends_with(".safetensors") && !kept.contains(name))
            others.push_back(entry.path());
    }
    for (const auto& path : others) std::filesystem::remove(path, fault);
}

ordered_json run_to_json(const Run& run, const std::vector<Matrix>& matrices) {
    ordered_json object = {{"format", kFormat},
                           {"spec", ordered_json::parse(spec_to_json(run.spec))}};
    ordered_json names = ordered_json::array(), records = ordered_json::array();
    for (const Matrix& matrix : matrices) names.push_back(matrix.name);
    for (const auto& record : run.records) records.push_back(record_to_json(*record));
    ordered_json moments = ordered_json::array();
    for (const Moment& moment : run.moments)
        moments.push_back({{"step", moment->step},
                           {"file", moment_file(moment->step)},
                           {"switches", switches_to_json(moment->switches)}});
    object["moments"] = std::move(moments);
    object["matrices"] = std::move(names);
    object["records"] = std::move(records);
    return object;
}

}  // namespace

namespace {

/// `folder` and what above it is not there yet, the innermost first.
std::vector<std::filesystem::path> missing_folders(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> missing;
    std::error_code fault;
    for (auto at = folder; at.has_relative_path() && !std::filesystem::exists(at, fault);
         at = at.parent_path())
        missing.push_back(at);
    return missing;
}

Result<void> write_run(const std::filesystem::path& folder, const Run& run) {
    const std::vector<Matrix> list = matrices(run.spec, Sequences(run.spec).size());
    for (const Moment& moment : run.moments)
        if (auto saved = save_moment(folder / moment_file(moment->step), list, *moment); !saved)
            return saved;
    const std::string text = run_to_json(run, list).dump() + "\n";
    if (auto saved = write_file_atomically(folder / kRunFile, text); !saved) return saved;
    remove_others(folder, run);
    return {};
}

}  // namespace

Result<void> save_run(const std::filesystem::path& folder, const Run& run) {
    const auto made = missing_folders(folder);
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    const Result<void> written =
        fault ? failed(fmt::format("{}: cannot be made: {}", folder.string(), fault.message()))
              : write_run(folder, run);
    if (written || is_run(folder)) return written;
    remove_others(folder, {});  // moments alone could not be opened
    for (const auto& each : made) std::filesystem::remove(each, fault);
    return written;
}

Result<Run> open_run(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / kRunFile;
    const std::string what = path.string();
    const auto object = read_json_file(path);
    if (!object) return tl::unexpected(object.error());
    const auto kind = object->is_object() ? object->find("format") : object->end();
    if (!object->is_object() || kind == object->end() || *kind != kFormat)
        return bad_input(fmt::format("{} is no run; expected format '{}'", what, kFormat));
    if (!object->contains("spec"))
        return bad_input(
            fmt::format("{}: spec is not there; expected the run's specification", what));
    auto spec = spec_from_json((*object)["spec"].dump(), what);
    if (!spec) return tl::unexpected(spec.error());
    Run run;
    run.spec = *std::move(spec);
    const std::vector<Matrix> list = matrices(run.spec, Sequences(run.spec).size());
    Reader reader(what, run.spec, list.size());
    for (const json& value : reader.list(reader.field(*object, "records"), "records")) {
        auto record = std::make_shared<Record>(reader.record(value));
        if (!reader.fault().empty()) break;
        record->step = std::ssize(run.records);
        run.records.push_back(std::move(record));
    }
    std::vector<State> states;
    for (const json& value : reader.list(reader.field(*object, "moments"), "moments")) {
        State state;
        state.step = reader.whole(reader.field(value, "step"), "step");
        state.switches = reader.switches(reader.field(value, "switches"));
        if (!states.empty() && states.back().step >= state.step)
            reader.wrong("step", value, "one larger than the step before");
        states.push_back(std::move(state));
    }
    if (!reader.fault().empty()) return bad_input(reader.fault());
    if (states.empty())
        return bad_input(fmt::format("{}: moments is an empty list; expected one at least", what));
    for (State& state : states) {
        auto moment = open_moment(folder / moment_file(state.step), list, std::move(state));
        if (!moment) return tl::unexpected(moment.error());
        run.moments.push_back(*std::move(moment));
    }
    return run;
}

bool is_run(const std::filesystem::path& folder) {
    std::error_code fault;
    return std::filesystem::is_regular_file(folder / kRunFile, fault);
}

}  // namespace attn::train
