#include "app/files/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/masks.h"

namespace attn::files {
namespace {

/// How the axes of an array are read.
enum class Layout { heads, tokens, weight, bias };

std::string_view expected_axes(Layout layout) {
    switch (layout) {
        case Layout::heads:
            return "[T, d], [H, T, d] or [B, H, T, d]";
        case Layout::tokens:
            return "[T, d], [B, T, d] or [B, 1, T, d]";
        case Layout::weight:
            return "[in, out]";
        case Layout::bias:
            return "[n] or [1, n]";
    }
    return "";
}

std::optional<Shape> shape_of(const std::vector<Index>& axes, Layout layout) {
    const std::size_t n = axes.size();
    const bool stacked = layout == Layout::heads || layout == Layout::tokens;
    if (layout == Layout::bias && n == 1) return Shape{1, 1, 1, axes[0]};
    if (n == 2 && (layout != Layout::bias || axes[0] == 1)) return Shape{1, 1, axes[0], axes[1]};
    if (n == 3 && layout == Layout::heads) return Shape{1, axes[0], axes[1], axes[2]};
    if (n == 3 && layout == Layout::tokens) return Shape{axes[0], 1, axes[1], axes[2]};
    if (n == 4 && stacked) return Shape{axes[0], axes[1], axes[2], axes[3]};
    return std::nullopt;
}

// Reads the arrays of one file; keeps the path for errors and the notes.
class Reader {
  public:
    Reader(const std::filesystem::path& path, Npz file)
        : path_(path.string()), file_(std::move(file)) {}

    const Npz& file() const { return file_; }
    const std::string& path() const { return path_; }
    const NpyArray* find(std::string_view name) const {
        const auto array = file_.arrays.find(std::string(name));
        return array == file_.arrays.end() ? nullptr : &array->second;
    }

    /// Into `tensor`, which stays empty when the file has no such array.
    Result<void> read(std::string_view name, Layout layout, Tensor& tensor) {
        const NpyArray* const array = find(name);
        if (!array) return {};
        const std::string axes = attn::to_string(array->extents);
        const std::optional<Shape> shape = shape_of(array->extents, layout);
        if (!shape)
            return bad_input(
                fmt::format("{}: {} is {}; expected {}", path_, name, axes, expected_axes(layout)));
        if (std::find(array->extents.begin(), array->extents.end(), 0) != array->extents.end())
            return bad_input(
                fmt::format("{}: {} is {}; every axis must be at least 1", path_, name, axes));
        Result<std::vector<float>> values = floats(name, *array);
        if (!values) return tl::unexpected(values.error());
        tensor = Tensor(*shape, *std::move(values));
        return {};
    }

    std::vector<std::string> notes() const {
        std::vector<std::string> notes = overflows_;
        if (!rounded_.empty())
            notes.push_back(fmt::format("{} rounded to float32", fmt::join(rounded_, ", ")));
        return notes;
    }

  private:
    Result<std::vector<float>> floats(std::string_view name, const NpyArray& array) {
        if (const auto* values = std::get_if<std::vector<float>>(&array.values)) return *values;
        if (const auto* values = std::get_if<std::vector<double>>(&array.values))
            return round(name, array.dtype, *values);
        const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&array.values);
        if (!bytes || array.dtype == "bool")
            return bad_input(
                fmt::format("{}: {} is {}; expected float16, float32, float64 or an integer type",
                            path_, name, array.dtype));
        return std::vector<float>(bytes->begin(), bytes->end());
    }

    // Values beyond float32 become infinite, and that is said.
    std::vector<float> round(std::string_view name, std::string_view dtype,
                             const std::vector<double>& values) {
        std::vector<float> rounded(values.size());
        const auto finite = [](auto value) { return std::isfinite(value); };
        std::transform(values.begin(), values.end(), rounded.begin(),
                       [](double value) { return static_cast<float>(value); });
        const auto lost = std::count_if(values.begin(), values.end(), finite) -
                          std::count_if(rounded.begin(), rounded.end(), finite);
        if (lost > 0)
            overflows_.push_back(fmt::format(
                "{} value(s) of {} are too large for float32 and became infinite", lost, name));
        rounded_.push_back(fmt::format("{} ({})", name, dtype));
        return rounded;
    }

    std::string path_;
    Npz file_;
    std::vector<std::string> rounded_;
    std::vector<std::string> overflows_;
};

Result<Inputs> read_inputs(Reader& reader) {
    Inputs in;
    const auto read_all = [&]() -> Result<void> {
        struct Array {
            std::string_view name;
            Layout layout;
            Tensor& tensor;
        };
        for (const Array& array : {Array{"X", Layout::tokens, in.x},
                                   {"X_kv", Layout::tokens, in.x_kv},
                                   {"Q", Layout::heads, in.q},
                                   {"K", Layout::heads, in.k},
                                   {"V", Layout::heads, in.v}})
            if (auto read = reader.read(array.name, array.layout, array.tensor); !read) return read;
        for (const ParamInfo& param : param_table())
            if (auto read = reader.read(param.npz, param.bias ? Layout::bias : Layout::weight,
                                        in.params[param.param]);
                !read)
                return read;
        return {};
    };
    return read_all().map([&] { return std::move(in); });
}

// The file's options under the command line's; a note says which of the file's count.
Result<OptionValues> merge_options(Reader& reader, const OptionValues& given,
                                   std::vector<std::string>& notes) {
    const NpyArray* const array = reader.find("options");
    if (!array) return given;
    const auto* const text = std::get_if<std::string>(&array->values);
    if (!text)
        return bad_input(fmt::format("{}: options is {}; expected a text scalar with a JSON object",
                                     reader.path(), array->dtype));
    Result<OptionValues> merged = options_from_json(*text, reader.path());
    if (!merged) return merged;
    std::vector<std::string> used;
    for (const auto& [name, value] : *merged)
        if (!given.contains(name)) used.push_back(fmt::format("{}={}", name, value.text));
    if (!used.empty())
        notes.push_back(fmt::format("options from {}: {}", reader.path(), fmt::join(used, ", ")));
    for (const auto& [name, value] : given) merged->insert_or_assign(name, value);
    return merged;
}

Result<void> check_heads(const CallOptions& options, const Inputs& in) {
    if (in.projects()) return {};
    const auto differs = [](std::optional<Index> heads, const Tensor& tensor) {
        return heads && !tensor.empty() && *heads != tensor.shape().h;
    };
    if (differs(options.heads, in.q))
        return bad_input(fmt::format("heads is {}, but Q is {} and brings {}", *options.heads,
                                     to_string(in.q.shape()), in.q.shape().h));
    if (differs(options.kv_heads, in.k))
        return bad_input(fmt::format("kv-heads is {}, but K is {} and brings {}", *options.kv_heads,
                                     to_string(in.k.shape()), in.k.shape().h));
    return {};
}

Result<void> read_mask(const Reader& reader, const Dimensions& size, MaskSpec& mask) {
    const NpyArray* const array = reader.find("mask");
    if (!array) return {};
    const auto* const values = std::get_if<std::vector<std::uint8_t>>(&array->values);
    if (!values)
        return bad_input(
            fmt::format("{}: mask is {}; expected bool or uint8, true where a query may "
                        "attend: convert a float mask with mask > -inf or mask == 0",
                        reader.path(), array->dtype));
    const Result<Mask> read = mask_from_file(array->extents, *values, size);
    if (!read) return bad_input(fmt::format("{}: {}", reader.path(), read.error().sentence));
    mask.custom = std::make_shared<const Mask>(*read);
    return {};
}

// dO is given at context, dY at output; neither: ones at output.
Result<Upstream> read_upstream(Reader& reader) {
    Upstream upstream;
    const bool at_context = reader.find("dO") != nullptr;
    if (at_context && reader.find("dY"))
        return bad_input(
            fmt::format("{}: both dO (gradient of context) and dY (gradient of output) "
                        "are given; give one",
                        reader.path()));
    upstream.stage = at_context ? Stage::context : Stage::output;
    return reader
        .read(at_context ? "dO" : "dY", at_context ? Layout::heads : Layout::tokens,
              upstream.gradient)
        .map([&] { return std::move(upstream); });
}

std::vector<std::string_view> known_arrays() {
    std::vector<std::string_view> names{"Q", "K", "V", "X", "X_kv", "mask", "dO", "dY", "options"};
    for (const ParamInfo& param : param_table()) names.push_back(param.npz);
    return names;
}

// For a file that lacks a tensor; perhaps it has it by another name.
std::string what_it_holds(const Inputs& in, const Npz& file) {
    const bool given = !in.q.empty() && !in.k.empty() && !in.v.empty();
    if (in.projects() || given) return {};
    return fmt::format("; it holds {}", file.names.empty()
                                            ? "nothing"
                                            : fmt::format("{}", fmt::join(file.names, ", ")));
}

Result<void> fill_call(Reader& reader, const OptionValues& given, FileCall& call) {
    const Result<OptionValues> values = merge_options(reader, given, call.notes);
    if (!values) return tl::unexpected(values.error());
    const Result<CallOptions> options = call_options(*values);
    if (!options) return tl::unexpected(options.error());
    Result<Inputs> inputs = read_inputs(reader);
    if (!inputs) return tl::unexpected(inputs.error());
    if (auto fits = check_heads(*options, *inputs); !fits) return fits;
    const Result<Dimensions> size = validate(*inputs, options->spec);
    if (!size)
        return bad_input(fmt::format("{}: {}{}", reader.path(), size.error().sentence,
                                     what_it_holds(*inputs, reader.file())));
    Result<Upstream> upstream = read_upstream(reader);
    if (!upstream) return tl::unexpected(upstream.error());
    call.spec = options->spec;
    call.size = *size;
    call.inputs = *std::move(inputs);
    call.upstream = *std::move(upstream);
    return read_mask(reader, call.size, call.spec.mask);
}

}  // namespace

Result<FileCall> read_call(const std::filesystem::path& path, const OptionValues& given) {
    const std::vector<std::string_view> known = known_arrays();
    Result<Npz> file = read_npz(path, known);
    if (!file) return tl::unexpected(file.error());
    Reader reader(path, *std::move(file));
    FileCall call;
    if (auto filled = fill_call(reader, given, call); !filled)
        return tl::unexpected(filled.error());
    const std::vector<std::string> notes = reader.notes();
    call.notes.insert(call.notes.end(), notes.begin(), notes.end());
    call.file = reader.file();
    return call;
}

}  // namespace attn::files
