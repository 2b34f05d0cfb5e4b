// What a model of images is given: config.json's sizes and classes, and preprocessor_config.json.

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "core/io/png_image.h"
#include "core/models/config.h"
#include "core/models/config_reader.h"
#include "core/models/family.h"

namespace attn {
namespace {

using nlohmann::json;

/// A side, of two that are equal, or of the shorter; 0: it says something else.
struct DeclaredSize {
    Index side = 0;
    bool keeps_shape = false;
};
DeclaredSize declared_size(const json& size, bool alone_keeps_shape) {
    const auto whole = [](const json& value) {
        constexpr Index kMost = 1 << 14;
        const bool fits = value.is_number_integer() && value >= 1 && value <= kMost;
        return fits ? value.get<Index>() : Index{0};
    };
    if (size.is_number()) return {whole(size), alone_keeps_shape};
    if (size.is_array() && size.size() == 2 && size[0] == size[1]) return {whole(size[0]), false};
    if (!size.is_object()) return {};
    if (size.size() == 1 && size.contains("shortest_edge"))
        return {whole(size["shortest_edge"]), true};
    const bool square = size.size() == 2 && size.contains("height") && size.contains("width") &&
                        size["height"] == size["width"];
    return square ? DeclaredSize{whole(size["height"]), false} : DeclaredSize{};
}

/// What becomes of an image's sides. Refused: what would give the model other pixels, and is not computed here.
void read_resizing(ConfigReader& reader, ImageInput& image) {
    if (!reader.flag("do_resize", true))
        reader.complain("has 'do_resize' = false; expected true: every image is resized here");
    if (const json* resample = reader.find({"resample"})) {  // Pillow's numbers
        if (*resample != 2 && *resample != 3)
            reader.wrong(*resample,
                         "2, bilinear, or 3, bicubic: no other way of resizing is computed here");
        image.resampling = *resample == 3 ? Resampling::bicubic : Resampling::bilinear;
    }
    const bool cut = reader.flag("do_center_crop", image.keeps_shape);
    if (const json* size = reader.find({"size"})) {
        const DeclaredSize stated = declared_size(*size, image.keeps_shape);
        if (stated.side == 0 || (cut ? stated.side < image.size : stated.side != image.size))
            reader.wrong(*size, fmt::format("{}{}, which config.json has as 'image_size'",
                                            image.size, cut ? " or more" : ""));
        image.resized = stated.side;
        image.keeps_shape = stated.keeps_shape;
    }
    if (image.keeps_shape && !cut)
        reader.complain("has 'do_center_crop' = false; expected true: the model takes a square");
    if (const json* crop = reader.find({"crop_size"}); crop != nullptr && cut)
        if (const DeclaredSize stated = declared_size(*crop, false);
            stated.side != image.size || stated.keeps_shape)
            reader.wrong(*crop,
                         fmt::format("{}, which config.json has as 'image_size'", image.size));
}

}  // namespace

void read_class_names(ConfigReader& reader, std::map<Index, std::string>& classes) {
    const json* found = reader.find({"id2label"});
    if (found == nullptr) return;
    constexpr std::string_view kExpected =
        "an object that names classes by number: {\"0\": \"cat\"}";
    if (!found->is_object()) return reader.wrong(*found, kExpected);
    for (const auto& each : found->items()) {
        const std::string& key = each.key();
        Index id = -1;
        const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (fault != std::errc() || end != key.data() + key.size() || id < 0 ||
            !each.value().is_string())
            return reader.wrong(*found, kExpected);
        classes[id] = each.value().get<std::string>();
    }
}

void read_image(ConfigReader& reader, ModelConfig& config) {
    if (!config.family->reads_images) return;
    ImageInput image;
    image.size = reader.need_size({"image_size"});
    image.patch = reader.need_size({"patch_size"});
    image.channels = reader.size({"num_channels"}).value_or(3);
    if (!config.family->names.register_tokens.empty())
        image.registers = reader.whole({"num_register_tokens"}).value_or(4);
    const TensorNames& names = config.family->names;
    image.leading = (names.class_token.empty()          ? 0
                     : names.distillation_token.empty() ? 1
                                                        : 2) +
                    image.registers;
    constexpr Index kMostSide = 4096;  // so that pixels are 200 MB at most, whatever a file says
    if (image.size > kMostSide)
        reader.complain(
            fmt::format("has 'image_size' = {}; expected at most {}", image.size, kMostSide));
    if (image.patch > image.size)
        reader.complain(fmt::format("has 'patch_size' = {}; expected at most 'image_size' = {}",
                                    image.patch, image.size));
    if (image.channels != 1 && image.channels != 3) {
        reader.complain(fmt::format("has 'num_channels' = {}; expected 1 or 3", image.channels));
        image.channels = 3;
    }
    image.mean.assign(image.channels, 0.5);
    image.deviation = image.mean;
    if (config.family->read_out == ReadOut::projected || config.image_prompt) {
        image.resampling = Resampling::bicubic;          // as CLIPImageProcessor has them
        image.keeps_shape = !names.class_token.empty();  // and SiglipImageProcessor has not
        image.resized = image.size;
        if (image.keeps_shape && image.channels == 3) {
            image.mean = {0.48145466, 0.4578275, 0.40821073};
            image.deviation = {0.26862954, 0.26130258, 0.27577711};
        }
    }
    read_class_names(reader, image.classes);
    config.image = std::move(image);
}

Result<ImageInput> parse_image_preparation(std::string_view text, std::string_view where,
                                           ImageInput image) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is not a JSON object", where));
    ConfigReader reader(*parsed, where);
    read_resizing(reader, image);
    image.has_preparation = true;
    image.factor =
        reader.flag("do_rescale", true) ? reader.positive({"rescale_factor"}, 1.0 / 255.0) : 1.0;
    constexpr double kAny = -std::numeric_limits<double>::infinity();
    image.mean = reader.channels("image_mean", image.mean, kAny);
    image.deviation = reader.channels("image_std", image.deviation, 0.0);
    if (!reader.flag("do_normalize", true)) {
        image.mean.assign(image.mean.size(), 0.0);
        image.deviation.assign(image.deviation.size(), 1.0);
    }
    if (auto valid = reader.finish(); !valid) return tl::unexpected(valid.error());
    return image;
}

}  // namespace attn
