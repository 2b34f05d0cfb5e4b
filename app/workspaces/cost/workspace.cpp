#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/workspace.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"
#include "core/backend.h"
#include "core/bench/measure.h"
#include "core/kernels/peak.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/text.h"
#include "core/threads.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Whether the item is in the table, or a card.
bool is_shown(CostItem item, CostRows rows) {
    if (is_storage(item)) return true;
    return (operation_of(item) != nullptr) == (rows == CostRows::operations);
}
CostItem stepped(const CostLook& look, int steps) {
    const auto count = static_cast<int>(kCostItemCount);
    CostItem item = look.item;
    do {
        item = static_cast<CostItem>((static_cast<int>(item) + steps + count) % count);
    } while (!is_shown(item, look.rows));
    return item;
}

void enter_cost(AppState& state) { show_message(state, "← and → change T."); }

void add_cost_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Cost"};
    const CostControls& controls = cost_controls(state);
    const Index tokens = controls.sizes[CostSize::tk];
    add("Twice the tokens", Key::right, SetCostTokens{next_tokens(tokens, 1)});
    add("Half the tokens", Key::left, SetCostTokens{next_tokens(tokens, -1)});
    const bool forward = controls.pass == CostPass::forward;
    add(forward ? "Count the backward pass" : "Count the forward pass", Key::b,
        SetCostPass{forward ? CostPass::backward : CostPass::forward});
    const bool stages = cost_look(state).rows == CostRows::stages;
    add(stages ? "Compare MLA, linear attention and other operations" : "Show the stages",
        Key::none, ShowCostRows{stages ? CostRows::operations : CostRows::stages});
    const auto share = [&](const char* text, HeadSharing sharing) {
        add(text, Key::none, shared_heads(controls.sizes, sharing));
    };
    share("Multi-head: every head has its own keys and values", HeadSharing::multi_head);
    share("Grouped-query: some heads share keys and values", HeadSharing::grouped);
    share("Multi-query: all heads share keys and values", HeadSharing::multi_query);
    for (const CostPreset& preset : cost_presets())
        add("Sizes: " + preset.text, Key::none, SetCostPreset{preset.key});
    const std::string why = no_measure_text(controls);
    add("Measure on this machine", Key::m, MeasureCost{}, why.empty(), why);
    add("Explain the next count", Key::down, SelectCost{stepped(cost_look(state), 1)});
    add("Explain the previous count", Key::up, SelectCost{stepped(cost_look(state), -1)});
}

std::vector<Shot> cost_shots() {
    return {
        {"", {}},
        {"backward", {SetCostPass{CostPass::backward}, SelectCost{CostItem::scores}}},
        {"llama", {SetCostPreset{"llama3-8b"}, SelectCost{CostItem::kv_cache}}},
        {"document", {SetCostPreset{"document"}, SelectCost{CostItem::total}}},
        {"operations", {ShowCostRows{CostRows::operations}, SelectCost{CostItem::mla_absorbed}}}};
}

constexpr std::string_view kCostMouse[] = {
    "Drag over the curves to set the number of tokens T.",
    "Click a row of the table or a card under the curves to see its formula.",
    "Drag a size, or double-click it to type.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_cost>("cost"),
};
constexpr PersistedValue kPersisted[] = {persisted(cost_controls), persisted(cost_look)};

/// The tokens are pulled from one end to the other.
std::optional<Action> drag_cost(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetCostTokens{static_cast<Index>(std::exp2(4.0 + 16.0 * part))};
}

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change(AppState& state, const std::string& text, Change&& change_controls) {
    CostControls controls = cost_controls(state);
    change_controls(controls);
    if (auto valid = check_cost(controls.sizes); !valid) return show_message(state, valid.error());
    edit_controls(state, controls, text);
}

/// The number of key/value heads next to `wanted` that divides H.
Index divisor_near(Index heads, Index wanted) {
    if (heads < 1) return 1;
    for (Index off = 0; off < heads; ++off)
        for (const Index each : {wanted - off, wanted + off})
            if (each >= 1 && each <= heads && heads % each == 0) return each;
    return 1;
}

/// The number of key/value heads that divides H, at `wanted` or the next beyond it, seen from the present one.
Index towards(const CostSizes& sizes, Index wanted) {
    const Index heads = sizes[CostSize::heads];
    if (wanted < 1 || wanted > heads) return wanted;
    const Index step = wanted >= sizes[CostSize::kv_heads] ? 1 : -1;
    while (heads % wanted != 0) wanted += step;
    return wanted;
}

/// Other heads keep the kind of sharing, as far as they can.
void set_heads(CostSizes& sizes, Index heads) {
    const bool own = sharing_of(sizes) == HeadSharing::multi_head;
    sizes[CostSize::heads] = heads;
    const Index most = info(CostSize::heads).most;
    if (heads < 1 || heads > most) return;
    sizes[CostSize::kv_heads] = own ? heads : divisor_near(heads, sizes[CostSize::kv_heads]);
}

// --- what is measured

constexpr double kProbeMs = 40.0;
constexpr bench::Effort kEffort{5, 0.1};

double at(const CostFormula& formula, const CostControls& of) {
    return estimate_of(formula, of.sizes);
}

/// Four matrices of weights at most, as staged keeps them.
double bytes_needed(const CostControls& of) {
    return 4.0 * at(stored_bytes(Holding::materialised), of);
}
bool can_measure(const CostControls& of) {
    return at(product_flop(of.pass, Holding::fused), of) <= kMostMeasuredFlop &&
           bytes_needed(of) <= kMostMeasuredBytes;
}

Tensor uniform_tensor(const Shape& shape, std::uint64_t seed) {
    Tensor tensor(shape);
    std::uint64_t counter = 0;
    for (float& value : tensor.values())
        value = static_cast<float>(3.4 * uniform(seed, counter++) - 1.7);
    return tensor;
}

Inputs inputs_of(const CostSizes& s) {
    using enum CostSize;
    Inputs inputs;
    inputs.q = uniform_tensor({s[batch], s[heads], s[tq], s[d_k]}, 1);
    inputs.k = uniform_tensor({s[batch], s[kv_heads], s[tk], s[d_k]}, 2);
    inputs.v = uniform_tensor({s[batch], s[kv_heads], s[tk], s[d_v]}, 3);
    return inputs;
}

/// The median of several runs in ms.
Result<double> time_of(std::string_view backend, bench::Pass pass, const Inputs& inputs,
                       const RunControl& control, int& runs) {
    bench::Workload work;
    work.pass = pass;
    work.n = inputs.q.shape().t;  // for the bench's own count, which is not shown
    work.heads = inputs.q.shape().h;
    auto bench = bench::Bench::make(*find_backend(backend), work, inputs);
    if (!bench) return tl::unexpected(bench.error());
    std::vector<double> seconds;
    while (!bench->enough(kEffort) && !control.stop.stop_requested()) {
        if (auto ran = bench->run(); !ran) return tl::unexpected(ran.error());
        seconds.push_back(bench->last_seconds());
    }
    if (seconds.empty()) return failed("the measurement was stopped");
    runs = static_cast<int>(seconds.size());
    return 1e3 * bench::median(std::move(seconds));
}

CostMeasurement measured(const CostControls& of, const RunControl& control) {
    CostMeasurement result;
    result.of = of;
    const bool forward = of.pass == CostPass::forward;
    const Inputs inputs = inputs_of(of.sizes);
    const auto staged = time_of("staged", forward ? bench::Pass::trace : bench::Pass::backward,
                                inputs, control, result.runs);
    const auto fused = time_of("fused", forward ? bench::Pass::forward : bench::Pass::backward,
                               inputs, control, result.runs);
    if (!staged || !fused) {
        result.fault = (!staged ? staged : fused).error().text();
        return result;
    }
    result.staged_ms = *staged;
    result.fused_ms = *fused;
    result.peak_gflops = fma_peak_gflops(thread_count(), kProbeMs);
    result.stream_gbytes = stream_gbytes(thread_count(), kProbeMs);
    return result;
}

double roofline_ms(double flop, double bytes, double gflops, double gbytes) {
    return std::max(flop / gflops, bytes / gbytes) * 1e-6;
}

/// Q, K, V, context and logsumexp; backward d_context, d_Q, d_K and d_V too.
double operand_bytes(const CostControls& of) {
    double bytes = at(stored_bytes(Holding::fused), of);
    for (const StageCost& cost : stage_costs(CostPass::forward, of.sizes)) {
        if (cost.stage == Stage::scores) bytes += at(cost.read, of);
        if (cost.stage == Stage::context) bytes += 2.0 * at(cost.written, of);
    }
    const CostFormula values{{1,
                              {CostSize::batch, CostSize::kv_heads, CostSize::tk, CostSize::d_v,
                               CostSize::element_bytes}}};
    const CostFormula context{
        {1,
         {CostSize::batch, CostSize::heads, CostSize::tq, CostSize::d_v, CostSize::element_bytes}}};
    bytes += at(values, of) - at(context, of);
    if (of.pass == CostPass::forward) return bytes;
    return 2.0 * bytes - at(stored_bytes(Holding::fused), of);
}

}  // namespace

std::vector<CostPreset> cost_presets() {
    // in the order of CostSize: B, H, G, Tq, Tk, d_model, d_k, d_v, d_out, chunk, bytes, layers,
    // d_c, d_r, N
    return {{"document", "the current document", std::nullopt},
            {"two-to-31", "2³¹ weights: 32 × 8192²", CostSizes{}},
            {"gpt2", "GPT-2 small: 12 heads, T 1024",
             CostSizes{{1, 12, 12, 1024, 1024, 768, 64, 64, 768, 128, 4, 12, 512, 64, 16}}},
            {"llama3-8b", "Llama 3 8B: 32 heads share 8, T 8192, bf16",
             CostSizes{{1, 32, 8, 8192, 8192, 4096, 128, 128, 4096, 128, 2, 32, 512, 64, 16}}},
            {"llama3-70b", "Llama 3 70B decoding: 64 heads share 8, Tk 8192, bf16",
             CostSizes{{1, 64, 8, 1, 8192, 8192, 128, 128, 8192, 128, 2, 80, 512, 64, 16}}},
            {"deepseek-v3", "DeepSeek-V3 decoding: 128 heads, MLA, Tk 8192, bf16",
             CostSizes{{1, 128, 128, 1, 8192, 7168, 128, 128, 7168, 128, 2, 61, 512, 64, 16}}}};
}

Result<CostSizes> document_sizes(const AppState& state) {
    const Dimensions& of = state.document().size;
    if (of.tq < 1 || of.tk < 1) return bad_input("the document has no tokens yet");
    if (is_empty(state.document())) return bad_input(empty_text(state.document()));
    if (of.d_model_kv != 0 && of.d_model_kv != of.d_model)
        return bad_input("the document's X_kv is wider or narrower than its X: not counted here");
    if (const Score score = state.document().spec.score; score != Score::dot)
        return bad_input(
            fmt::format("the document's score is “{}”: only the products of dot-product scores are "
                        "counted here",
                        info(score).title));
    const bool mixes = !state.document().inputs->params[Param::w_o].empty();
    CostSizes sizes;  // those from chunk on stay
    std::ranges::copy(std::array{of.batch, of.heads, of.kv_heads, of.tq, of.tk, of.d_model, of.d_k,
                                 of.d_v, mixes ? of.d_out : 0},
                      sizes.values.begin());
    return sizes;
}

void describe(Visitor& visit, CostControls& controls) {
    constexpr std::string_view kPasses[] = {"forward", "backward"};
    for (std::size_t n = 0; n < kCostSizeCount; ++n)
        visit(info(static_cast<CostSize>(n)).key, controls.sizes.values[n]);
    visit("pass", controls.pass, kPasses, {.tip = "Forward, or the gradients\nKey: B"});
    if (!visit.reads()) return;
    if (auto valid = check_cost(controls.sizes); !valid)
        visit.complain(": " + valid.error().text());
}

void describe(Visitor& visit, CostLook& look) {
    constexpr std::string_view kItems[] = {"q",
                                           "k",
                                           "v",
                                           "scores",
                                           "scaled",
                                           "masked",
                                           "weights",
                                           "context",
                                           "output",
                                           "total",
                                           "materialised",
                                           "chunked",
                                           "fused",
                                           "kv_cache",
                                           "softmax",
                                           "gated",
                                           "differential",
                                           "mla_expanded",
                                           "mla_absorbed",
                                           "linear",
                                           "retention",
                                           "gated_linear",
                                           "gated_delta",
                                           "kda",
                                           "state_space"};
    static_assert(std::size(kItems) == kCostItemCount);
    visit("item", look.item, kItems);
    constexpr std::string_view kRows[] = {"stages", "operations"};
    visit("rows", look.rows, kRows,
          {.tip = "The stages of softmax attention, or operations that can replace it"});
}

void carry_out(AppState& state, const SetCostSize& action) {
    Index value = action.value;
    if (action.size == CostSize::kv_heads) value = towards(cost_controls(state).sizes, value);
    change(state, fmt::format("{} = {}", info(action.size).symbol, value),
           [&](CostControls& controls) {
               if (action.size == CostSize::heads) return set_heads(controls.sizes, action.value);
               controls.sizes[action.size] = value;
           });
}

void carry_out(AppState& state, const SetCostTokens& action) {
    change(state, fmt::format("T = {}", grouped(action.tokens)), [&](CostControls& controls) {
        controls.sizes = with_tokens(controls.sizes, action.tokens);
    });
}

void carry_out(AppState& state, const SetCostPreset& action) {
    const auto presets = cost_presets();
    const auto found = std::ranges::find(presets, action.key, &CostPreset::key);
    if (found == presets.end())
        return show_error(state, "There are no sizes '{}'.", shortened(action.key));
    const auto sizes = found->sizes ? Result<CostSizes>(*found->sizes) : document_sizes(state);
    if (!sizes) return show_message(state, sizes.error());
    change(state, "Sizes: " + found->text,
           [&](CostControls& controls) { controls.sizes = *sizes; });
}

void carry_out(AppState& state, const MeasureCost&) {
    if (const std::string why = no_measure_text(cost_controls(state)); !why.empty())
        return warn(state, why);
    cost_look(state).measures = true;
    show_message(state, "The engine runs at these sizes; its times appear beside the table.");
}

/// Says nothing: a replay does not wait for it.
void carry_out(AppState& state, const CostMeasured& action) {
    cost_look(state).measures = false;
    if (!action.measured) return;
    cost_look(state).last = action.measured;
}

CostControls measured_part(CostControls controls) {
    controls.sizes[CostSize::d_model] = controls.sizes[CostSize::d_out] = 0;
    controls.sizes[CostSize::element_bytes] = sizeof(float);
    controls.sizes[CostSize::layers] = 1;
    for (const CostSize size :
         {CostSize::chunk, CostSize::latent, CostSize::rope_columns, CostSize::states})
        controls.sizes[size] = CostSizes{}[size];
    return controls;
}

std::string no_measure_text(const CostControls& controls) {
    CostControls of = measured_part(controls);
    if (can_measure(of)) return {};
    const double flop = at(product_flop(of.pass, Holding::fused), of);
    Index fits = 0;
    for (Index tokens = 1; tokens <= kMostCostTokens; tokens *= 2) {
        of.sizes = with_tokens(of.sizes, tokens);
        if (can_measure(of)) fits = tokens;
    }
    const std::string most = fits == 0 ? "use fewer or narrower heads"
                                       : fmt::format("T up to {} can be measured", grouped(fits));
    return fmt::format("{} and {} are too much to measure here: {}", flop_text(flop),
                       cost_bytes(bytes_needed(measured_part(controls))), most);
}

double predicted_staged_ms(const CostControls& of, double gflops, double gbytes) {
    double ms = 0.0;
    for (const StageCost& cost : stage_costs(of.pass, of.sizes))
        ms += roofline_ms(at(cost.flop, of), at(cost.read, of) + at(cost.written, of), gflops,
                          gbytes);
    return ms;
}

double predicted_fused_ms(const CostControls& of, double gflops, double gbytes) {
    return roofline_ms(at(product_flop(of.pass, Holding::fused), of), operand_bytes(of), gflops,
                       gbytes);
}

std::optional<CostRequest> requested_cost(const AppState& state) {
    if (!cost_look(state).measures) return std::nullopt;
    return CostRequest{measured_part(cost_controls(state))};
}

Action run(const CostRequest& request, const RunControl& control) {
    if (const std::string why = no_measure_text(request.of); !why.empty()) {
        CostMeasurement none;
        none.of = request.of;
        none.fault = why;
        return CostMeasured{std::make_shared<const CostMeasurement>(none)};
    }
    return CostMeasured{std::make_shared<const CostMeasurement>(measured(request.of, control))};
}

extern const WorkspaceInfo kCostWorkspace{
    .key = "cost",
    .title = "Cost",
    .tip = "FLOPs, bytes and memory of attention at any size, compared with this machine.",
    .group = Group::check,
    .letter = Key::c,
    .actions = CostActions::kTypes,
    .values = kPersisted,
    .requests = kRequests,
    .enter = enter_cost,
    .add_commands = add_cost_commands,
    .clear =
        [](AppState& state) {
            cost_look(state).item = CostItem::materialised;
            cost_look(state).rows = CostRows::stages;
        },
    .still = [](AppState& state) { cost_look(state).last = nullptr; },
    .moved = drag_cost,
    .reasons = cost_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = cost_inspector,
    .shots = cost_shots,
    .mouse = kCostMouse,
};

}  // namespace attn::view
