// Files of torch.save, pickles of numpy's arrays and initialisers of ONNX: what they hold, and which files are refused.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "attn_tree.h"
#include "core/io/arrays/array_file.h"
#include "core/io/arrays/formats.h"
#include "core/io/pickle.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace std::string_literals;

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

// Codes of a pickle.
const std::string kBegin = "\x80\x02", kEnd = ".";
std::string text(const std::string& of) {
    return "X" + little<std::uint32_t>({static_cast<std::uint32_t>(of.size())}) + of;
}
std::string bytes(const std::string& of) {
    return "B" + little<std::uint32_t>({static_cast<std::uint32_t>(of.size())}) + of;
}
std::string whole(std::int32_t of) { return "J" + little<std::int32_t>({of}); }
std::string tuple(const std::string& of) { return "(" + of + "t"; }
std::string dict(const std::string& of) { return "}(" + of + "u"; }
std::string call(const std::string& module, const std::string& name, const std::string& arguments) {
    return fmt::format("c{}\n{}\n", module, name) + tuple(arguments) + "R";
}
std::string sizes(const std::vector<int>& of) {
    std::string items;
    for (const int each : of) items += whole(each);
    return tuple(items);
}
std::string tensor(const std::string& storage, const std::string& key, int count, int offset,
                   const std::vector<int>& extents, const std::vector<int>& strides) {
    const std::string stored = tuple(text("storage") + fmt::format("ctorch\n{}\n", storage) +
                                     text(key) + text("cpu") + whole(count)) +
                               "Q";
    return call("torch._utils", "_rebuild_tensor_v2",
                stored + whole(offset) + sizes(extents) + sizes(strides) + "\x89" +
                    call("collections", "OrderedDict", ""));
}
std::string dtype(const std::string& name) {
    return call("numpy", "dtype", text(name) + "\x89\x88") +
           tuple(whole(3) + text("<") + "NNN" + whole(-1) + whole(-1) + whole(0)) + "b";
}
std::string numpy_array(const std::vector<int>& extents, const std::string& type,
                        const std::string& data, bool by_columns = false) {
    return call("numpy.core.multiarray", "_reconstruct",
                "cnumpy\nndarray\n" + sizes({0}) + bytes("b")) +
           tuple(whole(1) + sizes(extents) + dtype(type) + (by_columns ? "\x88" : "\x89") + data) +
           "b";
}

std::uint32_t crc32_of(const std::string& data) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char c : data) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
    }
    return ~crc;
}
/// A zip of stored entries.
std::string zip(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string file, central;
    for (const auto& [name, data] : entries) {
        const auto length = static_cast<std::uint32_t>(data.size());
        const std::string common =
            little<std::uint16_t>({20, 0, 0, 0, 0}) +
            little<std::uint32_t>({crc32_of(data), length, length}) +
            little<std::uint16_t>({static_cast<std::uint16_t>(name.size()), 0});
        central += "PK\x01\x02" + little<std::uint16_t>({20}) + common +
                   little<std::uint16_t>({0, 0, 0}) +
                   little<std::uint32_t>({0, static_cast<std::uint32_t>(file.size())}) + name;
        file += "PK\x03\x04" + common + name + data;
    }
    const auto count = static_cast<std::uint16_t>(entries.size());
    return file + central + "PK\x05\x06" + little<std::uint16_t>({0, 0, count, count}) +
           little<std::uint32_t>({static_cast<std::uint32_t>(central.size()),
                                  static_cast<std::uint32_t>(file.size())}) +
           little<std::uint16_t>({0});
}
std::string saved(const std::string& values,
                  const std::string& numbers = little<float>({1, 2, 3, 4, 5, 6})) {
    return zip({{"a/data.pkl", kBegin + values + kEnd},
                {"a/byteorder", "little"},
                {"a/data/0", numbers},
                {"a/version", "3\n"}});
}
std::string pickled(const std::string& values) { return kBegin + values + kEnd; }

Floats floats(const Arrays& file, const std::string& name) {
    return std::get<Floats>(must(file->read(name)).values);
}
std::string complaint_of(const std::string& file, const std::string& name) {
    return sentence_in(must(parse_arrays(file, "f"))->read(name));
}

// A protocol buffer.
std::string field(int number, const std::string& value) {
    REQUIRE(value.size() < 128);
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(value.size())} + value;
}
std::string field(int number, int value) {
    return {static_cast<char>(number << 3), static_cast<char>(value)};
}
std::string onnx(const std::string& tensors) {
    return field(1, 8) + field(2, "test"s) + field(7, tensors);
}

}  // namespace

TEST_CASE("files that PyTorch, numpy and ONNX wrote") {
    const auto golden = [](const char* name) {
        return must(open_arrays(std::string(ATTN_TEST_DATA "/torch/") + name));
    };
    const Floats x{0, 1, 2, 3, 4, 5}, turned{0, 3, 1, 4, 2, 5};
    const Arrays torch = golden("torch.pt");
    CHECK(torch->names() == std::vector<std::string>{"x", "turned", "row", "half", "brain", "whole",
                                                     "state.weight", "state.bias", "words"});
    for (const char* name : {"x", "half", "brain"}) CHECK(floats(torch, name) == x);
    CHECK(floats(torch, "turned") == turned);
    CHECK(floats(torch, "row") == Floats{3, 4, 5});
    CHECK(std::get<Doubles>(must(torch->read("whole")).values) == Doubles{0, 1, 2, 3, 4, 5});
    CHECK(floats(torch, "state.weight") == Floats{1, 2});
    CHECK(floats(torch, "state.bias") == Floats{3});
    CHECK(torch->about("brain")->dtype == "bfloat16");
    CHECK(torch->about("turned")->extents == std::vector<Index>{3, 2});
    const Arrays numpy = golden("numpy.pkl");
    CHECK(numpy->names() == std::vector<std::string>{"x", "turned", "steps.0", "steps.2"});
    CHECK(floats(numpy, "x") == x);
    CHECK(floats(numpy, "turned") == turned);
    CHECK(floats(numpy, "steps.2") == Floats{3, 4, 5});
    const Arrays onnx_model = golden("initialisers.onnx");
    CHECK(onnx_model->names() == std::vector<std::string>{"raw", "listed", "halves", "whole"});
    for (const char* name : {"raw", "listed"}) CHECK(floats(onnx_model, name) == x);
    CHECK(floats(onnx_model, "halves") == Floats{0, 1, 2});
    CHECK(std::get<Doubles>(must(onnx_model->read("whole")).values) == Doubles{-1, 5});
}

TEST_CASE("tensors of torch.save by their path, with the strides of a view") {
    const std::string file = saved(
        dict(text("q") + tensor("FloatStorage", "0", 6, 0, {2, 3}, {3, 1}) +                    //
             text("layers") + "](" + tensor("FloatStorage", "0", 6, 1, {2, 2}, {1, 2}) + "N" +  //
             tensor("FloatStorage", "0", 6, 5, {}, {}) + "e" +                                  //
             text("w") +
             call("torch._utils", "_rebuild_parameter",
                  tensor("FloatStorage", "0", 6, 2, {2}, {1}) + "\x88N") +  //
             text("wide") +
             tensor("FloatStorage", "0", 6, 3, {2, 2}, {0, 1}) +                 //
             text("none") + tensor("FloatStorage", "0", 6, 6, {0, 4}, {4, 1}) +  //
             text("tokens") + "](" + text("the") + text("cat") + "e" + text("scale") +
             "G\x3f\xc0\0\0\0\0\0\0"s + text("heads") + whole(2)));
    const Arrays arrays = must(parse_arrays(file, "f"));
    CHECK(arrays->names() == std::vector<std::string>{"q", "layers.0", "layers.2", "w", "wide",
                                                      "none", "tokens", "scale", "heads"});
    CHECK(floats(arrays, "q") == Floats{1, 2, 3, 4, 5, 6});
    CHECK(arrays->about("q")->extents == std::vector<Index>{2, 3});
    CHECK(arrays->about("q")->dtype == "float32");
    CHECK(floats(arrays, "layers.0") == Floats{2, 4, 3, 5});
    CHECK(floats(arrays, "layers.2") == Floats{6});
    CHECK(floats(arrays, "w") == Floats{3, 4});
    CHECK(floats(arrays, "wide") == Floats{4, 5, 4, 5});
    CHECK(floats(arrays, "none").empty());
    CHECK(std::get<std::vector<std::string>>(must(arrays->read("tokens")).values) ==
          std::vector<std::string>{"the", "cat"});
    CHECK(std::get<Doubles>(must(arrays->read("scale")).values) == Doubles{0.125});
    CHECK(std::get<Doubles>(must(arrays->read("heads")).values) == Doubles{2});
}

TEST_CASE_FIXTURE(OnDisk,
                  "a file of torch.save is known by its bytes, and a tensor alone has its name") {
    const std::string bits = "\x80\x3f\x00\xc0\x00\x00"s;  // bfloat16
    for (const char* name : {"q.pt", "q.pth", "q.bin", "q.npz"}) {
        write_bytes(scratch / name, saved(tensor("BFloat16Storage", "0", 3, 0, {3}, {1}), bits));
        const Arrays arrays = must(open_arrays(scratch / name));
        CHECK(arrays->names() == std::vector<std::string>{"q"});
        CHECK(floats(arrays, "q") == Floats{1, -2, 0});
        CHECK(arrays->about("q")->dtype == "bfloat16");
    }
    write_bytes(scratch / "old.pt", "hello");
    CHECK(contains(sentence_in(open_arrays(scratch / "old.pt")),
                   "old.pt cannot be read as a file of torch.save"));
}

TEST_CASE("every type of torch with the numbers that it holds") {
    const auto read = [](const char* storage, const std::string& numbers) {
        return must(must(parse_arrays(saved(tensor(storage, "0", 2, 0, {2}, {1}), numbers), "f"))
                        ->read("tensor"));
    };
    CHECK(std::get<Doubles>(read("DoubleStorage", little<double>({0.5, -3})).values) ==
          Doubles{0.5, -3});
    CHECK(std::get<Doubles>(read("LongStorage", little<std::int64_t>({1, -1})).values) ==
          Doubles{1, -1});
    CHECK(std::get<Doubles>(read("IntStorage", little<std::int32_t>({7, -7})).values) ==
          Doubles{7, -7});
    CHECK(std::get<Floats>(read("HalfStorage", "\x00\x3c\x00\xc0"s).values) == Floats{1, -2});
    CHECK(std::get<std::vector<std::uint8_t>>(read("BoolStorage", "\x01\x00"s).values) ==
          std::vector<std::uint8_t>{1, 0});
    CHECK(
        contains(complaint_of(saved(tensor("ComplexFloatStorage", "0", 2, 0, {2}, {1})), "tensor"),
                 "f: tensor has dtype complex64; expected floats"));
    CHECK(contains(
        complaint_of(saved(dict(text("s") + call("torch._utils", "_rebuild_sparse_tensor", ""))),
                     "s"),
        "f: s is made by _rebuild_sparse_tensor; expected a dense tensor"));
}

TEST_CASE("what a file of torch.save promises is checked against what it has") {
    const auto refused = [](const std::string& values) {
        return sentence_in(parse_arrays(saved(values), "f"));
    };
    CHECK(contains(refused(dict(text("q") + tensor("FloatStorage", "0", 6, 3, {2, 3}, {3, 1}))),
                   "f: q cannot be read as a tensor: it reaches beyond its storage of 6 numbers"));
    CHECK(contains(refused(dict(text("q") + tensor("FloatStorage", "0", 6, 0, {2, -3}, {3, 1}))),
                   "a negative size"));
    CHECK(
        contains(refused(dict(text("q") + tensor("FloatStorage", "0", 6, 0,
                                                 {2147483647, 2147483647, 2147483647}, {0, 0, 0}))),
                 "more than 2^63 bytes"));
    // 2^62 numbers, the last of them beyond 2^64 bytes
    const std::string huge = "\x8a\x08" + little<std::int64_t>({std::int64_t{1} << 62});
    const std::string far = "\x8a\x08" + little<std::int64_t>({(std::int64_t{1} << 62) - 1});
    const std::string stored =
        tuple(text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + huge) + "Q";
    CHECK(contains(refused(dict(text("q") + call("torch._utils", "_rebuild_tensor_v2",
                                                 stored + whole(0) + sizes({2}) + tuple(far)))),
                   "its storage has no type or size"));
    CHECK(contains(refused(dict("")),
                   "f has no tensors; expected a tensor, or a dict or list of tensors"));
    CHECK(contains(complaint_of(saved(tensor("FloatStorage", "0", 600, 0, {600}, {1})), "tensor"),
                   "is cut off: data/0 has 24 of 2400 bytes"));
    CHECK(contains(complaint_of(saved(tensor("FloatStorage", "7", 6, 0, {6}, {1})), "tensor"),
                   "the file has no data/7"));
    std::string damaged = saved(tensor("FloatStorage", "0", 6, 0, {6}, {1}));
    damaged[damaged.find(little<float>({1, 2, 3}))] ^= 1;
    CHECK(contains(complaint_of(damaged, "tensor"), "damaged"));
}

TEST_CASE("a pickle is data: a call is passed over, and nothing that it names is run") {
    const std::string evil = call("os", "system", text("touch /tmp/attnscope-pickle"));
    const std::string file = pickled(dict(text("evil") + evil + text("q") +
                                          numpy_array({2}, "f4", bytes(little<float>({1, 2})))));
    const Arrays arrays = must(parse_arrays(file, "f"));
    CHECK(arrays->names() == std::vector<std::string>{"q"});
    CHECK(floats(arrays, "q") == Floats{1, 2});
    CHECK_FALSE(std::filesystem::exists("/tmp/attnscope-pickle"));
}

TEST_CASE_FIXTURE(OnDisk, "arrays of numpy in a pickle, in a .npy of objects and in a .npz") {
    const std::string square = little<double>({1, 2, 3, 4});
    const std::string values = dict(text("K") + numpy_array({2, 2}, "f8", bytes(square)) +
                                    text("V") + numpy_array({2, 2}, "f8", bytes(square), true));
    for (const std::string& file :
         {pickled(values), npy("{'descr': '|O', 'fortran_order': False, 'shape': (), }",
                               pickled(numpy_array({}, "O8", "](" + values + "e")))}) {
        const Arrays arrays = must(parse_arrays(file, "f"));
        CHECK(arrays->names() == std::vector<std::string>{"K", "V"});
        CHECK(std::get<Doubles>(must(arrays->read("K")).values) == Doubles{1, 2, 3, 4});
        CHECK(std::get<Doubles>(must(arrays->read("V")).values) == Doubles{1, 3, 2, 4});
    }
    const std::string objects =
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
            pickled(numpy_array({2}, "O8", "](" + text("the") + text("cät") + "e")));
    write_bytes(scratch / "f.npz", zip({{"tokens.npy", objects}}));
    const NpyArray tokens = must(must(open_arrays(scratch / "f.npz"))->read("tokens"));
    CHECK(std::get<std::vector<std::string>>(tokens.values) ==
          std::vector<std::string>{"the", "cät"});
    CHECK(tokens.extents == std::vector<Index>{2});
    write_bytes(scratch / "objects.npy", objects);
    CHECK(must(open_arrays(scratch / "objects.npy"))->names() ==
          std::vector<std::string>{"objects"});
    CHECK(contains(complaint_of(pickled(numpy_array({1}, "c8", bytes(square))), "array"),
                   "has dtype '<c8'"));
    CHECK(contains(sentence_in(parse_arrays(pickled(numpy_array({3}, "f8", bytes(square))), "f")),
                   "it has 32 bytes, but float64 [3] needs 24"));
}

TEST_CASE(
    "numbers as a text of protocol 2, arrays with turned axes of protocol 5, a module of torch") {
    const std::string square = little<float>({1, 2, 3, 4, 5, 6});
    const std::string as_text =
        call("_codecs", "encode", text("\x01\xc3\x83\xc2\x80") + text("latin1"));
    CHECK(std::get<std::vector<std::uint8_t>>(
              must(must(parse_arrays(pickled(numpy_array({3}, "u1", as_text)), "f"))->read("array"))
                  .values) == std::vector<std::uint8_t>{1, 0xC3, 0x80});
    const auto turned = [&](const std::vector<int>& axes) {
        return pickled(call("numpy._core.numeric", "_frombuffer",
                            bytes(square) + dtype("f4") + sizes({2, 3}) + text("K") + sizes(axes)));
    };
    const Arrays arrays = must(parse_arrays(turned({1, 0}), "f"));
    CHECK(arrays->about("array")->extents == std::vector<Index>{3, 2});
    CHECK(floats(arrays, "array") == Floats{1, 4, 2, 5, 3, 6});
    for (const std::vector<int>& axes : {std::vector<int>{1, 1}, {0, 2}, {-1, 0}, {0}})
        CHECK(
            contains(sentence_in(parse_arrays(turned(axes), "f")), "its axes have another order"));
    const std::string inner =
        call("torch.nn", "Linear", "") +
        dict(text("_parameters") +
             dict(text("weight") + tensor("FloatStorage", "0", 6, 0, {2}, {1}))) +
        "b";
    const std::string module =
        call("my", "Attention", "") +
        dict(text("training") + "\x88" + text("_modules") + dict(text("out_proj") + inner)) + "b";
    CHECK(must(parse_arrays(saved(module), "f"))->names() ==
          std::vector<std::string>{"out_proj.weight"});
}

TEST_CASE("a damaged pickle is refused with its place, wherever it ends") {
    const std::string file =
        pickled(dict(text("K") + numpy_array({2}, "f4", bytes(little<float>({1, 2}))) + text("n") +
                     "\x8a\x03\x01\x02\x03"));
    for (std::size_t size = 2; size < file.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(parse_pickled(std::string_view(file).substr(0, size), "f"));
    }
    CHECK(contains(sentence_in(parse_pickled("\x80\x02]q\x01h\x02.", "f")),
                   "a value is used that was never stored"));
    CHECK(contains(sentence_in(parse_pickled("\x80\x02(i", "f")), "code 0x69 at byte 3"));
    CHECK(contains(sentence_in(parse_pickled("\x80\x01N.", "f")), "protocol 1; expected 2 to 5"));
    // a list that contains itself, and lists of lists of ... that share one
    CHECK(contains(sentence_in(parse_pickled("\x80\x02]q\x01h\x01"
                                             "a.",
                                             "f")),
                   "nested more than"));
    std::string shared =
        "\x80\x02"
        "N\x85q\x00"s;
    for (int n = 0; n < 40; ++n) shared += "h\x00h\x00h\x00\x87q\x00"s;
    CHECK_FALSE(parse_pickled(shared + ".", "f"));
}

TEST_CASE_FIXTURE(OnDisk, "initialisers of an ONNX model, in the model or in a file beside it") {
    const std::string raw =
        field(1, 2) + field(2, 1) + field(8, "w"s) + field(9, little<float>({1, 2}));
    const std::string listed =
        field(1, "\x01\x02"s) + field(2, 7) + field(7, "\x05\x06"s) + field(8, "ids"s);
    const std::string halves =
        field(1, 1) + field(2, 10) + field(5, "\x80\x78"s) + field(8, "h"s);  // 0x3c00
    const std::string outside = field(1, 2) + field(2, 1) + field(8, "out"s) +
                                field(13, field(1, "location"s) + field(2, "w.bin"s)) +
                                field(13, field(1, "offset"s) + field(2, "4"s)) + field(14, 1);
    write_bytes(scratch / "w.bin", little<float>({9, 7, 8}));
    write_bytes(scratch / "m.onnx", onnx(field(5, raw) + field(5, listed) + field(5, halves)));
    Arrays arrays = must(open_arrays(scratch / "m.onnx"));
    CHECK(arrays->names() == std::vector<std::string>{"w", "ids", "h"});
    CHECK(floats(arrays, "w") == Floats{1, 2});
    CHECK(arrays->about("ids")->extents == std::vector<Index>{1, 2});
    CHECK(std::get<Doubles>(must(arrays->read("ids")).values) == Doubles{5, 6});
    CHECK(floats(arrays, "h") == Floats{1});
    write_bytes(scratch / "m.onnx", onnx(field(5, outside)));
    arrays = must(open_arrays(scratch / "m.onnx"));
    CHECK(floats(arrays, "out") == Floats{7, 8});
    write_bytes(scratch / "w.bin", little<float>({9, 7}));
    CHECK(contains(sentence_in(arrays->read("out")), "ends beyond its file w.bin of 8 bytes"));
    const std::string away = field(1, 2) + field(2, 1) + field(8, "out"s) +
                             field(13, field(1, "location"s) + field(2, "../w.bin"s)) +
                             field(14, 1);
    CHECK(contains(complaint_of(onnx(field(5, away)), "out"),
                   "expected a file in the model's folder"));
    const std::string short_of =
        field(1, 3) + field(2, 1) + field(8, "w"s) + field(9, little<float>({1, 2}));
    CHECK(contains(sentence_in(parse_arrays(onnx(field(5, short_of)), "f")),
                   "f: w has 8 bytes, but float32 [3] needs 12"));
    CHECK(contains(sentence_in(parse_arrays(onnx(""), "f")), "without initialisers"));
    const std::string whole_file = onnx(field(5, raw));
    for (std::size_t size = 4; size < whole_file.size(); ++size)
        CHECK_FALSE(parse_onnx(std::string_view(whole_file).substr(0, size), "f"));
}
