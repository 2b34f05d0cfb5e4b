// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include "app/files/serving_reader.h"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "core/entries.h"

namespace attn::files {
Index ServingReader::total_queries() const {
    Index total = 0;
    for (const Index n : serving_.queries) total += n;
    return total;
}

Index ServingReader::first_query(Index b) const {
    Index first = 0;
    for (Index n = 0; n < b; ++n) first += serving_.queries[at(n)];
    return first;
}

std::optional<ServingReader::RowEntry> ServingReader::row_entry(const std::vector<Index>& axes,
                                                                Index heads, Index columns,
                                                                RowOrder order) const {
    const Index batch = std::ssize(serving_.queries), tq = shape_[2], total = total_queries();
    const auto padded_row = [this, tq](Index b, Index t) {
        return t - serving_.padding_of_queries(b, tq);
    };
    const auto is = [&](std::initializer_list<Index> wanted) {
        return axes.size() == wanted.size() && std::equal(axes.begin(), axes.end(), wanted.begin());
    };
    const bool whole = std::ranges::all_of(serving_.queries, [&](Index n) { return n == tq; });
    const auto by_token = [=, this](Index b, Index h, Index t) {
        const Index r = padded_row(b, t);
        return r < 0 ? Index{-1} : ((first_query(b) + r) * heads + h) * columns;
    };
    const auto by_head = [=](Index b, Index h, Index t) {
        return ((b * heads + h) * tq + t) * columns;
    };
    const auto all_heads_first = [=, this](Index b, Index h, Index t) {
        const Index r = padded_row(b, t);
        return r < 0 ? Index{-1} : (h * total + first_query(b) + r) * columns;
    };
    const bool heads_first = order != RowOrder::output || serving_.heads_first;
    if (axes.size() == 2) {
        const bool by_head_axes = order != RowOrder::output && is({heads, total});
        if (order == RowOrder::logsumexp && by_head_axes) return all_heads_first;
        if (is({total, heads})) return by_token;
        return by_head_axes ? std::optional<RowEntry>(all_heads_first) : std::nullopt;
    }
    if (axes.size() != 3) return std::nullopt;
    if (whole && heads_first && is({batch, heads, tq})) return by_head;
    if (whole && is({batch, tq, heads})) return by_token;
    if (whole && is({batch, heads, tq})) return by_head;
    return std::nullopt;
}

Tensor ServingReader::placed_rows(const RowEntry& entry, std::span<const float> values, Index heads,
                                  Index columns, float fill) const {
    Tensor made({std::ssize(serving_.queries), heads, shape_[2], columns}, fill);
    for_each_row(made.shape(), [&](Index b, Index h, Index t) {
        const Index first = entry(b, h, t);
        for (Index c = 0; first >= 0 && c < columns; ++c) made(b, h, t, c) = values[at(first + c)];
    });
    return made;
}

void ServingReader::add_result(const std::string& name, const std::string& from,
                               const Tensor& tensor) {
    const Shape shape = tensor.shape();
    std::vector<Index> axes{shape.b, shape.h, shape.t};
    if (name != "logsumexp") axes.push_back(shape.d);
    added_[prefix_ + name] = {reader_.dtype_of(from), axes,
                              std::vector<float>(tensor.values().begin(), tensor.values().end())};
    removed_.insert(from);
}

void ServingReader::read_results(Index heads) {
    if (const std::string name = find_name(kOutputs); !name.empty()) {
        std::vector<Index> axes = reader_.axes_of(name);
        const Index columns = axes.back();
        axes.pop_back();
        const auto entry = row_entry(axes, heads, columns, RowOrder::output);
        if (entry)
            add_result("context", name,
                       placed_rows(*entry, reader_.numbers(name), heads, columns, 0.0F));
        else if (call_.unpacked)
            refuse(fmt::format("{} is {}; expected the axes of {} {} with the width of V", name,
                               to_string(reader_.axes_of(name)), query_.empty() ? "q" : query_,
                               q_.axes.empty() ? "" : to_string(q_.axes)));
    }
    if (const std::string name = find_name(kLogsumexps); !name.empty()) {
        const auto entry = row_entry(reader_.axes_of(name), heads, 1, RowOrder::logsumexp);
        if (entry) {
            Tensor made = placed_rows(*entry, reader_.numbers(name), heads, 1,
                                      -std::numeric_limits<float>::infinity());
            fill_sinks(made);
            add_result("logsumexp", name, made);
        } else if (call_.unpacked) {
            refuse(fmt::format("{} is {}; expected [H, N], [N, H] or [B, H, Tq]", name,
                               to_string(reader_.axes_of(name))));
        }
    }
    read_parts(heads);
}

void ServingReader::fill_sinks(Tensor& logsumexp) {
    const std::string name = find_name(kSinks);
    if (name.empty()) return;
    const std::vector<float> sinks = reader_.numbers(name);
    if (std::ssize(sinks) != logsumexp.shape().h) return;
    for_each_row(logsumexp.shape(), [&](Index b, Index h, Index t) {
        if (t < serving_.padding_of_queries(b, shape_[2])) logsumexp(b, h, t, 0) = sinks[at(h)];
    });
}

void ServingReader::read_parts(Index heads) {
    const std::string outputs = taken(kPartials), lse = taken(kPartialLogsumexps);
    const std::string starts = taken(kSplitStarts);
    if (outputs.empty() && lse.empty()) return;
    if (outputs.empty() || lse.empty())
        refuse(fmt::format("{} is given without {}; give both", outputs + lse,
                           outputs.empty() ? "o_partial" : "lse_partial"));
    std::vector<Index> axes = reader_.axes_of(outputs), of_lse = reader_.axes_of(lse);
    const Index splits = axes.front(), columns = axes.back();
    axes.erase(axes.begin());
    axes.pop_back();
    const bool same = !of_lse.empty() && of_lse.front() == splits;
    if (same) of_lse.erase(of_lse.begin());
    const auto entry = same ? row_entry(axes, heads, columns, RowOrder::split) : std::nullopt;
    const auto lse_entry = same ? row_entry(of_lse, heads, 1, RowOrder::split) : std::nullopt;
    if (!entry || !lse_entry)
        refuse(fmt::format(
            "{} is {} and {} {}; expected [S, B, H, Tq, d_v] and [S, B, H, Tq] of S "
            "splits, or the axes of the output behind S",
            outputs, to_string(reader_.axes_of(outputs)), lse, to_string(reader_.axes_of(lse))));
    const std::vector<float> values = reader_.numbers(outputs), logs = reader_.numbers(lse);
    const Index batch = std::ssize(serving_.queries), tq = shape_[2];
    verify::SplitResults parts{Tensor({splits * batch, heads, tq, columns}),
                               Tensor({splits * batch, heads, tq, 1})};
    for (Index s = 0; s < splits; ++s) {
        const auto part = [&](const std::vector<float>& all) {
            const std::size_t each = all.size() / at(splits);
            return std::span(all).subspan(at(s) * each, each);
        };
        const Tensor o = placed_rows(*entry, part(values), heads, columns, 0.0F);
        const Tensor l =
            placed_rows(*lse_entry, part(logs), heads, 1, -std::numeric_limits<float>::infinity());
        std::ranges::copy(o.values(), parts.context.data() + s * o.count());
        std::ranges::copy(l.values(), parts.logsumexp.data() + s * l.count());
    }
    call_.parts_dtype = reader_.dtype_of(outputs);
    call_.parts = std::move(parts);
    if (!starts.empty()) read_split_starts(starts, splits);
}

void ServingReader::read_split_starts(const std::string& name, Index splits) {
    const auto axes = reader_.axes_of(name);
    const auto starts = integers(name);
    const Index batch = std::ssize(serving_.queries);
    const bool each = axes == std::vector<Index>{batch, splits + 1};
    if (!each && axes != std::vector<Index>{splits + 1})
        refuse(
            fmt::format("{} is {}; expected [{}] or [{}, {}], where each split begins and the last "
                        "ends",
                        name, to_string(axes), splits + 1, batch, splits + 1));
    for (Index b = 0; b < batch; ++b) {
        std::vector<Index>& of = serving_.splits.emplace_back();
        for (Index s = 0; s <= splits; ++s) {
            const Index start = starts[at((each ? b * (splits + 1) : 0) + s)];
            if (start < 0 || (s > 0 && start < starts[at((each ? b * (splits + 1) : 0) + s - 1)]))
                refuse(fmt::format("{}[{}] is {}; expected numbers from 0 on that do not decrease",
                                   name, each ? fmt::format("{}, {}", b, s) : std::to_string(s),
                                   start));
            of.push_back(serving_.keys.empty() ? start : std::min(start, serving_.keys[at(b)]));
        }
    }
}

bool ServingReader::has_whole_splits() {
    if (partial_.empty()) return false;
    const auto axes = reader_.axes_of(partial_);
    if (axes.size() != 5) return false;
    serving_.queries.assign(at(axes[1]), axes[3]);
    serving_.q_heads = axes[2];
    serving_.heads_first = true;
    return true;
}

ServingCall ServingReader::results_alone() {
    if (!query_.empty() || (other_ == nullptr && !has_whole_splits())) return {};
    if (other_ != nullptr) {
        serving_.queries = other_->queries;
        serving_.keys = other_->keys;
        serving_.packed_queries = other_->packed_queries;
        serving_.heads_first = other_->heads_first;
        serving_.q_heads = other_->q_heads;
    }
    shape_ = {std::ssize(serving_.queries), 1,
              std::max<Index>(std::ranges::max(serving_.queries), 1), 1};
    removed_.clear();
    read_results(serving_.q_heads);
    call_.serving = std::make_shared<const verify::Serving>(std::move(serving_));
    return std::move(call_);
}

}  // namespace attn::files
