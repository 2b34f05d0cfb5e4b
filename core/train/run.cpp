#include "core/train/run_files.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/io/arrays/array_file.h"
#include "core/io/arrays/safetensors_write.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/train/matrices.h"
#include "core/train/record.h"
#include "core/train/task_table.h"
#include "core/train/tasks.h"

namespace attn::train {
namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr std::string_view kFormat = "attnscope run 1";
constexpr std::string_view kRunFile = "run.json";
constexpr std::string_view kHash = "hash";

// --- names of moments' files

std::string plain_file(std::uint64_t step) { return fmt::format("step-{:07}.safetensors", step); }

/// Of all that stands in its file.
std::string hash_of(const State& state, const std::vector<Matrix>& matrices) {
    std::uint64_t hash = hash_text(kFormat);
    for (const Matrix& matrix : matrices)
        hash = mix(mix(hash, hash_text(matrix.name)), static_cast<std::uint64_t>(matrix.rows));
    for (const auto* values : {&state.weights, &state.first, &state.second})
        for (const float value : *values) hash = mix(hash, std::bit_cast<std::uint32_t>(value));
    return fmt::format("{:016x}", hash);
}

bool holds(const std::filesystem::path& path, const std::string& hash) {
    const auto file = open_arrays(path);
    if (!file) return false;
    const auto found = (*file)->text(kHash);
    return found && *found == hash;
}

/// Where the moment of that hash is in the folder, or may be written.
std::string file_for(const std::filesystem::path& folder, Index step, const std::string& hash) {
    std::error_code fault;
    std::string plain = plain_file(static_cast<std::uint64_t>(step));
    if (!std::filesystem::exists(folder / plain, fault) || holds(folder / plain, hash))
        return plain;
    return fmt::format("step-{:07}-{}.safetensors", step, hash);
}

/// The file of a moment that run.json lists; nullopt: no name that a moment's file has.
std::optional<std::string> file_of(const json& moment) {
    constexpr std::string_view kEnd = ".safetensors";
    if (!moment.is_object() || !moment.contains("step") || !moment["step"].is_number_unsigned())
        return std::nullopt;
    const auto begin = fmt::format("step-{:07}", moment["step"].get<std::uint64_t>());
    if (!moment.contains("file")) return plain_file(moment["step"].get<std::uint64_t>());
    if (!moment["file"].is_string()) return std::nullopt;
    const auto name = moment["file"].get<std::string>();
    if (!name.starts_with(begin) || !name.ends_with(kEnd)) return std::nullopt;
    const std::string hash = name.substr(begin.size(), name.size() - begin.size() - kEnd.size());
    const bool hex = hash.size() == 17 && hash[0] == '-' &&
                     hash.find_first_not_of("0123456789abcdef", 1) == std::string::npos;
    if (!hash.empty() && !hex) return std::nullopt;
    return name;
}

/// Those that the folder's run.json lists.
std::set<std::string> listed_files(const std::filesystem::path& folder) {
    std::set<std::string> names;
    const auto object = read_json_file(folder / kRunFile);
    if (!object || !object->is_object() || !object->contains("moments")) return names;
    for (const json& moment : (*object)["moments"])
        if (auto name = file_of(moment)) names.insert(*std::move(name));
    return names;
}

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
        const bool valid =
            value.is_number_unsigned() && value.get<std::uint64_t>() <= 1'000'000'000;
        if (!valid) wrong(name, value, "a whole number");
        return valid ? value.get<Index>() : 0;
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
                         const State& state, const std::string& hash) {
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
    const std::pair<std::string, std::string> texts[] = {{"format", std::string(kFormat)},
                                                         {std::string(kHash), hash}};
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
                           Optimiser optimiser, State state) {
    auto file = open_arrays(path);
    if (!file) return tl::unexpected(file.error());
    auto weights = read_matrices(**file, "", matrices);
    if (!weights) return tl::unexpected(weights.error());
    auto first = read_matrices(**file, "first.", matrices);
    if (!first) return tl::unexpected(first.error());
    state.weights = *std::move(weights);
    state.first = *std::move(first);
    const std::string squares = "second." + matrices.front().name;
    if (optimiser == Optimiser::adamw) {
        auto second = read_matrices(**file, "second.", matrices);
        if (!second) return tl::unexpected(second.error());
        state.second = *std::move(second);
    } else if ((*file)->contains(squares)) {
        return bad_input(fmt::format("{}: {} is there; expected none where optimiser is sgd",
                                     (*file)->what(), squares));
    }
    return std::make_shared<const State>(std::move(state));
}

ordered_json run_to_json(const Run& run, const std::vector<Matrix>& matrices,
                         const MomentFiles& files) {
    ordered_json object = {{"format", kFormat},
                           {"spec", ordered_json::parse(spec_to_json(run.spec))}};
    ordered_json names = ordered_json::array(), records = ordered_json::array();
    for (const Matrix& matrix : matrices) names.push_back(matrix.name);
    for (const auto& record : run.records) records.push_back(record_to_json(*record));
    ordered_json moments = ordered_json::array();
    for (const Moment& moment : run.moments)
        moments.push_back({{"step", moment->step},
                           {"file", files.at(moment)},
                           {"switches", switches_to_json(moment->switches)}});
    object["moments"] = std::move(moments);
    object["matrices"] = std::move(names);
    object["records"] = std::move(records);
    return object;
}

/// `folder` and what above it is not there yet, the innermost first.
std::vector<std::filesystem::path> missing_folders(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> missing;
    std::error_code fault;
    for (auto at = folder; at.has_relative_path() && !std::filesystem::exists(at, fault);
         at = at.parent_path())
        missing.push_back(at);
    return missing;
}

/// What a save has written so far.
class NewFiles {
  public:
    NewFiles(const std::filesystem::path& folder, const std::vector<Matrix>& matrices)
        : folder_(folder), matrices_(matrices) {}
    /// The moment's file, which may be there. `known`: its name where it was saved before.
    Result<std::string> write(const State& state, const std::string& known) {
        std::error_code fault;
        if (std::filesystem::is_regular_file(folder_ / known, fault)) return known;
        const std::string hash = hash_of(state, matrices_);
        std::string name = file_for(folder_, state.step, hash);
        if (std::filesystem::is_regular_file(folder_ / name, fault)) return name;
        if (auto saved = save_moment(folder_ / name, matrices_, state, hash); !saved)
            return tl::unexpected(saved.error());
        made_.push_back(name);
        return name;
    }
    void remove() const {
        std::error_code fault;
        for (const std::string& name : made_) std::filesystem::remove(folder_ / name, fault);
    }

  private:
    const std::filesystem::path& folder_;
    const std::vector<Matrix>& matrices_;
    std::vector<std::string> made_;
};

Result<void> write_run(const std::filesystem::path& folder, const Run& run,
                       const std::vector<Matrix>& list, NewFiles& made, MomentFiles& files) {
    MomentFiles known = std::exchange(files, {});
    for (const Moment& moment : run.moments) {
        auto name = made.write(*moment, known[moment]);
        if (!name) return tl::unexpected(name.error());
        files[moment] = *std::move(name);
    }
    std::set<std::string> others = listed_files(folder);
    const std::string text = run_to_json(run, list, files).dump() + "\n";
    if (auto saved = write_file_atomically(folder / kRunFile, text); !saved) return saved;
    std::error_code fault;
    for (const auto& [moment, name] : files) others.erase(name);
    for (const std::string& name : others) std::filesystem::remove(folder / name, fault);
    return {};
}

}  // namespace

Result<void> save_run(const std::filesystem::path& folder, const Run& run, MomentFiles& files) {
    const auto missing = missing_folders(folder);
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    const std::vector<Matrix> list = matrices(run.spec, Sequences(run.spec).size());
    NewFiles made(folder, list);
    const Result<void> written =
        fault ? failed(fmt::format("{}: cannot be made: {}", folder.string(), fault.message()))
              : write_run(folder, run, list, made, files);
    if (written) return written;
    made.remove();
    for (const auto& each : missing) std::filesystem::remove(each, fault);  // where it is empty
    return written;
}

Result<void> save_run(const std::filesystem::path& folder, const Run& run) {
    MomentFiles files;
    return save_run(folder, run, files);
}

namespace {

/// A moment that run.json lists, without its numbers.
struct Listed {
    State state;
    std::string file;
};

std::vector<Listed> list_moments(Reader& reader, const json& moments, std::size_t records) {
    std::vector<Listed> listed;
    for (const json& value : reader.list(moments, "moments")) {
        State state;
        const json& step = reader.field(value, "step");
        state.step = reader.whole(step, "step");
        state.switches = reader.switches(reader.field(value, "switches"));
        if (!listed.empty() && listed.back().state.step >= state.step)
            reader.wrong("step", value, "one larger than the step before");
        if (static_cast<std::size_t>(state.step) > records)
            reader.wrong("step", step, fmt::format("0 to {}, the number of records", records));
        auto file = file_of(value);
        if (!file) reader.wrong("file", value, "a name such as step-0000050.safetensors");
        listed.push_back({std::move(state), file.value_or("")});
    }
    return listed;
}

}  // namespace

Result<Run> open_run(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / kRunFile;
    const std::string what = path.string();
    const auto object = read_json_file(path);
    if (!object) return tl::unexpected(object.error());
    const auto kind = object->is_object() ? object->find("format") : object->end();
    if (!object->is_object() || kind == object->end() || *kind != kFormat)
        return bad_input(fmt::format("{} is not a run; expected format '{}'", what, kFormat));
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
    std::vector<Listed> listed =
        list_moments(reader, reader.field(*object, "moments"), run.records.size());
    if (!reader.fault().empty()) return bad_input(reader.fault());
    if (listed.empty())
        return bad_input(fmt::format("{}: moments is an empty list; expected at least one", what));
    for (Listed& each : listed) {
        auto moment =
            open_moment(folder / each.file, list, run.spec.optimiser, std::move(each.state));
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
