#include "tests/large/pooled.h"

#include <fmt/format.h>

#include <cmath>

#include "core/cast.h"
#include "core/engine.h"
#include "core/kernels/peak.h"
#include "core/large/cell_arithmetic.h"
#include "core/large/weight_rows.h"
#include "core/masks.h"
#include "tests/support/edges.h"

namespace attn::test {

using namespace large;

namespace {

struct Pooled {
    double sum = 0.0;
    double max = -std::numeric_limits<double>::infinity();
    double log = 0.0;
    Index cells = 0;
    Index allowed = 0;
};

/// NaN when there is one.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Reference pooling of `rows` and keys begin … end − 1, texels [row_side, key_side].
std::vector<Pooled> pool_exactly(const PooledSubject& subject, Head head,
                                 std::span<const Index> rows, KeyRange keys, Index row_side,
                                 Index key_side) {
    const auto count = static_cast<Index>(rows.size());
    const Index columns = (keys.end - keys.begin + key_side - 1) / key_side;
    const auto weights = subject.exact[Stage::weights].matrix(head.b, head.h);
    const auto biased = subject.exact[subject.biased].matrix(head.b, head.h);
    const auto allowed = subject.allowed.matrix(head.b, head.h);
    std::vector<Pooled> pools(
        static_cast<std::size_t>((count + row_side - 1) / row_side * columns));
    for (Index n = 0; n < count; ++n) {
        const Index i = rows[n];
        const double l = subject.exact.logsumexp(head.b, head.h, i, 0);
        for (Index j = keys.begin; j < keys.end; ++j) {
            const Index at = n / row_side * columns + (j - keys.begin) / key_side;
            Pooled& pool = pools[at];
            const double a = weights(i, j);
            ++pool.cells;
            pool.sum += a;
            if (std::isnan(a)) pool.max = pool.log = a;
            if (allowed(i, j) == 0) continue;
            ++pool.allowed;
            pool.max = larger(pool.max, a);
            pool.log += biased(i, j) - l;
        }
    }
    return pools;
}

/// The first texel that is wrong, or "".
std::string mismatch(const PooledSubject& subject, const Texels& texels,
                     const std::vector<Pooled>& pools) {
    if (texels.mean.size() != pools.size()) return "the grid has another size";
    for (std::size_t n = 0; n < pools.size(); ++n) {
        const Pooled& pool = pools[n];
        // Rounding errors of a sum of n terms grow like √n, see tolerance.h.
        const double sum =
            kFloatRoundoff * (2.0 + 2.0 * std::sqrt(static_cast<double>(pool.cells)));
        Tolerance mean = subject.weight;
        mean.relative += sum;
        const Tolerance log{subject.weight.relative + sum * subject.top, 2.0 * kFloatRoundoff};
        const double expected_log = pool.allowed == 0 && !std::isnan(pool.sum)
                                        ? -kInf
                                        : pool.log / static_cast<double>(pool.allowed);
        const auto compare = [&](const char* what, float actual, double expected, Tolerance t) {
            if (near(static_cast<double>(actual), expected, t)) return std::string();
            return fmt::format("{} of texel {} is {:.9g}, expected {:.9g}", what, n, actual,
                               expected);
        };
        for (const std::string& wrong :
             {compare("mean", texels.mean[n], pool.sum / static_cast<double>(pool.cells), mean),
              compare("max", texels.max[n], pool.max, subject.weight),
              compare("log mean", texels.log_mean[n], expected_log, log)})
            if (!wrong.empty()) return wrong;
        if (!texels.allowed.empty() && texels.allowed[n] != pool.allowed)
            return fmt::format("texel {} counts {} pairs, expected {}", n, texels.allowed[n],
                               pool.allowed);
    }
    return {};
}

}  // namespace

PooledSubject::PooledSubject(const Case& from) : name(from.name) {
    const InputsD inputs = cast<double>(from.inputs);
    source = weight_source(from.inputs, from.spec).value();
    exact = attend_exact(inputs, from.spec).value();
    allowed = materialise(from.spec.mask, source.size);
    const ErrorBounds bounds = error_bounds(inputs, from.spec, exact, TraceD{}, kFloatRoundoff);
    logsumexp = bounds.logsumexp;
    weight = bounds.forward[index_of(Stage::weights)];
    double largest = 0.0;
    for (const double l : exact.logsumexp.values())
        if (std::isfinite(l)) largest = std::max(largest, std::abs(l));
    biased = stage_or_source(Stage::biased, from.spec);
    pair = bounds.forward[index_of(Stage::scaled)];  // a bias makes it no larger
    for (const Stage stage : {Stage::scaled, biased})
        for (const double s : exact[stage].values())
            if (std::isfinite(s)) top = std::max(top, std::abs(s));
    // logsumexp is a float on the way, in two bases.
    weight.relative += 4.0 * kFloatRoundoff * largest;
    top += largest;
}

bool near(double actual, double expected, Tolerance tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    if (std::isinf(expected)) return actual == expected;
    return std::abs(actual - expected) <=
           tolerance.absolute + tolerance.relative * std::abs(expected);
}

std::vector<Index> rows_from(Index first, Index count, Index step) {
    std::vector<Index> rows(count);
    for (Index n = 0; n < count; ++n) rows[n] = first + n * step;
    return rows;
}

std::string compare_rows(const PooledSubject& subject, Head head, std::span<const Index> rows,
                         Index row_side, Index key_side) {
    PooledRows out;
    if (!pool_rows(subject.source, head, rows, row_side, key_side, {}, out)) return "stopped";
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const Dimensions& size = subject.source.size;
        const double exact =
            subject.exact.logsumexp(head.b, head.h, rows[n], 0) +
            pair_rule(subject.source.spec, size, head.h).slope *
                static_cast<double>(near_position(rows[n] + size.query_offset, size).distance);
        // All allowed scores −inf, NaN or +inf: which of them it is does not matter.
        if (std::isfinite(exact) &&
            !near(static_cast<double>(out.logsumexp[n]), exact, subject.logsumexp))
            return fmt::format("logsumexp of row {} is {:.9g}, expected {:.9g}", rows[n],
                               out.logsumexp[n], exact);
    }
    const std::string wrong = mismatch(
        subject, out.texels,
        pool_exactly(subject, head, rows, {0, subject.source.size.tk}, row_side, key_side));
    if (wrong.empty()) return {};
    return fmt::format("{}: rows by {} x {} on {}: {}", subject.name, row_side, key_side,
                       simd_target(), wrong);
}

std::string compare_cells(const PooledSubject& subject, Head head, const Rectangle& part,
                          Index side) {
    const std::vector<Index> rows = rows_from(part.row, part.rows);
    PooledRows known;
    pool_rows(subject.source, head, rows, part.rows, 64, {}, known);
    Texels out;
    if (!pool_cells(subject.source, head, known.logsumexp, part.row, part.column, part.rows,
                    part.columns, side, {}, out))
        return "stopped";
    const std::string wrong = mismatch(
        subject, out,
        pool_exactly(subject, head, rows, {part.column, part.column + part.columns}, side, side));
    if (wrong.empty()) return {};
    return fmt::format("{}: cells by {} from ({}, {}) on {}: {}", subject.name, side, part.row,
                       part.column, simd_target(), wrong);
}

std::string compare_arithmetic(const PooledSubject& subject, Head head) {
    const auto at = [&](Stage stage, Cell cell) {
        return subject.exact[stage](head.b, head.h, cell.row, cell.column);
    };
    for (const Cell cell : {Cell{0, 0}, {0, 196}, {129, 196}, {64, 100}, {77, 3}, {77, 70}}) {
        const CellArithmetic got = cell_arithmetic(subject.source, head, cell);
        const double l = subject.exact.logsumexp(head.b, head.h, cell.row, 0);
        const bool allowed = subject.allowed(head.b, head.h, cell.row, cell.column) != 0;
        if (got.allowed == allowed && near(got.scaled, at(Stage::scaled, cell), subject.pair) &&
            near(got.biased, at(subject.biased, cell), subject.pair) &&
            near(got.logsumexp, l, subject.logsumexp) &&
            near(got.weight, at(Stage::weights, cell), subject.weight))
            continue;
        return fmt::format("{}: cell {} → {} of head {}: S {}, B {}, L {}, weight {}", subject.name,
                           cell.row, cell.column, head.h, got.scaled, got.biased, got.logsumexp,
                           got.weight);
    }
    return {};
}

Rectangle whole(const PooledSubject& subject) {
    return {0, 0, subject.source.size.tq, subject.source.size.tk};
}

}  // namespace attn::test
