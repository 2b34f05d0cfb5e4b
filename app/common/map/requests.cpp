#include "app/common/map/requests.h"

#include <cmath>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/text.h"
#include "app/common/state.h"
#include "core/blocks.h"
#include "core/kernels/peak.h"
#include "core/large/map_input.h"
#include "core/memory.h"
#include "core/scores/score.h"
#include "core/threads.h"

namespace attn::view {
namespace {

constexpr std::size_t kStrongest =
    24;  // cells that are listed: as many as a large window has room for
constexpr double kProbeMs = 40.0;
constexpr double kSliceSeconds = 0.012;  // between two frames, where there are no threads

bool is_shown(const AppState& state) { return is_map_shown(state) && !is_empty(state.document()); }

MapForm wanted_form(const AppState& state) {
    return source_form(map_look(state).form, state.document().spec);
}

/// `input` or `fault` is of the present document, in the form that is shown.
bool is_map_complete(const AppState& state) {
    const MapLook& look = map_look(state);
    return (look.input || !look.fault.empty()) && look.mapped == state.shared_document() &&
           look.mapped_form == wanted_form(state);
}

/// What a stage of that form has.
AttentionSpec spec_of(AttentionSpec spec, MapForm form) {
    if (form == MapForm::own) return spec;
    spec.dropout = 0.0;
    if (form <= MapForm::biased) spec.mask = spec.mask.bias_alone();
    if (form >= MapForm::biased) return spec;
    spec.mask.bias.reset();
    spec.bias_before_softcap = false;
    spec.softcap.reset();
    spec.alibi = false;
    if (form != MapForm::scores) return spec;
    if (spec.scale != ScaleKind::q_and_k) spec.scale = ScaleKind::none;  // of the operands
    spec.temperature = 1.0;
    return spec;
}

/// What computes a score that a map cannot show; "" where it can.
std::string elsewhere_text(const AttentionSpec& spec) {
    if (is_dot(spec.score)) return {};
    return fmt::format(
        "; attnscope trace computes these weights, and Step shows them up to {} pairs",
        grouped(kMostCells));
}

// ---- the map itself

/// The map of a large matrix: a request says what is in view, and is answered again and again while that becomes sharper.
/// core's WeightMap has the threads.
class MapJob : public Job {
  public:
    /// `wake` is called from the map's threads when something can be taken.
    explicit MapJob(std::function<void()> wake) : wake_(std::move(wake)) {}

    void update(const AppState& state) override {
        const auto request = requested_map(state);
        if (!request) return;
        head_ = request->view.head;
        const auto* const file = std::get_if<FileOrigin>(&state.document().origin);
        if (request->input != input_) replace(request->input, file ? file->path : "");
        if (map_) map_->want(request->view);
    }
    Actions take() override {
        if (map_ && map_->work(kSliceSeconds)) wake_();
        if (!fault_.empty()) {
            auto failed = std::make_shared<large::MapSnapshot>();
            failed->request.head = head_;
            failed->fault = std::exchange(fault_, {});
            return {MapReady{input_, std::move(failed)}};
        }
        const auto snapshot = map_ ? map_->snapshot() : nullptr;
        if (!snapshot || snapshot->version == seen_) return {};
        seen_ = snapshot->version;
        return {MapReady{input_, snapshot}};
    }
    void wait_until_idle() override {
        if (map_) map_->wait_until_idle();
    }

  private:
    /// The old map first: nothing as large may come again.
    void replace(std::shared_ptr<const large::MapInput> input, const std::string& folder) {
        auto old = std::exchange(map_, nullptr);
        input_ = std::move(input);
        fault_.clear();
        seen_ = 0;
        if (old) retire(std::move(old));
        try {
            large::MapLimits limits;
            limits.top_cells = kStrongest;
            map_ = std::make_shared<large::WeightMap>(input_, limits, wake_, folder);
        } catch (const std::bad_alloc&) {
            fault_ = "there is not enough memory for the map";
            wake_();
        } catch (...) {
            fault_ = error_of(std::current_exception()).text();
            wake_();
        }
    }

    /// On a thread of its own, so that nobody waits for the map's to end; where there is none it has none either.
    void retire(std::shared_ptr<large::WeightMap> map) {
        const auto end = [](std::shared_ptr<large::WeightMap> ended) {
            ended.reset();
            release_cached_blocks();
        };
        try {
            retirement_ = std::jthread(end, std::move(map));
        } catch (const std::system_error&) {  // it is gone with the arguments
            release_cached_blocks();
        }
    }

    std::function<void()> wake_;
    std::shared_ptr<const large::MapInput> input_;
    std::shared_ptr<large::WeightMap> map_;
    large::Head head_;         // that was requested last
    std::string fault_;        // why there is no map of `input_`
    std::uint64_t seen_ = 0;   // version of the snapshot that was taken
    std::jthread retirement_;  // of the map before: its threads end without the window waiting
};

}  // namespace

MapForm source_form(MapForm form, const AttentionSpec& spec) {
    if (form == MapForm::own && spec.drops()) return form;
    if (form == MapForm::scores) return form;
    const bool differs = form == MapForm::scaled ? spec.mask.any() || spec.biases()
                                                 : form == MapForm::biased && spec.mask.any();
    return differs ? form : MapForm::weights;
}

/// For the roofline, which stands beside the document's own map alone.
std::optional<ProbeRequest> requested_probe(const AppState& state) {
    const bool asks =
        map_look(state).own_shown && is_shown(state) && map_look(state).machine.probes;
    return asks ? std::optional(ProbeRequest{}) : std::nullopt;
}

Action run(const ProbeRequest&, const RunControl&) {
    const double peak = fma_peak_gflops(thread_count(), kProbeMs);
    return MachineProbed{peak, stream_gbytes(thread_count(), kProbeMs)};
}

std::optional<MapInputRequest> requested_map_input(const AppState& state) {
    if (!is_shown(state) || is_map_complete(state) || requested_probe(state)) return std::nullopt;
    const MapLook& look = map_look(state);
    const bool same = look.mapped == state.shared_document();
    return MapInputRequest{state.shared_document(), wanted_form(state),
                           same ? look.operands : nullptr};
}

namespace {

/// Operands of relative scores have a column for each key besides, so that 1/√d_k is not that of their width.
AttentionSpec with_own_scale(AttentionSpec spec, Index d_k) {
    if (spec.score == Score::relative && spec.scale == ScaleKind::sqrt_dk) {
        spec.scale = ScaleKind::value;
        spec.scale_value = 1.0 / std::sqrt(static_cast<double>(d_k));
    }
    return spec;
}

}  // namespace

Action run(const MapInputRequest& request, const RunControl&) try {
    const Document& document = *request.document;
    const AttentionSpec spec =
        with_own_scale(spec_of(document.spec, request.form), document.size.d_k);
    const auto ready = [&](large::MapInput input) {
        return MapInputReady{request.document,
                             std::make_shared<const large::MapInput>(std::move(input)), "",
                             request.form};
    };
    if (request.operands && !spec.drops()) {
        large::MapInput input = *request.operands;
        input.source.spec = spec;
        return ready(std::move(input));
    }
    const Dimensions& size = document.size;
    // Q and K in float32, once as they are and once rotated or scaled.
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(size.batch) *
                         static_cast<double>(size.d_k) *
                         static_cast<double>(size.heads * size.tq + size.kv_heads * size.tk);
    if (auto fits = check_fits_in_memory(bytes, "the queries and keys of the map",
                                         "attend over fewer tokens", size);
        !fits)
        return MapInputReady{request.document, nullptr, fits.error().text(), request.form};
    AttentionSpec whole = document.spec;  // a form leaves out the mask, not the positions it gives
    whole.dropout = spec.dropout;
    auto source = large::weight_source(document.inputs, whole, document.size);
    if (!source)
        return MapInputReady{request.document, nullptr,
                             source.error().text() + elsewhere_text(document.spec), request.form};
    large::MapInput input;
    input.source = *std::move(source);
    input.source.spec = spec;
    if (document.landmarks) {
        input.token_ids = document.landmarks->token_ids;
        input.document_starts = document.landmarks->document_starts;
        input.needle = document.landmarks->needle;
    }
    return ready(std::move(input));
} catch (const std::bad_alloc&) {
    return MapInputReady{request.document, nullptr, "out of memory: a map of weights keeps Q and K",
                         request.form};
}

std::optional<MapCellRequest> requested_map_cell(const AppState& state) {
    const MapLook& look = map_look(state);
    if (!is_shown(state) || !is_map_complete(state) || !look.input || !look.selected)
        return std::nullopt;
    const MapCellRequest request{look.input, shown_head(state), *look.selected};
    const bool answered = look.inspected && look.inspected->head == request.head &&
                          look.inspected->cell == request.cell;
    return answered ? std::nullopt : std::optional(request);
}

Action run(const MapCellRequest& request, const RunControl&) {
    return MapCellReady{
        request.input,
        std::make_shared<const MapCell>(
            MapCell{request.head, request.cell,
                    large::cell_arithmetic(request.input->source, request.head, request.cell)})};
}

std::optional<MapRequest> requested_map(const AppState& state) {
    const MapLook& look = map_look(state);
    if (!look.input || !is_map_complete(state)) return std::nullopt;
    const MapCanvas canvas = canvas_of(look);
    MapRequest request{look.input, {}};
    large::ViewRequest& view = request.view;
    view.head = shown_head(state);
    view.view = {row_at(look, 0.0), column_at(look, 0.0), canvas.height * cells_per_pixel(look),
                 canvas.width * cells_per_pixel(look), tile_level(look)};
    view.full_pass = wants_full_pass(look);
    view.moving = look.moving_s > 0.0;
    view.search = look.search;
    view.top = look.top;
    view.scores = shows_scores(look);
    view.pooling = look.colors.pooling;
    view.low_percentile = look.colors.low_percentile;
    view.high_percentile = look.colors.high_percentile;
    return request;
}

std::unique_ptr<Job> make_map_job(std::function<void()> wake) {
    return std::make_unique<MapJob>(std::move(wake));
}

}  // namespace attn::view
