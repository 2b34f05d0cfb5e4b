#include <cmath>

#include <fmt/format.h>

#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/workspace.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"
#include "app/workspaces/lookup/view.h"
#include "core/run_control.h"
#include "core/stopwatch.h"

namespace attn::view {
namespace {

bool is_on_plane(const PlanePoint& at) {
    return std::abs(at[0]) <= kPlaneEnd && std::abs(at[1]) <= kPlaneEnd;  // not NaN
}

/// Each number from 0 on, once.
bool is_order(std::vector<Index> order) {
    std::ranges::sort(order);
    return order == first_places(std::ssize(order));
}

/// What a session may not hold; "": nothing is wrong.
std::string fault_of(const LookupControls& controls) {
    if (controls.pairs.empty() || controls.pairs.size() > kMostLookupPairs)
        return fmt::format("has 'pairs': expected a list of 1 to {}", kMostLookupPairs);
    if (!is_on_plane(controls.query)) return fmt::format("has a query beyond ±{}", kPlaneEnd);
    if (!is_order(controls.order))
        return "has 'order': expected each number from 0 up exactly once";
    return {};
}

constexpr double kStep = 0.1;  // of an arrow key, in a plane

Action page_at(const AppState& state, int steps) {
    const auto count = static_cast<int>(kLookupPageCount);
    return ShowLookupPage{static_cast<LookupPage>(
        (static_cast<int>(lookup_look(state).page) + steps + count) % count)};
}

void add_pages(const CommandAdder& add, const AppState& state) {
    add("Next page of Lookup", Key::page_down, page_at(state, 1));
    add("Previous page of Lookup", Key::page_up, page_at(state, -1));
    for (std::size_t n = 0; n < kLookupPageCount; ++n)
        add("Lookup: " + page_title(static_cast<LookupPage>(n)), Key::none,
            ShowLookupPage{static_cast<LookupPage>(n)});
}

struct Direction {
    Key key;
    double x, y;
    const char* text;
};
constexpr Direction kDirections[] = {{Key::left, -kStep, 0.0, "left"},
                                     {Key::right, kStep, 0.0, "right"},
                                     {Key::up, 0.0, kStep, "up"},
                                     {Key::down, 0.0, -kStep, "down"}};

void add_memory(const CommandAdder& add, const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const Index n = lookup_look(state).pair;
    const Index last = std::ssize(controls.pairs) - 1;
    const LookupPair& pair = controls.pairs[n];
    for (const Direction& direction : kDirections) {
        const auto [x, y] = controls.query;
        add(fmt::format("Move the query {}", direction.text), plain(direction.key),
            MoveLookupQuery{x + direction.x, y + direction.y});
        add(fmt::format("Move the key {}", direction.text), shift(direction.key),
            MoveLookupKey{n, pair.k[0] + direction.x, pair.k[1] + direction.y});
        add(fmt::format("Move the value {}", direction.text), ctrl(direction.key),
            MoveLookupValue{n, pair.v[0] + direction.x, pair.v[1] + direction.y});
    }
    add("Select the next pair", Key::period, SelectLookupPair{std::min(n + 1, last)}, last > 0);
    add("Select the previous pair", Key::comma, SelectLookupPair{std::max<Index>(n - 1, 0)},
        last > 0);
    const PlanePoint free = free_place(controls);
    add("Add a pair", Key::a, AddLookupPair{free[0], free[1]},
        controls.pairs.size() < kMostLookupPairs,
        fmt::format("A memory has at most {} pairs", kMostLookupPairs));
    add("Remove this pair", Key::del, RemoveLookupPair{n}, last > 0,
        "A memory needs at least one pair");
    add("Hard: temperature 0.01", Key::h, SetLookupTemperature{kColdest});
    add("Soft: temperature 1", Key::o, SetLookupTemperature{1.0});
    add("Scaled dot product: temperature √2", Key::none, SetLookupTemperature{std::sqrt(2.0)});
    add("Mean: temperature 100", Key::m, SetLookupTemperature{kHottest});
    const auto& presets = memory_presets();
    const auto here = std::ranges::find(presets, controls.pairs, &MemoryPreset::pairs);
    const auto next =
        here == presets.end() || here + 1 == presets.end() ? presets.begin() : here + 1;
    add("Next memory", Key::n, LoadMemory{next->key});
    for (const MemoryPreset& preset : presets)
        add("Memory: " + preset.text, Key::none, LoadMemory{preset.key});
}

void add_capacity(const CommandAdder& add, const LookupControls& controls) {
    add("Next larger d_k", Key::right, SetCapacityWidth{next_capacity_width(controls.width, 1)});
    add("Next smaller d_k", Key::left, SetCapacityWidth{next_capacity_width(controls.width, -1)});
    const Index pairs = controls.capacity.pairs;
    add("Twice the pairs", Key::up, SetCapacityPairs{std::min(pairs * 2, kMostCapacityPairs)});
    add("Half the pairs", Key::down, SetCapacityPairs{std::max<Index>(pairs / 2, 2)});
    add("Draw again with the next seed", Key::n, SetCapacitySeed{controls.capacity.seed + 1});
}

void add_selection(const CommandAdder& add, const AppState& state) {
    const LookupLook& look = lookup_look(state);
    const auto moved = [&](Index rows, Index columns) {
        const Pair to = nearest_pair(state, {look.row + rows, look.column + columns});
        return SelectLookupCell{to.query, to.key};
    };
    const bool there = has_pair(state, {0, 0});
    add_arrows(add, "query", "key", plain, moved, there);
}

void add_similarity(const CommandAdder& add, const LookupControls& controls) {
    const bool dot = controls.measure == SimilarityMeasure::dot;
    add(dot ? "Cosines instead of dot products" : "Dot products instead of cosines", Key::m,
        SetSimilarityMeasure{dot ? SimilarityMeasure::cosine : SimilarityMeasure::dot});
    const auto next = static_cast<SimilaritySoftmax>((static_cast<int>(controls.softmax) + 1) % 3);
    add("Softmax: none, of rows, of columns", Key::a, SetSimilaritySoftmax{next});
}

void add_permutation(const CommandAdder& add, const AppState& state) {
    const bool there = state.document().size.tk > 1;
    add("Shuffle the tokens", Key::s, ShuffleTokens{next_shuffle(state)}, there);
    add("Tokens in reverse order", Key::r, OrderTokens{TokenOrder::reversed}, there);
    add("Sort the tokens by word", Key::o, OrderTokens{TokenOrder::sorted}, there);
    add("Tokens in document order", Key::d, OrderTokens{TokenOrder::document}, there);
    const auto next = static_cast<PermutationPosition>(
        (static_cast<int>(lookup_controls(state).position) + 1) % 5);
    add("Next positional encoding", Key::n, SetPermutationPosition{next});
    const auto order = token_order(state);
    const Index token = lookup_look(state).column;
    const Index place = std::ranges::find(order, token) - order.begin();
    add("Move the selected key’s token one place back", shift(Key::left),
        MoveToken{token, place - 1}, there && place > 0);
    add("Move the selected key’s token one place forward", shift(Key::right),
        MoveToken{token, place + 1}, there && place + 1 < std::ssize(order));
}

void add_lookup_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Lookup"};
    add_pages(add, state);
    const LookupPage page = lookup_look(state).page;
    if (page == LookupPage::memory) return add_memory(add, state);
    if (page == LookupPage::capacity) return add_capacity(add, lookup_controls(state));
    add_selection(add, state);
    if (page == LookupPage::similarity) add_similarity(add, lookup_controls(state));
    const bool qk = lookup_controls(state).of == SimilarityOf::qk;
    if (page == LookupPage::permutation)
        add_permutation(add, state);
    else
        add(qk ? "Compare X with X" : "Compare queries with keys", Key::x,
            SetSimilarityOf{qk ? SimilarityOf::x : SimilarityOf::qk});
    add_presets(list, state, "Lookup");
}

void clamp_lookup(AppState& state) {
    LookupLook& look = lookup_look(state);
    const Index pairs = std::ssize(lookup_controls(state).pairs);
    look.pair = std::clamp<Index>(look.pair, 0, pairs - 1);
    const Pair to = nearest_pair(state, {look.row, look.column});
    look.row = to.query;
    look.column = to.key;
    if (look.hovered && *look.hovered >= pairs) look.hovered.reset();
}

void clear_lookup(AppState& state) {
    LookupLook& look = lookup_look(state);
    look.row = look.column = 0;
    look.similarity = nullptr;
    look.permutation = nullptr;
}

std::vector<Shot> lookup_shots() {
    return {
        {"", {}},
        {"hard", {SetLookupTemperature{kColdest}}},
        {"mean", {SetLookupTemperature{kHottest}, SelectLookupPair{2}}},
        {"two-near", {LoadMemory{"two-near"}}},
        {"long-key", {LoadMemory{"long-key"}, SelectLookupPair{1}}},
        {"capacity", {ShowLookupPage{LookupPage::capacity}}},
        {"similarity",
         {ShowLookupPage{LookupPage::similarity}, SetSimilaritySoftmax{SimilaritySoftmax::rows}}},
        {"alignment", {LoadPreset{"cross-attention"}, ShowLookupPage{LookupPage::alignment}}},
        {"permutation", {ShowLookupPage{LookupPage::permutation}, ShuffleTokens{2}}},
        {"positions",
         {ShowLookupPage{LookupPage::permutation}, ShuffleTokens{2},
          SetPermutationPosition{PermutationPosition::rope}}}};
}

constexpr std::string_view kLookupMouse[] = {
    "Drag the query q: the weights (disc areas) and the output follow.",
    "Drag a key or a value; double-click the plane of keys to add a pair there.",
    "Click a row of the table to see its arithmetic in the inspector.",
    "Drag over the curves of Capacity to set the width d_k.",
    "Click a cell of a matrix: the inspector explains it.",
    "Drag a token of Permutation to another place.",
};
constexpr PersistedValue kValues[] = {persisted(lookup_controls), persisted(lookup_look)};
constexpr RequestKind kRequests[] = {request_kind<requested_capacity>("capacity")};

}  // namespace

void describe(Visitor& visit, LookupPair& pair) {
    constexpr About kNeeded{.needed = true};
    visit("key", pair.key, kNeeded);
    visit("kx", pair.k[0], kNeeded);
    visit("ky", pair.k[1], kNeeded);
    visit("value", pair.value, kNeeded);
    visit("vx", pair.v[0], kNeeded);
    visit("vy", pair.v[1], kNeeded);
    if (!is_on_plane(pair.k) || !is_on_plane(pair.v))
        visit.complain(fmt::format("has a point beyond ±{}", kPlaneEnd));
}

void describe(Visitor& visit, LookupControls& controls) {
    visit("pairs", controls.pairs);
    visit("qx", controls.query[0]);
    visit("qy", controls.query[1]);
    visit("temperature", controls.temperature, {.text = "τ", .low = kColdest, .high = kHottest});
    visit("width", controls.width,
          {.text = "d_k", .low = kFewestCapacityWidth, .high = kMostCapacityWidth});
    visit("stored", controls.capacity.pairs,
          {.text = "pairs", .low = 2, .high = kMostCapacityPairs});
    visit("capacity_temperature", controls.capacity.temperature,
          {.text = "τ", .low = kColdest, .high = 1.0});
    visit("seed", controls.capacity.seed);
    visit("of", controls.of, kSimilarityOfNames, {.text = "similarity of"});
    visit("measure", controls.measure, kSimilarityMeasureNames);
    visit("softmax", controls.softmax, kSimilaritySoftmaxNames);
    visit("similarity_temperature", controls.similarity_temperature,
          {.text = "τ", .low = kColdest, .high = kHottest});
    visit("order", controls.order);
    visit("position", controls.position, kPermutationPositionNames, {.text = "positions"});
    if (!visit.reads()) return;
    controls.width = nearest_capacity_width(static_cast<double>(controls.width));
    if (const std::string fault = fault_of(controls); !fault.empty()) visit.complain(fault);
}

void describe(Visitor& visit, LookupLook& look) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("page", look.page, kNamesOf<LookupPage>);
    visit("pair", look.pair, kPlace);
    visit("row", look.row, kPlace);
    visit("column", look.column, kPlace);
}

std::optional<CapacityRequest> requested_capacity(const AppState& state) {
    if (state.workspace != "lookup" || lookup_look(state).page != LookupPage::capacity)
        return std::nullopt;
    const CapacityCurves& curves = capacity_curves(state);
    if (curves.points && curves.of == lookup_controls(state).capacity) return std::nullopt;
    return CapacityRequest{lookup_controls(state).capacity};
}

Action run(const CapacityRequest& request, const RunControl& control) {
    const Stopwatch watch;
    auto points = capacity_sweep(request.of, capacity_widths(), control.stop);
    const double elapsed_ms = watch.ms();
    return CapacityReady{request.of,
                         std::make_shared<const std::vector<CapacityPoint>>(std::move(points)),
                         elapsed_ms};
}

extern const WorkspaceInfo kLookupWorkspace{
    .key = "lookup",
    .title = "Lookup",
    .tip = "Attention as a soft dictionary: drag a query, see keys interfere, shuffle tokens.",
    .group = Group::attention,
    .letter = Key::l,
    .shows_document = false,
    .actions = LookupActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .enter = [](AppState& state) { show_message(state, page_hint(lookup_look(state).page)); },
    .add_commands = add_lookup_commands,
    .clear =
        [](AppState& state) {
            LookupLook& look = lookup_look(state);
            look.pair = look.row = look.column = 0;
        },
    .clamp_to_document = clamp_lookup,
    .clear_cache = clear_lookup,
    .follow = follow_lookup,
    .still = [](AppState& state) { capacity_curves(state).elapsed_ms = 0.0; },
    .reasons = lookup_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = lookup_inspector,
    .figure_name =
        [](const AppState& state) {
            const auto page = static_cast<std::size_t>(lookup_look(state).page);
            return fmt::format("lookup-{}", kNamesOf<LookupPage>[page]);
        },
    .shots = lookup_shots,
    .mouse = kLookupMouse,
};

}  // namespace attn::view
