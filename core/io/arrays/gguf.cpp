#include "core/io/gguf.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/io/array_memory.h"
#include "core/io/arrays/foreign.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/mapped.h"
#include "core/stop.h"
#include "core/text.h"

namespace attn {
namespace {

/// "blk.0.ffn_up_exps.weight" [8, 64, 32] of all experts as blk.0.ffn_up.0.weight, …, blk.0.ffn_up.7.weight [64, 32].
std::vector<GgufTensor> with_experts_apart(std::vector<GgufTensor> tensors) {
    constexpr std::string_view kExperts = "_exps.";
    constexpr Index kMostExperts = 4096;
    std::vector<GgufTensor> apart;
    for (GgufTensor& tensor : tensors) {
        const std::size_t at = tensor.name.find(kExperts);
        if (at == std::string::npos || tensor.extents.size() < 2 || tensor.bytes == 0 ||
            tensor.extents.front() > kMostExperts) {
            apart.push_back(std::move(tensor));
            continue;
        }
        const auto experts = static_cast<std::uint64_t>(tensor.extents.front());
        GgufTensor one = tensor;
        one.extents.erase(one.extents.begin());
        one.items /= experts;
        one.bytes /= experts;
        for (std::uint64_t n = 0; n < experts; ++n, one.begin += one.bytes) {
            one.name = fmt::format("{}.{}.{}", tensor.name.substr(0, at), n,
                                   tensor.name.substr(at + kExperts.size()));
            apart.push_back(one);
        }
    }
    return apart;
}

class GgufFile final : public ArrayFile {
  public:
    static Result<GgufArrays> list(std::optional<MappedFile> mapped, std::string_view bytes,
                                   std::string what) {
        auto header = parse_gguf_header(bytes, what);
        if (!header) return tl::unexpected(header.error());
        header->tensors = with_experts_apart(std::move(header->tensors));
        auto file = std::unique_ptr<GgufFile>(new GgufFile(std::move(what)));
        file->mapped_ = std::move(mapped);
        file->bytes_ = bytes;
        file->tensors_ = header->tensors;
        std::vector<std::string> names;
        for (const GgufTensor& tensor : file->tensors_) names.push_back(tensor.name);
        return file->set_names(std::move(names)).map([&] {
            return GgufArrays{*std::move(header), std::move(file)};
        });
    }

  private:
    explicit GgufFile(std::string what) : ArrayFile(std::move(what)) {}

    static std::string type_name(const GgufTensor& tensor) {
        const GgufType* const type = gguf_type(tensor.type);
        return type ? std::string(type->name) : fmt::format("type {}", tensor.type);
    }
    static Result<void> check_type(const GgufTensor& tensor, const std::string& what) {
        if (tensor.bytes > 0) return {};
        return bad_input(fmt::format(
            "{} is of {}; expected one of {}. llama.cpp's llama-quantize converts a model", what,
            type_name(tensor), gguf_types_text()));
    }
    /// As float32.
    static NpyHeader as_floats(const GgufTensor& tensor) {
        NpyHeader header;
        header.type = {'f', sizeof(float), false, "float32"};
        header.extents = tensor.extents;
        header.items = tensor.items;
        return header;
    }
    std::string_view bytes_of(const GgufTensor& tensor) const {
        return bytes_.substr(tensor.begin, tensor.bytes);
    }

    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        const GgufTensor& tensor = tensors_[at];
        return ArrayInfo{type_name(tensor), tensor.extents, tensor.bytes};
    }

    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override {
        const GgufTensor& tensor = tensors_[at];
        if (auto known = check_type(tensor, what); !known) return tl::unexpected(known.error());
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then([&] { return check_array_memory(what, as_floats(tensor), held); })
            .map([&] { return widened_array(tensor); });
    }
    NpyArray widened_array(const GgufTensor& tensor) const {
        const BlockCode& code = gguf_type(tensor.type)->code;
        const std::string_view bytes = bytes_of(tensor);
        const auto* const from = reinterpret_cast<const unsigned char*>(bytes.data());
        std::vector<float> numbers(tensor.items);
        constexpr Index kBlocks = 4096;  // between two checks
        const Index blocks = static_cast<Index>(tensor.items) / code.items;
        for (Index block = 0; block < blocks; block += kBlocks) {
            end_if_stopped();
            code.widen(from + block * code.bytes, std::min(kBlocks, blocks - block),
                       numbers.data() + block * code.items);
        }
        if (mapped_) mapped_->let_go(bytes);
        return {"float32", tensor.extents, std::move(numbers)};
    }

    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string& what,
                                                    double held) const override {
        const GgufTensor& tensor = tensors_[at];
        const bool brain = type_name(tensor) == "BF16";
        if (!brain && type_name(tensor) != "F16") return std::nullopt;
        NpyHeader header = as_floats(tensor);
        header.type.bytes = sizeof(std::uint16_t);
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then([&] { return check_stored_memory(what, header, held); }).map([&] {
            HalfArray array{brain ? HalfFormat::bfloat16 : HalfFormat::float16, tensor.extents,
                            std::vector<std::uint16_t>(tensor.items)};
            const std::string_view bytes = bytes_of(tensor);
            for (std::size_t n = 0; n < array.values.size(); ++n)
                array.values[n] =
                    static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[2 * n]) |
                                               static_cast<unsigned char>(bytes[2 * n + 1]) << 8);
            if (mapped_) mapped_->let_go(bytes);
            return std::optional(std::move(array));
        });
    }

    Result<std::optional<CodeArray>> read_codes_at(std::size_t at, const std::string& what,
                                                   double held) const override {
        const GgufTensor& tensor = tensors_[at];
        const GgufType* const type = gguf_type(tensor.type);
        if (tensor.bytes == 0 || type->code.items == 1) return std::nullopt;
        NpyHeader header = as_floats(tensor);
        header.type.bytes = 1;
        header.items = tensor.bytes;
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then([&] { return check_stored_memory(what, header, held); }).map([&] {
            const std::string_view bytes = bytes_of(tensor);
            CodeArray array{&type->code, tensor.extents, {bytes.begin(), bytes.end()}};
            if (mapped_) mapped_->let_go(bytes);
            return std::optional(std::move(array));
        });
    }

    std::optional<MappedFile> mapped_;
    std::string_view bytes_;
    std::vector<GgufTensor> tensors_;  // in the order of names()
};

}  // namespace

Result<GgufArrays> open_gguf(const std::filesystem::path& path) {
    return MappedFile::open(path).and_then([&](MappedFile&& mapped) {
        const std::string_view bytes = mapped.bytes();
        return GgufFile::list(std::move(mapped), bytes, path.string());
    });
}

Result<GgufArrays> parse_gguf(std::string_view bytes, std::string_view what) {
    return GgufFile::list(std::nullopt, bytes, std::string(what));
}

}  // namespace attn
