#include "tests/verify/serve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/float8.h"

namespace attn::test {
namespace {

using Bug = ServeBug;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// One row's part that one split made.
struct Part {
    float l = kNothing;
    std::vector<float> o;
};

class Kernel {
  public:
    explicit Kernel(const Serve& s) : s_(s) {
        first_.push_back(0);
        for (const Index n : s.queries) first_.push_back(first_.back() + n);
    }

    ServeOut run() {
        const Index rows = first_.back();
        ServeOut made{std::vector<float>(rows * s_.heads * s_.d_v),
                      std::vector<float>(s_.heads * rows),
                      std::vector<float>(s_.splits * rows * s_.heads * s_.d_v),
                      std::vector<float>(s_.splits * rows * s_.heads)};
        for (Index b = 0; b < sequences(); ++b)
            for (Index r = 0; r < s_.queries[b]; ++r)
                for (Index h = 0; h < s_.heads; ++h) store(b, r, h, rows, made);
        return made;
    }

  private:
    bool is(Bug bug) const { return s_.bug == bug; }
    Index sequences() const { return std::ssize(s_.queries); }
    Index next(Index b) const { return (b + 1) % sequences(); }

    void store(Index b, Index r, Index h, Index rows, ServeOut& made) {
        std::vector<Part> parts = row_parts(b, r, h);
        const Index row = first_[b] + r;
        for (Index s = 0; s < s_.splits; ++s) {
            made.partial_lse[(s * rows + row) * s_.heads + h] = parts[s].l;
            std::copy(parts[s].o.begin(), parts[s].o.end(),
                      made.partial.begin() + ((s * rows + row) * s_.heads + h) * s_.d_v);
        }
        Part whole = merge(parts, b, r, h);
        for (Index c = 0; c < s_.d_v; ++c) whole.o[c] *= open(row, h, c);
        Index to = row;
        if (is(Bug::output_late) && row + 1 < rows) to = row + 1;
        if (is(Bug::output_late) && row == 0) write(whole, 0, h, rows, made);
        write(whole, to, h, rows, made);
    }
    void write(const Part& whole, Index row, Index h, Index rows, ServeOut& made) const {
        made.lse[h * rows + row] = whole.l;
        for (Index c = 0; c < s_.d_v; ++c)
            made.out[(row * s_.heads + h) * s_.d_v + c] = to_number(s_.number, whole.o[c]);
    }

    /// The factor of a number of the output by the gate.
    float open(Index row, Index h, Index c) const {
        if (s_.gate.empty() || is(Bug::gate_ignored)) return 1.0F;
        if (is(Bug::gate_of_next_head)) h = (h + 1) % s_.heads;
        if (is(Bug::gate_of_head_0)) h = 0;
        if (is(Bug::gate_of_first_column)) c = 0;
        if (is(Bug::gate_of_next_query) && row + 1 < first_.back()) row += 1;
        const float gate = s_.gate[(row * s_.heads + h) * s_.d_v + c];
        if (is(Bug::gate_without_sigmoid)) return gate;
        const float factor = 1.0F / (1.0F + std::exp(-gate));
        return is(Bug::gate_twice) ? factor * factor : factor;
    }

    /// RMSNorm of a head's query or key; `squares` of all heads of its row.
    void normalise(std::vector<float>& x, bool queries, float squares) const {
        if (s_.q_gamma.empty() || is(Bug::norms_ignored)) return;
        if (is(queries ? Bug::q_norm_ignored : Bug::k_norm_ignored)) return;
        const bool over_heads = is(Bug::norm_over_heads);
        float sum = 0.0F;
        for (const float each : x) sum += each * each;
        if (over_heads) sum = squares;
        const Index count = s_.d * (over_heads ? queries ? s_.heads : s_.groups : 1);
        if (!is(Bug::norm_by_length)) sum /= static_cast<float>(count);
        const float r = 1.0F / std::sqrt(sum + (is(Bug::norm_epsilon) ? 1.0F : s_.epsilon));
        const auto& gamma = queries != is(Bug::norm_weights_swapped) ? s_.q_gamma : s_.k_gamma;
        for (Index c = 0; c < s_.d; ++c) {
            float weight = gamma[c];
            if (is(Bug::norm_weights_ignored)) weight = 1.0F;
            if (is(Bug::norm_weights_and_one)) weight += 1.0F;
            x[c] *= r * weight;
        }
    }

    Index length(Index b) const {
        const Index m = s_.keys[b];
        if (is(Bug::a_key_too_few)) return m - 1;
        if (is(Bug::a_key_too_many)) return m + 1;
        if (is(Bug::no_keys_of_second) && b == 1) return 0;
        if (is(Bug::length_of_next)) return s_.keys[next(b)];
        if (is(Bug::length_of_longest)) return *std::ranges::max_element(s_.keys);
        if (is(Bug::length_of_pages)) return std::ssize(s_.table[b]) * s_.page;
        return is(Bug::length_without_new) ? m - s_.queries[b] : m;
    }

    /// Where row p of the sequence's K or V lies; −1: left out.
    Index place(Index b, Index p, bool values) const {
        if (s_.page == 0) return packed_place(b, p, values);
        Index table = b;
        if (is(Bug::table_of_next) || (is(Bug::values_table_of_next) && values)) table = next(b);
        if (is(Bug::table_of_first)) table = 0;
        Index n = p / s_.page, slot = p % s_.page;
        const Index last = s_.page - 1;
        if (is(Bug::page_first_row_left_out) && slot == 0) return -1;
        if (is(Bug::page_last_row_left_out) && slot == last) return -1;
        if (is(Bug::page_first_row_of_page_before) && slot == 0 && n > 0) n -= 1;
        if (is(Bug::page_last_row_of_next_page) && slot == last && n + 1 < pages(b)) n += 1;
        if (is(Bug::page_last_row_is_next_first) && slot == last && n + 1 < pages(b))
            n += 1, slot = 0;
        if (is(Bug::page_values_a_row_late) && values && (slot < last || n + 1 < pages(b)))
            slot == last ? (n += 1, slot = 0) : slot += 1;
        if (is(Bug::page_values_in_reverse) && values) slot = last - slot;
        if (is(Bug::table_entry_late) && n + 1 < pages(b)) n += 1;
        return block(table, n, values) * s_.page + slot;
    }
    Index pages(Index b) const { return std::ssize(s_.table[b]); }
    Index block(Index b, Index n, bool values) const {
        const Index used = (s_.keys[b] + s_.page - 1) / s_.page;
        const bool last = n == used - 1 && b == 0;
        if (is(Bug::stale_last_page) && last) return s_.table[b][n] == 3 ? 5 : 3;
        if (is(Bug::stale_keys) && last && !values) return s_.table[b][n] == 3 ? 5 : 3;
        if (is(Bug::page_0_for_entry_1) && n == 1 && b == 2) return 0;
        return s_.table[b][n];
    }
    Index packed_place(Index b, Index p, bool values) const {
        Index row = s_.key_starts[b] + p;
        const Index end = s_.key_starts.back();
        if (is(Bug::keys_start_late) || (is(Bug::values_start_late) && values))
            row = std::min(row + 1, end - 1);
        if (is(Bug::keys_start_early)) row = row == 0 ? 0 : row - 1;
        if (is(Bug::first_key_left_out) && p == 0) return -1;
        return row;
    }

    float scale_of(const std::vector<float>& scales, Index row, Index g, Index c, Index width,
                   Index groups) const {
        if (scales.empty()) return 1.0F;
        if (scales.size() == 1) return scales[0];
        if (std::ssize(scales) == groups) return scales[g];
        const Index rows = row * groups + g;
        const Index stored = (&scales == &s_.q_scale   ? std::ssize(s_.q)
                              : &scales == &s_.k_scale ? std::ssize(s_.k)
                                                       : std::ssize(s_.v)) /
                             width;
        const Index each = std::ssize(scales) / stored;  // blocks of a row
        return scales[rows * each + c / (width / each)];
    }
    float key(Index row, Index before, Index g, Index c) const {
        const float code = s_.k[(row * s_.groups + g) * s_.d + c];
        if (s_.k_scale.empty() || is(Bug::k_scale_ignored)) return to_number(s_.number, code);
        Index of = row, group = g;
        if (is(Bug::k_scale_of_next_head)) group = (g + 1) % s_.groups;
        if (is(Bug::k_scale_of_token_before)) of = before;
        const auto& scales = is(Bug::scales_swapped) ? s_.v_scale : s_.k_scale;
        const float scale = scale_of(scales, of, group, c, s_.d, s_.groups);
        return to_number(s_.number, code * scale * (is(Bug::k_scale_twice) ? scale : 1.0F));
    }
    float value(Index row, Index g, Index c) const {
        const float code = s_.v[(row * s_.groups + g) * s_.d_v + c];
        if (s_.v_scale.empty() || is(Bug::v_scale_ignored)) return to_number(s_.number, code);
        const Index group = is(Bug::v_scale_of_head_0) ? 0 : g;
        const Index column = is(Bug::v_scale_of_first_block) ? 0 : c;
        const auto& scales = is(Bug::scales_swapped) ? s_.k_scale : s_.v_scale;
        const float scale = scale_of(scales, row, group, column, s_.d_v, s_.groups);
        return to_number(s_.number, code * scale * (is(Bug::v_scale_twice) ? scale : 1.0F));
    }
    std::vector<float> query(Index b, Index r, Index h) const {
        Index row = first_[b] + r;
        if (is(Bug::queries_late) && row + 1 < first_.back()) row += 1;
        if (is(Bug::queries_early) && row > 0) row -= 1;
        std::vector<float> q(s_.d);
        for (Index c = 0; c < s_.d; ++c) {
            const float scale = s_.q_scale.empty() || is(Bug::q_scale_ignored)
                                    ? 1.0F
                                    : scale_of(s_.q_scale, row, h, c, s_.d, s_.heads);
            q[c] = to_number(s_.number, s_.q[(row * s_.heads + h) * s_.d + c] * scale);
        }
        return q;
    }

    void turn(std::vector<float>& x, Index position, bool queries) const {
        if (!s_.rope || is(Bug::rope_ignored) || (queries && is(Bug::rope_of_queries_ignored)))
            return;
        const Index dims = s_.rope_dims == 0 || is(Bug::rope_all_columns) ? s_.d : s_.rope_dims;
        const bool half = s_.rope_half != is(Bug::rope_pairs);
        const double base = is(Bug::rope_base) ? 10000.0 : static_cast<double>(s_.rope_base);
        const double factor =
            is(Bug::rope_scaling_ignored) ? 1.0 : static_cast<double>(s_.rope_factor);
        for (Index c = 0; c < dims / 2; ++c) {
            const double angle =
                static_cast<double>(position) / factor *
                std::pow(base, -2.0 * static_cast<double>(c) / static_cast<double>(dims));
            float& a = x[half ? c : 2 * c];
            float& e = x[half ? c + dims / 2 : 2 * c + 1];
            const auto cosine = static_cast<float>(std::cos(angle)),
                       sine = static_cast<float>(std::sin(angle));
            const float old = a;
            a = old * cosine - e * sine;
            e = old * sine + e * cosine;
        }
    }

    Index group(Index h) const {
        return is(Bug::groups_tiled) ? h % s_.groups : h / (s_.heads / s_.groups);
    }

    /// The logit of one pair; −∞ where it is masked.
    float logit(const std::vector<float>& q, Index b, Index r, Index h, Index p, Index m) const {
        const Index n = s_.queries[b], at = m - n + r;  // position of the query
        const bool tail = p >= m;
        const bool masks = s_.causal && !is(Bug::causal_ignored);
        if (!tail && masks && p > (is(Bug::causal_top_left) ? r : at)) return kNothing;
        const Index window = s_.window.value_or(0) + (is(Bug::window_wide) ? 1 : 0);
        if (!tail && s_.window && !is(Bug::window_ignored) && at - p > window) return kNothing;
        const Index row = place(b, p, false);
        if (row < 0) return kNothing;
        const Index before = place(b, std::max<Index>(p - 1, 0), false);
        std::vector<float> k(s_.d);
        for (Index c = 0; c < s_.d; ++c)
            k[c] = is(Bug::tail_rows_count_in_values_of_zeros) && tail
                       ? 0.0F
                       : key(row, before, group(h), c);
        float squares = 0.0F;
        for (Index g = 0; g < s_.groups; ++g)
            for (Index c = 0; c < s_.d; ++c)
                squares += key(row, before, g, c) * key(row, before, g, c);
        if (!is(Bug::norm_after_rope)) normalise(k, false, squares);
        turn(k, p, false);
        if (is(Bug::norm_after_rope)) normalise(k, false, squares);
        float dot = 0.0F;
        for (Index c = 0; c < s_.d; ++c) dot += q[c] * k[c];
        float scale = is(Bug::scale_ignored) ? 1.0F : 1.0F / std::sqrt(static_cast<float>(s_.d));
        if (is(Bug::temperature_multiplied))
            scale *= s_.temperature;
        else if (!is(Bug::temperature_ignored))
            scale /= s_.temperature;
        float x = dot * scale;
        if (s_.softcap && is(Bug::softcap_before_scale))
            x = *s_.softcap * std::tanh(dot / *s_.softcap) * scale;
        else if (s_.softcap && !is(Bug::softcap_ignored))
            x = *s_.softcap * std::tanh(x / *s_.softcap);
        if (!s_.bias.empty() && !is(Bug::bias_dropped)) {
            const Index rows = *std::ranges::max_element(s_.queries),
                        columns = *std::ranges::max_element(s_.keys);
            const Index head = is(Bug::bias_of_head_0) ? 0 : h;
            const Index i = is(Bug::bias_transposed) ? p : r, j = is(Bug::bias_transposed) ? r : p;
            const float bias = s_.bias[(head * rows + i) * columns + j];
            x += is(Bug::bias_before_scale) ? bias * scale : bias;
        }
        if (s_.alibi && !is(Bug::alibi_ignored))
            x -= std::exp2(-8.0F * static_cast<float>(h + 1) / static_cast<float>(s_.heads)) *
                 static_cast<float>(std::abs(at - p));
        return x;
    }

    std::vector<Part> row_parts(Index b, Index r, Index h) {
        Index m = length(b), count = m;
        if (s_.page > 0 &&
            (is(Bug::tail_rows_count) || is(Bug::tail_rows_count_in_values_of_zeros)))
            count = (m + s_.page - 1) / s_.page * s_.page;
        if (is(Bug::last_page_left_out)) count = m / s_.page * s_.page;
        std::vector<float> q = query(b, r, h);
        float squares = 0.0F;
        for (Index head = 0; head < s_.heads; ++head)
            for (const float each : query(b, r, head)) squares += each * each;
        if (!is(Bug::norm_after_rope)) normalise(q, true, squares);
        turn(q, is(Bug::rope_from_0) ? r : m - s_.queries[b] + r, true);
        if (is(Bug::norm_after_rope)) normalise(q, true, squares);
        std::vector<Part> parts;
        const Index step = std::max<Index>((count + s_.splits - 1) / s_.splits, 1);
        for (Index s = 0; s < s_.splits; ++s)
            parts.push_back(
                part(q, b, r, h, std::min(s * step, count), std::min((s + 1) * step, count), m));
        return parts;
    }

    Part part(const std::vector<float>& q, Index b, Index r, Index h, Index first, Index last,
              Index m) const {
        std::vector<float> x;
        for (Index p = first; p < last; ++p) x.push_back(logit(q, b, r, h, p, m));
        float most = kNothing;
        for (const float each : x) most = std::max(most, each);
        Part made{kNothing, std::vector<float>(s_.d_v, 0.0F)};
        if (most == kNothing) return made;
        float sum = 0.0F;
        const Index g = is(Bug::next_value_group) ? (group(h) + 1) % s_.groups : group(h);
        for (Index p = first; p < last; ++p) {
            const float each = x[p - first];
            if (each == kNothing) continue;
            float weight = std::exp(each - most);
            sum += weight;
            weight = s_.short_weights ? from_e4m3(e4m3_code(weight)) : to_number(s_.number, weight);
            const Index row = place(b, p, true);
            const bool zero = is(Bug::tail_rows_count_in_values_of_zeros) && p >= m;
            for (Index c = 0; c < s_.d_v && !zero; ++c) made.o[c] += weight * value(row, g, c);
        }
        for (float& o : made.o) o /= sum;
        made.l = most + std::log(sum);
        return made;
    }

    float sink(Index h) const {
        if (s_.sinks.empty() || is(Bug::sink_dropped)) return kNothing;
        if (is(Bug::sink_of_next_head)) return s_.sinks[(h + 1) % s_.heads];
        if (is(Bug::sink_of_head_0)) return s_.sinks[0];
        return is(Bug::sink_scaled) ? s_.sinks[h] / std::sqrt(static_cast<float>(s_.d))
                                    : s_.sinks[h];
    }

    Part merge(const std::vector<Part>& parts, Index b, Index r, Index h) {
        std::vector<float> l;
        for (const Part& part : parts) l.push_back(part.l);
        if (is(Bug::first_split_missing)) l.front() = kNothing;
        if (is(Bug::last_split_missing)) l.back() = kNothing;
        if (is(Bug::second_split_missing)) l[1] = kNothing;
        const float right = log_sum(l, sink(h), std::numbers::e_v<float>);
        if (is(Bug::lse_of_next_sequence) || is(Bug::lse_of_sequence_0)) {
            const Index other = is(Bug::lse_of_next_sequence) ? next(b) : 0;
            const auto of = row_parts(other, s_.queries[other] - s_.queries[b] + r, h);
            for (std::size_t s = 0; s < l.size(); ++s) l[s] = of[s].l;
        }
        if (is(Bug::lse_of_next_head)) {
            const auto of = row_parts(b, r, (h + 1) % s_.heads);
            for (std::size_t s = 0; s < l.size(); ++s) l[s] = of[s].l;
        }
        if (is(Bug::lse_of_next_split)) std::rotate(l.begin(), l.begin() + 1, l.end());
        float base = std::numbers::e_v<float>;
        if (is(Bug::splits_base_2)) base = 2.0F;
        if (is(Bug::splits_base_e)) base = std::exp(std::numbers::log2e_v<float>);
        float own_sink = sink(h);
        if (is(Bug::sink_in_every_split)) {
            float filled = 0.0F;
            for (const float each : l) filled += each == kNothing ? 0.0F : 1.0F;
            own_sink += std::log(filled);
        }
        const float whole = log_sum(l, own_sink, base);
        Part made{whole, std::vector<float>(s_.d_v, 0.0F)};
        if (is(Bug::splits_base_2) || is(Bug::splits_base_e)) made.l = right;
        if (whole == kNothing) {
            if (is(Bug::empty_is_nan)) std::ranges::fill(made.o, std::nanf(""));
            return made;
        }
        float filled = 0.0F;
        for (const Part& part : parts) filled += part.l == kNothing ? 0.0F : 1.0F;
        for (std::size_t s = 0; s < parts.size(); ++s) {
            if (l[s] == kNothing) continue;
            float weight = std::pow(base, l[s] - whole);
            if (is(Bug::splits_equal)) weight = 1.0F / filled;
            if (is(Bug::splits_summed)) weight = 1.0F;
            for (Index c = 0; c < s_.d_v; ++c) made.o[c] += weight * parts[s].o[c];
        }
        return made;
    }
    static float log_sum(const std::vector<float>& l, float sink, float base) {
        float most = sink, sum = 0.0F;
        for (const float each : l) most = std::max(most, each);
        if (most == kNothing) return kNothing;
        for (const float each : l) sum += std::pow(base, each - most);
        if (sink != kNothing) sum += std::pow(base, sink - most);
        return most + std::log(sum) / std::log(base);
    }

    const Serve& s_;
    std::vector<Index> first_;
};

}  // namespace

ServeOut run_serve(const Serve& serve) { return Kernel(serve).run(); }

std::uint8_t e4m3_code(float value) {
    static const std::array<float, 127> numbers = [] {
        std::array<float, 127> made{};
        for (std::size_t n = 0; n < made.size(); ++n)
            made[n] = from_e4m3(static_cast<std::uint8_t>(n));
        return made;
    }();
    const float size = std::min(std::abs(value), numbers.back());
    auto above = std::ranges::lower_bound(numbers, size);
    std::size_t n = static_cast<std::size_t>(above - numbers.begin());
    if (n > 0) {
        const float low = size - numbers[n - 1], high = numbers[n] - size;
        if (low < high || (low == high && (n - 1) % 2 == 0)) n -= 1;
    }
    return static_cast<std::uint8_t>(n | (std::signbit(value) ? 0x80U : 0U));
}

}  // namespace attn::test
