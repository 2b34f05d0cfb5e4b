// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include "app/files/serving_reader.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "core/text.h"

namespace attn::files {
void ServingReader::find_key_axes() {
    const std::size_t axes = paged_ ? 4 : 3;
    if (k_.axes.size() != axes || v_.axes.size() != axes)
        refuse(fmt::format("{} is {} and {} {}; expected {}", key_, to_string(k_.axes), value_,
                           to_string(v_.axes),
                           paged_ ? "[pages, rows of a page, Hkv, d]" : "[N, Hkv, d]"));
    if (!std::equal(k_.axes.begin(), k_.axes.end() - 1, v_.axes.begin()))
        refuse(fmt::format("{} is {} and {} {}; expected the same axes but for the width", key_,
                           to_string(k_.axes), value_, to_string(v_.axes)));
    if (!paged_) {
        key_axes_ = {k_.axes[1], k_.axes[2], k_.axes[0], false};
        check_key_heads(key_axes_.heads);
    } else {
        choose_page_axes();
    }
    value_axes_ = key_axes_;
    value_axes_.width = v_.axes.back();
    const std::size_t q_axes = q_.axes.size();
    if (q_axes != 3 && q_axes != 4)
        refuse(fmt::format("{} is {}; expected [N, H, d], or [B, Tq, H, d]", query_,
                           to_string(q_.axes)));
    if (q_.axes.back() != k_.axes.back())
        refuse(fmt::format("{} is {} and {} {}; expected the same width, the last axis", query_,
                           to_string(q_.axes), key_, to_string(k_.axes)));
}

std::vector<Index> ServingReader::query_heads() const {
    if (q_.axes.size() == 3) return {q_.axes[1]};
    if (q_.axes.size() != 4) return {};
    if (options_.layout == HeadAxes::heads_first) return {q_.axes[1]};
    if (options_.layout == HeadAxes::tokens_first) return {q_.axes[2]};
    return {q_.axes[2], q_.axes[1]};
}

bool ServingReader::can_share(Index kv_heads) const {
    if (options_.kv_heads && *options_.kv_heads != kv_heads) return false;
    return std::ranges::any_of(query_heads(), [&](Index heads) {
        return heads % kv_heads == 0 && (!options_.heads || *options_.heads == heads);
    });
}

void ServingReader::check_key_heads(Index kv_heads) const {
    if (can_share(kv_heads)) return;
    refuse(fmt::format(
        "{} is {} with {}, but {} is {}; expected query heads that are a multiple "
        "of the key/value heads",
        key_, to_string(k_.axes), counted(kv_heads, "key/value head"), query_, to_string(q_.axes)));
}

void ServingReader::choose_page_axes() {
    const RowAxes tokens_first{k_.axes[2], k_.axes[3], k_.axes[1], false};
    const RowAxes heads_first{k_.axes[1], k_.axes[3], k_.axes[2], true};
    const auto fits = [&](const RowAxes& axes) {
        return can_share(axes.heads) && holds(axes.block);
    };
    if (options_.layout && *options_.layout != HeadAxes::tokens_first &&
        *options_.layout != HeadAxes::heads_first)
        refuse(
            fmt::format("layout is {}, but {} has pages; expected tokens-first [pages, P, Hkv, d] "
                        "or heads-first [pages, Hkv, P, d]",
                        info(*options_.layout).key, key_));
    const bool first = fits(tokens_first), second = fits(heads_first);
    const bool chosen = options_.layout.has_value();
    const bool wants_heads = options_.layout == HeadAxes::heads_first;
    if (chosen ? !(wants_heads ? second : first) : !first && !second)
        refuse(fmt::format(
            "{} is {}, which fits {} {} and the pages of {} neither as [pages, P, Hkv, d] nor "
            "as "
            "[pages, Hkv, P, d]{}; expected H a multiple of Hkv, and pages that hold every "
            "sequence",
            key_, to_string(k_.axes), query_, to_string(q_.axes),
            lengths_name().empty() ? "the call" : lengths_name(),
            chosen ? fmt::format(" under layout {}", info(*options_.layout).key) : ""));
    key_axes_ = (chosen ? wants_heads : !first) ? heads_first : tokens_first;
    serving_.heads_first = key_axes_.heads_first;
    const bool both = !chosen && first && second && k_.axes[1] != k_.axes[2];
    note(fmt::format("{} and {} are {} pages of {}, [pages, {}, d]{}", key_, value_, k_.axes[0],
                     counted(key_axes_.block, "row"), key_axes_.heads_first ? "Hkv, P" : "P, Hkv",
                     both ? "; --layout heads-first if they are [pages, Hkv, P, d]" : ""));
}

std::string ServingReader::lengths_name() const { return find_name(kLengths); }

bool ServingReader::holds(Index page) const {
    const std::string lengths = lengths_name(), table = find_name(kTables);
    if (lengths.empty()) return true;
    const auto of = integers(lengths);
    const auto table_axes = table.empty() ? std::vector<Index>{} : reader_.axes_of(table);
    const Index pages = table_axes.size() == 2 ? table_axes[1] : 1;
    return of.empty() || std::ranges::max(of) <= product(pages, page);
}

// ---- keys of each sequence

void ServingReader::read_key_rows() {
    if (paged_)
        read_pages();
    else
        read_packed_keys();
    for (std::size_t b = 0; b < serving_.keys.size(); ++b) check_length(b);
}

void ServingReader::read_pages() {
    const Index pages = k_.axes[0], page = key_axes_.block;
    const std::string table = taken(kTables), lengths = taken(kLengths);
    std::vector<Index> entries;
    Index batch = pages, width = 1;
    if (table.empty()) {
        for (Index b = 0; b < pages; ++b) entries.push_back(b);
    } else {
        const auto axes = reader_.axes_of(table);
        if (axes.size() != 2)
            refuse(fmt::format("{} is {}; expected [B, n], the pages of each sequence", table,
                               to_string(axes)));
        entries = integers(table);
        batch = axes[0], width = axes[1];
    }
    serving_.page = page;
    lengths_ = lengths.empty() ? "every page" : lengths;
    serving_.keys = lengths.empty() ? std::vector<Index>(at(batch), product(width, page))
                                    : lengths_of(lengths, batch);
    for (Index b = 0; b < batch; ++b) {
        const Index m = serving_.keys[at(b)];
        if (m > product(width, page))
            refuse(fmt::format("{}[{}] is {}, and {} of {} hold {} keys; expected at most {}",
                               lengths, b, m, table.empty() ? "1 page" : counted(width, "page"),
                               counted(page, "row"), width * page, width * page));
        std::vector<Index>& rows = serving_.rows.emplace_back();
        for (Index n = 0; n < width; ++n) {
            const Index entry = entries[at(b * width + n)];
            const bool known = entry >= 0 && entry < pages;
            if (!known && n * page < m)
                refuse(
                    fmt::format("{}[{}, {}] is {}, and {} has {} pages; expected 0 to {}, because "
                                "sequence {} has {} keys",
                                table, b, n, entry, key_, pages, pages - 1, b, m));
            for (Index slot = 0; slot < page; ++slot)
                rows.push_back(known ? entry * page + slot : -1);
        }
    }
}

std::vector<Index> ServingReader::lengths_of(const std::string& name, Index batch) const {
    const auto axes = reader_.axes_of(name);
    if (axes != std::vector<Index>{batch})
        refuse(fmt::format("{} is {}; expected [{}], the number of keys of each sequence", name,
                           to_string(axes), batch));
    return integers(name);
}

void ServingReader::check_length(std::size_t b) const {
    if (serving_.keys[b] >= 0) return;
    refuse(fmt::format("{}[{}] is {}; expected a number of keys, at least 0", lengths_, b,
                       serving_.keys[b]));
}

std::vector<Index> ServingReader::starts_of(const std::string& name, Index rows,
                                            const std::string& array) {
    removed_.insert(name);
    const std::vector<Index> starts = integers(name);
    if (reader_.axes_of(name).size() != 1 || starts.size() < 2)
        refuse(
            fmt::format("{} is {}; expected [B + 1], where each sequence begins and the last ends",
                        name, to_string(reader_.axes_of(name))));
    if (starts.front() != 0) refuse(fmt::format("{}[0] is {}; expected 0", name, starts.front()));
    for (std::size_t n = 1; n < starts.size(); ++n)
        if (starts[n] < starts[n - 1])
            refuse(
                fmt::format("{}[{}] is {}, less than {} before it; expected numbers that do not "
                            "decrease",
                            name, n, starts[n], starts[n - 1]));
    if (starts.back() > rows)
        refuse(fmt::format("{} ends at {}, and {} has {} rows; expected at most {}", name,
                           starts.back(), array, rows, rows));
    if (starts.back() < rows)
        note(fmt::format("{} ends at {}: the rows of {} from there on are not used", name,
                         starts.back(), array));
    return starts;
}

void ServingReader::read_packed_keys() {
    const std::vector<Index> starts = starts_of(key_starts_, k_.axes[0], key_);
    const std::string lengths = taken(kLengths);
    const Index batch = std::ssize(starts) - 1;
    lengths_ = lengths.empty() ? key_starts_ : lengths;
    if (!lengths.empty()) serving_.keys = lengths_of(lengths, batch);
    serving_.packed = true;
    for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
        const Index count = starts[b + 1] - starts[b];
        if (lengths.empty()) serving_.keys.push_back(count);
        if (serving_.keys[b] > count)
            refuse(fmt::format("{}[{}] is {}, and {} gives that sequence {}; expected at most that",
                               lengths, b, serving_.keys[b], key_starts_, counted(count, "row")));
        std::vector<Index>& rows = serving_.rows.emplace_back(at(count));
        std::iota(rows.begin(), rows.end(), starts[b]);
    }
}

// ---- queries of each sequence

void ServingReader::read_queries() {
    const Index batch = std::ssize(serving_.keys);
    if (q_.axes.size() == 3 && !query_starts_.empty()) {
        const std::vector<Index> starts = starts_of(query_starts_, q_.axes[0], query_);
        if (std::ssize(starts) - 1 != batch)
            refuse(fmt::format("{} has {} entries, and there are {}; expected {}", query_starts_,
                               starts.size(), counted(batch, "sequence"), batch + 1));
        for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
            serving_.queries.push_back(starts[b + 1] - starts[b]);
            query_first_.push_back(starts[b]);
        }
        serving_.packed_queries = true;
        query_axes_ = {q_.axes[1], q_.axes[2], q_.axes[0], false};
    } else if (q_.axes.size() == 3) {
        if (q_.axes[0] != batch)
            refuse(
                fmt::format("{} is {}, and there are {}; expected [{}, H, d], one query each, or "
                            "cu_seqlens_q with it",
                            query_, to_string(q_.axes), counted(batch, "sequence"), batch));
        query_axes_ = {q_.axes[1], q_.axes[2], 1, false};
        fill_queries(batch, 1);
    } else {
        read_padded_queries(batch);
    }
}

void ServingReader::fill_queries(Index batch, Index count) {
    for (Index b = 0; b < batch; ++b) {
        serving_.queries.push_back(count);
        query_first_.push_back(b * count);
    }
}

void ServingReader::read_padded_queries(Index batch) {
    if (q_.axes[0] != batch)
        refuse(fmt::format("{} is {}, and there are {}; expected {} in the first axis", query_,
                           to_string(q_.axes), counted(batch, "sequence"), batch));
    const auto fits = [&](Index heads) {
        return heads % key_axes_.heads == 0 && (!options_.heads || *options_.heads == heads);
    };
    const bool heads_first = options_.layout ? *options_.layout == HeadAxes::heads_first
                                             : !fits(q_.axes[2]) && fits(q_.axes[1]);
    if (!fits(q_.axes[heads_first ? 1 : 2]))
        refuse(
            fmt::format("{} is {} and {} {}; expected [B, Tq, H, d] with H a multiple of {} "
                        "key/value heads",
                        query_, to_string(q_.axes), key_, to_string(k_.axes), key_axes_.heads));
    const Index count = q_.axes[heads_first ? 2 : 1];
    query_axes_ = {q_.axes[heads_first ? 1 : 2], q_.axes[3], count, heads_first};
    serving_.heads_first = heads_first;
    fill_queries(batch, count);
}

}  // namespace attn::files
