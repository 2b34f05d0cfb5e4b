#include "core/corpus/file.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/heads/all.h"
#include "core/io/arrays/foreign.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/io/npz.h"
#include "core/models/family.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr std::string_view kFormat = "attention heads over texts";
constexpr std::string_view kLines = "corpus";  // the array that has the lines
constexpr Index kMostHeads = 1 << 20;

// ---- to lines

ordered_json ranges_json(const std::vector<TextRange>& ranges) {
    auto list = ordered_json::array();
    for (const TextRange& range : ranges) list.push_back({range.first, range.end});
    return list;
}

ordered_json first_line(const CorpusResult& result) {
    ordered_json line{{"format", kFormat}, {"version", 1}};
    const CorpusModel& of = result.model;
    line["model"] = {{"path", of.path},     {"mark", of.mark},   {"family", of.family},
                     {"layers", of.layers}, {"heads", of.heads}, {"batch", of.batch}};
    line["texts"] = result.texts;
    line["tokens"] = result.tokens;
    for (std::size_t n = 0; n < kLeftOutCount; ++n) {
        auto first = ordered_json::array();
        for (const auto& [number, file] : result.left_out[n].first) first.push_back({number, file});
        line["left_out"][std::string(info(static_cast<LeftOut>(n)).key)] = {
            {"count", result.left_out[n].count}, {"first", std::move(first)}};
    }
    line["files"] = ordered_json::object();
    for (const auto& [mark, file] : result.files)
        line["files"][mark] = {{"name", file.name}, {"ranges", ranges_json(file.ranges)}};
    return line;
}

void add_extreme(ordered_json& row, std::string_view name, const std::optional<Extreme>& extreme) {
    if (!extreme) return;
    row[std::string(name)] = extreme->value;
    row[fmt::format("{}_text", name)] = {extreme->text->number, extreme->text->file};
}

ordered_json head_line(const CorpusHead& head) {
    ordered_json line{{"layer", head.place.layer}, {"head", head.place.head}};
    for (const HeadMeasureInfo& each : measures_of_heads(false)) {
        const MeasureStatistics& of = head[each.measure];
        ordered_json row{{"texts", of.texts}};
        if (of.texts > 0) {
            row["mean"] = *of.mean();
            row["std"] = *of.deviation();
            add_extreme(row, "min", of.least);
            add_extreme(row, "max", of.most);
            row["sum"] = of.sum.text();
            row["squares"] = of.squares.text();
        }
        line["measures"][std::string(each.key)] = std::move(row);
    }
    return line;
}

using TextPlace = std::pair<Index, std::string>;
using TextMap = std::map<TextPlace, std::shared_ptr<const CorpusText>>;

TextMap shown_texts(const CorpusResult& result) {
    TextMap texts;
    for (const CorpusHead& head : result.heads)
        for (const MeasureStatistics& of : head.measures)
            for (const auto& extreme : {of.least, of.most})
                if (extreme) texts[{extreme->text->number, extreme->text->file}] = extreme->text;
    return texts;
}

// ---- from lines

/// Reads members by name; what is missing or of another kind is one error for the line.
struct LineFault {};

template <class T>
T member(const json& object, std::string_view name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end()) throw LineFault();
    return found->get<T>();
}
Index count_of(const json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (std::uint64_t{1} << 53))
        throw LineFault();
    return value.get<Index>();
}
Index count_in(const json& object, std::string_view name) {
    return count_of(member<json>(object, name));
}
TextRange range_in(const json& pair) {
    if (!pair.is_array() || pair.size() != 2) throw LineFault();
    const TextRange range{count_of(pair[0]), count_of(pair[1])};
    if (range.first >= range.end) throw LineFault();
    return range;
}
const json& object_in(const json& object, std::string_view name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end() || !found->is_object()) throw LineFault();
    return *found;
}
TextPlace place_in(const json& pair) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
        !pair[1].is_string())
        throw LineFault();
    return {pair[0].get<Index>(), pair[1].get<std::string>()};
}

class LineReader {
  public:
    void take(const json& line) {
        if (!begun_)
            begin(line);
        else if (line.is_object() && line.contains("layer"))
            take_head(line);
        else
            take_text(line);
    }
    CorpusResult finish() {
        if (!begun_ || heads_ != result_.heads.size()) throw LineFault();
        for (const auto& [extreme, place] : wanted_) {
            const auto found = texts_.find(place);
            if (found == texts_.end()) throw LineFault();
            (*extreme)->text = found->second;
        }
        return std::move(result_);
    }

  private:
    void begin(const json& line) {
        const json& of = object_in(line, "model");
        CorpusModel model{member<std::string>(of, "path"),
                          member<std::string>(of, "mark"),
                          member<std::string>(of, "family"),
                          count_in(of, "layers"),
                          count_in(of, "heads"),
                          count_in(of, "batch")};
        if (model.layers < 1 || model.heads < 1 || model.layers > kMostHeads ||
            model.heads > kMostHeads / model.layers)
            throw LineFault();
        result_ = CorpusResult(std::move(model));
        result_.texts = count_in(line, "texts");
        result_.tokens = count_in(line, "tokens");
        for (std::size_t n = 0; n < kLeftOutCount; ++n) {
            const json& row =
                object_in(object_in(line, "left_out"), info(static_cast<LeftOut>(n)).key);
            result_.left_out[n].count = count_in(row, "count");
            for (const json& each : member<json>(row, "first"))
                result_.left_out[n].first.insert(place_in(each));
        }
        for (const auto& [mark, row] : object_in(line, "files").items()) {
            const auto name = member<std::string>(row, "name");
            result_.cover(mark, name, {});
            for (const json& each : member<json>(row, "ranges"))
                result_.cover(mark, name, range_in(each));
        }
        begun_ = true;
    }

    void take_head(const json& line) {
        if (heads_ == result_.heads.size()) throw LineFault();
        CorpusHead& head = result_.heads[heads_++];
        if (head.place != HeadPlace{count_in(line, "layer"), count_in(line, "head")})
            throw LineFault();
        const json& rows = object_in(line, "measures");
        for (const HeadMeasureInfo& each : measures_of_heads(false)) {
            const json& row = object_in(rows, each.key);
            MeasureStatistics& to = head.measures[static_cast<std::size_t>(each.measure)];
            to.texts = count_in(row, "texts");
            if (to.texts > 0) take_measure(row, to);
        }
    }
    void take_measure(const json& row, MeasureStatistics& to) {
        const auto sum = [&](std::string_view name) {
            const auto read = ExactSum::parse(member<std::string>(row, name));
            if (!read) throw LineFault();
            return *read;
        };
        to.sum = sum("sum");
        to.squares = sum("squares");
        if (!(to.sum * to.sum <= ExactSum(static_cast<double>(to.texts)) * to.squares))
            throw LineFault();
        const auto extreme = [&](std::string_view name, std::optional<Extreme>& into) {
            into = Extreme{member<double>(row, name), {}};
            wanted_.emplace_back(&into, place_in(member<json>(row, fmt::format("{}_text", name))));
        };
        extreme("min", to.least);
        extreme("max", to.most);
    }
    void take_text(const json& line) {
        CorpusText text{count_in(line, "text"),
                        member<std::string>(line, "file"),
                        member<std::string>(line, "words"),
                        {}};
        if (line.contains("ids")) text.ids = member<std::vector<Index>>(line, "ids");
        const TextPlace place{text.number, text.file};
        texts_[place] = std::make_shared<const CorpusText>(std::move(text));
    }

    bool begun_ = false;
    CorpusResult result_;
    std::size_t heads_ = 0;
    std::vector<std::pair<std::optional<Extreme>*, TextPlace>> wanted_;
    TextMap texts_;
};

/// A number in JSON or CSV: "" where there is none.
std::string cell(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
}

std::string csv_text(std::string_view text) {
    std::string made = "\"";
    for (const char c : text) made += c == '"' ? std::string("\"\"") : std::string(1, c);
    return made + "\"";
}

std::string csv_extreme(const std::optional<Extreme>& extreme) {
    if (!extreme) return ",,,";
    return fmt::format(",{},{},{}", extreme->value, extreme->text->number,
                       csv_text(extreme->text->text));
}

/// What of a measure is an array of numbers.
struct Column {
    std::string_view name;
    double (*of)(const MeasureStatistics&);
};
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Column kColumns[] = {
    {"mean", [](const MeasureStatistics& of) { return of.mean().value_or(kNone); }},
    {"std", [](const MeasureStatistics& of) { return of.deviation().value_or(kNone); }},
    {"min", [](const MeasureStatistics& of) { return of.least ? of.least->value : kNone; }},
    {"max", [](const MeasureStatistics& of) { return of.most ? of.most->value : kNone; }},
    {"min_text",
     [](const MeasureStatistics& of) {
         return of.least ? static_cast<double>(of.least->text->number) : kNone;
     }},
    {"max_text",
     [](const MeasureStatistics& of) {
         return of.most ? static_cast<double>(of.most->text->number) : kNone;
     }},
    {"texts", [](const MeasureStatistics& of) { return static_cast<double>(of.texts); }}};

Result<void> write_arrays(const std::filesystem::path& path, const CorpusResult& result) {
    std::vector<std::vector<double>> retained;
    retained.reserve(std::size(kColumns));
    std::vector<NpzEntry> entries;
    const std::vector<Index> extents{result.model.layers, result.model.heads,
                                     static_cast<Index>(kCorpusMeasures)};
    for (const Column& column : kColumns) {
        std::vector<double>& values = retained.emplace_back();
        for (const CorpusHead& head : result.heads)
            for (const MeasureStatistics& of : head.measures) values.push_back(column.of(of));
        NpzEntry entry{std::string(column.name), extents, {}};
        entry.doubles = values;
        entries.push_back(std::move(entry));
    }
    std::vector<std::string> keys;
    for (const HeadMeasureInfo& each : measures_of_heads(false)) keys.emplace_back(each.key);
    entries.push_back({"measures", {}, {}, std::move(keys)});
    entries.push_back({std::string(kLines), {}, {}, {corpus_lines(result)}});
    return write_npz(path, entries);
}

bool is_lines(std::string_view text) {
    return text.starts_with(fmt::format("{{\"format\":\"{}\"", kFormat));
}

Result<std::string> lines_in(const std::filesystem::path& path) {
    if (path.extension() != ".npz") return read_text_file(path);
    return NpzFile::open(path)
        .and_then([&](const NpzFile& file) -> Result<NpyArray> {
            if (file.contains(kLines)) return file.read(kLines);
            return bad_input(fmt::format("{} has no array '{}'", path.string(), kLines));
        })
        .and_then([&](const NpyArray& array) -> Result<std::string> {
            const auto* const texts = std::get_if<std::vector<std::string>>(&array.values);
            if (texts != nullptr && texts->size() == 1) return texts->front();
            return bad_input(fmt::format("{}: '{}' is not a text", path.string(), kLines));
        });
}

}  // namespace

std::string corpus_lines(const CorpusResult& result) {
    const auto dumped = [](const ordered_json& line) {
        return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    };
    std::string lines = dumped(first_line(result));
    for (const CorpusHead& head : result.heads) lines += dumped(head_line(head));
    for (const auto& [place, text] : shown_texts(result)) {
        ordered_json line{{"text", text->number}, {"file", text->file}, {"words", text->text}};
        if (!text->ids.empty()) line["ids"] = text->ids;
        lines += dumped(line);
    }
    return lines;
}

Result<CorpusResult> parse_corpus_lines(std::string_view text, std::string_view what) {
    if (!is_lines(text))
        return bad_input(fmt::format("{} holds no measures of heads over texts", what));
    LineReader reader;
    Index number = 0;
    try {
        for (std::string_view rest = text; !rest.empty(); ++number) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            const auto json = parse_json(line, fmt::format("{}, line {}", what, number + 1));
            if (!json) return tl::unexpected(json.error());
            reader.take(*json);
        }
        return reader.finish();
    } catch (const LineFault&) {
    } catch (const nlohmann::json::exception&) {
    }
    return bad_input(fmt::format(
        "{}, line {}: the file is incomplete or was changed; expected it as the program wrote it",
        what, number + 1));
}

std::vector<HeadPlace> corpus_order(const CorpusResult& result, std::string_view sort) {
    std::vector<HeadPlace> places;
    for (const CorpusHead& head : result.heads) places.push_back(head.place);
    if (const auto measure = find_head_measure(sort); measure && *measure != HeadMeasure::change)
        std::ranges::stable_sort(places, std::ranges::greater(), [&](HeadPlace place) {
            return result.head(place)[*measure].mean().value_or(-1.0);
        });
    return places;
}

std::string corpus_csv(const CorpusResult& result, std::string_view sort) {
    std::string csv =
        "layer,head,measure,texts,mean,std,min,min_text,min_words,max,max_text,max_words\n";
    for (const HeadPlace place : corpus_order(result, sort))
        for (const HeadMeasureInfo& each : measures_of_heads(false)) {
            const MeasureStatistics& of = result.head(place)[each.measure];
            csv += fmt::format("{},{},{},{},{},{}{}{}\n", place.layer, place.head, each.key,
                               of.texts, cell(of.mean()), cell(of.deviation()),
                               csv_extreme(of.least), csv_extreme(of.most));
        }
    return csv;
}

bool is_corpus(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;
    if (path.extension() == ".npz") {
        const auto file = NpzFile::open(path);
        return file && file->contains(kLines);
    }
    return path.extension() == ".jsonl" && is_lines(first_bytes(path));
}

Result<CorpusResult> read_corpus(const std::filesystem::path& path) {
    return lines_in(path).and_then(
        [&](const std::string& lines) { return parse_corpus_lines(lines, path.string()); });
}

Result<void> write_corpus(const std::filesystem::path& path, const CorpusResult& result,
                          std::string_view sort) {
    if (path.extension() == ".npz") return write_arrays(path, result);
    return write_file_atomically(
        path, path.extension() == ".jsonl" ? corpus_lines(result) : corpus_csv(result, sort));
}

}  // namespace attn
