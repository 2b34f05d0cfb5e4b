// Bugs of a kernel that serves sequences, planted in loops of its own, and read from files as engines save them: seen, and named rightly.
// Right kernels of every format: clean.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>

#include "app/files/layers.h"
#include "app/files/results.h"
#include "core/float8.h"
#include "core/rng.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/verify/serve.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

using Bug = ServeBug;

// ---- files

/// One .npy, as numpy saves it.
void write_npy(const std::filesystem::path& path, std::string_view descr,
               const std::vector<Index>& axes, std::string_view bytes) {
    std::string shape;
    for (const Index axis : axes) shape += fmt::format("{}, ", axis);
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
    header.resize((header.size() + 10 + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 255)
         << static_cast<char>(header.size() >> 8) << header << bytes;
}
template <class Value>
std::string_view bytes_of(const std::vector<Value>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

/// The bits of a number that has them: of binary16, or of bfloat16.
std::uint16_t bits_of(float value, bool half) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if (!half) return static_cast<std::uint16_t>(word >> 16);
    const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000U);
    if (std::isnan(value)) return 0x7E00;
    int exponent = 0;
    const float fraction = std::frexp(std::abs(value), &exponent);
    if (value == 0.0F) return sign;
    if (exponent < -13)
        return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(std::abs(value), 24)));
    const int mantissa = static_cast<int>(std::ldexp(fraction, 11)) & 0x3FF;
    return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

/// The arrays of a call and of its results in one folder, and the options that say the rest.
struct Folder {
    explicit Folder(const Serve& serve) : s(serve), rows(0) {
        for (const Index n : s.queries) rows += n;
    }
    void floats(const std::string& name, const std::vector<Index>& axes,
                const std::vector<float>& values) const {
        write_npy(scratch / (name + ".npy"), "<f4", axes, bytes_of(values));
    }
    void whole(const std::string& name, const std::vector<Index>& axes,
               const std::vector<Index>& values) const {
        write_npy(scratch / (name + ".npy"), "<i8", axes, bytes_of(values));
    }
    void codes(const std::string& name, const std::vector<Index>& axes,
               const std::vector<float>& values) {
        std::vector<std::uint8_t> bytes;
        for (const float value : values) bytes.push_back(e4m3_code(value));
        write_npy(scratch / (name + ".npy"), "|u1", axes, bytes_of(bytes));
        dtypes.push_back(name + "=e4m3");
    }
    void scale(const std::string& name, Index groups, std::vector<Index> axes,
               const std::vector<float>& values) const {
        if (values.empty()) return;
        if (values.size() == 1) return floats(name, {}, values);
        if (std::ssize(values) == groups) return floats(name, {groups}, values);
        Index count = 1;
        for (const Index axis : axes) count *= axis;
        const Index width = axes.back();
        axes.back() = std::ssize(values) * width / count;
        if (axes.back() == 1) axes.pop_back();
        floats(name, axes, values);
    }
    void operand(const std::string& name, const std::vector<Index>& axes,
                 const std::vector<float>& values, bool coded) {
        coded ? codes(name, axes, values) : floats(name, axes, values);
    }

    std::vector<Index> key_axes(Index width) const {
        const Index stored = std::ssize(s.k) / (s.groups * s.d);
        if (s.page == 0) return {stored, s.groups, width};
        return {stored / s.page, s.page, s.groups, width};
    }

    void write(const ServeOut& out, bool parts) {
        const bool paged = s.page > 0;
        const std::string k = paged ? "k_cache" : "k", v = paged ? "v_cache" : "v";
        operand("q", {rows, s.heads, s.d}, s.q, !s.q_scale.empty());
        operand(k, key_axes(s.d), s.k, !s.k_scale.empty());
        operand(v, key_axes(s.d_v), s.v, !s.v_scale.empty());
        scale("q_scale", s.heads, {rows, s.heads, s.d}, s.q_scale);
        scale("k_scale", s.groups, key_axes(s.d), s.k_scale);
        scale("v_scale", s.groups, key_axes(s.d_v), s.v_scale);
        std::vector<Index> starts{0};
        for (const Index n : s.queries) starts.push_back(starts.back() + n);
        whole("cu_seqlens_q", {std::ssize(starts)}, starts);
        if (paged) {
            whole("seq_lens", {std::ssize(s.keys)}, s.keys);
            std::vector<Index> table;
            for (const auto& row : s.table) table.insert(table.end(), row.begin(), row.end());
            whole("block_tables", {std::ssize(s.table), std::ssize(s.table.front())}, table);
        } else {
            whole("cu_seqlens_k", {std::ssize(s.key_starts)}, s.key_starts);
        }
        if (!s.sinks.empty()) floats("sinks", {s.heads}, s.sinks);
        if (!s.bias.empty())
            floats("bias", {s.heads, std::ranges::max(s.queries), std::ranges::max(s.keys)},
                   s.bias);
        if (s.number == Number::fp16 || s.number == Number::bf16)
            halves("out", {rows, s.heads, s.d_v}, out.out);
        else
            floats("out", {rows, s.heads, s.d_v}, out.out);
        if (!s.q_gamma.empty()) {
            floats("q_norm_weight", {s.d}, s.q_gamma);
            floats("k_norm_weight", {s.d}, s.k_gamma);
        }
        if (!s.gate.empty()) floats("gate", {rows, s.heads, s.d_v}, s.gate);
        floats("softmax_lse", {s.heads, rows}, out.lse);
        if (!parts) return;
        floats("o_partial", {s.splits, rows, s.heads, s.d_v}, out.partial);
        floats("lse_partial", {s.splits, rows, s.heads}, out.partial_lse);
    }
    /// Bits of 16, which numpy has no type for where they are bfloat16's.
    void halves(const std::string& name, const std::vector<Index>& axes,
                const std::vector<float>& values) {
        const bool half = s.number == Number::fp16;
        std::vector<std::uint16_t> bits;
        for (const float value : values) bits.push_back(bits_of(value, half));
        write_npy(scratch / (name + ".npy"), "<u2", axes, bytes_of(bits));
        dtypes.push_back(name + (half ? "=f16" : "=bf16"));
    }

    files::OptionValues options() const {
        std::vector<std::string> items;
        if (s.causal) items.emplace_back(R"("causal": true)");
        if (s.window) items.push_back(fmt::format(R"("window-left": {})", *s.window));
        if (s.softcap) items.push_back(fmt::format(R"("softcap": {})", *s.softcap));
        if (s.alibi) items.emplace_back(R"("alibi": true)");
        if (s.temperature != 1.0F)
            items.push_back(fmt::format(R"("temperature": {})", s.temperature));
        if (s.rope) {
            items.push_back(fmt::format(R"("rope": "{}")", s.rope_half ? "half" : "interleaved"));
            items.push_back(fmt::format(R"("rope-base": {})", s.rope_base));
            if (s.rope_dims > 0) items.push_back(fmt::format(R"("rope-dims": {})", s.rope_dims));
            if (s.rope_factor != 1.0F)
                items.push_back(fmt::format(R"("rope-scaling": "linear,{}")", s.rope_factor));
        }
        if (!s.q_gamma.empty()) items.push_back(fmt::format(R"("qk-norm": {})", s.epsilon));
        if (!s.gate.empty()) items.emplace_back(R"("operation": "gated")");
        if (!dtypes.empty())
            items.push_back(fmt::format(R"("dtype": "{}")", fmt::join(dtypes, ",")));
        return files::options_from_json(fmt::format("{{{}}}", fmt::join(items, ", ")), "the test");
    }

    const Serve& s;
    Scratch scratch;
    Index rows;
    std::vector<std::string> dtypes;
};

DiffReport compared(const Folder& folder) {
    std::vector<Side> sides;
    auto read =
        files::read_results(folder.scratch.path().string(), folder.options(), files::kOnlyLayer);
    REQUIRE_MESSAGE(read, (read ? "" : read.error().text()));
    sides.push_back(*std::move(read));
    auto report = compare_sides(std::move(sides), std::nullopt);
    REQUIRE_MESSAGE(report, (report ? "" : report.error().text()));
    return *std::move(report);
}
DiffReport report_of(const Serve& serve, bool parts = false) {
    Folder folder(serve);
    folder.write(run_serve(serve), parts);
    return compared(folder);
}

// ---- calls

std::vector<float> normals(Index count, std::uint64_t seed, double size = 1.0) {
    const Tensor made = normal_tensor<float>({1, 1, 1, count}, seed, size);
    return {made.values().begin(), made.values().end()};
}

void fill(Serve& s, std::uint64_t seed, double size = 1.0) {
    Index rows = 0;
    for (const Index n : s.queries) rows += n;
    const Index stored = s.page > 0 ? 24 * s.page : s.key_starts.back();
    s.q = normals(rows * s.heads * s.d, 3 * seed + 1, size);
    s.k = normals(stored * s.groups * s.d, 3 * seed + 2, size);
    s.v = normals(stored * s.groups * s.d_v, 3 * seed + 3);
}

/// Sequences of 37, 21 and 50 keys in pages of 8, tables in no order.
Serve paged(Index queries = 1) {
    Serve s;
    s.page = 8;
    s.keys = {37, 21, 50};
    s.queries = {queries, queries, queries};
    s.table = {
        {7, 2, 19, 4, 11, 23, 9, 1}, {5, 12, 0, 15, 17, 6, 13, 8}, {3, 20, 10, 14, 22, 16, 18, 21}};
    fill(s, 11);
    return s;
}
Serve prefill() { return paged(5); }
/// Prompts of 19, 33 and 26 tokens one after another.
Serve packed() {
    Serve s;
    s.queries = s.keys = {19, 33, 26};
    s.key_starts = {0, 19, 52, 78};
    fill(s, 12);
    return s;
}
Serve split(Index splits = 4) {
    Serve s = paged(2);
    s.splits = splits;
    return s;
}
Serve with_sinks(Index splits = 1) {
    Serve s = split(splits);
    s.sinks = {0.5F, 2.5F, -1.0F, 1.5F};
    return s;
}

/// Codes and their scales: the numbers' largest value of each group of numbers is 448.
enum class Scales { tensor, head, token, block };
void quantise(std::vector<float>& numbers, std::vector<float>& scales, Index width, Index groups,
              Scales kind) {
    const Index rows = std::ssize(numbers) / width;
    const auto of = [&](Index n) {
        if (kind == Scales::tensor) return Index{0};
        if (kind == Scales::head) return n / width % groups;
        return kind == Scales::token ? n / width : n / (width / 2);
    };
    const Index count = kind == Scales::tensor  ? 1
                        : kind == Scales::head  ? groups
                        : kind == Scales::token ? rows
                                                : 2 * rows;
    scales.assign(static_cast<std::size_t>(count), 0.0F);
    for (Index n = 0; n < std::ssize(numbers); ++n)
        scales[of(n)] = std::max(scales[of(n)], std::abs(numbers[n]) / 448.0F);
    for (Index n = 0; n < std::ssize(numbers); ++n)
        numbers[n] = from_e4m3(e4m3_code(numbers[n] / scales[of(n)]));
}
Serve coded(Scales kind, bool queries = false) {
    Serve s = paged(3);
    for (Index n = 0; n < std::ssize(s.k); ++n)  // heads and tokens of several sizes
        s.k[n] *= (n / s.d % 2 == 0 ? 1.0F : 0.4F) *
                  (1.0F + 0.3F * static_cast<float>(n / (2 * s.d) % 4)),
            s.v[n] *= (n / s.d % 2 == 0 ? 0.5F : 1.5F) * (n % 16 < 8 ? 1.0F : 0.25F);
    quantise(s.k, s.k_scale, s.d, s.groups, kind);
    quantise(s.v, s.v_scale, s.d_v, s.groups, kind);
    if (queries) quantise(s.q, s.q_scale, s.d, s.heads, kind);
    return s;
}

Serve option(const std::function<void(Serve& s)>& set, double size = 1.0) {
    Serve s = prefill();
    if (size != 1.0) fill(s, 14, size);
    set(s);
    return s;
}
Serve biased() {
    return option([](Serve& s) { s.bias = normals(s.heads * 5 * 50, 99); });
}
Serve square_bias() {
    Serve s = packed();
    s.bias = normals(s.heads * 33 * 33, 98);
    return s;
}
Serve roped(const std::function<void(Serve& s)>& set = [](Serve&) {}) {
    Serve s = packed();
    s.rope = true;
    set(s);
    return s;
}
Serve roped_pages() {
    Serve s = prefill();
    s.rope = true;
    return s;
}
Serve with_empty() {
    Serve s = paged();
    s.keys[1] = 0;
    return s;
}

/// Weights about 1, of queries and keys not alike.
void normalise(Serve& s, std::uint64_t seed) {
    s.q_gamma = normals(s.d, seed, 0.3), s.k_gamma = normals(s.d, seed + 1, 0.3);
    for (std::vector<float>* const gamma : {&s.q_gamma, &s.k_gamma})
        for (float& each : *gamma) each += 1.0F;
}
void add_gate(Serve& s, std::uint64_t seed) {
    Index rows = 0;
    for (const Index n : s.queries) rows += n;
    s.gate = normals(rows * s.heads * s.d_v, seed, 1.5);
}
Serve normalised(bool turned = true) {
    Serve s = packed();
    s.rope = turned;
    normalise(s, 71);
    return s;
}
Serve gated() {
    Serve s = prefill();
    add_gate(s, 73);
    return s;
}

struct BugCase {
    Bug bug;
    std::string_view text;
    std::string_view key;
    std::function<Serve()> call;
    bool parts = false;
};

std::vector<BugCase> bugs() {
    const auto pages = [] { return paged(); };
    const auto many = [] { return prefill(); };
    const auto parts = [] { return split(); };
    const auto sinks = [] { return with_sinks(); };
    const auto of = [](Scales kind) { return [kind] { return coded(kind); }; };
    return {
        {Bug::page_first_row_left_out, "first row of each page left out", "page", pages},
        {Bug::page_last_row_left_out, "last row of each page left out", "page", pages},
        {Bug::page_first_row_of_page_before, "first row of each page from the page before", "page",
         pages},
        {Bug::page_last_row_of_next_page, "last row of each page from the next page", "page", many},
        {Bug::page_last_row_is_next_first, "last row of each page is the next one's first", "page",
         many},
        {Bug::page_values_a_row_late, "V a row late", "page", pages},
        {Bug::page_values_in_reverse, "rows of V reversed in each page", "page", pages},
        {Bug::tail_rows_count, "rows beyond seq_len count", "page", pages},
        {Bug::tail_rows_count_in_values_of_zeros, "rows beyond seq_len count as zeros", "page",
         pages},
        {Bug::last_page_left_out, "last page left out where it is not full", "page", pages},
        {Bug::stale_last_page, "last page of sequence 0 stale", "page_table", pages},
        {Bug::page_0_for_entry_1, "page 0 for entry 1 of sequence 2", "page_table", pages},
        {Bug::stale_keys, "K of the last page of sequence 0 stale", "page_table", many},
        {Bug::table_of_next, "table row of the next sequence", "page_table", pages},
        {Bug::table_of_first, "table row of sequence 0", "page_table", many},
        {Bug::values_table_of_next, "V by the next sequence's table", "page_table", pages},
        {Bug::table_entry_late, "table read an entry late", "page_table", pages},
        {Bug::a_key_too_few, "seq_len one too few", "sequence_length", pages},
        {Bug::a_key_too_many, "seq_len one too many", "sequence_length", pages},
        {Bug::no_keys_of_second, "0 keys of sequence 1", "sequence_length", pages},
        {Bug::length_of_next, "seq_len of the next sequence", "sequence_length", pages},
        {Bug::length_of_longest, "longest seq_len for all", "sequence_length", pages},
        {Bug::length_of_pages, "all rows of the table", "sequence_length", pages},
        {Bug::length_without_new, "seq_len without the new tokens", "sequence_length", many},
        {Bug::empty_is_nan, "a sequence without keys is NaN", "empty_rows", with_empty},
        {Bug::keys_start_late, "cu_seqlens_k one late", "cu_seqlens", packed},
        {Bug::keys_start_early, "cu_seqlens_k one early", "cu_seqlens", packed},
        {Bug::values_start_late, "V one row late", "cu_seqlens", packed},
        {Bug::first_key_left_out, "first key of each sequence left out", "cu_seqlens", packed},
        {Bug::queries_late, "cu_seqlens_q one late", "cu_seqlens", packed},
        {Bug::queries_early, "cu_seqlens_q one early", "cu_seqlens", packed},
        {Bug::output_late, "output stored a row late", "cu_seqlens", packed},
        {Bug::first_split_missing, "first split missing", "split_merge", parts},
        {Bug::last_split_missing, "last split missing", "split_merge", parts},
        {Bug::second_split_missing, "second split missing, splits given", "split_merge", parts,
         true},
        {Bug::splits_equal, "splits weighted equally", "split_merge", parts},
        {Bug::splits_summed, "splits summed", "split_merge", parts},
        {Bug::splits_base_2, "2^l of natural logarithms", "split_merge", parts},
        {Bug::splits_base_e, "e^l of logarithms of base 2", "split_merge", parts},
        {Bug::lse_of_next_sequence, "LSE slot of the next sequence", "split_merge", parts},
        {Bug::lse_of_sequence_0, "LSE slot of sequence 0, splits given", "split_merge", parts,
         true},
        {Bug::lse_of_next_head, "LSE slot of the next head", "split_merge", parts},
        {Bug::lse_of_next_split, "LSE slot of the next split, splits given", "split_merge", parts,
         true},
        {Bug::sink_dropped, "sink dropped", "sinks", sinks},
        {Bug::sink_of_next_head, "sink of the next head", "sinks", sinks},
        {Bug::sink_of_head_0, "sink of head 0", "sinks", sinks},
        {Bug::sink_in_every_split, "sink once per split", "sinks", [] { return with_sinks(3); }},
        {Bug::sink_scaled, "sink multiplied by the scale", "sinks", sinks},
        {Bug::k_scale_ignored, "k_scale ignored", "code_scale", of(Scales::tensor)},
        {Bug::v_scale_ignored, "v_scale ignored", "code_scale", of(Scales::tensor)},
        {Bug::q_scale_ignored, "q_scale ignored", "code_scale",
         [] { return coded(Scales::head, true); }},
        {Bug::k_scale_of_next_head, "k_scale of the next head", "code_scale", of(Scales::head)},
        {Bug::v_scale_of_head_0, "v_scale of head 0", "code_scale", of(Scales::head)},
        {Bug::k_scale_twice, "k_scale twice", "code_scale", of(Scales::head)},
        {Bug::v_scale_twice, "v_scale twice", "code_scale", of(Scales::tensor)},
        {Bug::scales_swapped, "k_scale and v_scale swapped", "code_scale", of(Scales::head)},
        {Bug::k_scale_of_token_before, "k_scale of the token before", "code_scale",
         of(Scales::token)},
        {Bug::v_scale_of_first_block, "v_scale of the first block", "code_scale",
         of(Scales::block)},
        {Bug::temperature_ignored, "temperature ignored", "temperature",
         [] { return option([](Serve& s) { s.temperature = 2.5F; }); }},
        {Bug::temperature_multiplied, "temperature multiplied", "temperature",
         [] { return option([](Serve& s) { s.temperature = 1.25F; }); }},
        {Bug::softcap_ignored, "soft cap ignored", "softcap",
         [] { return option([](Serve& s) { s.softcap = 3.0F; }, 2.0); }},
        {Bug::softcap_before_scale, "soft cap before the scale", "softcap",
         [] { return option([](Serve& s) { s.softcap = 3.0F; }, 2.0); }},
        {Bug::window_ignored, "window ignored", "mask_dropped",
         [] { return option([](Serve& s) { s.window = 12; }); }},
        {Bug::window_wide, "window one key too wide", "window_off_by_one",
         [] { return option([](Serve& s) { s.window = 12; }); }},
        {Bug::alibi_ignored, "ALiBi ignored", "alibi_slopes",
         [] { return option([](Serve& s) { s.alibi = true; }); }},
        {Bug::rope_ignored, "RoPE ignored", "rope", [] { return roped(); }},
        {Bug::rope_of_queries_ignored, "RoPE of queries ignored", "rope", [] { return roped(); }},
        {Bug::rope_base, "RoPE's base ignored", "rope",
         [] { return roped([](Serve& s) { s.rope_base = 1e6F; }); }},
        {Bug::rope_all_columns, "RoPE of all columns", "rope",
         [] { return roped([](Serve& s) { s.rope_dims = 8; }); }},
        {Bug::rope_scaling_ignored, "RoPE's scaling ignored", "rope",
         [] { return roped([](Serve& s) { s.rope_factor = 4.0F; }); }},
        {Bug::rope_pairs, "RoPE of the wrong pairs", "rope_pairing", [] { return roped(); }},
        {Bug::rope_from_0, "RoPE of queries from 0", "rope", roped_pages},
        {Bug::causal_top_left, "causal from the top left", "causal_alignment", many},
        {Bug::causal_ignored, "causal mask ignored", "mask_dropped", packed},
        {Bug::bias_dropped, "bias dropped", "bias", biased},
        {Bug::bias_before_scale, "bias before the scale", "bias", biased},
        {Bug::bias_transposed, "bias transposed", "bias", square_bias},
        {Bug::bias_of_head_0, "bias of head 0", "bias", biased},
        {Bug::scale_ignored, "scale ignored", "scale", many},
        {Bug::groups_tiled, "key/value heads tiled", "gqa_tiled", many},
        {Bug::next_value_group, "V of the next group", "value_group", many},
        {Bug::norms_ignored, "QK-norm ignored", "qk_norm", [] { return normalised(); }},
        {Bug::q_norm_ignored, "QK-norm of queries ignored", "qk_norm", [] { return normalised(); }},
        {Bug::k_norm_ignored, "QK-norm of keys ignored", "qk_norm",
         [] { return normalised(false); }},
        {Bug::norm_weights_ignored, "QK-norm without its weights", "qk_norm",
         [] { return normalised(false); }},
        {Bug::norm_weights_and_one, "weights of QK-norm and 1", "qk_norm",
         [] { return normalised(); }},
        {Bug::norm_weights_swapped, "weights of QK-norm swapped", "qk_norm",
         [] { return normalised(); }},
        {Bug::norm_epsilon, "another epsilon of QK-norm", "qk_norm",
         [] { return normalised(false); }},
        {Bug::norm_by_length, "QK-norm by the length of a row", "qk_norm",
         [] { return normalised(); }},
        {Bug::norm_after_rope, "QK-norm after RoPE", "qk_norm", [] { return normalised(); }},
        {Bug::norm_over_heads, "QK-norm over all heads", "qk_norm",
         [] { return normalised(false); }},
        {Bug::gate_ignored, "gate ignored", "gate", gated},
        {Bug::gate_without_sigmoid, "gate without sigmoid", "gate", gated},
        {Bug::gate_twice, "gate applied twice", "gate", gated},
        {Bug::gate_of_next_head, "gate of the next head", "gate", gated},
        {Bug::gate_of_head_0, "gate of head 0", "gate", gated},
        {Bug::gate_of_first_column, "gate of the first column", "gate", gated},
        {Bug::gate_of_next_query, "gate of the next query", "gate", gated},
    };
}

/// The same bugs in calls with RoPE, QK-norm and a gate. The scale of a row's codes is lost in its QK-norm: there QK-norm is left out.
std::vector<BugCase> bugs_of_whole_calls() {
    std::vector<BugCase> made = bugs();
    for (BugCase& one : made)
        one.call = [call = one.call, scales = one.key == "code_scale"] {
            Serve s = call();
            s.rope = true;
            if (!scales && s.q_gamma.empty()) normalise(s, 75);
            if (s.gate.empty()) add_gate(s, 77);
            return s;
        };
    return made;
}

struct Count {
    Index seen = 0, right = 0, alone = 0, wrong = 0;
};

std::string line_of(const BugCase& one, Number number, Count& count) {
    Serve serve = one.call();
    serve.bug = one.bug;
    serve.number = number;
    for (std::vector<float>* const values : {&serve.q, &serve.k, &serve.v})
        for (float& value : *values) value = to_number(number, value);
    const DiffReport report = report_of(serve, one.parts);
    if (report.equal) return "not seen";
    ++count.seen;
    std::vector<std::string_view> named;
    std::string variant;
    for (const Examined& examined : report.examined) {
        if (!examined.diagnosis) continue;
        for (const std::size_t n : examined.diagnosis->named) {
            named.push_back(examined.diagnosis->outcomes[n].fault->key);
            variant = examined.diagnosis->outcomes[n].variant;
        }
    }
    const bool right = std::ranges::count(named, one.key) > 0;
    count.right += right;
    count.alone += right && named.size() == 1;
    count.wrong += !named.empty() && !right;
    if (named.empty()) return "seen, not named";
    return fmt::format("{}{}", fmt::join(named, ", "), named.size() == 1 ? ": " + variant : "");
}

Count count_bugs(Number number, std::string_view name, const std::vector<BugCase>& all = bugs()) {
    Count count;
    std::string table;
    for (const BugCase& one : all)
        table += fmt::format("{:<48} {:<17} {}\n", one.text, one.key, line_of(one, number, count));
    MESSAGE(name << ": " << count.seen << " of " << all.size() << " bugs seen, " << count.right
                 << " named rightly, " << count.alone << " of them alone, " << count.wrong
                 << " wrongly\n"
                 << table);
    return count;
}

// ---- right kernels

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    Index operator()(Index from, Index to) {
        return from +
               static_cast<Index>(uniform(seed_, next_++) * static_cast<double>(to - from + 1));
    }

  private:
    std::uint64_t seed_, next_ = 0;
};

Serve right_kernel(std::uint64_t seed) {
    Dice dice(seed);
    Serve s;
    s.groups = dice(1, 2), s.heads = s.groups * dice(1, 3);
    s.d = 8 * dice(1, 4), s.d_v = 8 * dice(1, 4);
    const Index count = dice(1, 4);
    const bool pages = dice(0, 1) == 1;
    Index used = 0;
    s.page = pages ? Index{1} << dice(2, 4) : 0;
    s.key_starts = {0};
    for (Index b = 0; b < count; ++b) {
        const Index m = dice(0, 9) == 0 ? 0 : dice(1, 60);
        s.keys.push_back(m);
        s.queries.push_back(m == 0 ? dice(0, 1) : dice(1, std::min<Index>(m, 7)));
        s.key_starts.push_back(s.key_starts.back() + m);
        std::vector<Index>& table = s.table.emplace_back();
        const Index width = pages ? (60 + s.page - 1) / s.page : 0;
        for (Index n = 0; n < width; ++n) table.push_back((used++ * 7 + 3) % (width * count));
    }
    if (std::ranges::max(s.queries) == 0) s.queries.front() = 1;
    if (s.key_starts.back() == 0) s.key_starts.back() = s.keys.back() = 1;
    Index rows = 0;
    for (const Index n : s.queries) rows += n;
    const Index stored = pages ? used * s.page : s.key_starts.back();
    s.q = normals(rows * s.heads * s.d, 4 * seed);
    s.k = normals(stored * s.groups * s.d, 4 * seed + 1);
    s.v = normals(stored * s.groups * s.d_v, 4 * seed + 2);
    s.causal = dice(0, 3) > 0;
    if (s.causal && dice(0, 3) == 0) s.window = dice(1, 20);
    if (dice(0, 4) == 0) s.softcap = static_cast<float>(dice(2, 30));
    if (dice(0, 3) == 0) s.sinks = normals(s.heads, 4 * seed + 3);
    if (dice(0, 4) == 0) s.alibi = s.heads != 3 && s.heads != 6;  // slopes of powers of two
    if (dice(0, 4) == 0) s.rope = true, s.rope_half = dice(0, 1) == 1;
    if (dice(0, 4) == 0) s.temperature = 0.5F * static_cast<float>(dice(1, 4));
    s.splits = dice(0, 1) == 0 ? 1 : dice(2, 5);
    const Index format = dice(0, 3);
    if (format < 3) {
        s.number = static_cast<Number>(format);
        for (std::vector<float>* const values : {&s.q, &s.k, &s.v})
            for (float& value : *values) value = to_number(s.number, value);
        return s;
    }
    const auto kind = static_cast<Scales>(dice(0, 3));
    quantise(s.k, s.k_scale, s.d, s.groups, kind);
    quantise(s.v, s.v_scale, s.d_v, s.groups, kind);
    if (dice(0, 1) == 0) return s;
    quantise(s.q, s.q_scale, s.d, s.heads, kind);
    s.short_weights = true;
    return s;
}

}  // namespace

TEST_CASE("bugs of a serving kernel in float32 are seen and named, none wrongly") {
    const Count count = count_bugs(Number::fp32, "float32");
    CHECK(count.seen == std::ssize(bugs()));
    CHECK(count.right == std::ssize(bugs()));
    CHECK(count.wrong == 0);
}

TEST_CASE(
    "bugs of a serving kernel in float16 and bfloat16 are named within its tolerance, none "
    "wrongly") {
    for (const auto& [number, name] :
         {std::pair{Number::fp16, "float16"}, {Number::bf16, "bfloat16"}}) {
        const Count count = count_bugs(number, name);
        CHECK(count.seen == std::ssize(bugs()));
        CHECK(count.right == std::ssize(bugs()));
        CHECK(count.wrong == 0);
    }
}

TEST_CASE(
    "bugs of a serving kernel with RoPE, QK-norm and a gate are seen and named, none wrongly") {
    const std::vector<BugCase> all = bugs_of_whole_calls();
    for (const auto& [number, name] : {std::pair{Number::fp32, "float32, whole calls"},
                                       {Number::bf16, "bfloat16, whole calls"}}) {
        const Count count = count_bugs(number, name, all);
        CHECK(count.seen == std::ssize(all));
        CHECK(count.right == std::ssize(all));
        CHECK(count.wrong == 0);
    }
}

TEST_CASE("each split is checked over its own keys, and all of them together") {
    const Serve serve = split();
    ServeOut out = run_serve(serve);
    Folder right(serve);
    right.write(out, true);
    std::filesystem::remove(right.scratch / "out.npy");
    std::filesystem::remove(right.scratch / "softmax_lse.npy");
    const DiffReport whole = compared(right);
    CHECK(whole.equal);
    std::vector<std::string> keys;
    for (const DiffRow& row : whole.rows) keys.push_back(row.key);
    CHECK(keys == std::vector<std::string>{"context", "logsumexp", "o_partial", "lse_partial"});
    // A logsumexp that is off in one split, and the merged results are not.
    out.partial_lse[3] += 0.25F;
    Folder wrong(serve);
    wrong.write(out, true);
    const DiffReport report = compared(wrong);
    CHECK(!report.equal);
    for (const DiffRow& row : report.rows) {
        CAPTURE(row.key);
        CHECK(row.comparison.all.beyond == (row.key == "lse_partial" ? 1 : 0));
    }
}

TEST_CASE("each row of faults of serving kernels is among the bugs") {
    const std::vector<BugCase> all = bugs();
    for (const Fault& fault : fault_table()) {
        if (!contains(std::string(fault.source), "serving kernels")) continue;
        CAPTURE(fault.key);
        CHECK(std::ranges::count(all, fault.key, &BugCase::key) > 0);
    }
}

TEST_CASE("450 right serving kernels of float32, float16, bfloat16 and float8 are clean") {
    Index clean = 0;
    for (std::uint64_t seed = 1; seed <= 450; ++seed) {
        CAPTURE(seed);
        Serve serve = right_kernel(seed);
        if (seed > 300) {
            serve.rope = seed % 4 != 0;
            if (seed % 3 != 0) normalise(serve, 4 * seed + 5);
            if (seed % 5 != 0) add_gate(serve, 4 * seed + 7);
        }
        const DiffReport report = report_of(serve, seed % 3 == 0);
        clean += report.equal;
        const std::string verdict = report.verdict.text();
        CAPTURE(verdict);
        std::string rows;
        for (const DiffRow& row : report.rows)
            rows += fmt::format("{} {} beyond, max {:.3g}, at {:.3g}; ", row.key,
                                row.comparison.all.beyond, row.comparison.all.max,
                                row.comparison.tolerance.absolute);
        CAPTURE(rows);
        CHECK(report.equal);
    }
    MESSAGE(clean << " of 450 right kernels are clean");
    CHECK(clean == 450);
}
