// attnscope lens: the next token as each layer has it, and what each head and MLP adds to a logit.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/interventions.h"
#include "app/cli/model_text.h"
#include "app/cli/subcommands.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "core/models/interventions.h"
#include "core/models/lens.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kLensName = "attnscope lens";
constexpr std::size_t kShown = 5;

struct LensOptions {
    ModelText model;
    std::string at, token, against, off;
    bool json = false;
};

constexpr std::string_view kLensFooter =
    "For each layer: final norm and unembedding of the residual (nostalgebraist 2020), the most "
    "likely tokens, p and rank of TOKEN (0: the most likely).\nThen TOKEN's logit before any "
    "soft cap, or its difference to AGAINST's, as a sum of parts (Elhage et al. 2021): the "
    "embedding,\neach head through its rows of W_O, each b_O, each MLP, the shift of the final "
    "norm. The norms are frozen: each has the factor of\nthis position. residue: the rounding "
    "error of the sum.\n\n"
    "Examples:\n"
    "  attnscope lens ~/models/gpt2 --text \"The cat sat on the\"\n"
    "  attnscope lens ~/models/gpt2 --text \"The cat sat on the\" --token \" mat\" --against \" "
    "dog\" --off 5.1\n";

void declare_lens(CLI::App& app, LensOptions& options) {
    add_model_text_or_image(app, options.model);
    add_number(app, "--at", options.at, "POSITION", files::whole_numbers(0, files::kMostPosition),
               "position of the prediction, from 0; default the last");
    add_value(app, "--token", options.token, "A",
              "a token, or its number as #17; default the most likely");
    add_value(app, "--against", options.against, "B", "subtract the logit of B from that of A");
    add_value(app, "--off", options.off, "LAYER.HEAD,..", "heads of the model to switch off");
    app.add_flag("--json", options.json, "as JSON");
    app.footer(std::string(kLensFooter));
}

/// What is shown.
struct Seen {
    Lens lens;
    LogitAttribution parts;
    std::optional<double> without;  // the logit with no head switched off
};

Seen see(const LensOptions& options, const OpenedText& text) {
    const Model& model = *text.model;
    const Backend& backend = *find_backend("staged");
    const Interventions off{parse_interventions(options.off, {}, {}).off, {}, {}};
    const Index row = options.at.empty() ? std::ssize(text.tokens) - 1
                                         : files::parse_whole_number({"--at", options.at});
    const auto token = [&](const std::string& description) {
        return description.empty() ? std::optional<Index>()
                                   : or_throw(model.token_named(description));
    };
    const auto against = token(options.against);
    const ModelRun run =
        or_throw(model.run(text.tokens, backend, attribution_stages(), {}, off, LogitRows::last));
    Seen seen;
    seen.lens = or_throw(logit_lens(model, run, row, token(options.token), kShown));
    seen.parts = or_throw(attribute_logit(model, run, row, seen.lens.token, against));
    if (off.empty()) return seen;
    const ModelRun before =
        or_throw(model.run(text.tokens, backend, attribution_stages(), {}, {}, LogitRows::last));
    seen.without = or_throw(attribute_logit(model, before, row, seen.lens.token, against)).logit;
    return seen;
}

std::string layer_name(Index layer) {
    return layer < 0 ? "embedding" : fmt::format("layer {}", layer);
}

std::string lens_table(const Model& model, const Lens& lens) {
    std::string text = fmt::format("{:<10} {:>9} {:>7}  likeliest\n", "after", "p", "rank");
    for (const LensLayer& layer : lens.layers) {
        text += fmt::format("{:<10} {:>9} {:>7} ", layer_name(layer.layer),
                            view::percent(layer.probability), layer.rank);
        for (const TokenShare& share : layer.best)
            text += fmt::format("{} {} {}", &share == layer.best.data() ? "" : ",",
                                model.shown(share.id), view::percent(share.probability));
        text += '\n';
    }
    return text;
}

/// A line a layer: the heads from 0 on, b_O, MLP.
std::string parts_table(const Model& model, const LogitAttribution& parts) {
    std::string text = fmt::format("{:<10}", "part");
    for (Index head = 0; head < model.config().heads; ++head)
        text += fmt::format(" {:>8}", fmt::format("head {}", head));
    text += fmt::format(" {:>8} {:>8}", "b_O", "MLP");
    Index layer = -1;
    std::string bias;
    for (const LogitPart& part : parts.parts) {
        const std::string value = fmt::format(" {:>8.4f}", part.value);
        if (part.kind == PartKind::embedding || part.kind == PartKind::norm_shift)
            text += fmt::format(
                "\n{:<10}{}", part.kind == PartKind::embedding ? "embedding" : "norm shift", value);
        else if (std::exchange(layer, part.at.layer) != part.at.layer)
            text += fmt::format("\n{:<10}", layer_name(layer)), bias = fmt::format(" {:>8}", "-");
        if (part.kind == PartKind::head) text += value;
        if (part.kind == PartKind::attention_bias) bias = value;
        if (part.kind == PartKind::mlp) text += bias + value;
    }
    return text + fmt::format("\nsum {:.6g}, residue {:.2g}\n", parts.sum, parts.residue());
}

std::string as_text(const Model& model, const OpenedText& text, const Seen& seen) {
    const auto at = static_cast<std::size_t>(seen.lens.row);
    const std::string token = token_description(model, seen.lens.token);
    const std::string logit = seen.parts.against
                                  ? fmt::format("logit of {} − logit of {}", token,
                                                token_description(model, *seen.parts.against))
                                  : fmt::format("logit of {}", token);
    std::string stated =
        fmt::format("after {} at position {}: {}\n", text.tokens[at].text, at, token);
    stated += lens_table(model, seen.lens);
    stated +=
        fmt::format("{}{}: {:.6g}", logit, model.config().logit_cap ? ", before the soft cap" : "",
                    seen.parts.logit);
    if (seen.without) stated += fmt::format("; with every head on {:.6g}", *seen.without);
    return stated + '\n' + parts_table(model, seen.parts);
}

std::string_view part_key(PartKind kind) {
    constexpr std::string_view keys[] = {
        "embedding",       "head",     "b_O", "mlp", "norm_shift", "read_out_bias",
        "attention_shift", "mlp_shift"};
    return keys[static_cast<std::size_t>(kind)];
}

ordered_json as_json(const Model& model, const Seen& seen) {
    const auto named = [&](Index id) {
        return ordered_json{{"id", id}, {"token", model.shown(id)}};
    };
    ordered_json all{{"position", seen.lens.row}, {"token", named(seen.lens.token)}};
    all["against"] = seen.parts.against ? named(*seen.parts.against) : ordered_json();
    for (const LensLayer& layer : seen.lens.layers) {
        ordered_json best = ordered_json::array();
        for (const TokenShare& share : layer.best) {
            best.push_back(named(share.id));
            best.back()["p"] = share.probability;
        }
        all["layers"].push_back({{"layer", layer.layer},
                                 {"logit", layer.logit},
                                 {"p", layer.probability},
                                 {"rank", layer.rank},
                                 {"best", std::move(best)}});
    }
    all["logit"] = seen.parts.logit;
    if (seen.without) all["logit_with_every_head"] = *seen.without;
    all["sum"] = seen.parts.sum;
    all["residue"] = seen.parts.residue();
    for (const LogitPart& part : seen.parts.parts) {
        ordered_json one{{"part", part_key(part.kind)}};
        if (part.at.layer >= 0) one["layer"] = part.at.layer;
        if (part.at.head >= 0) one["head"] = part.at.head;
        one["value"] = part.value;
        all["parts"].push_back(std::move(one));
    }
    return all;
}

int show_lens(LensOptions& options, Streams io) {
    const OpenedText text = open_text(options.model, kLensName, io);
    const Seen seen = see(options, text);
    if (options.json)
        io.out << as_json(*text.model, seen).dump(1) << '\n';
    else
        io.out << as_text(*text.model, text, seen);
    return kSuccess;
}

}  // namespace

int run_lens(Args args, Streams io) {
    return run_command(
        "Predicts the next token after every layer, and shows what each head and MLP adds to its "
        "logit.",
        kLensName, args, io, declare_lens, show_lens);
}

}  // namespace attn::cli
