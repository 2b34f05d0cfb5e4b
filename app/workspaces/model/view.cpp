#include "app/workspaces/model/view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/colormap.h"
#include "app/common/document/document.h"
#include "app/common/document/model_place.h"
#include "app/common/document/model_text.h"
#include "app/common/format.h"
#include "app/common/request.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/common/vocabulary.h"
#include "app/workspaces/model/actions.h"
#include "core/io/npy.h"
#include "core/models/cache.h"
#include "core/models/family.h"
#include "core/models/known_models.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "core/rng.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr Index kMostGridCells = 4096;  // of a matrix with a cell for each number
constexpr Index kPictureRows = 48, kPictureColumns = 512;
constexpr Index kMostFolded = 40;  // rows for the layers that are not shown
constexpr Index kMostHeadPictures = 16;

// ---- pictures

double largest_size(MatrixView<const float> matrix) {
    double largest = 0.0;
    for (Index i = 0; i < matrix.rows; ++i)
        for (const float value : matrix.row(i))
            if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
    return largest;
}

/// Tokens by columns, so that its columns stand over the words. Of more numbers than pixels the largest of each.
Image image_of(MatrixView<const float> matrix, const ColorRange& range, ThemeName name,
               Index most_rows) {
    const Index rows = std::min(matrix.columns, most_rows);
    const Index columns = std::min(matrix.rows, kPictureColumns);
    Image image{static_cast<int>(columns), static_cast<int>(rows), {}};
    image.rgba.reserve(static_cast<std::size_t>(rows * columns * 4));
    for (const auto [y, x] : each_cell(rows, columns)) {
        float shown = 0.0F;
        bool nan = false;
        for (Index t = x * matrix.rows / columns; t < (x + 1) * matrix.rows / columns; ++t)
            for (Index c = y * matrix.columns / rows; c < (y + 1) * matrix.columns / rows; ++c) {
                const float value = matrix(t, c);
                nan = nan || std::isnan(value);
                if (std::abs(value) > std::abs(shown)) shown = value;
            }
        const Color color = nan ? theme(name).nan : color_of(range, shown, name);
        image.rgba.insert(image.rgba.end(), {color.r, color.g, color.b, color.a});
    }
    return image;
}

/// `owner` keeps the numbers; `key` names them beside it.
Picture picture_of(std::shared_ptr<const void> owner, MatrixView<const float> matrix,
                   ColorScale scale, std::uint64_t key, ThemeName name,
                   Index most_rows = kPictureRows) {
    key = mix(mix(key, static_cast<std::uint64_t>(name)),
              reinterpret_cast<std::uint64_t>(matrix.data) ^
                  static_cast<std::uint64_t>(matrix.rows * 8191 + most_rows));
    return {key, [owner = std::move(owner), matrix, scale, name, most_rows] {
                const double high = largest_size(matrix);
                ColorRange range{scale, scale == ColorScale::unit ? 0.0 : -high,
                                 scale == ColorScale::unit ? std::max(high, 1e-30) : high};
                range.curve = ColorCurve::root;
                return image_of(matrix, range, name, most_rows);
            }};
}

/// Queries down, keys across.
Picture head_picture(std::shared_ptr<const void> owner, MatrixView<const float> weights,
                     std::uint64_t key, ThemeName name) {
    Picture picture =
        picture_of(std::move(owner), weights, ColorScale::unit, key, name, kPictureColumns);
    picture.paint = [owner = std::move(picture.paint), weights, name] {
        std::vector<float> turned;
        turned.reserve(static_cast<std::size_t>(weights.rows * weights.columns));
        for (const auto [row, query] : each_cell(weights.columns, weights.rows))
            turned.push_back(weights(query, row));
        ColorRange range{ColorScale::unit, 0.0, std::max(largest_size(weights), 1e-30)};
        range.curve = ColorCurve::root;
        return image_of({turned.data(), weights.columns, weights.rows, weights.rows}, range, name,
                        kPictureColumns);
    };
    return picture;
}

/// Tells the numbers of one read from those of another at the same addresses: some numbers of the last residual.
std::uint64_t number_key(const ModelRead& read) {
    constexpr Index kSamples = 256;
    const auto values = read.run->layers.back().residual.values();
    const Index count = std::ssize(values);
    std::uint64_t key = hash_text("whole model");
    for (Index n = 0; n < std::min(count, kSamples); ++n)
        key = mix(key, std::bit_cast<std::uint32_t>(values[n * count / std::min(count, kSamples)]));
    return key;
}

// ---- words

std::string in_quotes(std::string_view text) { return fmt::format("“{}”", shown_token(text)); }

/// "12.5 k", "3.2 M".
std::string compact(double value) {
    constexpr std::pair<double, const char*> kUnits[] = {
        {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    for (const auto& [unit, name] : kUnits)
        if (value >= unit) return significant(value / unit, 3) + name;
    return significant(value, 3);
}

std::string cost_text(const ModelRead& read, StackPart part) {
    const PartCost cost = part_cost(
        *read.model, part, read.stages.layer, std::ssize(read.run->tokens),
        read.run->cross.empty() ? 0 : read.run->cross.front().trace[Stage::weights].shape().d);
    std::string text =
        cost.parameters == 0 ? std::string("tied") : compact(static_cast<double>(cost.parameters));
    if (cost.flop > 0.0) text += " · " + compact(cost.flop) + (cost.flop < 1e3 ? " FLOP" : "FLOP");
    return text;
}

std::string signed_number(double value) { return (value > 0.0 ? "+" : "") + cell_number(value, 2); }

/// The words of the logit that the bars add up to.
std::string sum_name(const ModelRead& read) {
    if (read.answers.empty())
        return fmt::format("norm of the vector of {}",
                           in_quotes(read.run->tokens[read.stages.row].text));
    const std::string first = in_quotes(read.answers[0].text);
    return read.sum->against
               ? fmt::format("logit of {} − {}", first, in_quotes(read.answers[1].text))
               : fmt::format("logit of {}", first);
}

// ---- rows

/// Makes the rows from the tokens up.
class Rows {
  public:
    Rows(const AppState& state, const std::shared_ptr<const ModelRead>& read)
        : state_(state), read_(read), stages_(read->stages), key_(number_key(*read)) {}

    std::vector<ModelRow> made() {
        const Index layers = std::ssize(read_->run->layers);
        for (const ModelStage stage : stages_.order) {
            const StackPart part = info(stage).part;
            if (part == StackPart::entry) add_stage(stage);
        }
        if (!rows_.empty()) rows_.back().residual = true;
        add_folded(0, stages_.layer);
        for (const ModelStage stage : stages_.order) {
            const StackPart part = info(stage).part;
            if (part != StackPart::attention && part != StackPart::mlp) continue;
            if (stage == ModelStage::attention) {
                add_steps();
                add_heads(read_->run->layers[stages_.layer], "Attention weights");
            }
            if (stage == ModelStage::cross)
                add_heads(read_->run->cross[stages_.layer], "Cross-attention weights");
            add_stage(stage);
        }
        add_folded(stages_.layer + 1, layers);
        if (stages_.has(ModelStage::final_norm)) add_stage(ModelStage::final_norm);
        if (!read_->answers.empty()) add_answers();
        add_bars();
        if (read_->gradients) add_gradients(*read_->gradients);
        if (const auto place = model_place_look(state_).place) mark(*place);
        return std::move(rows_);
    }

  private:
    std::uint64_t key(std::uint64_t what) const { return mix(key_, what); }

    void add_stage(ModelStage stage) {
        const Tensor& values = stages_[stage];
        const ModelStageInfo& about = info(stage);
        ModelRow row;
        row.stage = stage;
        row.name = about.title;
        row.tip = std::string(about.text) + "\nClick to see its numbers.";
        row.role = about.role;
        row.in_layer = about.part == StackPart::attention || about.part == StackPart::mlp;
        const bool after = read_->model->config().family->norms_after;
        if (after && stage == ModelStage::norm1) row.name = "Norm after attention";
        if (after && stage == ModelStage::norm2) row.name = "Norm after the MLP";
        const bool sum = stage == ModelStage::residual1 || stage == ModelStage::residual2 ||
                         stage == ModelStage::residual_self;
        row.adds = sum;
        row.residual = after ? stage == ModelStage::norm1 || stage == ModelStage::norm2 : sum;
        row.rows = values.shape().d;
        row.columns = values.shape().t;
        if (stage == ModelStage::embedding || (about.part == StackPart::entry && rows_.empty()))
            row.cost = cost_text(*read_, StackPart::entry);
        if (stage == ModelStage::attention) row.cost = cost_text(*read_, StackPart::attention);
        if (stage == ModelStage::mlp_out) row.cost = cost_text(*read_, StackPart::mlp);
        row.pictures = {picture_of(read_, values.matrix(0, 0), about.colors,
                                   key(static_cast<std::uint64_t>(stage)), state_.theme)};
        rows_.push_back(std::move(row));
    }

    /// One row for each layer, or for as many as leave few enough rows.
    void add_folded(Index first, Index last) {
        const Index layers = std::ssize(read_->run->layers);
        const Index each = (layers + kMostFolded - 1) / kMostFolded;
        for (Index layer = first; layer < last; layer += each) {
            const Index to = std::min(layer + each, last) - 1;
            const Tensor& values = read_->run->layers[to].residual;
            ModelRow row;
            row.kind = ModelRowKind::layers;
            row.first_layer = layer;
            row.layer = to;
            row.name = layer == to ? fmt::format("layer {}", layer)
                                   : fmt::format("layers {} to {}", layer, to);
            row.tip = fmt::format("The residual stream after {}\nClick to unfold.", row.name);
            row.residual = true;
            row.rows = values.shape().d;
            row.columns = values.shape().t;
            row.pictures = {picture_of(read_, values.matrix(0, 0), ColorScale::diverging,
                                       key(1000 + static_cast<std::uint64_t>(to)), state_.theme)};
            rows_.push_back(std::move(row));
        }
    }

    // ---- gradients

    static double norm_of(const TensorD& values) {
        double squares = 0.0;
        for (const double value : values.values()) squares += value * value;
        return std::sqrt(squares);
    }
    void put_gradient(ModelRow* row, const TensorD& values, const char* symbol) {
        if (row == nullptr) return;
        const double norm = norm_of(values);
        row->gradient = number(norm);
        row->gradient_share = norm;
        row->gradient_tip = fmt::format("‖∂L/∂{}‖ = {}, L = −ln p({}) = {}", symbol, number(norm),
                                        shown_token(read_->model->answer_text(*read_->target)),
                                        number(read_->gradients->loss));
    }
    void add_gradients(const ModelGradients& made) {
        using S = ModelStage;
        const BlockGradients& block = made.layers[stages_.layer];
        put_gradient(row_of_stage({S::entry_map, S::entry_norm, S::entry, S::embedding}),
                     made.embedded, "X");
        put_gradient(row_of_stage({S::attention_added, S::attention}), block.attention, "Y");
        put_gradient(row_of_stage({S::mlp_added, S::mlp_out}), block.mlp, "F");
        put_gradient(row_of_stage({block_output(read_->model->config())}), block.residual, "X_2");
        for (ModelRow& row : rows_)
            if (row.kind == ModelRowKind::layers)
                put_gradient(&row, made.layers[row.layer].residual, "X_2");
        double largest = 0.0;
        for (const ModelRow& row : rows_) largest = std::max(largest, row.gradient_share);
        for (ModelRow& row : rows_) row.gradient_share /= std::max(largest, 1e-300);
    }

    void add_steps() {
        ModelRow row;
        row.kind = ModelRowKind::stages;
        row.in_layer = true;
        row.role = Role::weight;
        row.name = "Stages of attention";
        row.tip =
            "Queries and keys give scores, softmax makes them weights, and the weights mix "
            "the values.\nClick a stage to go through it in Step.";
        for (const Stage stage : ribbon_stages(state_.document())) {
            const StageInfo& about = info(stage);
            if (stage == Stage::x || stage == Stage::x_kv) continue;
            row.steps.push_back({stage, std::string(about.step),
                                 fmt::format("{}\nClick to see it in Step. Key: W", about.title),
                                 stage == state_.stage});
        }
        if (!row.steps.empty()) rows_.push_back(std::move(row));
    }

    /// The rows that make attention's input, or those that follow its output in the layer, and the answer.
    void mark(ModelPlace place) {
        using S = ModelStage;
        const auto attention =
            std::ranges::find(rows_, std::optional(S::attention), &ModelRow::stage);
        for (auto row = rows_.begin(); row != rows_.end(); ++row) {
            const bool before = row < attention;
            if (place == ModelPlace::output)
                row->marked = row > attention && row->kind != ModelRowKind::heads;
            else
                row->marked =
                    before && row->kind != ModelRowKind::heads && row->kind != ModelRowKind::stages;
        }
    }

    void add_heads(const ModelLayer& layer, const char* name) {
        const Tensor& weights = layer.trace[Stage::weights];
        if (weights.empty()) return;
        ModelRow row;
        row.kind = ModelRowKind::heads;
        row.in_layer = true;
        row.role = Role::weight;
        row.name = name;
        row.tip = "A square is a head: queries down, keys across\nClick to choose the head.";
        row.rows = weights.shape().t;
        row.columns = weights.shape().d;
        for (Index head = 0; head < std::min(weights.shape().h, kMostHeadPictures); ++head) {
            row.pictures.push_back(head_picture(read_, weights.matrix(0, head),
                                                key(2000 + static_cast<std::uint64_t>(head)),
                                                state_.theme));
        }
        rows_.push_back(std::move(row));
    }

    void add_answers() {
        ModelRow row;
        row.kind = ModelRowKind::answers;
        row.name = "Logits and softmax";
        row.tip = std::string(info(ModelStage::probabilities).text);
        row.role = Role::output;
        row.cost = cost_text(*read_, StackPart::end);
        rows_.push_back(std::move(row));
    }

    // ---- bars

    ModelRow* row_of_stage(std::initializer_list<ModelStage> among) {
        for (const ModelStage stage : among)
            for (ModelRow& row : rows_)
                if (row.stage == stage) return &row;
        return nullptr;
    }
    ModelRow* row_of(const LogitPart& part) {
        using S = ModelStage;
        if (part.kind == PartKind::embedding)
            return row_of_stage({S::entry_map, S::entry_norm, S::entry, S::embedding});
        if (part.kind == PartKind::norm_shift || part.kind == PartKind::read_out_bias)
            return !stages_.has(S::final_norm) ? &rows_.back() : row_of_stage({S::final_norm});
        if (part.at.layer == stages_.layer) {
            if (part.kind == PartKind::attention_shift) return row_of_stage({S::norm1});
            if (part.kind == PartKind::mlp_shift) return row_of_stage({S::norm2});
            if (part.kind == PartKind::mlp) return row_of_stage({S::mlp_added, S::mlp_out});
            const auto heads = std::ranges::find(rows_, ModelRowKind::heads, &ModelRow::kind);
            return heads == rows_.end() ? row_of_stage({S::attention}) : &*heads;
        }
        const auto folded = std::ranges::find_if(rows_, [&](const ModelRow& row) {
            return row.kind == ModelRowKind::layers && row.first_layer <= part.at.layer &&
                   part.at.layer <= row.layer;
        });
        return folded == rows_.end() ? nullptr : &*folded;
    }

    /// Of folded layers: the bar that a part joins; null: it begins a new one.
    static ModelBar* joined(ModelRow& row, const LogitPart& part) {
        if (row.kind != ModelRowKind::layers || row.bars.empty()) return nullptr;
        const bool one = row.first_layer == row.layer;
        return one && part.kind == PartKind::mlp ? nullptr : &row.bars.back();
    }

    void add_bars() {
        if (!read_->sum) return;
        double sum = 0.0;
        for (std::size_t n = 0; n < read_->sum->parts.size(); ++n) {
            const LogitPart& part = read_->sum->parts[n];
            const double from = std::exchange(sum, sum + part.value);
            ModelRow* const row = row_of(part);
            if (row == nullptr) continue;
            if (ModelBar* const bar = joined(*row, part)) {
                bar->end = sum;
                continue;
            }
            ModelBar bar{.name = part_name(part),
                         .start = from,
                         .end = sum,
                         .part = static_cast<Index>(n),
                         .layer = part.at.layer};
            if (row->kind == ModelRowKind::layers) {
                bar.part.reset();
                bar.name = row->first_layer != row->layer ? row->name
                           : part.kind == PartKind::mlp
                               ? part_name(part)
                               : fmt::format("attention of layer {}", part.at.layer);
            }
            if (bar.part && part.kind == PartKind::head) bar.head = part.at.head;
            bar.selected = bar.part && model_look(state_).part == bar.part;
            row->bars.push_back(std::move(bar));
        }
        for (ModelRow& row : rows_)
            for (ModelBar& bar : row.bars) {
                bar.text = signed_number(bar.end - bar.start);
                bar.tip = fmt::format("{}\nThe sum goes from {} to {}.", bar.text,
                                      cell_number(bar.start, 2), cell_number(bar.end, 2));
            }
    }

    const AppState& state_;
    const std::shared_ptr<const ModelRead>& read_;
    const ModelStages& stages_;
    const std::uint64_t key_;
    std::vector<ModelRow> rows_;
};

// ---- the matrix that is shown large

std::optional<ModelStage> open_stage(const AppState& state) {
    const ModelRead* const read = shown_model_read(state);
    const auto stage = find_model_stage(model_look(state).stage);
    return read && stage && read->stages.has(*stage) ? stage : std::nullopt;
}

void add_large(const AppState& state, const std::shared_ptr<const ModelRead>& read,
               ModelStage stage, ModelView& view) {
    const Tensor& values = read->stages[stage];
    const auto matrix = values.matrix(0, 0);
    const auto cell = explained_cell(state);
    const ModelStageInfo& about = info(stage);
    view.map_title = about.title;
    view.map_shape = size(matrix.rows, matrix.columns);
    view.map_rows = matrix.rows;
    view.map_columns = matrix.columns;
    if (values.count() > kMostGridCells) {
        view.map = picture_of(read, matrix, about.colors,
                              mix(number_key(*read), 3000 + static_cast<std::uint64_t>(stage)),
                              state.theme, kPictureColumns);
        return;
    }
    Sheet sheet{Stage::x, matrix, view.tokens, {}, about.role, Role::query, about.role};
    const bool answers = stage == ModelStage::logits || stage == ModelStage::probabilities;
    if (answers) sheet.row_labels = {view.tokens[read->stages.row]};
    for (Index c = 0; c < matrix.columns; ++c)
        sheet.column_labels.push_back(answers ? shown_token(read->model->answer_text(c))
                                              : std::to_string(c));
    GridView grid = make_grid(state, sheet, {about.colors, false, {}});
    grid.title = tex_symbol(stage);
    grid.shape = view.map_shape;
    grid.tooltip = std::string(about.title) + "\n" + std::string(about.text);
    grid.editable = false;
    grid.selected.reset();
    if (cell && cell->stage == stage) grid.selected = {cell->row, cell->column};
    grid.focus_row = answers ? 0 : view.token;
    view.grid = std::move(grid);
}

// ---- sentences

double length_of(std::span<const float> row) {
    double squares = 0.0;
    for (const float value : row) squares += double{value} * value;
    return std::sqrt(squares);
}

std::string answer_headline(const AppState& state, const ModelRead& read) {
    const ModelAnswer& best = read.answers.front();
    const std::string p = percent_text(best.probability);
    const attn::ReadOut read_out = read.model->config().family->read_out;
    if (read_out == attn::ReadOut::classes)
        return fmt::format("The model answers {} with probability {}.", in_quotes(best.text), p);
    const std::string token = model_token_text(state, read.stages.row);
    return read_out == attn::ReadOut::next_token
               ? fmt::format("After {} the model predicts {} with probability {}.", token,
                             in_quotes(best.text), p)
               : fmt::format("The model reads {} as {} with probability {}.", token,
                             in_quotes(best.text), p);
}

std::string stream_headline(const AppState& state, const ModelRead& read) {
    const Index token = model_token(state);
    const auto last = read.run->layers.back().residual.matrix(0, 0);
    return fmt::format("The norm of the residual stream of {} changes from {} to {} over {}.",
                       model_token_text(state, token),
                       number(length_of(read.run->embedded.matrix(0, 0).row(token))),
                       number(length_of(last.row(token))),
                       counted(std::ssize(read.run->layers), "layer"));
}

std::string sum_muted(const ModelRead& read) {
    if (!read.sum) return read.no_sum.empty() ? "" : sentence(read.no_sum);
    const auto most = std::ranges::max_element(read.sum->parts, {}, &LogitPart::value);
    return fmt::format("{} adds most: {} to the {}, in total {}.", part_name(*most),
                       signed_number(most->value), sum_name(read), cell_number(read.sum->logit, 2));
}

/// "“it” is routed to expert 3 (62 %), expert 0 (38 %): 32 columns each, in this order."
std::string experts_text(const AppState& state, const ModelRead& read, ModelStage stage) {
    const Index row = model_token(state);
    const Tensor& routing = read.stages[ModelStage::routing];
    std::vector<std::string> experts;
    for (const Index e : taken_experts(routing, row))
        experts.push_back(fmt::format("expert {} ({})", e, percent_text(routing(0, 0, row, e))));
    return fmt::format("{} is routed to {}: {} columns each, in this order.",
                       model_token_text(state, row), fmt::join(experts, ", "),
                       read.stages[stage].shape().d / read.model->config().experts_per_token);
}

std::string gradients_muted(const ModelRead& read) {
    if (!read.gradients) return sentence(read.no_gradients);
    return fmt::format(
        "L = −ln p({}) = {}. Each number is the norm of the gradient of L with respect to a "
        "part's output.",
        shown_token(read.model->answer_text(*read.target)), number(read.gradients->loss));
}

// ---- around attention

/// "+ residual", "norm", "MLP" of the layer after its attention, in the order of computation.
std::vector<std::string> steps_after_attention(const ModelRead& read) {
    using S = ModelStage;
    std::vector<std::string> steps;
    bool after = false;
    for (const S stage : read.stages.order) {
        switch (stage) {
            case S::attention:
                after = true;
                break;
            case S::residual_self:
            case S::residual1:
            case S::residual2:
                if (after) steps.emplace_back("+ residual");
                break;
            case S::norm1:
            case S::norm2:
            case S::cross_norm:
                if (after) steps.emplace_back("norm");
                break;
            case S::attention_added:
            case S::mlp_added:
                steps.emplace_back(rule_of(*read.model, stage, read.stages.layer) == StageRule::norm
                                       ? "norm"
                                       : "scale");
                break;
            case S::cross:
                steps.emplace_back("cross-attention");
                break;
            case S::mlp_out:
                steps.emplace_back(read.stages.has(S::routing) ? "experts" : "MLP");
                break;
            default:
                break;
        }
    }
    return steps;
}

std::string layers_text(Index first, Index last) {
    return first == last ? fmt::format("layer {}", first)
                         : fmt::format("layers {} to {}", first, last);
}

/// The whole way from attention's output to the end of the model.
std::string output_headline(const ModelRead& read) {
    const Index layers = std::ssize(read.run->layers);
    std::vector<std::string> steps;
    if (read.model->config().parallel)
        steps = {"+ residual + MLP of the same input"};
    else
        steps = steps_after_attention(read);
    if (read.stages.layer + 1 < layers)
        steps.push_back(layers_text(read.stages.layer + 1, layers - 1));
    if (read.stages.has(ModelStage::final_norm)) steps.emplace_back("final norm");
    if (!read.answers.empty()) steps.emplace_back("logits → softmax");
    return fmt::format("After attention: {}.", fmt::join(steps, " → "));
}

/// The norm of one token's row of a stage.
std::string norm_text(const Tensor& values, Index row) {
    return number(length_of(values.matrix(0, 0).row(row)));
}

std::string output_muted(const AppState& state, const ModelRead& read) {
    using S = ModelStage;
    const Index row = model_token(state);
    const S added = read.stages.has(S::attention_added) ? S::attention_added : S::attention;
    const S mlp = read.stages.has(S::mlp_added) ? S::mlp_added : S::mlp_out;
    return fmt::format(
        "The vector of {} enters layer {} with norm {}. Attention adds one of norm {}, the MLP one "
        "of norm {}.",
        model_token_text(state, row), read.stages.layer,
        norm_text(residual_into(*read.run, read.stages.layer), row),
        norm_text(read.stages[added], row), norm_text(read.stages[mlp], row));
}

std::string input_headline(const ModelRead& read) {
    using S = ModelStage;
    const ModelStages& stages = read.stages;
    const bool normal = !read.model->config().family->norms_after && stages.has(S::norm1);
    const ModelConfig& config = read.model->config();
    std::string source = config.image              ? "patch embedding + position"
                         : config.sound            ? "convolved spectrogram + position"
                         : stages.has(S::position) ? "token embedding + position"
                                                   : "token embedding";
    if (stages.has(S::entry_norm)) source += ", normalised";
    if (stages.layer > 0) source += fmt::format(", through {}", layers_text(0, stages.layer - 1));
    return fmt::format("X, the input of attention in layer {}: {}{}.", stages.layer, source,
                       normal ? ", then normalised" : "");
}

std::string input_muted(const AppState& state, const ModelRead& read) {
    const Index row = model_token(state);
    const std::string token = model_token_text(state, row);
    if (!read.model->config().reads_text())
        return fmt::format("The vector of {} has {} numbers. Click a matrix to see them.", token,
                           read.model->config().width);
    return fmt::format(
        "{} is token {} of the vocabulary: row {} of the embedding table, with {} numbers.", token,
        read.run->tokens[row].id, read.run->tokens[row].id,
        read.model->weights().embedding.shape().d);
}

void add_sentences(const AppState& state, const ModelRead& read, ModelView& view) {
    if (const auto stage = open_stage(state)) {
        const bool of_layer =
            info(*stage).part == StackPart::attention || info(*stage).part == StackPart::mlp;
        view.headline = std::string(info(*stage).title);
        if (read.model->config().family->norms_after && view.headline.starts_with("Norm before"))
            view.headline.replace(0, std::string_view("Norm before").size(), "Norm after");
        if (of_layer) view.headline += fmt::format(", layer {}", read.stages.layer);
        view.headline += ".";
        view.muted = info(*stage).text;
        const bool of_experts = *stage == ModelStage::mlp_gate ||
                                *stage == ModelStage::mlp_hidden || *stage == ModelStage::mlp_act ||
                                *stage == ModelStage::expert_out;
        if (of_experts && read.stages.has(ModelStage::routing))
            view.muted = experts_text(state, read, *stage);
        return;
    }
    if (view.until && *view.until > 0 && *view.until <= std::ssize(view.rows)) {
        const ModelRow& row = view.rows[*view.until - 1];
        view.headline = sentence(row.name);
        view.muted = row.tip.substr(0, row.tip.find('\n'));
        return;
    }
    if (const auto place = model_place_look(state).place) {
        const bool input = *place == ModelPlace::input;
        view.headline = input ? input_headline(read) : output_headline(read);
        view.muted = input ? input_muted(state, read) : output_muted(state, read);
        return;
    }
    view.headline =
        read.answers.empty() ? stream_headline(state, read) : answer_headline(state, read);
    const std::string unknown = unknown_tokens_text(state);
    view.muted = !unknown.empty()              ? sentence(unknown)
                 : model_look(state).gradients ? gradients_muted(read)
                                               : sum_muted(read);
}

/// "N_1[it, 3]", "p(mat)".
std::string cell_title(const ModelRead& read, const ReturnToCell& cell) {
    const auto stage = find_model_stage(cell.stage);
    if (!stage)
        return cell.answer ? fmt::format("p({})", shown_token(read.model->answer_text(*cell.answer),
                                                              kMostNamed))
                           : std::string("the picture");
    const Index last = std::ssize(read.run->tokens) - 1;
    const auto& token = read.run->tokens[std::clamp<Index>(cell.row.value_or(0), 0, last)];
    return fmt::format("{}[{}, {}]", info(*stage).symbol, shown_token(token.text, kMostNamed),
                       cell.column.value_or(0));
}

void add_sum(const ModelRead& read, ModelView& view) {
    if (!read.sum) return;
    for (const ModelRow& row : view.rows)
        for (const ModelBar& bar : row.bars) {
            view.sum_low = std::min({view.sum_low, bar.start, bar.end});
            view.sum_high = std::max({view.sum_high, bar.start, bar.end});
        }
    view.sum_name = sum_name(read);
    view.sum_text = cell_number(read.sum->logit, 2);
}

// ---- without a model

constexpr Index kContexts[] = {1024, 8192, 131072};

/// "124 M", "8.03 B".
std::string parameters_text(double count) {
    return count >= 1e9 ? significant(count / 1e9, 3) + " B" : significant(count / 1e6, 3) + " M";
}

void add_known(ModelView& view) {
    view.known_parts = {"embedding", "attention", "MLP", "read-out"};
    view.known_caption = "share of QKᵀ and AV in the forward FLOP of one token";
    for (const Index context : kContexts)
        view.known_contexts.push_back(fmt::format("{} k", context / 1024));
    for (const KnownModel& model : known_models()) {
        const KnownParameters counts = parameters_of(model);
        const auto all = static_cast<double>(counts.total());
        KnownModelRow row;
        row.name = model.name;
        row.parameters = parameters_text(all);
        row.tip = fmt::format("{} parameters, {}, width {}, {}\n{}", grouped(counts.total()),
                              counted(model.layers, "layer"), grouped(model.width),
                              counted(model.heads, "head"), model.source);
        for (const Index part : {counts.embedding, counts.attention, counts.mlp, counts.read_out}) {
            row.shares.push_back(static_cast<double>(part) / all);
            row.texts.push_back(parameters_text(static_cast<double>(part)));
        }
        for (const Index context : kContexts) {
            const KnownFlop flop = flop_of(model, context);
            row.pairs.push_back(percent(flop.share_of_pairs()));
            row.tip += fmt::format("\n{}FLOP for one token after {} k tokens, {} in QKᵀ and AV",
                                   compact(flop.total()), context / 1024, row.pairs.back());
        }
        view.known.push_back(std::move(row));
    }
    view.headline = view.can_open ? "Open a model to see it whole. These are five known ones."
                                  : "Parameters of five known models";
    view.muted =
        "Bars: where the parameters are. Columns: the part of one token's forward FLOP "
        "(multiplications and additions) that QKᵀ and AV take, after a context of 1 k, 8 k or "
        "128 k tokens.";
}

}  // namespace

std::string tex_symbol(ModelStage stage) { return std::string(info(stage).symbol); }

std::string part_name(const LogitPart& part) {
    switch (part.kind) {
        case PartKind::embedding:
            return "Embedding";
        case PartKind::head:
            return fmt::format("L{} H{}", part.at.layer, part.at.head);
        case PartKind::attention_bias:
            return fmt::format("Bias of W_O in layer {}", part.at.layer);
        case PartKind::mlp:
            return fmt::format("MLP of layer {}", part.at.layer);
        case PartKind::norm_shift:
            return "Shift of the final norm";
        case PartKind::read_out_bias:
            return "Bias of the classifier";
        case PartKind::attention_shift:
            return fmt::format("Shift of the norm after attention in layer {}", part.at.layer);
        case PartKind::mlp_shift:
            return fmt::format("Shift of the norm after the MLP in layer {}", part.at.layer);
    }
    return {};
}

std::string model_missing_data(const AppState& state) {
    const ModelOrigin* const model = model_of(state.document());
    if (model == nullptr)
        return "Whole model shows a trained model from the tokens to the answer. "
               "Open a model's folder or .gguf file (Ctrl+O).";
    if (!state.document().groups.empty() && group_of(state.document()) == "match")
        return "match compares two towers: choose text or image above to see one of them whole.";
    return {};
}

const ModelRead* current_model_read(const AppState& state) {
    const ModelRead* const read = model_look(state).read.get();
    const ModelOrigin* const model = model_of(state.document());
    if (read == nullptr || model == nullptr) return nullptr;
    const ModelOrigin& of = read->request.model;
    return of.path == model->path && of.text == model->text &&
                   of.second_input == model->second_input
               ? read
               : nullptr;
}

const ModelRead* shown_model_read(const AppState& state) {
    if (const ModelRead* const read = current_model_read(state)) return read;
    const ModelRead* const last = model_look(state).read.get();
    const ModelOrigin* const model = model_of(state.document());
    const bool reads = last && model && requested_model_read(state);
    return reads && last->request.model.path == model->path &&
                   last->request.model.group == requested_model_read(state)->model.group
               ? last
               : nullptr;
}

namespace {

/// A translation that ends in its full stop is over, and the prediction after it is noise: the token before its last word
/// is shown; nullopt: another text.
std::optional<Index> before_the_end(const Document& document) {
    const auto count = std::ssize(document.tokens);
    const bool translates = std::ranges::count(document.tokens, "=") > 0;
    if (count < 3 || !translates || document.tokens.back() != "." || !comes_with_program(document))
        return std::nullopt;
    return count - 3;
}

}  // namespace

std::optional<Index> wanted_row(const AppState& state) {
    const Index answered = state.document().read_out.position;
    if (const std::optional<Index> row = model_look(state).row) return row;
    return answered < 0 ? before_the_end(state.document()) : answered;
}

Index model_token(const AppState& state) {
    const ModelRead* const read = shown_model_read(state);
    if (read == nullptr) return 0;
    const Index last = std::ssize(read->run->tokens) - 1;
    return std::clamp<Index>(wanted_row(state).value_or(last), 0, last);
}

std::string model_token_text(const AppState& state, Index row) {
    const ModelRead* const read = shown_model_read(state);
    return read == nullptr ? std::string() : in_quotes(read->run->tokens[row].text);
}

std::optional<ModelCell> explained_cell(const AppState& state) {
    const ModelLook& look = model_look(state);
    const ModelRead* const read = shown_model_read(state);
    if (read == nullptr) return std::nullopt;
    const auto stage = open_stage(state);
    if (stage && look.column) {
        const Shape shape = read->stages[*stage].shape();
        return ModelCell{*stage, std::min(model_token(state), shape.t - 1),
                         std::clamp<Index>(*look.column, 0, shape.d - 1)};
    }
    const Tensor& p = read->stages[ModelStage::probabilities];
    if (!stage && look.answer && !p.empty())
        return ModelCell{ModelStage::probabilities, 0,
                         std::clamp<Index>(*look.answer, 0, p.shape().d - 1)};
    return std::nullopt;
}

const LogitPart* selected_model_part(const AppState& state) {
    const ModelLook& look = model_look(state);
    const ModelRead* const read = current_model_read(state);
    if (read == nullptr || !look.part || !read->sum || *look.part < 0 ||
        *look.part >= std::ssize(read->sum->parts))
        return nullptr;
    return &read->sum->parts[*look.part];
}

ModelView build_model_view(const AppState& state) {
    ModelView view;
    const ModelLook& look = model_look(state);
    view.missing_data = model_missing_data(state);
    view.can_open = model_of(state.document()) == nullptr;
    view.shows_known = view.can_open || look.known;
    if (view.shows_known) {
        view.missing_data.clear();
        add_known(view);
    }
    if (view.shows_known || !view.missing_data.empty()) return view;
    if (requested_model_read(state))
        view.status = job_status_text(state, "model", "the model reads…");
    const ModelRead* const read = shown_model_read(state);
    view.reads_text = !reads_image(state.document()) && state.document().groups.empty();
    view.layers = std::max<Index>(std::ssize(state.document().layers), 1);
    view.layer = state.document().layer;
    if (read == nullptr) {
        view.missing_data = !look.fault.empty() && !requested_model_read(state)
                                ? look.fault
                                : job_status_text(state, "model", "The model reads the text…");
        return view;
    }
    for (const ModelToken& token : read->run->tokens)
        view.tokens.push_back(shown_token(token.text));
    view.token = model_token(state);
    const auto& shown = look.moving ? look.moving : look.read;
    view.rows = Rows(state, shown).made();
    view.steps = std::ssize(view.rows);
    if (look.until && *look.until < view.steps) view.until = *look.until;
    for (Index n = 0; view.until && n < view.steps; ++n) view.rows[n].computed = n < *view.until;
    const attn::ReadOut read_out = read->model->config().family->read_out;
    view.answers_name = read_out == attn::ReadOut::classes         ? "answer"
                        : read_out == attn::ReadOut::token_classes ? "read as"
                                                                   : "next token";
    for (const ModelAnswer& each : shown->answers)
        view.answers.push_back({each.id, shown_token(each.text), percent(each.probability),
                                each.probability, look.answer == each.id});
    add_sum(*shown, view);
    view.has_difference = read->sum.has_value() && read->answers.size() > 1;
    const LogitPart* const part = selected_model_part(state);
    if (part && part->kind == PartKind::head)
        view.head = fmt::format("Open {} in Heads", part_name(*part));
    view.gradients = read->gradients.has_value();
    view.shown_head = state.head;
    if (const auto before = previous_cell(state)) view.back = cell_title(*read, *before);
    if (const auto stage = open_stage(state)) add_large(state, shown, *stage, view);
    add_sentences(state, *read, view);
    return view;
}

}  // namespace attn::view
