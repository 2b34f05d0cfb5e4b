#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/colormap.h"
#include "app/common/describe.h"
#include "app/common/image.h"
#include "app/common/painter.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"
#include "app/workspaces/heads/state.h"

namespace attn {
struct RgbImage;
}

namespace attn::view {

// The form of a head where tokens are the patches of an image: one row of its weights as a heat map over the picture.

/// How the heat map lies over the picture. Not undone.
struct HeadImageLook {
    double opacity = 0.7;  // of the heat map
    double mass =
        1.0;  // the largest weights on the image that hold this fraction of them; the others are coloured as 0
    bool smooth = false;  // bilinear between the centres of patches
    bool operator==(const HeadImageLook&) const = default;
};
inline void describe(Visitor& visit, HeadImageLook& look) {
    visit("image_opacity", look.opacity,
          {.text = "opacity",
           .tip = "Opacity of the heat map over the picture. 0: the picture alone.",
           .low = 0.0,
           .high = 1.0});
    visit("image_mass", look.mass,
          {.text = "keep",
           .tip = "Colour only the largest weights that together hold this fraction of the weight "
                  "on the image. 1: all.",
           .low = 0.01,
           .high = 1.0});
    visit(
        "image_smooth", look.smooth,
        {.text = "smooth",
         .tip = "Interpolate between the centres of patches. The numbers stay those of patches."});
}
inline constexpr Look<HeadImageLook> head_image_look;

using SetImageOpacity =
    SetField<double, head_image_look, "image_opacity", "set_image_opacity", "opacity">;
using SetImageMass = SetField<double, head_image_look, "image_mass", "set_image_mass", "mass">;
using SetImageSmooth =
    SetField<bool, head_image_look, "image_smooth", "set_image_smooth", "smooth">;

enum class PatchLook : std::uint8_t { number, masked, not_a_number, clipped };

/// A token that belongs to the text around the image.
struct HeadImageToken {
    std::string text;
    std::optional<Index> query, key;  // its number among them
    std::string number;               // "0.31"
    double share = 0.0;               // the length of its bar, 0 to 1
    std::string tooltip;
    bool is_query = false, is_key = false;
};

struct HeadImageView {
    std::string title;  // "L0 H3: keys of “CLS”"
    Index rows = 0, columns = 0;
    std::shared_ptr<const RgbImage> pixels;  // null: not known
    std::uint64_t pixels_key = 0;
    float aspect = 1.0F;  // width over height
    HeadImageLook look;
    ThemeName theme = ThemeName::dark;
    ColorRange range;
    std::vector<float> values;     // of each patch, row by row: what the head gives
    std::vector<PatchLook> looks;  // of each
    double cutoff = 0.0;           // smaller values are coloured as 0
    std::vector<std::string> tooltips;
    std::vector<Index> sinks;                     // patches; see image_sinks()
    std::optional<Index> query, key;              // patches that are selected
    std::optional<Index> first_query, first_key;  // tokens of patch 0; nullopt: no query, or no key
    bool of_keys =
        true;          // the patches' weights are a row; else a column, of patches that are queries
    large::Cell pair;  // selected
    std::optional<large::Cell> hovered;  // a query or a key, the other −1
    std::string tokens_title;            // of their numbers
    std::vector<HeadImageToken> tokens;
    std::vector<Color> ramp;
    std::string low, high, scale;  // of the colour bar
    std::vector<std::string> legend;
};
HeadImageView head_image(const AppState& state, HeadPlace place);

/// The heat map of so many pixels, with the opacity of the look; opaque without a picture. Smooth: the value is bilinear
/// between the centres of patches, and beyond them that of the nearest; near a patch without a number the patch's own.
Image heat_image(const HeadImageView& view, int width, int height);
/// The picture of so many pixels: bicubic; of a very small one its pixels as squares.
Image picture_image(const RgbImage& image, int width, int height);

/// The same as pictures; view.pixels is not null for the first.
Picture base_picture(const HeadImageView& view, int width, int height);
Picture heat_picture(const HeadImageView& view, int width, int height);

/// Patches whose mean weight over all queries is at least this many times that of all patches.
inline constexpr double kSinkFactor = 8.0;
/// Of the means of all patches: which are sinks, m_j ≥ kSinkFactor · (Σ m) / n, the largest first. At most n / kSinkFactor are.
std::vector<Index> image_sinks(std::span<const double> means);

/// The fraction of the shown row that goes to the image, a sentence; "": another form or quantity is shown.
std::string image_point(const AppState& state);
/// A document whose tokens are patches is shown as a picture when it is opened, by the query at its end where the mask is causal.
void show_image_once(AppState& state);
/// Path and group of the document, as show_image_once() compares them.
std::string image_source(const Document& document);

}  // namespace attn::view
