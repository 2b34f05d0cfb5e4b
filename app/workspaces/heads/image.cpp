#include "app/workspaces/heads/image.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/image_tokens.h"
#include "app/common/document/place.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/io/png_image.h"
#include "core/rng.h"

namespace attn::view {
namespace {

constexpr int kRampColors = 256;
constexpr std::size_t kMostNamedSinks = 4;
constexpr float kMostAspect = 5.0F;  // longer ones, as spectrograms, are stretched

/// The patches, and the row or column that is looked at.
struct SeenImage {
    ImageTokens tokens;
    std::optional<ImageTokens> queries, keys;
    Index query = 0, key = 0;  // pointed at, else selected
    bool of_keys() const { return keys.has_value(); }
};
std::optional<SeenImage> seen_image(const AppState& state, MatrixView<const float> values) {
    SeenImage seen;
    seen.queries = image_queries(state);
    seen.keys = image_keys(state);
    if (!seen.queries && !seen.keys) return std::nullopt;
    seen.tokens = seen.keys ? *seen.keys : *seen.queries;
    const HeadsLook& look = heads_look(state);
    const auto hovered = look.hovered_pair;
    const Index query = hovered && hovered->row >= 0 ? hovered->row : look.pair.row;
    const Index key = hovered && hovered->column >= 0 ? hovered->column : look.pair.column;
    seen.query = std::clamp<Index>(query, 0, values.rows - 1);
    seen.key = std::clamp<Index>(key, 0, values.columns - 1);
    return seen;
}

/// Of patch n.
large::Cell cell_of(const SeenImage& seen, Index n) {
    return seen.of_keys() ? large::Cell{seen.query, seen.keys->first + n}
                          : large::Cell{seen.queries->first + n, seen.key};
}

PatchLook look_of(const HeadMatrix& matrix, const HeadColors& colors, large::Cell cell) {
    if (colors.is_clipped(cell.column)) return PatchLook::clipped;
    if (!std::isfinite(matrix.values(cell.row, cell.column))) return PatchLook::not_a_number;
    return matrix.may(cell.row, cell.column) ? PatchLook::number : PatchLook::masked;
}

std::string value_text(PatchLook look, double value) {
    if (look == PatchLook::masked) return "masked";
    return look == PatchLook::clipped ? cell_number(value, 4) + ", clipped" : cell_number(value, 4);
}

/// "patch 4,7"; “cat” of the text.
std::string token_name(const AppState& state, Axis axis, const std::optional<ImageTokens>& image,
                       Index n) {
    const std::string label = axis_label(state, axis, n);
    return image && image->contains(n) ? fmt::format("patch {}", label)
                                       : fmt::format("“{}”", label);
}

/// The sizes of the patches' numbers, largest first, up to a fraction of their sum: the least of them. Equal ones have the same colour.
double cutoff_of(const HeadImageView& view) {
    if (view.look.mass >= 1.0) return 0.0;
    std::vector<double> sizes;
    for (std::size_t n = 0; n < view.values.size(); ++n)
        if (view.looks[n] == PatchLook::number && std::isfinite(view.values[n]))
            sizes.push_back(std::abs(double{view.values[n]}));
    std::ranges::sort(sizes, std::greater{});
    const double all = std::reduce(sizes.begin(), sizes.end());
    double sum = 0.0;
    for (const double size : sizes)
        if (sum += size; sum >= view.look.mass * all) return size;
    return 0.0;
}

void add_patches(const AppState& state, const SeenImage& seen, const HeadMatrix& matrix,
                 const HeadColors& colors, HeadImageView& view) {
    double largest = 0.0;
    for (Index n = 0; n < seen.tokens.count(); ++n) {
        const large::Cell cell = cell_of(seen, n);
        const float value = matrix.values(cell.row, cell.column);
        view.values.push_back(value);
        view.looks.push_back(look_of(matrix, colors, cell));
        if (view.looks.back() == PatchLook::number && std::isfinite(value))
            largest = std::max(largest, std::abs(double{value}));
        view.tooltips.push_back(
            fmt::format("{}: {}",
                        seen.of_keys() ? token_name(state, Axis::query, seen.queries, seen.query)
                                       : token_name(state, Axis::key, seen.keys, seen.key),
                        value_text(view.looks.back(), value)));
    }
    const bool sign = colors.range.scale != ColorScale::unit;
    view.range = colors.range;
    view.range.high = largest > 0.0 ? largest : 1.0;
    view.range.low = sign ? -view.range.high : 0.0;
    view.range = with_look(view.range, color_look(state));
    view.cutoff = cutoff_of(view);
}

constexpr double kRoundedSum = 1e-4;  // by which a sum of weights may exceed 1

/// A weight in [0, 1] has a bar.
void set_token_number(HeadImageToken& word, double value, bool allowed) {
    word.number = allowed ? cell_number(value, 2) : "–";
    word.share = allowed && value >= 0.0 && value <= 1.0 + kRoundedSum ? std::min(value, 1.0) : 0.0;
}

/// Of a query's row, on the patches; nullopt where one is not finite.
std::optional<double> weight_on_image(MatrixView<const float> values, const ImageTokens& keys,
                                      Index query) {
    double sum = 0.0;
    for (Index n = 0; n < keys.count(); ++n) sum += double{values(query, keys.first + n)};
    return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

void add_text_tokens(const AppState& state, const SeenImage& seen, const HeadMatrix& matrix,
                     HeadImageView& view) {
    const auto& values = matrix.values;
    const bool to_patch =
        view.hovered && view.hovered->column >= 0 && seen.keys && seen.keys->contains(seen.key);
    const bool same = seen.queries && seen.keys && values.rows == values.columns;
    const bool are_queries = seen.of_keys();  // text tokens; else they are keys
    const Axis axis = are_queries && !same ? Axis::query : Axis::key;
    const auto& image = axis == Axis::query ? seen.queries : seen.keys;
    const Index count = axis == Axis::query ? values.rows : values.columns;
    const auto labels = axis_labels(state, axis, count);
    view.tokens_title =
        to_patch ? fmt::format("weights to {}", token_name(state, Axis::key, seen.keys, seen.key))
        : are_queries && !same ? "weight on the image"
                               : fmt::format("weights of {}", token_name(state, Axis::query,
                                                                         seen.queries, seen.query));
    for (Index n = 0; n < count; ++n) {
        if (image && image->contains(n)) continue;
        HeadImageToken word;
        word.text = labels[n];
        if (are_queries) word.query = n;
        if (!are_queries || same) word.key = n;
        if (to_patch)
            set_token_number(word, values(n, seen.key), matrix.may(n, seen.key));
        else if (word.key)
            set_token_number(word, values(seen.query, n), matrix.may(seen.query, n));
        else if (const auto sum = weight_on_image(values, *seen.keys, n))
            set_token_number(word, *sum, true);
        else
            word.number = "NaN";
        if (const auto sum = word.query ? weight_on_image(values, *seen.keys, n) : std::nullopt)
            word.tooltip =
                fmt::format("Σ over the image: {}. Click to show the weights of this token",
                            cell_number(*sum, 4));
        else if (!word.query)
            word.tooltip = "Click to show which patches attend to this token";
        word.is_query = word.query && *word.query == seen.query;
        word.is_key = !are_queries && n == seen.key;
        view.tokens.push_back(std::move(word));
    }
}

/// Of the patches as keys, over all queries; empty: not known.
std::vector<double> patch_means(const AppState& state, HeadPlace place, const ImageTokens& keys) {
    const HeadsShown& shown = *heads_look(state).shown;
    const auto n =
        static_cast<std::size_t>(shown.of.result->find(place) - shown.of.result->heads.data());
    const std::vector<double>& means = shown.keys->means[n];
    if (std::ssize(means) < keys.first + keys.count()) return {};
    return {means.begin() + keys.first, means.begin() + keys.first + keys.count()};
}

std::string sink_text(const HeadImageView& view, std::span<const double> means) {
    if (view.sinks.empty()) return {};
    const double mean = std::reduce(means.begin(), means.end()) / static_cast<double>(means.size());
    const auto name = [&](Index n) {
        const Index row = n / view.columns, column = n % view.columns;
        const bool border =
            row == 0 || column == 0 || row == view.rows - 1 || column == view.columns - 1;
        return fmt::format("{}{}", patch_name(row, column), border ? " at the border" : "");
    };
    std::string names;
    for (std::size_t n = 0; n < std::min(view.sinks.size(), kMostNamedSinks); ++n)
        names += (n == 0 ? "" : ", ") + name(view.sinks[n]);
    if (view.sinks.size() > kMostNamedSinks)
        names += fmt::format(" and {} more", view.sinks.size() - kMostNamedSinks);
    if (view.sinks.size() > 1)
        return fmt::format("sinks, at least {} times the patches' mean over all queries: {}",
                           kSinkFactor, names);
    const double ratio = means[view.sinks.front()] / mean;
    return fmt::format("sink: patch {}, {} times the patches' mean over all queries", names,
                       ratio < 100.0 ? significant(ratio, 2) : grouped(std::lround(ratio)));
}

void add_legend(const HeadsLook& look, std::span<const double> means, HeadImageView& view) {
    view.low = view.range.scale == ColorScale::unit ? "0" : legend_tick(view.range.low);
    view.high = legend_tick(view.range.high);
    const char* const curve = view.range.scale != ColorScale::unit ? ""
                              : look.curve == ColorCurve::log      ? ", log"
                              : look.curve == ColorCurve::linear   ? ", linear"
                                                                   : ", √";
    view.scale = fmt::format("{}{}", view.of_keys ? "this row on the image" : "this column", curve);
    for (int n = 0; n < kRampColors; ++n)
        view.ramp.push_back(color_at(view.range.scale, static_cast<double>(n) / (kRampColors - 1),
                                     view.theme, view.range.map));
    std::string line = fmt::format("{} patches", size(view.rows, view.columns));
    if (view.pixels)
        line += fmt::format(" over {} pixels", size(view.pixels->height, view.pixels->width));
    if (view.cutoff > 0.0)
        line += fmt::format("; weights under {} are coloured as 0", tick(view.cutoff));
    if (std::ranges::count(view.looks, PatchLook::clipped) > 0)
        line += "; clipped keys have a separate colour";
    view.legend.push_back(std::move(line));
    if (std::string sinks = sink_text(view, means); !sinks.empty())
        view.legend.push_back(std::move(sinks));
}

/// Column and row of the patch under a pixel, and how far on to the next of those between whose centres it lies.
struct Between {
    Index low = 0, high = 0, nearest = 0;
    double part = 0.0;
};
Between between(int pixel, int pixels, Index patches) {
    const double at = (pixel + 0.5) / pixels * static_cast<double>(patches);
    Between place;
    place.nearest = std::clamp<Index>(static_cast<Index>(at), 0, patches - 1);
    const double from = std::clamp(at - 0.5, 0.0, static_cast<double>(patches - 1));
    place.low = static_cast<Index>(from);
    place.high = std::min(place.low + 1, patches - 1);
    place.part = from - static_cast<double>(place.low);
    return place;
}

float aspect_of(const HeadImageView& view) {
    const Index width = view.pixels ? view.pixels->width : view.columns;
    const Index height = view.pixels ? view.pixels->height : view.rows;
    return std::clamp(static_cast<float>(width) / static_cast<float>(height), 1.0F / kMostAspect,
                      kMostAspect);
}

std::uint64_t picture_key(std::uint64_t content, std::uint64_t kind, int width, int height) {
    return mix(mix(content, kind),
               static_cast<std::uint64_t>(width) << 32 | static_cast<std::uint64_t>(height));
}

std::string placed(const HeadImageView& view, Index n) {
    return fmt::format("row {}, column {}", n / view.columns, n % view.columns);
}

/// The patches with the largest number.
std::vector<Index> largest_patches(std::span<const float> values) {
    const float largest = *std::ranges::max_element(values);
    std::vector<Index> found;
    for (Index n = 0; n < std::ssize(values); ++n)
        if (values[n] == largest) found.push_back(n);
    return found;
}

std::string row_point(const std::string& who, std::span<const float> row,
                      const HeadImageView& view) {
    double all = 0.0, image = 0.0;
    for (const float weight : row) {
        if (std::isnan(weight)) return fmt::format("Some weights of {} are NaN.", who);
        if (!(weight >= 0.0F) || std::isinf(weight)) return {};
        all += double{weight};
    }
    for (const float weight : view.values) image += double{weight};
    if (all == 0.0) return fmt::format("{} has no weight on any key.", who);
    if (image == 0.0) return fmt::format("{} gives no weight to the image.", who);
    const std::string given =
        fmt::format("{} gives {} of its weight to the image", who, percent_text(image / all));
    if (view.values.size() == 1) return fmt::format("{}, which is one patch.", given);
    const auto most = largest_patches(view.values);
    const std::string each = percent_text(view.values[most.front()] / all);
    if (most.size() == view.values.size()) return fmt::format("{}, {} to each patch.", given, each);
    if (most.size() > 1)
        return fmt::format("{}, most ({} each) to {} patches.", given, each, most.size());
    return fmt::format("{}, most ({}) to {}.", given, each, placed(view, most.front()));
}

std::string column_point(const std::string& who, const HeadImageView& view) {
    for (const float weight : view.values) {
        if (std::isnan(weight)) return fmt::format("Some weights on {} are NaN.", who);
        if (!(weight >= 0.0F) || std::isinf(weight)) return {};
    }
    const auto most = largest_patches(view.values);
    const double largest = view.values[most.front()];
    if (largest == 0.0) return fmt::format("No patch gives weight to {}.", who);
    if (most.size() == view.values.size())
        return fmt::format("Each patch gives a weight of {} to {}.", percent_text(largest), who);
    if (most.size() > 1)
        return fmt::format("{} patches give the same largest weight to {}: {}.", most.size(), who,
                           percent_text(largest));
    return fmt::format("The patch at {} gives the largest weight to {}: {}.",
                       placed(view, most.front()), who, percent_text(largest));
}

std::string capital(std::string text) {
    if (text.starts_with("patch")) text.front() = 'P';
    return text;
}

}  // namespace

std::vector<Index> image_sinks(std::span<const double> means) {
    std::vector<Index> sinks;
    const double sum = std::reduce(means.begin(), means.end());
    for (Index n = 0; n < std::ssize(means); ++n)
        if (means[n] > 0.0 && means[n] * static_cast<double>(means.size()) >= kSinkFactor * sum)
            sinks.push_back(n);
    std::ranges::stable_sort(sinks, std::greater{}, [&](Index n) { return means[n]; });
    return sinks;
}

HeadImageView head_image(const AppState& state, HeadPlace place) {
    const HeadsLook& look = heads_look(state);
    const HeadMatrix matrix = head_matrix(*look.result, look.show, place);
    const HeadColors colors = head_colors(look, place, color_look(state));
    HeadImageView view;
    const auto seen = seen_image(state, matrix.values);
    if (!seen) return view;
    view.rows = seen->tokens.rows;
    view.columns = seen->tokens.columns;
    view.of_keys = seen->of_keys();
    if (seen->queries) view.first_query = seen->queries->first;
    if (seen->keys) view.first_key = seen->keys->first;
    view.look = head_image_look(state);
    view.theme = state.theme;
    view.pair = look.pair;
    view.hovered = look.hovered_pair;
    view.title =
        fmt::format("{}: {} {}", shown_name(look.show, place),
                    !view.of_keys                    ? "patches that look at"
                    : look.show == HeadShow::rollout ? "sources of"
                                                     : "keys of",
                    view.of_keys ? token_name(state, Axis::query, seen->queries, seen->query)
                                 : token_name(state, Axis::key, seen->keys, seen->key));
    if (const auto& pixels = state.document().image) {
        view.pixels = pixels;
        view.pixels_key =
            hash_text({reinterpret_cast<const char*>(pixels->rgb.data()), pixels->rgb.size()});
    }
    view.aspect = aspect_of(view);
    add_patches(state, *seen, matrix, colors, view);
    add_text_tokens(state, *seen, matrix, view);
    if (seen->queries && seen->queries->contains(seen->query))
        view.query = seen->query - seen->queries->first;
    if (seen->keys && seen->keys->contains(seen->key)) view.key = seen->key - seen->keys->first;
    std::vector<double> means;
    if (seen->keys && matrix.values.rows > 1) means = patch_means(state, place, *seen->keys);
    view.sinks = image_sinks(means);
    add_legend(look, means, view);
    return view;
}

Image heat_image(const HeadImageView& view, int width, int height) {
    const Theme& colors = theme(view.theme);
    const double opacity = view.pixels ? view.look.opacity : 1.0;
    Image image{width, height, {}};
    image.rgba.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
    const auto special = [&](PatchLook look) {
        if (look == PatchLook::masked) return colors.masked;
        return look == PatchLook::clipped ? clipped_color(view.theme) : colors.nan;
    };
    std::vector<Between> across;
    for (int x = 0; x < width; ++x) across.push_back(between(x, width, view.columns));
    for (int y = 0; y < height; ++y) {
        const Between down = between(y, height, view.rows);
        for (const Between& at : across) {
            const auto value = [&](Index row, Index column) {
                return double{view.values[row * view.columns + column]};
            };
            const auto is_number = [&](Index row, Index column) {
                return view.looks[row * view.columns + column] == PatchLook::number;
            };
            Color color;
            if (!is_number(down.nearest, at.nearest)) {
                color = special(view.looks[down.nearest * view.columns + at.nearest]);
            } else {
                const double own = value(down.nearest, at.nearest);
                double shown = own;
                if (view.look.smooth && is_number(down.low, at.low) &&
                    is_number(down.low, at.high) && is_number(down.high, at.low) &&
                    is_number(down.high, at.high))
                    shown = std::lerp(
                        std::lerp(value(down.low, at.low), value(down.low, at.high), at.part),
                        std::lerp(value(down.high, at.low), value(down.high, at.high), at.part),
                        down.part);
                if (std::abs(own) < view.cutoff) shown = 0.0;
                const double position = position_of(view.range, shown);
                color = view.ramp[static_cast<std::size_t>(
                    std::lround(position * static_cast<double>(view.ramp.size() - 1)))];
            }
            color = translucent(color, opacity);
            image.rgba.insert(image.rgba.end(), {color.r, color.g, color.b, color.a});
        }
    }
    return image;
}

Image picture_image(const RgbImage& image, int width, int height) {
    constexpr Index kSquares = 8;  // pixels of the screen for one of the image
    Image made{width, height, {}};
    const bool squares = width >= kSquares * image.width;
    const RgbImage resized =
        squares ? RgbImage{} : resized_image(image, width, height, Resampling::bicubic);
    for (Index y = 0; y < height; ++y)
        for (Index x = 0; x < width; ++x) {
            const std::uint8_t* const from =
                squares ? &image.rgb[3 * (y * image.height / height * image.width +
                                          x * image.width / width)]
                        : &resized.rgb[3 * (y * width + x)];
            made.rgba.insert(made.rgba.end(), {from[0], from[1], from[2], 255});
        }
    return made;
}

Picture base_picture(const HeadImageView& view, int width, int height) {
    return {picture_key(view.pixels_key, 1, width, height), [pixels = view.pixels, width, height] {
                return picture_image(*pixels, width, height);
            }};
}

Picture heat_picture(const HeadImageView& view, int width, int height) {
    const auto bytes = [](const auto& list) {
        return std::string_view(reinterpret_cast<const char*>(list.data()),
                                list.size() * sizeof(list.front()));
    };
    std::uint64_t key = mix(hash_text(bytes(view.values)), hash_text(bytes(view.looks)));
    key = mix(key, hash_text(bytes(view.ramp)));
    key = mix(key, hash_text(fmt::format(
                       "{} {} {} {} {} {} {} {} {}", view.rows, view.columns, view.look.opacity,
                       view.look.smooth, view.cutoff, view.range.low, view.range.high,
                       static_cast<int>(view.range.curve), view.pixels != nullptr)));
    return {picture_key(key, 2, width, height),
            [view, width, height] { return heat_image(view, width, height); }};
}

std::string image_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (look.form != HeadForm::text || look.show != HeadShow::weights || !look.shown) return {};
    const HeadPlace here = head_here(state);
    if (look.result->find(here) == nullptr || !undefined_text(state, {here}).empty() ||
        !has_image_tokens(state))
        return {};
    const auto weights = look.result->weights(here);
    const auto seen = seen_image(state, weights);
    HeadImageView view;
    view.rows = seen->tokens.rows;
    view.columns = seen->tokens.columns;
    for (Index n = 0; n < seen->tokens.count(); ++n) {
        const large::Cell cell = cell_of(*seen, n);
        view.values.push_back(weights(cell.row, cell.column));
    }
    if (seen->of_keys())
        return row_point(capital(token_name(state, Axis::query, seen->queries, seen->query)),
                         weights.row(seen->query), view);
    return column_point(token_name(state, Axis::key, seen->keys, seen->key), view);
}

std::string image_source(const Document& document) {
    if (const ModelOrigin* const model = model_of(document))
        return fmt::format("{} {}", model->path, model->group);
    const auto* const file = std::get_if<FileOrigin>(&document.origin);
    return file == nullptr ? document.title : file->path;
}

void show_image_once(AppState& state) {
    const std::string path = image_source(state.document());
    if (heads_look(std::as_const(state)).imaged == path) return;
    HeadsLook& look = heads_look(state);
    look.imaged = path;
    const auto keys = image_keys(state);
    if (!keys && !image_queries(state)) {
        if (look.form == HeadForm::text && look.form_of_image) look.form = HeadForm::matrix;
        look.form_of_image = false;
        return;
    }
    if (look.form != HeadForm::matrix) return;
    look.form = HeadForm::text;
    look.form_of_image = true;
    const Dimensions& size = state.document().size;
    if (look.pair == large::Cell{} && keys && state.document().spec.mask.causal)
        look.pair.row = size.tq - 1;
}

}  // namespace attn::view
