#include "app/common/document/head_axes.h"

#include <algorithm>
#include <array>

namespace attn::view {
namespace {

constexpr std::string_view kHeadsFirst[] = {"Td", "HTd", "BHTd"};
constexpr PackedAxes kHeadsFirstPacked[] = {{"3HTd", "[3, H, T, d]", true},
                                            {"3BHTd", "[3, B, H, T, d]", true}};
constexpr std::string_view kTokensFirst[] = {"Td", "THd", "BTHd"};
constexpr PackedAxes kTokensFirstPacked[] = {
    {"T3Hd", "[T, 3, H, d]"}, {"BT3Hd", "[B, T, 3, H, d]"}, {"T3E", "[T, 3, H·d]"}};
constexpr std::string_view kJoined[] = {"TE", "BTE"};
constexpr PackedAxes kJoinedPacked[] = {{"TJ", "[T, 3·H·d], first q, then k, then v"},
                                        {"BTJ", "[B, T, 3·H·d], first q, then k, then v"}};
constexpr PackedAxes kPerHeadPacked[] = {{"TH3d", "[T, H, 3, d]"},
                                         {"BTH3d", "[B, T, H, 3, d]"},
                                         {"TN", "[T, H·3·d], q, k and v of each head in turn"},
                                         {"BTN", "[B, T, H·3·d], q, k and v of each head in turn"}};
// Megatron-LM and Transformer Engine (sbhd); joined, PyTorch's MultiheadAttention unless batch_first.
constexpr std::string_view kSequenceFirst[] = {"TBHd", "TBE"};
constexpr PackedAxes kSequenceFirstPacked[] = {
    {"TBH3d", "[T, B, H, 3, d]", true},
    {"TBN", "[T, B, H·3·d], q, k and v of each head in turn", true}};

// In the order of HeadAxes, then the others.
constexpr auto kTable = std::to_array<HeadAxesInfo>({
    {"heads-first",
     "bhtd",
     "[B,H,T,d] heads first",
     "[B,H,T,d] (default)",
     kHeadsFirst,
     "[T, d], [H, T, d] or [B, H, T, d]",
     kHeadsFirstPacked,
     {}},
    {"tokens-first",
     "bthd",
     "[B,T,H,d] tokens first",
     "[B,T,H,d]",
     kTokensFirst,
     "[T, d], [T, H, d] or [B, T, H, d]",
     kTokensFirstPacked,
     {}},
    {"joined",
     "bte",
     "[B,T,H·d] joined",
     "[B,T,H·d]",
     kJoined,
     "[T, H·d] or [B, T, H·d]",
     kJoinedPacked,
     {}},
    {"per-head",
     "bth3d",
     "[B,T,H,3,d] packed, per head",
     "[B,T,H,3,d] or [B,T,H·3·d]",
     {},
     {},
     kPerHeadPacked,
     "[T, H, 3, d], [B, T, H, 3, d], or [T, H·3·d] with heads"},
    {"sequence-first", "tbhd", "[T,B,H,d] sequence first", "[T,B,H,d] or [T,B,H·d] (Megatron-LM)",
     kSequenceFirst, "[T, B, H, d] or [T, B, H·d]", kSequenceFirstPacked,
     "[T, B, H, 3, d], or [T, B, H·3·d] with heads"},
});

/// "heads-first [B,H,T,d] (default), joined [B,T,H·d]" of the layouts that are packed alone, or of the others.
std::string listed(bool packed_alone) {
    std::string list;
    std::size_t left = std::ranges::count_if(
        kTable, [&](const HeadAxesInfo& row) { return row.forms.empty() == packed_alone; });
    for (const HeadAxesInfo& row : kTable) {
        if (row.forms.empty() != packed_alone) continue;
        --left;
        if (!list.empty()) list += left > 0 ? ", " : ", or ";
        list.append(row.key).append(" ").append(row.help);
    }
    return list;
}

}  // namespace

std::span<const HeadAxesInfo> head_axes_table() { return kTable; }

const HeadAxesInfo& info(HeadAxes axes) { return kTable[static_cast<std::size_t>(axes)]; }

std::optional<HeadAxes> find_head_axes(std::string_view text) {
    for (std::size_t n = 0; n < kTable.size(); ++n)
        if (text == kTable[n].key || text == kTable[n].letters) return static_cast<HeadAxes>(n);
    return std::nullopt;
}

HeadAxes unpacked_axes(std::optional<HeadAxes> axes, HeadAxes own) {
    return axes && !info(*axes).forms.empty() ? *axes : own;
}

std::string head_axes_help() {
    return "axes of Q, K, V and dO: " + listed(false) + "; for a packed qkv also " + listed(true);
}

}  // namespace attn::view
