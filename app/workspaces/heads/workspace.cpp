#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/model_text.h"
#include "app/common/document/place.h"
#include "app/common/document/saved.h"
#include "app/common/document/swept.h"
#include "app/common/fields.h"
#include "app/common/map/actions.h"
#include "app/common/pair.h"
#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/corpus.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/given.h"
#include "core/io/paths.h"

namespace attn::view {
namespace {

void check_measure(Visitor& visit, const std::string& key) {
    if (!find_head_measure(key)) visit.complain(fmt::format("has the unknown measure '{}'", key));
}

void check(Visitor& visit, const HeadsLook& look) {
    for (const std::string& key : {look.sort, look.filter.measure})
        if (!key.empty()) check_measure(visit, key);
    const std::string& label = look.filter.label;
    if (!label.empty() && label != kUnlabelled) check_measure(visit, label);
    for (const std::string& key : {look.scatter_x, look.scatter_y}) check_measure(visit, key);
    if (!(look.clip_limit > 0.0 && look.clip_limit <= 1.0))
        visit.complain("has 'clip_limit': expected more than 0 and at most 1");
    if (!std::isfinite(look.filter.least)) visit.complain("has 'least': expected a number");
    if (!parse_pairs(look.pairs)) visit.complain("has 'pairs': expected pairs of tokens, as 3=4");
    if (look.pinned[1] && (!look.pinned[0] || look.pinned[0] == look.pinned[1]))
        visit.complain("has 'b': expected 'a' too, another head");
}

/// In every workspace.
Action show(HeadPlace place) { return ShowHead{place.head, {}, place.layer}; }

/// The head so many places on in the order on screen.
Action neighbour(const AppState& state, Index step) {
    const auto order = heads_in_order(*heads_look(state).result, heads_look(state).sort);
    const auto found = std::ranges::find(order, head_here(state));
    const Index last = std::ssize(order) - 1;
    const Index at = found == order.end() ? 0 : found - order.begin();
    const HeadPlace to = order[std::clamp<Index>(at + step, 0, last)];
    return show(to);
}

/// The same head of another layer.
Action other_layer(const AppState& state, Index step) {
    const HeadsResult& result = *heads_look(state).result;
    const HeadPlace here = head_here(state);
    const Index layer = here.layer + step;
    if (layer < 0 || layer >= std::ssize(result.layers)) return show(here);
    const Index heads = result.layers[layer].heads;
    return show({layer, std::clamp<Index>(here.head, 0, std::max<Index>(heads, 1) - 1)});
}

void add_choices(const CommandAdder& add, const AppState& state) {
    const bool many = heads_look(state).result->heads.size() > 1;
    const bool layers = state.document().layers.size() > 1;
    add("Show the next head", Key::right, neighbour(state, 1), many);
    add("Show the previous head", Key::left, neighbour(state, -1), many);
    add("Show the head of the layer above", Key::up, other_layer(state, -1), layers);
    add("Show the head of the layer below", Key::down, other_layer(state, 1), layers);
    add("Show the first head in this order", Key::home,
        neighbour(state, -std::ssize(heads_look(state).result->heads)), many);
    add("Show the last head in this order", Key::end,
        neighbour(state, std::ssize(heads_look(state).result->heads)), many);
}

void add_pins(const CommandAdder& add, const AppState& state) {
    const auto& [a, b] = heads_look(state).pinned;
    const HeadPlace here = head_here(state);
    const bool pinned = a == here || b == here;
    add(pinned ? "Unpin this head" : "Pin this head to compare it", Key::space,
        PinHead{here.layer, here.head, !pinned});
    add("Swap A and B", Key::x, SwapPins{}, a && b);
    add("Unpin both heads", {}, UnpinHeads{}, a.has_value());
}

void add_switches(const CommandAdder& add, const AppState& state) {
    const HeadPlace here = head_here(state);
    const ModelOrigin* const model = wanted_model(state);
    const bool off = will_be_off(state, here);
    const std::string lack = interventions_lack(state.document());
    add(off ? "Switch this head of the model on" : "Switch this head of the model off", Key::w,
        SwitchHead{here.layer, here.head, off}, model != nullptr && lack.empty(), lack);
    add("Switch all heads of the model on", shift(Key::w), SwitchAllHeadsOn{},
        model != nullptr && !model->changes.off.empty());
    for (const HeadEdit& edit : head_edits(state))
        add(edit.command, plain(edit.key), edit.action, edit.why_not.empty(), edit.why_not);
    if (model == nullptr) return;
    for (const Intervention& each : interventions_of(model->changes))
        add(fmt::format("Remove: {}", each.text), {}, each.remove);
    add("Remove every intervention", {}, RemoveInterventions{}, !model->changes.empty());
}

void add_sorts(const CommandAdder& add, const AppState& state) {
    std::vector<std::string> keys{""};
    for (const HeadMeasureInfo& each : heads_measures(state.document()))
        keys.emplace_back(each.key);
    const Index count = std::ssize(keys);
    const Index now = std::ranges::find(keys, heads_look(state).sort) - keys.begin();
    const auto at = [&](Index n) { return keys[(n + count) % count]; };
    add("Sort by the next measure", Key::n, SortHeads{at(now + 1)});
    add("Sort by the previous measure", shift(Key::n), SortHeads{at(now - 1)});
    add("Sort by layer and head", {}, SortHeads{""}, now != 0);
    for (const HeadMeasureInfo& each : heads_measures(state.document()))
        add(fmt::format("Sort by {}", each.title), {}, SortHeads{std::string(each.key)},
            heads_look(state).sort != each.key);
}

template <class Set>
void add_named(const CommandAdder& add, const char* text, std::span<const std::string_view> names,
               std::size_t now) {
    for (std::size_t n = 0; n < names.size(); ++n)
        add(fmt::format("{} {}", text, names[n]), {}, Set{std::string(names[n])}, n != now);
}

void add_sweeps(const CommandAdder& add, const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const bool model = model_of(state.document()) != nullptr;
    const std::string by(kAblations[static_cast<std::size_t>(look.ablation)]);
    const std::string show(kSweepShows[static_cast<std::size_t>(look.sweep_show)]);
    add("Sweep: set each part to 0", {}, SweepHeads{"zero", show}, model);
    add("Sweep: set each part to its mean", {}, SweepHeads{"mean", show}, model);
    add("Sweep: patch each part from another text", {}, SweepHeads{"patch", show}, model);
    add("Sweep: the change of a logit difference", {}, SweepHeads{by, "logits"}, model);
    add(fmt::format("Sweep: the KL of the {}", read_out_noun(state.document())), {},
        SweepHeads{by, "kl"}, model);
    add("Sweep over heads", {}, SweepOver{"heads"}, model);
    add("Sweep over the residual stream by position", {}, SweepOver{"residual"}, model);
    add("Sweep over the MLPs by position", {}, SweepOver{"mlp"}, model);
    const std::string over(kCircuitOvers[static_cast<std::size_t>(look.circuit_over)]);
    add("Circuit: QK, the keys that each query matches", {}, ShowCircuit{"qk", over}, model);
    add("Circuit: OV, what the head adds to the output", {}, ShowCircuit{"ov", over}, model);
    add("Circuit: composition with earlier heads", {}, ShowCircuit{"composition", over}, model);
    add("Circuit: edges between heads and MLPs", {}, ShowCircuit{"edges", over}, model);
    const std::string part(kCircuitShows[static_cast<std::size_t>(look.circuit_show)]);
    add("Circuit over the tokens of the text", {}, ShowCircuit{part, "text"}, model);
    add("Circuit over the nearest vocabulary tokens", {}, ShowCircuit{part, "vocabulary"}, model);
}

void add_looks(const CommandAdder& add, const AppState& state) {
    const HeadsLook& look = heads_look(state);
    for (const HeadShowInfo& each : head_show_table())
        add(fmt::format("Show {} of heads", each.title), {}, ShowHeadsAs{std::string(each.key)},
            look.show != each.show);
    const auto next = (static_cast<std::size_t>(look.form) + 1) % std::size(kHeadForms);
    add("Next view of the head", Key::f, SetHeadForm{std::string(kHeadForms[next])});
    add_named<SetHeadForm>(add, "The head as", kHeadForms, static_cast<std::size_t>(look.form));
    const auto list = (static_cast<std::size_t>(look.list) + 1) % std::size(kHeadsLists);
    add("Next view of all heads", Key::l, SetHeadsList{std::string(kHeadsLists[list])});
    add_named<SetHeadsList>(add, "All heads as", kHeadsLists, static_cast<std::size_t>(look.list));
    const auto clip = (static_cast<std::size_t>(look.clip) + 1) % std::size(kSinkClips);
    add("Next mode of sink clipping", Key::z,
        ClipSinks{std::string(kSinkClips[clip]), look.clip_limit});
    add_sweeps(add, state);
    add_named<SetHeadsOf>(add, "Heads together: of the", kHeadsOf,
                          static_cast<std::size_t>(look.of));
    add_named<SetHeadsCurve>(add, "Colours by curve", std::span(kColorCurves).subspan(1),
                             static_cast<std::size_t>(look.curve) - 1);
}

void add_filters(const CommandAdder& add, const AppState& state) {
    const HeadsFilter& now = heads_look(state).filter;
    for (const HeadMeasureInfo& each : head_measure_table())
        if (is_head_label(each.measure))
            add(fmt::format("Only heads labelled {}", label_titles(each.measure)), {},
                FilterHeadsByLabel{std::string(each.key)}, now.label != each.key);
    add("Only heads without a label", {}, FilterHeadsByLabel{std::string(kUnlabelled)},
        now.label != kUnlabelled);
    add("Remove the label filter", {}, FilterHeadsByLabel{""}, !now.label.empty());
    add("Remove the measure filter", {}, FilterHeadsByMeasure{"", now.least}, !now.measure.empty());
}

/// Inside the weights of the document's layer.
Action moved(const AppState& state, Index rows, Index columns) {
    const large::Cell& pair = heads_look(state).pair;
    const Pair to = nearest_pair(state, {pair.row + rows, pair.column + columns});
    return SelectHeadsPair{to.query, to.key};
}

void enter_heads(AppState& state) {
    if (!heads_missing_data(state).empty()) return show_message(state, heads_missing_data(state));
    const large::Cell place = first_pair(state);  // that Step looks at
    if (has_pair(state, {place.row, place.column})) heads_look(state).pair = place;
    show_message(state, "Arrow keys select another head, Space pins the selected head.");
}

void add_heads_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Heads",
                           heads_missing_data(state).empty() && has_current_heads(state)};
    if (add.there && !heads_look(state).result->heads.empty()) {
        add_choices(add, state);
        add_pins(add, state);
        add_switches(add, state);
        add_sorts(add, state);
        add_looks(add, state);
        add_filters(add, state);
        add_arrows(add, "query", "key", shift,
                   [&](Index rows, Index columns) { return moved(state, rows, columns); });
        const bool own = heads_look(state).own_range;
        add(own ? "One colour scale for all heads" : "One colour scale per head", Key::o,
            SetHeadsRange{!own});
        add("Copy the measures as CSV", Key::c, CopyHeadMeasures{});
        if (heads_look(state).maps && !heads_look(state).maps->cells.empty())
            add_zoom_commands(add, map_look(state), Key::none);
    }
    add_document_commands(list, state);
    add_presets(list, state, "Heads");
}

void drop_result(HeadsLook& look) {
    look.result = nullptr;
    look.result_of = nullptr;
    look.shown = nullptr;
    look.maps = nullptr;
}

void clamp_heads(AppState& state) {
    HeadsLook& look = heads_look(state);
    const Document& document = state.document();
    const Pair pair = nearest_pair(state, {look.pair.row, look.pair.column});
    look.pair = {pair.query, pair.key};
    auto& [a, b] = look.pinned;
    if (b && !is_there(document, *b)) b.reset();
    if (a && !is_there(document, *a)) a = std::exchange(b, std::nullopt);
    if (look.hovered && !is_there(document, *look.hovered)) look.hovered.reset();
    look.hovered_pair.reset();
    if (look.result_of != state.shared_document()) drop_result(look);
}

void clear_heads(AppState& state) {
    HeadsLook& look = heads_look(state);
    look.pinned = {};
    look.pair = {};
    look.hovered.reset();
    look.hovered_pair.reset();
    look.swept = nullptr;
    look.circuit = nullptr;
    look.answer = nullptr;
    look.from.clear();
    look.pairs.clear();
    look.corpus.clear();
    look.corpus_read.reset();
    if (look.list == HeadsList::corpus) look.list = HeadsList::pictures;
    drop_result(look);
}

/// The corpus from the session's folder on, as a document names its file.
std::string write_corpus_file(const AppState& state, const std::filesystem::path& folder) {
    const std::string& corpus = heads_look(state).corpus;
    if (corpus.empty() || folder.empty()) return {};
    const nlohmann::ordered_json named{{"file", path_from(folder, corpus)},
                                       {"absolute", absolute_path(corpus)}};
    return fmt::format("\"heads_corpus\": {},\n",
                       named.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Where it is gone the part of Heads says where it was.
void read_corpus_file(const SessionReader& session) {
    std::string file, absolute;
    read_object(session.fields, "heads_corpus", [&](Fields& inner) {
        inner.read("file", file);
        inner.read("absolute", absolute);
    });
    if (const auto found = find_named(session.context.folder, file, absolute))
        heads_look(session.read).corpus = *found;
}

/// What is described, inside what the document has.
void read_look(Fields& fields, AppState& state) {
    HeadsLook& look = heads_look(state);
    const std::string corpus = look.corpus;  // that was found beside the session
    JsonReader reader(fields);
    describe(reader, look);
    describe(reader, head_image_look(state));
    if (!corpus.empty()) look.corpus = corpus;
    if (const ModelOrigin* const model = model_of(state.document()))
        look.aligned_model = model->path;  // the session has its form
    look.imaged = image_source(state.document());
    const Document& document = state.document();
    for (std::size_t n = 0; n < look.pinned.size(); ++n)
        if (const auto& pin = look.pinned[n]; pin && !is_there(document, *pin))
            fields.complain(fmt::format("has '{}' = {}, which the document does not have",
                                        n == 0 ? "a" : "b", head_name(*pin)));
    if (!is_empty(document) && !has_pair(state, {look.pair.row, look.pair.column}))
        fields.complain(fmt::format("points at a pair that the weights do not have: {} → {}",
                                    look.pair.row, look.pair.column));
}

std::vector<Shot> heads_shots() {
    const LoadPreset three{"three-heads"};
    const SelectHeadsPair pair{4, 3};
    return {{"", {three, show({0, 0}), pair}},
            {"sorted", {three, SortHeads{"previous"}}},
            {"compared", {three, PinHead{0, 0, true}, PinHead{0, 1, true}}},
            {"lines", {three, pair, SetHeadForm{"lines"}}},
            {"text", {three, show({0, 2}), pair, SetHeadForm{"text"}}},
            {"dimensions", {three, pair, SetHeadForm{"dimensions"}}},
            {"scatter", {three, ScatterHeads{"sink", "previous"}}},
            {"table", {three, SetHeadsList{"table"}}}};
}

/// See follow_choice().
void note_choice(AppState& state, const Action& action) {
    if (const auto* const select = action.as<SelectCell>();
        select != nullptr && state.workspace == "heads" &&
        select->cell.tensor == OperandId(Stage::weights) &&
        has_pair(state, {select->cell.row, select->cell.column}))
        heads_look(state).pair = {select->cell.row, select->cell.column};  // of the command line
    const auto* const show = action.as<ShowHead>();
    if (show == nullptr || !show->layer) return;
    HeadsLook& look = heads_look(state);
    look.chosen = {*show->layer, show->head};
    look.previous = has_current_heads(state) ? look.result : nullptr;
}

constexpr PersistedValue kValues[] = {persisted(heads_look), persisted(head_image_look)};

constexpr std::string_view kHeadsMouse[] = {
    "Click a small picture: that head is shown large, here and in every workspace.",
    "Shift+click a small picture to pin it; two pinned pictures are compared.",
    "Click a weight: the inspector explains it.",
    "Point at a small picture to see the measures of the head.",
    "More than 64 tokens: a head is a map; the wheel zooms, dragging pans.",
};
constexpr RequestKind kRequests[] = {request_kind<requested_heads>("heads"),
                                     request_kind<requested_head_sweep>("head sweep"),
                                     request_kind<requested_head_corpus>("corpus"),
                                     request_kind<requested_head_circuit>("head circuit"),
                                     request_kind<requested_head_answer>("head answer")};

}  // namespace

std::string heads_missing_data(const AppState& state) {
    const Document& document = state.document();
    if (is_empty(document) && document.given.empty()) return empty_text(document);
    const std::string fault = heads_fault(document);
    if (fault.empty()) return fault;
    const std::string_view table =
        has_only_measures(state) ? " The table shows their measures." : "";
    if (!document.given.empty()) return fmt::format("{}.{}", fault, table);
    return fmt::format("{}.{} {}", fault, table,
                       is_without_values(document) ? "Long context shows one head (3 M)."
                                                   : "Step shows one layer (1 S).");
}

void describe(Visitor& visit, HeadsLook& look) {
    visit("sort", look.sort);
    visit("own_range", look.own_range);
    visit("show", look.show, head_show_keys());
    visit("curve", look.curve, kColorCurves);
    visit("clip", look.clip, kSinkClips);
    visit("clip_limit", look.clip_limit);
    visit("form", look.form, kHeadForms);
    visit("parting", look.parting);
    visit("list", look.list, kHeadsLists);
    visit("label", look.filter.label);
    visit("measure", look.filter.measure);
    visit("least", look.filter.least);
    visit("scatter_x", look.scatter_x);
    visit("scatter_y", look.scatter_y);
    visit("ablation", look.ablation, kAblations);
    visit("sweep", look.sweep_show, kSweepShows);
    visit("corpus", look.corpus);
    visit("part", look.part, kSweepParts);
    visit("from", look.from);
    visit("pairs", look.pairs);
    visit("swept_layer", look.swept_cell.row, {.low = 0});
    visit("swept_position", look.swept_cell.column, {.low = 0});
    visit("of", look.of, kHeadsOf);
    visit("circuit", look.circuit_show, kCircuitShows);
    visit("over", look.circuit_over, kCircuitOvers);
    visit("circuit_row", look.circuit_cell.row, {.low = 0});
    visit("circuit_column", look.circuit_cell.column, {.low = 0});
    visit("row", look.pair.row, {.low = 0});
    visit("column", look.pair.column, {.low = 0});
    visit("a", look.pinned[0]);
    visit("b", look.pinned[1]);
    if (visit.reads()) check(visit, look);
}

extern const WorkspaceInfo kHeadsWorkspace{
    .key = "heads",
    .title = "Heads",
    .tip = "All heads of all layers, with measures, labels and side-by-side comparison.",
    .group = Group::model,
    .letter = Key::h,
    .shows_document = true,
    .actions = HeadsActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .missing_data =
        [](const AppState& state) {
            return has_only_measures(state) ? std::string() : heads_missing_data(state);
        },
    .enter = enter_heads,
    .leave =
        [](AppState& state) {
            heads_look(state).hovered.reset();
            heads_look(state).hovered_pair.reset();
            map_look(state).hovered.reset();
            heads_look(state).hovered_circuit.reset();
            heads_look(state).pairing.reset();
        },
    .add_commands = add_heads_commands,
    .escape = [](const AppState& state) -> std::optional<Action> {
        if (heads_look(state).pinned[0] && !state.presenter) return UnpinHeads{};
        return std::nullopt;
    },
    .clear = [](AppState& state) { heads_look(state).pair = {}; },
    .clamp_to_document = clamp_heads,
    .clear_cache = clear_heads,
    .before = note_choice,
    .follow = follow_heads,
    .progress =
        [](AppState& state, std::string_view request, double done) {
            if (request == "heads") heads_look(state).done = done;
            if (request == "head sweep") heads_look(state).sweep_done = done;
            if (request == "head circuit") heads_look(state).circuit_done = done;
        },
    .reasons = heads_reasons,
    .has_side = [](const AppState& state) { return heads_missing_data(state).empty(); },
    .inspector = heads_inspector,
    .read = read_look,
    .write_beside = write_corpus_file,
    .read_beside = read_corpus_file,
    .is_idle =
        [](const AppState& state) {
            if (requested_head_corpus(state)) return false;
            if (!heads_missing_data(state).empty()) return !requested_heads(state).has_value();
            return has_current_heads(state) && !requested_head_sweep(state) &&
                   !requested_head_circuit(state) && !requested_head_answer(state);
        },
    .figure_name =
        [](const AppState& state) {
            return std::string(heads_look(state).pinned[1] ? "heads-compared" : "heads");
        },
    .shots = heads_shots,
    .mouse = kHeadsMouse,
};

}  // namespace attn::view
