#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/io/array_memory.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/mapped.h"
#include "core/io/pickle.h"
#include "core/io/zip_file.h"
#include "core/shape.h"
#include "core/stop.h"
#include "core/text.h"

// A file of torch.save is a zip: PREFIX/data.pkl, a pickle whose tensors are calls of torch._utils._rebuild_tensor_v2(storage,
// offset, extents, strides, ...), and PREFIX/data/KEY, the numbers of each storage. Source: torch/serialization.py, torch/_utils.py.
// Arrays of numpy in a pickle are calls of numpy's _reconstruct with (version, extents, dtype, column-major, bytes) put into them.
// Source: numpy/_core/src/multiarray/methods.c, array_reduce.

namespace attn {
namespace {

constexpr std::string_view kTorch = "a file of torch.save (a zip of a pickle and its numbers)";
constexpr std::uint64_t kMostPickleBytes = std::uint64_t{1} << 28;  // of PREFIX/data.pkl
constexpr int kMostDepth = 64;
constexpr Index kMostStored = Index{1} << 48;  // numbers of a storage: their bytes fit 63 bits
constexpr std::size_t kMostPickledArrays = 1 << 16;

/// A type of numbers as torch names it, and the class of its storages.
struct TorchType {
    std::string_view name, storage;
    char kind;  // of NpyType; 0: its numbers are not read
    std::uint64_t bytes;
};
constexpr TorchType kTorchTypes[] = {
    {"float32", "FloatStorage", 'f', 4},
    {"float64", "DoubleStorage", 'f', 8},
    {"float16", "HalfStorage", 'f', 2},
    {"bfloat16", "BFloat16Storage", 'B', 2},
    {"int64", "LongStorage", 'i', 8},
    {"int32", "IntStorage", 'i', 4},
    {"int16", "ShortStorage", 'i', 2},
    {"int8", "CharStorage", 'i', 1},
    {"uint8", "ByteStorage", 'u', 1},
    {"bool", "BoolStorage", 'b', 1},
    {"uint16", "", 'u', 2},
    {"uint32", "", 'u', 4},
    {"uint64", "", 'u', 8},
    {"complex64", "ComplexFloatStorage", 0, 8},
    {"complex128", "ComplexDoubleStorage", 0, 16},
};

/// One array of a pickle, with the place of its numbers.
struct PickledArray {
    std::string name;
    NpyHeader header;         // of the numbers alone: data_offset 0
    std::string unread = {};  // why its numbers are not read
    // Of a storage of torch: in numbers.
    std::string_view storage = {};
    std::vector<Index> strides = {};
    Index offset = 0;
    // Or numbers in the pickle itself.
    std::string_view bytes = {};
    std::string decoded = {};  // the same where the pickle has them as a text
    std::string descr = {};    // numpy's name of their type
    // Or values of Python.
    std::vector<double> numbers = {};
    std::vector<std::string> texts = {};
};

/// Finds the arrays of a pickle. Errors are thrown as Failure.
class ArrayFinder {
  public:
    ArrayFinder(const Pickle& pickle, std::string_view what) : pickle_(pickle), what_(what) {}

    /// `name`: of the root, where it is an array itself.
    std::vector<PickledArray> find(std::string_view name) {
        root_name_ = name;
        visit("", pickle_.root, 0);
        return std::move(leaves_);
    }

  private:
    using Items = std::vector<PickleId>;

    std::string place(const std::string& name) const {
        return fmt::format("{}: {}", what_, shortened(name, 4 * kMostQuoted));
    }
    [[noreturn]] void odd(const std::string& name, std::string_view why) const {
        throw bad_input(fmt::format("{} cannot be read as a tensor: {}", place(name), why));
    }
    PickledArray& add(const std::string& name) {
        if (leaves_.size() == kMostPickledArrays)
            throw bad_input(fmt::format("{} has more than {} arrays", what_, kMostPickledArrays));
        leaves_.push_back({name.empty() ? root_name_ : name, {}});
        return leaves_.back();
    }

    std::optional<Index> whole(PickleId id) const {
        const auto* const number = pickle_.as<std::int64_t>(id);
        return number ? std::optional(*number) : std::nullopt;
    }
    std::optional<double> number(PickleId id) const {
        if (const auto* const value = pickle_.as<std::int64_t>(id))
            return static_cast<double>(*value);
        if (const auto* const value = pickle_.as<double>(id)) return *value;
        if (const auto* const value = pickle_.as<bool>(id)) return *value ? 1.0 : 0.0;
        return std::nullopt;
    }
    std::string_view text(PickleId id) const {
        const auto* const found = pickle_.as<std::string_view>(id);
        return found ? *found : std::string_view();
    }
    const Items* items(PickleId id) const {
        if (const auto* const list = pickle_.as<PickleList>(id)) return &list->items;
        const auto* const call = pickle_.as<PickleCall>(id);  // torch.Size((2, 3))
        return call && !call->arguments.empty() && calls(*call, "torch", "Size")
                   ? items(call->arguments[0])
                   : nullptr;
    }
    bool calls(const PickleCall& call, std::string_view module, std::string_view name) const {
        const auto* const of = pickle_.as<PickleName>(call.function);
        return of && of->module == module && of->name == name;
    }
    /// numpy 2 moved its modules.
    bool calls_numpy(const PickleCall& call, std::string_view module, std::string_view name) const {
        return calls(call, fmt::format("numpy.core.{}", module), name) ||
               calls(call, fmt::format("numpy._core.{}", module), name);
    }
    std::vector<Index> extents(const std::string& name, PickleId id) const {
        const Items* const list = items(id);
        if (!list || list->size() > kMostAxes)
            odd(name, fmt::format("its shape is not at most {} whole numbers", kMostAxes));
        std::vector<Index> extents;
        for (const PickleId each : *list) {
            const std::optional<Index> extent = whole(each);
            if (!extent || *extent < 0) odd(name, "its shape or strides have a negative size");
            extents.push_back(*extent);
        }
        return extents;
    }
    void measured(PickledArray& leaf) const {
        if (!measure(leaf.header))
            odd(leaf.name, fmt::format("it claims the shape {}, more than 2^63 bytes",
                                       to_string(leaf.header.extents)));
    }

    void visit(const std::string& name, PickleId id, int depth) {
        if (++visits_ > kMostPickleValues)  // lists of lists of ... that share their items
            throw bad_input(
                fmt::format("{} repeats its values more than {} times", what_, kMostPickleValues));
        if (depth > kMostDepth)
            throw bad_input(fmt::format("{} is nested more than {} deep", place(name), kMostDepth));
        if (const auto* const dict = pickle_.as<PickleDict>(id))
            return visit_items(name, dict->items, depth);
        if (const auto* const list = pickle_.as<PickleList>(id))
            return visit_list(name, list->items, depth);
        if (const auto* const call = pickle_.as<PickleCall>(id))
            return visit_call(name, *call, depth);
        if (const auto* const text = pickle_.as<std::string_view>(id))
            return add_texts(name, {}, {*text});
        if (const std::optional<double> value = number(id)) return add_numbers(name, {}, {*value});
    }
    void visit_items(const std::string& name,
                     const std::vector<std::pair<PickleId, PickleId>>& items, int depth) {
        for (const auto& [key, value] : items) {
            const std::optional<Index> index = whole(key);
            const std::string part = index ? fmt::format("{}", *index) : std::string(text(key));
            visit(name.empty() ? part : fmt::format("{}.{}", name, part), value, depth + 1);
        }
    }
    void visit_list(const std::string& name, const Items& items, int depth) {
        const auto length = std::vector<Index>{std::ssize(items)};
        if (!items.empty() && std::ranges::all_of(items, [&](PickleId id) {
                return pickle_.as<std::string_view>(id);
            })) {
            std::vector<std::string_view> texts;
            for (const PickleId id : items) texts.push_back(text(id));
            return add_texts(name, length, texts);
        }
        if (!items.empty() &&
            std::ranges::all_of(items, [&](PickleId id) { return number(id).has_value(); })) {
            std::vector<double> numbers;
            for (const PickleId id : items) numbers.push_back(*number(id));
            return add_numbers(name, length, std::move(numbers));
        }
        for (std::size_t n = 0; n < items.size(); ++n)
            visit(name.empty() ? fmt::format("{}", n) : fmt::format("{}.{}", name, n), items[n],
                  depth + 1);
    }
    void add_texts(const std::string& name, std::vector<Index> extents,
                   const std::vector<std::string_view>& texts) {
        PickledArray& leaf = add(name);
        leaf.header.type = {'U', 4, false, "text"};
        leaf.header.extents = std::move(extents);
        for (const std::string_view each : texts) leaf.texts.emplace_back(valid_utf8(each));
        measured(leaf);
    }
    void add_numbers(const std::string& name, std::vector<Index> extents,
                     std::vector<double> numbers) {
        PickledArray& leaf = add(name);
        leaf.header.type = {'f', 8, false, "float64"};
        leaf.header.extents = std::move(extents);
        leaf.numbers = std::move(numbers);
        measured(leaf);
    }

    void visit_call(const std::string& name, const PickleCall& call, int depth) {
        const Items& arguments = call.arguments;
        if (calls(call, "torch._utils", "_rebuild_tensor_v2") ||
            calls(call, "torch._utils", "_rebuild_tensor_v3"))
            return add_tensor(name, call);
        if (calls(call, "torch._utils", "_rebuild_parameter") ||
            calls(call, "torch._utils", "_rebuild_parameter_with_state")) {
            if (arguments.empty()) odd(name, "a parameter without its tensor");
            return visit(name, arguments[0], depth + 1);
        }
        if (calls(call, "torch._tensor", "_rebuild_from_type_v2") && arguments.size() > 2 &&
            items(arguments[2]))
            return visit_call(name, {arguments[0], *items(arguments[2])}, depth + 1);
        if (calls_numpy(call, "multiarray", "_reconstruct"))
            return add_reconstructed(name, call, depth);
        if (calls_numpy(call, "numeric", "_frombuffer") && arguments.size() > 3)
            return add_array(name, arguments[0], arguments[1], arguments[2],
                             text(arguments[3]) == "F",
                             arguments.size() > 4 ? items(arguments[4]) : nullptr);
        if (calls_numpy(call, "multiarray", "scalar") && arguments.size() > 1)
            return add_array(name, arguments[1], arguments[0], std::nullopt, false);
        const auto* const function = pickle_.as<PickleName>(call.function);
        if (function && function->module == "torch._utils" &&
            function->name.starts_with("_rebuild")) {
            PickledArray& leaf = add(name);
            leaf.header.type = {'V', 1, false, std::string(function->name)};
            leaf.unread = fmt::format(
                "is made by {}; expected a dense tensor, which .to_dense() or .dequantize() makes",
                function->name);
            return;
        }
        visit_items(name, call.items, depth);  // collections.OrderedDict(...)
        const auto* const state = call.state ? pickle_.as<PickleDict>(*call.state) : nullptr;
        if (!state || calls(call, "collections", "OrderedDict")) return;
        // A module of torch has its tensors in these three, and settings with other names.
        const auto of_module = [&](const std::string_view part) {
            return part == "_parameters" || part == "_buffers" || part == "_modules";
        };
        const bool module = std::ranges::any_of(
            state->items, [&](const auto& item) { return of_module(text(item.first)); });
        if (!module) return visit(name, *call.state, depth + 1);
        for (const auto& [key, value] : state->items)
            if (of_module(text(key))) visit(name, value, depth + 1);
    }

    /// The type of a tensor, and how many numbers its storage has.
    struct Stored {
        TorchType type;
        std::string_view key;
        Index count;
    };
    Stored stored(const std::string& name, PickleId storage, std::optional<PickleId> dtype) const {
        const auto* const persistent = pickle_.as<PicklePersistent>(storage);
        const Items* const parts = persistent ? items(persistent->name) : nullptr;
        if (!parts || parts->size() < 5 || text((*parts)[0]) != "storage")
            odd(name, "its storage has no name");
        const auto* const kind = pickle_.as<PickleName>((*parts)[1]);
        const auto* const given = dtype ? pickle_.as<PickleName>(*dtype) : nullptr;
        const std::optional<Index> count = whole((*parts)[4]);
        if (!kind || !count || *count < 0 || *count > kMostStored)
            odd(name, "its storage has no type or size");
        Stored found{{given ? given->name : kind->name, "", 0, 1}, text((*parts)[2]), *count};
        for (const TorchType& type : kTorchTypes)
            if (given ? type.name == given->name : type.storage == kind->name) found.type = type;
        if (given)
            found.count /= static_cast<Index>(found.type.bytes);  // an UntypedStorage counts bytes
        return found;
    }
    void add_tensor(const std::string& name, const PickleCall& call) {
        const Items& arguments = call.arguments;
        const bool with_dtype = calls(call, "torch._utils", "_rebuild_tensor_v3");
        if (arguments.size() < (with_dtype ? 7U : 4U)) odd(name, "arguments are missing");
        const Stored from =
            stored(name, arguments[0], with_dtype ? std::optional(arguments[6]) : std::nullopt);
        const std::optional<Index> offset = whole(arguments[1]);
        const std::vector<Index> shape = extents(name, arguments[2]),
                                 strides = extents(name, arguments[3]);
        if (!offset || *offset < 0 || shape.size() != strides.size())
            odd(name, "its offset or strides do not fit its shape");
        PickledArray& leaf = add(name);
        leaf.header.type = {from.type.kind != 0 ? from.type.kind : 'V', from.type.bytes, kBigEndian,
                            std::string(from.type.name)};
        leaf.header.extents = shape;
        measured(leaf);
        if (from.type.kind == 0)
            leaf.unread = fmt::format(
                "has dtype {}; expected floats of 16 bits or more, integers or bool, which "
                ".float() makes",
                from.type.name);
        leaf.storage = from.key;
        leaf.strides = strides;
        leaf.offset = *offset;
        Index last = *offset;  // of its numbers, in the storage
        bool fits = true;
        for (std::size_t axis = 0; axis < shape.size() && leaf.header.items > 0; ++axis) {
            Index step = 0;
            fits = fits && !__builtin_mul_overflow(shape[axis] - 1, strides[axis], &step) &&
                   !__builtin_add_overflow(last, step, &last);
        }
        if (leaf.unread.empty() && leaf.header.items > 0 && (!fits || last >= from.count))
            odd(leaf.name, fmt::format("it reaches beyond its storage of {}",
                                       counted(static_cast<std::uint64_t>(from.count), "number")));
    }

    /// "<f4" of numpy.dtype("f4", False, True) with (3, "<", ...); "" of none.
    std::string descr(PickleId id) const {
        const auto* const call = pickle_.as<PickleCall>(id);
        if (!call || call->arguments.empty() || !calls(*call, "numpy", "dtype")) return {};
        const Items* const state = call->state ? items(*call->state) : nullptr;
        const std::string_view order = state && state->size() > 1 ? text((*state)[1]) : "|";
        return fmt::format("{}{}", order.empty() ? "|" : order, text(call->arguments[0]));
    }
    /// The bytes of numpy's numbers; protocol 2 has them as a text, _codecs.encode(text, "latin1").
    std::string_view data_of(const std::string& name, PickleId id, std::string& decoded) const {
        if (const auto* const data = pickle_.as<PickleBytes>(id)) return data->bytes;
        const auto* const call = pickle_.as<PickleCall>(id);
        const bool text_of_bytes =
            call && call->arguments.size() > 1 && calls(*call, "_codecs", "encode");
        if (!text_of_bytes) odd(name, "its numbers are not in the pickle");
        for (std::string_view rest = text(call->arguments[0]); !rest.empty();) {
            const CodePoint c = first_code_point(rest);
            decoded += static_cast<char>(c.value);
            rest.remove_prefix(c.bytes);
        }
        return {};
    }
    /// `axes`: the place in memory of each axis; null: in order.
    void add_array(const std::string& name, PickleId bytes, PickleId dtype,
                   std::optional<PickleId> shape, bool fortran, const Items* axes = nullptr) {
        PickledArray& leaf = add(name);
        leaf.bytes = data_of(leaf.name, bytes, leaf.decoded);
        leaf.descr = descr(dtype);
        const std::optional<NpyType> type = npy_type(leaf.descr);
        if (shape) leaf.header.extents = extents(leaf.name, *shape);
        leaf.header.fortran_order = fortran;
        leaf.header.type =
            type ? *type : NpyType{'V', 1, false, leaf.descr.empty() ? "object" : leaf.descr};
        measured(leaf);
        const std::size_t has = leaf.decoded.empty() ? leaf.bytes.size() : leaf.decoded.size();
        if (!type)
            leaf.unread = fmt::format(
                "has dtype '{}'; expected floats of 16, 32 or 64 bits, integers, bool or text",
                leaf.header.type.name);
        else if (leaf.header.total_bytes != has)
            odd(leaf.name,
                fmt::format("it has {}, but {} {} needs {}", counted(has, "byte"), type->name,
                            to_string(leaf.header.extents), leaf.header.total_bytes));
        if (axes) turn(leaf, *axes);
    }
    void turn(PickledArray& leaf, const Items& axes) const {
        const std::vector<Index> shape = leaf.header.extents;
        std::vector<Index> strides(shape.size(), 1);
        for (std::size_t axis = shape.size(); axis-- > 1;)
            strides[axis - 1] = strides[axis] * shape[axis];
        for (std::size_t n = 0; n < axes.size(); ++n) {
            const std::optional<Index> axis = whole(axes[n]);
            if (!axis || axes.size() != shape.size() || *axis < 0 || *axis >= std::ssize(shape))
                odd(leaf.name, "its axes have another order");
            leaf.header.extents[n] = shape[static_cast<std::size_t>(*axis)];
            leaf.strides.push_back(strides[static_cast<std::size_t>(*axis)]);
        }
        if (!measure(leaf.header) || leaf.header.total_bytes != leaf.bytes.size())
            odd(leaf.name, "its axes have another order");
    }
    void add_reconstructed(const std::string& name, const PickleCall& call, int depth) {
        const Items* const state = call.state ? items(*call.state) : nullptr;
        if (!state || state->size() < 5) odd(name, "an array of numpy without its state");
        const auto* const fortran = pickle_.as<bool>((*state)[3]);
        if (!items((*state)[4]))
            return add_array(name, (*state)[4], (*state)[2], (*state)[1], fortran && *fortran);
        const Items* const objects = items((*state)[4]);  // an array of values of Python
        if (extents(name, (*state)[1]).empty() && objects->size() == 1)
            return visit(name, objects->front(), depth + 1);
        visit_list(name, *objects, depth);
    }

    const Pickle& pickle_;
    std::string what_, root_name_;
    std::vector<PickledArray> leaves_;
    std::size_t visits_ = 0;
};

/// Whether the numbers lie one after another.
bool contiguous(const PickledArray& leaf) {
    Index wanted = 1;
    for (std::size_t axis = leaf.strides.size(); axis-- > 0;) {
        const Index extent = leaf.header.extents[axis];
        if (extent != 1 && leaf.strides[axis] != wanted) return false;
        wanted *= extent;
    }
    return true;
}

/// The numbers of a storage that begins with the first of them, in row-major order.
void gather(const PickledArray& leaf, std::string_view storage, NpyNumbers& numbers) {
    const auto item = static_cast<std::size_t>(leaf.header.type.bytes);
    const std::vector<Index>& extents = leaf.header.extents;
    std::vector<Index> at(extents.size(), 0);
    Index place = 0;
    std::string piece;
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (std::uint64_t n = 0; n < leaf.header.items; ++n) {
        piece.append(storage.substr(static_cast<std::size_t>(place) * item, item));
        if (piece.size() >= kPiece) {
            end_if_stopped();
            numbers.add(piece);
            piece.clear();
        }
        for (std::size_t axis = extents.size(); axis-- > 0;) {
            place += leaf.strides[axis];
            if (++at[axis] < extents[axis]) break;
            place -= leaf.strides[axis] * extents[axis];
            at[axis] = 0;
        }
    }
    numbers.add(piece);
}

class PickledArrays final : public ArrayFile {
  public:
    /// The bytes that are not owned must outlive it. `name`: of an array that is the whole pickle.
    static Result<Arrays> list(std::optional<ZipFile> zip, std::optional<MappedFile> mapped,
                               std::string owned, std::string_view bytes, std::string what,
                               std::string_view name) {
        auto file = std::unique_ptr<PickledArrays>(new PickledArrays(std::move(what)));
        file->zip_ = std::move(zip);
        file->mapped_ = std::move(mapped);
        file->owned_ = std::move(owned);
        return file->read_values(file->owned_.empty() ? bytes : file->owned_, name)
            .map([&]() -> Arrays { return std::move(file); });
    }

  private:
    explicit PickledArrays(std::string what) : ArrayFile(std::move(what)) {}

    Result<void> read_values(std::string_view bytes, std::string_view name) {
        auto pickle = parse_pickle(bytes, what());
        if (!pickle) return tl::unexpected(std::move(pickle.error()));
        pickle_ = *std::move(pickle);
        try {
            leaves_ = ArrayFinder(pickle_, what()).find(name);
        } catch (const Failure& failure) {
            return failure;
        }
        if (leaves_.empty())
            return bad_input(fmt::format(
                "{} has no tensors; expected a tensor, or a dict or list of tensors", what()));
        if (zip_)
            for (std::size_t at = 0; at < zip_->names().size(); ++at)
                entries_.emplace(zip_->names()[at], at);
        if (auto order = read_order(); !order) return order;
        std::vector<std::string> names;
        for (const PickledArray& leaf : leaves_) names.push_back(leaf.name);
        return set_names(std::move(names));
    }
    /// The order of bytes that the writer's machine had.
    Result<void> read_order() {
        const auto found = zip_ ? entries_.find(prefix() + "byteorder") : entries_.end();
        if (found == entries_.end()) return {};
        auto entry = zip_->entry(found->second, what());
        if (!entry) return tl::unexpected(std::move(entry.error()));
        return entry->next(8).map([&](const std::string& order) {
            for (PickledArray& leaf : leaves_)
                if (!leaf.storage.empty())
                    leaf.header.type.swapped = kBigEndian != (order == "big");
        });
    }
    std::string prefix() const {
        const std::string& first = zip_->names().front();
        return first.substr(0, first.find('/') + 1);
    }

    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        const NpyHeader& header = leaves_[at].header;
        return ArrayInfo{header.type.name, header.extents, header.total_bytes};
    }
    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override {
        const PickledArray& leaf = leaves_[at];
        const NpyHeader& header = leaf.header;
        if (!leaf.unread.empty()) return bad_input(fmt::format("{} {}", what, leaf.unread));
        if (!leaf.texts.empty() && header.extents.empty())
            return NpyArray{"text", {}, leaf.texts.front()};
        if (!leaf.texts.empty()) return NpyArray{"text", header.extents, leaf.texts};
        if (!leaf.numbers.empty()) return NpyArray{header.type.name, header.extents, leaf.numbers};
        if (is_text(header.type))
            return parse_npy(npy_header(header.extents, leaf.descr) + std::string(leaf.bytes),
                             what);
        if (auto fits = check_array_memory(what, header, held); !fits)
            return tl::unexpected(fits.error());
        NpyNumbers numbers(header);
        if (!leaf.storage.empty()) {
            if (auto read = read_storage(leaf, what, numbers); !read)
                return tl::unexpected(read.error());
        } else {
            const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
            if (!whole) return tl::unexpected(whole.error());
            const std::string_view bytes = leaf.decoded.empty() ? leaf.bytes : leaf.decoded;
            if (leaf.strides.empty())
                numbers.add(bytes);
            else
                gather(leaf, bytes, numbers);
        }
        return numbers.finish();
    }
    Result<void> read_storage(const PickledArray& leaf, const std::string& what,
                              NpyNumbers& numbers) const {
        const auto found =
            zip_ ? entries_.find(fmt::format("{}data/{}", prefix(), leaf.storage)) : entries_.end();
        if (found == entries_.end())
            return bad_input(
                fmt::format("{} has no numbers: the file has no data/{}", what, leaf.storage));
        if (leaf.header.items == 0) return {};
        auto entry = zip_->entry(found->second, what);
        if (!entry) return tl::unexpected(std::move(entry.error()));
        const std::uint64_t item = leaf.header.type.bytes;
        std::uint64_t span = 1;  // from its first number to its last
        for (std::size_t axis = 0; axis < leaf.strides.size(); ++axis)
            span += static_cast<std::uint64_t>(leaf.strides[axis]) *
                    static_cast<std::uint64_t>(leaf.header.extents[axis] - 1);
        const std::uint64_t begin = static_cast<std::uint64_t>(leaf.offset) * item,
                            bytes = span * item;
        if (begin > entry->size() || bytes > entry->size() - begin)
            return bad_input(fmt::format("{} is cut off: data/{} has {} of {} bytes", what,
                                         leaf.storage, entry->size(), begin + bytes));
        if (auto skipped = entry->skip(begin); !skipped) return skipped;
        const bool to_end = begin + bytes == entry->size();  // then the CRC is checked
        if (contiguous(leaf) && to_end && begin == 0)
            return entry->rest(bytes, [&](std::string_view piece) { numbers.add(piece); });
        if (contiguous(leaf)) {
            constexpr std::uint64_t kPiece = std::uint64_t{1} << 22;
            for (std::uint64_t left = bytes; left > 0;) {
                const auto piece = entry->next(std::min(left, kPiece));
                if (!piece) return tl::unexpected(piece.error());
                if (piece->empty()) return bad_input(fmt::format("{} is cut off", what));
                numbers.add(*piece);
                left -= piece->size();
            }
            return {};
        }
        const auto storage = entry->next(bytes);
        if (!storage) return tl::unexpected(storage.error());
        if (storage->size() < bytes) return bad_input(fmt::format("{} is cut off", what));
        gather(leaf, *storage, numbers);
        return {};
    }

    std::optional<ZipFile> zip_;
    std::optional<MappedFile> mapped_;
    std::string owned_;  // the pickle, where it came out of the zip
    Pickle pickle_;
    std::vector<PickledArray> leaves_;  // in the order of names()
    std::map<std::string, std::size_t, std::less<>> entries_;
};

Result<Arrays> list_torch(Result<ZipFile> zip, std::string_view name) {
    if (!zip) return tl::unexpected(std::move(zip.error()));
    const auto& names = zip->names();
    const auto found = std::ranges::find_if(
        names, [](const std::string& each) { return each.ends_with("/data.pkl"); });
    if (found == names.end())
        return bad_input(fmt::format("{} is not {}: it has no data.pkl", zip->what(), kTorch));
    auto entry = zip->entry(static_cast<std::size_t>(found - names.begin()), zip->what());
    if (!entry) return tl::unexpected(std::move(entry.error()));
    if (entry->size() > kMostPickleBytes)
        return bad_input(fmt::format("{} has a pickle of {}; at most {} MiB are read", zip->what(),
                                     counted(entry->size(), "byte"), kMostPickleBytes >> 20));
    std::string pickle;
    if (auto read = entry->rest(entry->size(), [&](std::string_view piece) { pickle += piece; });
        !read)
        return tl::unexpected(read.error());
    std::string what = zip->what();
    return PickledArrays::list(*std::move(zip), std::nullopt, std::move(pickle), {},
                               std::move(what), name);
}

/// A .npy of Python's objects is a header and a pickle.
std::string_view pickle_in(std::string_view bytes) {
    return bytes.substr(std::min<std::size_t>(npy_objects(bytes).value_or(0), bytes.size()));
}

}  // namespace

Result<Arrays> open_torch(const std::filesystem::path& path) {
    return list_torch(ZipFile::open(path, kTorch), path.stem().string());
}

Result<Arrays> parse_torch(std::string_view bytes, std::string_view what) {
    return list_torch(ZipFile::open(bytes, what, kTorch), "tensor");
}

Result<Arrays> open_pickle(const std::filesystem::path& path) {
    return MappedFile::open(path).and_then([&](MappedFile&& mapped) {
        const std::string_view bytes = pickle_in(mapped.bytes());
        return PickledArrays::list(std::nullopt, std::move(mapped), {}, bytes, path.string(),
                                   path.stem().string());
    });
}

Result<Arrays> parse_pickled(std::string_view bytes, std::string_view what) {
    return PickledArrays::list(std::nullopt, std::nullopt, {}, pickle_in(bytes), std::string(what),
                               "array");
}

}  // namespace attn
