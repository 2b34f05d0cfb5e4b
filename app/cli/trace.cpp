#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/cli/arguments.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/cli/trace_parts.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/call.h"
#include "app/files/model.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/call.h"
#include "core/heads/layer.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/kernels/reference.h"
#include "core/models/model_stages.h"
#include "core/rows.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stopwatch.h"
#include "core/threads.h"
#include "core/train/task_table.h"

namespace attn::cli {
namespace {

constexpr std::string_view kName = "attnscope trace";

constexpr std::string_view kTraceFooter =
    "IN is a file of arrays: {}.\n\n"
    "Arrays of IN:\n"
    "  Q, K, V           [T,d], [H,T,d] or [B,H,T,d], or as --layout says; or\n"
    "  qkv               [T,3,H,d] or [T,H,3,d], or [T,3·H·d] with --layout joined, per-head; or\n"
    "  q, k, v           of a trace's output; or\n"
    "  X, W_Q, W_K, W_V  [T,d_model] or [B,T,d_model], [in,out]; X_kv for cross-attention\n"
    "  W_O, b_Q, b_K, b_V, b_O   optional\n"
    "  weights           alone, or masked, scaled or scores: [Tq,Tk], [H,Tq,Tk] or [B,H,Tq,Tk]; "
    "what follows is\n"
    "                    computed, with V context and with W_O output. scores need --scale or "
    "--d-k\n"
    "                    or the same as l<N>.Q, ... for several layers: choose one with --layer\n"
    "{}"
    "                    [H,rows,columns], of a number for each token [B,H,Tq,columns]; if absent, "
    "initial numbers of --seed\n"
    "  tokens, tokens_kv strings, one a query and one a key; for the window\n"
    "  W_score, W_score_q, W_score_k, w_score   of the score functions general and additive\n"
    "  b_score           of relative: a number for each head and distance\n"
    "  sinks             one logit a query head\n"
    "  q_norm_weight, k_norm_weight   of --qk-norm: a factor for each column of q and k\n"
    "  mask              bool or uint8, true = may attend, [Tq,Tk] or 4-D broadcastable to "
    "[B,H,Tq,Tk]\n"
    "  bias              floats that are added to the scores, of the same shapes; −inf forbids\n"
    "  dO or dY          upstream gradient of context or of output; ones at output if absent\n"
    "  options           JSON text with the options above as keys; the command line wins.\n"
    "                    tokens and options may be texts of __metadata__ of .safetensors too\n"
    "Arrays of OUT.npz: the keys of `attnscope stages` (with --operation, of that operation), "
    "logsumexp, and with\n"
    "  --grad d_<key>, d_w_q, ...; options, mask, bias, sinks, W_score, b_score and W_O, so that "
    "it "
    "opens as the same call\n\n"
    "Examples:\n"
    "  attnscope trace qkv.npz -o out.npz --causal --grad\n"
    "  attnscope trace x.npz -o out.npz --heads 8 --kv-heads 2 --keep weights,context\n"
    "  attnscope trace qkv.npz -o exact.npz --backend reference\n"
    "  attnscope trace layers/*.npz -o traces/ --causal\n"
    "  make_tensors | attnscope trace - -o - --layer 3 | plot\n";

/// The command line, as it was written.
struct TraceArguments {
    std::vector<std::string> inputs;
    std::string input;   // the one of `inputs` that is computed
    std::string output;  // a file, or of several inputs a folder
    std::string backend = "auto";
    std::string keep;
    std::string threads;  // "": all
    std::string layer;    // "": the only one
    std::string model;    // a folder; "": files of tensors are computed
    std::string text;     // what the model reads
    std::string token_ids;
    std::string image;    // the file that it reads, of a model of images
    std::string audio;    // the same, of a model of sounds
    std::string decoder;  // what its decoder has written so far
    std::string off;      // interventions in the model
    std::vector<std::string> rows, patches;
    bool grad = false, stream = false;
    AttentionArguments attention;
};

/// "  E, F              of operation linformer", a line for each operation with parameters.
std::string operation_arrays() {
    std::string lines;
    for (const OperationInfo& row : operation_table()) {
        std::vector<std::string_view> names;
        for (const OperationParam& param : row.params) names.push_back(param.npz);
        if (!names.empty())
            lines += fmt::format("  {:<17} of operation {}\n", fmt::join(names, ", "), row.key);
    }
    return lines;
}

std::string backend_names(BackendList backends) {
    std::string names = "auto";
    for (const Backend* backend : backends) names += fmt::format(", {}", backend->name());
    return names;
}

// What is typed for an option lands in `words`.
void declare(CLI::App& app, TraceArguments& text, BackendList backends) {
    app.add_option("IN", text.inputs,
                   "tensors of one call; - for standard input. Each further file is another call");
    add_value(app, "-o,--output", text.output, "OUT.npz",
              "the file to write; - for standard output. A folder (of several files, or with / at "
              "its end) gets a file of each input's name");
    app.add_flag("--grad", text.grad, "also the gradient of every stage and parameter");
    add_value(app, "--backend", text.backend, "NAME",
              backend_names(backends) +
                  " (default auto: staged while stages are kept and few enough, else fused)");
    add_value(app, "--keep", text.keep, "KEY,..",
              "write only these stages (and, with --grad, their gradients); logsumexp always");
    add_number(app, "--threads", text.threads, "N", files::whole_numbers(1, 1 << 20),
               "at most N threads (default all; reference uses one)");
    add_number(app, "--layer", text.layer, "N", files::whole_numbers(0, files::kMostLayer),
               "the layer of a file with arrays l<N>.Q, ...");
    add_value(app, "--model", text.model, "FOLDER",
              "a trained model's folder (config.json, *.safetensors, tokenizer), or a .gguf: every "
              "layer over --text, --image or --audio");
    add_value(app, "--text", text.text, "TEXT", "the text that the model reads");
    add_value(app, "--token-ids", text.token_ids, "N,..",
              "in place of --text: the numbers of the tokens");
    add_value(
        app, "--image", text.image, "FILE.png",
        "PNG image for a model that reads images; for CLIP with --text, a || b gives two texts");
    add_value(app, "--audio", text.audio, "FILE.wav", "16 kHz sound for a model that reads sounds");
    add_value(app, "--decoder", text.decoder, "TEXT",
              "text of a T5's decoder so far, for --group decoder or cross");
    add_value(app, "--off", text.off, "LAYER.HEAD,..",
              "heads of the model to switch off: their rows of W_O are 0");
    add_head_options(app, text.rows, text.patches);
    app.add_flag("--stream", text.stream,
                 "keep one layer's weights of a model at a time in memory, for models larger than "
                 "memory; without the stage output");
    add_attention_options(app, text.attention);
    app.footer(fmt::format(kTraceFooter, array_format_text(), operation_arrays()));
}

StageSet parse_keep(std::string_view text) {
    if (text.empty()) return all_stages();
    std::vector<std::string> keys;
    for (const StageInfo& row : stage_table()) keys.emplace_back(row.key);
    keys.emplace_back("logsumexp");
    StageSet keep;
    for (const std::string_view key : files::split_list(text)) {
        if (key == "logsumexp") continue;  // is always kept
        const std::optional<Stage> stage = find_stage(key);
        if (!stage)
            throw bad_input(fmt::format("--keep has the unknown stage '{}'{}; expected {}", key,
                                        files::did_you_mean(key, keys), choices(keys)));
        keep.set(index_of(*stage));
    }
    return keep;
}

int parse_threads(const std::string& text) {
    return text.empty() ? thread_count() : parse_count("--threads", text, thread_count());
}

/// The stages, and how long they took.
struct Computed {
    std::string_view backend;
    Trace forward;
    std::optional<Trace> gradient;
    double forward_ms = 0.0;
    double backward_ms = 0.0;
};

Computed compute(const files::FileCall& call, const TraceArguments& text, StageSet keep,
                 BackendList backends) {
    const auto checked = or_throw(validate(call.inputs, call.spec));
    const Backend& backend = *or_throw(choose_backend(text.backend, checked, keep, backends));
    if (text.grad && !backend.has_backward()) throw no_backward(backend, backends);
    Computed computed;
    computed.backend = backend.name();
    const Stopwatch start;
    // The backward pass starts from every stage, whatever is written.
    computed.forward = or_throw(attend(checked, backend, text.grad ? all_stages() : keep));
    computed.forward_ms = start.ms();
    if (!text.grad) return computed;
    const Stopwatch turn;
    computed.gradient =
        or_throw(attend_backward(checked, computed.forward, call.upstream, backend));
    computed.backward_ms = turn.ms();
    return computed;
}

std::string backend_summary(const files::FileCall& call, const Computed& computed) {
    std::string text =
        fmt::format("backend {}, forward {:.2f} ms", computed.backend, computed.forward_ms);
    if (computed.gradient)
        text += fmt::format(", backward {:.2f} ms from {} at {}", computed.backward_ms,
                            call.upstream.gradient.empty() ? "ones" : "the given gradient",
                            info(call.upstream.stage).key);
    return text + '\n';
}

/// Files and sizes, what is said of the computation, and the arrays.
std::string summary(const TraceArguments& description, const files::FileCall& call,
                    const std::string& computed, std::span<const NpzEntry> entries) {
    const Dimensions& size = call.size;
    std::string text = fmt::format(
        "{} -> {}\n", files::shown_input(description.input),
        files::is_standard(description.output) ? "standard output" : description.output);
    const auto width = [](Index d) { return d > 0 ? std::to_string(d) : std::string("unknown"); };
    text +=
        fmt::format("B {}, H {}, Hkv {}, Tq {}, Tk {}, d_k {}, d_v {}\n", size.batch, size.heads,
                    size.kv_heads, size.tq, size.tk, width(size.d_k), width(size.d_v));
    text += computed;
    for (const NpzEntry& entry : entries) {
        const auto nans = std::count_if(entry.values.begin(), entry.values.end(),
                                        [](float value) { return std::isnan(value); });
        if (entry.texts.empty())
            text += fmt::format("  {:<10} {}", entry.name, attn::to_string(entry.extents));
        else
            text +=
                fmt::format("  {:<10} {}", entry.name,
                            entry.texts.size() == 1 ? entry.texts.front()
                                                    : fmt::format("{} texts", entry.texts.size()));
        text += nans > 0 ? fmt::format("  {} NaN\n", nans) : "\n";
    }
    return text;
}

/// One line on the stages that nobody named and the backend that "auto" took does not store; nullopt when there is none.
std::optional<std::string> left_out(const TraceArguments& text, const files::FileCall& call,
                                    StageSet keep, const Computed& computed) {
    if (text.backend != "auto" || keep != all_stages()) return std::nullopt;
    std::vector<std::string_view> keys;
    for (const StageInfo& stage : stage_table())
        if (pair_stages()[index_of(stage.stage)] && computed.forward[stage.stage].empty() &&
            stage_shape(stage.stage, call.size, call.spec).count() != 0)
            keys.push_back(stage.key);
    if (keys.empty()) return std::nullopt;
    return fmt::format(
        "the backend {} computed this and does not store {}: {} query–key pairs are more than {}; "
        "--backend staged stores them",
        computed.backend, fmt::join(keys, ", "),
        call.size.batch * call.size.heads * call.size.tq * call.size.tk, kMostStagedPairs);
}

bool is_finite(const Tensor& tensor) { return all_finite(tensor.values()); }

bool has_finite_inputs(const files::FileCall& call) {
    const Inputs& in = call.inputs;
    const auto& bias = call.spec.mask.bias;
    return std::ranges::all_of(in.params.tensors, is_finite) &&
           std::ranges::all_of(std::initializer_list<const Tensor*>{&in.x, &in.x_kv, &in.q, &in.k,
                                                                    &in.v, &call.upstream.gradient},
                               [](const Tensor* each) { return is_finite(*each); }) &&
           (!bias || std::ranges::none_of(bias->values.values(), [](float each) {
               return std::isnan(each) || each == std::numeric_limits<float>::infinity();
           }));
}

/// With NaN or infinity. Where rows without a key are NaN by an option, NaN counts in rows of queries that have a key alone:
/// gradients of keys and parameters are sums over every query.
bool is_beyond(const Tensor& tensor, const Tensor& logsumexp, bool empty_are_nan, bool of_queries) {
    if (is_finite(tensor)) return false;
    if (!empty_are_nan) return true;
    for (std::size_t n = 0; n < tensor.values().size(); ++n) {
        const float x = tensor.values()[n];
        const std::size_t row = n / static_cast<std::size_t>(tensor.shape().d);
        const bool has_key = of_queries && std::isfinite(logsumexp.values()[row]);
        if (has_key ? !std::isfinite(x) : std::isinf(x)) return true;
    }
    return false;
}

/// Stages and gradients with NaN or infinity. Scores and weights are left out: a mask makes −∞ of them.
std::vector<std::string> not_finite(const Computed& computed, bool empty_are_nan) {
    std::vector<std::string> names;
    const auto add = [&](std::string name, const Tensor& tensor, bool of_queries = false) {
        if (is_beyond(tensor, computed.forward.logsumexp, empty_are_nan, of_queries))
            names.push_back(std::move(name));
    };
    for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::context, Stage::output})
        add(std::string(info(stage).key), computed.forward[stage], stage == Stage::context);
    if (!computed.gradient) return names;
    const Trace& d = *computed.gradient;
    for (const StageInfo& stage : stage_table())
        add(fmt::format("d_{}", stage.key), d[stage.stage], stage.stage == Stage::q);
    for (const ParamInfo& param : param_table())
        add(fmt::format("d_{}", param.npz), d.params[param.param]);
    add("d_bias", d.bias);
    return names;
}

/// One line where finite inputs gave a number that float32 does not hold; nullopt where they gave none.
std::optional<std::string> beyond_float(const files::FileCall& call, const Computed& computed) {
    if (!has_finite_inputs(call)) return std::nullopt;
    const bool scores = std::ranges::any_of(computed.forward.logsumexp.values(), [](float sum) {
        return std::isnan(sum) || sum == std::numeric_limits<float>::infinity();
    });
    // Rows without a key are NaN by an option.
    const bool empty_rows_are_nan = call.spec.empty_rows == EmptyRows::nan && call.spec.mask.any();
    const std::vector<std::string> names =
        scores ? std::vector<std::string>{} : not_finite(computed, empty_rows_are_nan);
    if (!scores && names.empty()) return std::nullopt;
    const bool in_double = computed.backend == reference_backend().name();
    const std::string_view follows = in_double ? "the file has them as NaN or infinity"
                                               : "what follows from them is NaN or infinite";
    return fmt::format(
        "{}, the most that float32 holds: {}{}",
        scores ? "scores are beyond 3.4e38"
               : fmt::format("numbers on the way to {} are beyond 3.4e38", fmt::join(names, ", ")),
        scores ? follows : "they have NaN or infinity",
        in_double ? "" : "; --backend reference computes in float64");
}

bool writes_folder(const TraceArguments& text) {
    return text.inputs.size() > 1 || text.output.ends_with('/');
}

/// "a.npz" of a.npz, a.safetensors or the folder a/: what the input is called, as what the output is.
std::string output_name(const std::string& input) {
    const std::filesystem::path path(input);
    const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
    const ArrayFormat* const format = find_format(path);
    if (!format) return name;
    const bool ends = name.ends_with(format->extension);
    return name.substr(0, name.size() - (ends ? format->extension.size() : 0)) + ".npz";
}

/// Each input with its output.
std::vector<TraceArguments> calls_of(const TraceArguments& text) {
    std::vector<TraceArguments> calls;
    for (const std::string& input : text.inputs) {
        TraceArguments& call = calls.emplace_back(text);
        call.input = input;
        if (writes_folder(text))
            call.output = (std::filesystem::path(text.output) / output_name(input)).string();
    }
    return calls;
}

void check_usage(const TraceArguments& text, const std::vector<TraceArguments>& calls) {
    if (text.inputs.empty())
        throw bad_input("expected an input file: attnscope trace IN -o OUT.npz");
    if (text.output.empty()) throw bad_input("expected an output file: -o OUT.npz");
    if (text.inputs.size() > 1 &&
        (files::is_standard(text.output) || text.output.ends_with(".npz")))
        throw bad_input(
            fmt::format("-o is {} for {} inputs; expected a folder", text.output, calls.size()));
    std::vector<files::NamedFile> inputs, outputs;
    std::map<std::string_view, std::string_view> by_output;
    for (const TraceArguments& call : calls) {
        if (writes_folder(text) && files::is_standard(call.input))
            throw bad_input("the input is - and -o is a folder; expected a named input file");
        std::ranges::copy(files::files_of({"the input", call.input}), std::back_inserter(inputs));
        outputs.push_back({"-o", call.output});
        or_throw(files::check_extension(outputs.back(), ".npz"));
        const auto [same, is_new] = by_output.emplace(call.output, call.input);
        if (!is_new)
            throw bad_input(fmt::format("{} and {} would both be written to {}", same->second,
                                        call.input, call.output));
    }
    if (const auto tokens = text.attention.find("tokens");
        tokens != text.attention.end() && !tokens->second.empty())
        std::ranges::copy(files::files_of({"--tokens", tokens->second}),
                          std::back_inserter(inputs));
    or_throw(files::check_outputs(inputs, outputs));
}

void make_folder(const TraceArguments& text) {
    if (!writes_folder(text)) return;
    std::error_code fault;
    std::filesystem::create_directories(text.output, fault);
    if (!fault) return;
    throw failed(fmt::format("cannot make the folder {}: {}", text.output, fault.message()));
}

/// The notes and the summary, when the file has been written.
void report(const TraceArguments& text, std::vector<Note> notes, const std::string& summary,
            Streams io) {
    const bool many = text.inputs.size() > 1;
    for (Note& note : notes) {
        if (many) note.text = fmt::format("{}: {}", text.input, note.text);
        write_note(note, kName, io);
    }
    if (many) return;
    // On `attnscope trace IN.npz -o - | ...` the bytes of the file own the output.
    const bool output_is_taken = files::is_standard(text.output) || writes_in_place(text.output);
    (output_is_taken ? io.err : io.out) << summary;
}

void trace_operation(const TraceArguments& text, const files::FileCall& call, Streams io) {
    const auto run = run_operation_of(call, {text.backend, text.keep, text.grad});
    const std::vector<NpzEntry> entries = operation_entries(call, run);
    write_entries(text.output, entries, io);
    report(text, call.notes, summary(text, call, operation_summary(call, run), entries), io);
}

/// The stages that V is needed for.
StageSet value_stages() {
    StageSet stages;
    for (const Stage stage : {Stage::v, Stage::context, Stage::output}) stages.set(index_of(stage));
    return stages;
}

/// Whether V may be missing: no stage that needs it was named. Other names are checked later: an operation has its own.
files::Values needed_values(const TraceArguments& text) {
    const bool named = std::ranges::any_of(files::split_list(text.keep), [](std::string_view key) {
        const std::optional<Stage> stage = find_stage(key);
        return stage && value_stages().test(index_of(*stage));
    });
    return text.grad || named ? files::Values::needed : files::Values::optional;
}

bool is_without_values(const files::FileCall& call) {
    return !call.given && !call.inputs.projects() && call.inputs.v.empty();
}

/// The stages to keep of a call without V: where none were named, those that the backend stores.
StageSet keep_without_values(const TraceArguments& text, const Dimensions& size) {
    const StageSet keep = parse_keep(text.keep) & ~value_stages();
    const bool many = size.batch * size.heads * size.tq * size.tk > kMostStagedPairs;
    const bool stores_no_pairs = text.backend == "fused" || (text.backend == "auto" && many);
    return text.keep.empty() && stores_no_pairs ? keep & ~pair_stages() : keep;
}

void trace_attention(const TraceArguments& text, const files::FileCall& call, StageSet keep,
                     Streams io) {
    const auto computed = compute(call, text, keep, io.backends);
    const std::vector<NpzEntry> entries = trace_entries(
        call, computed.forward, computed.gradient ? &*computed.gradient : nullptr, keep);
    write_entries(text.output, entries, io);
    std::vector<Note> notes = call.notes;
    if (auto note = left_out(text, call, keep, computed)) notes.push_back(*std::move(note));
    if (auto note = beyond_float(call, computed)) notes.push_back(*std::move(note));
    if (!text.keep.empty())
        for (const std::string& note : missing_stages(computed.forward, keep))
            notes.push_back(note);
    report(text, notes, summary(text, call, backend_summary(call, computed), entries), io);
}

/// Scores or weights alone: what follows from them.
void trace_given(const TraceArguments& text, const files::FileCall& call, Streams io) {
    const auto keep = parse_keep(text.keep);
    const std::string_view key = info(call.given->stage).key;
    if (text.grad)
        throw bad_input(fmt::format("--grad needs Q, K and V, and {} gives {}", text.input, key));
    if (text.backend != "auto" && text.backend != reference_backend().name())
        throw bad_input(
            fmt::format("--backend is {}; expected reference, the only one that starts from {}",
                        text.backend, key));
    const Stopwatch start;
    const auto made =
        or_throw(attend_from(call.given->stage, call.given->values, call.inputs, call.spec, keep));
    const std::string computed = fmt::format("backend {}, forward {:.2f} ms from {}\n",
                                             reference_backend().name(), start.ms(), key);
    std::vector<NpzEntry> entries = stage_entries(made.trace, keep);
    if (entries.empty())
        throw bad_input(
            fmt::format("--keep is {}, of which {} alone give nothing", text.keep, key));
    add_call(call, keep & held_stages(made.trace), entries);
    write_entries(text.output, entries, io);
    std::vector<Note> notes = call.notes;
    for (std::string& note : absent_notes(call.given->stage, !call.inputs.v.empty()))
        notes.emplace_back(std::move(note));
    report(text, notes, summary(text, call, computed, entries), io);
}

/// Queries and keys alone: every stage that needs no V.
void trace_without_values(const TraceArguments& text, files::FileCall call, Streams io) {
    Inputs buffer;
    with_values(call.inputs, buffer);
    call.inputs = std::move(buffer);
    call.size.d_v = 0;  // unknown
    call.notes.emplace_back("context and output are missing: they need V");
    trace_attention(text, call, keep_without_values(text, call.size), io);
}

void trace_one(const CLI::App& app, const TraceArguments& text, Streams io) {
    const auto read = [&](files::Values values) {
        return or_throw(files::read_call(text.input, given_options(app, text.attention),
                                         parse_layer(text.layer), values));
    };
    auto call = read(needed_values(text));
    if (call.given) return trace_given(text, call, io);
    if (is_without_values(call)) {
        if (call.operation) call = read(files::Values::needed);  // fails: it names V
        return trace_without_values(text, std::move(call), io);
    }
    return call.operation ? trace_operation(text, call, io)
                          : trace_attention(text, call, parse_keep(text.keep), io);
}

/// A model says what attention it computes: options of a call would be ignored.
void check_model_usage(const CLI::App& app, const TraceArguments& text) {
    if (!text.inputs.empty())
        throw bad_input(
            fmt::format("'{}' is given with --model; expected one of them", text.inputs.front()));
    const bool image = app.count("--image") > 0;
    check_decoder(text.decoder, text.model);
    if (image && app.count("--text") > 0 && !reads_pairs(text.model))
        throw bad_input(
            fmt::format("--text and --image '{}' are given; expected one of the two", text.image));
    const bool ids = app.count("--token-ids") > 0;
    if (ids && ((image && !reads_pairs(text.model)) || app.count("--text") > 0))
        throw bad_input(fmt::format("--token-ids and {} are given; expected one of the two",
                                    image ? "--image" : "--text"));
    if (!image && !ids && app.count("--text") == 0 && text.text.empty())
        throw bad_input(
            "--model has no --text; expected the text it reads, --image FILE.png of a model that "
            "reads images, or --audio FILE.wav of one that reads sounds");
    if (text.output.empty()) throw bad_input("expected an output file: -o OUT.npz");
    for (const char* flag : {"--off", "--row", "--patch"})
        if (text.stream && app.count(flag) > 0)
            throw bad_input(
                fmt::format("{} cannot be combined with --stream; leave one out", flag));
    for (const char* flag : {"--layer", "--grad"})
        if (app.count(flag) > 0) throw bad_input(fmt::format("{} does not apply to --model", flag));
    for (const auto& [option, value] : given_options(app, text.attention))
        if (option != "group")
            throw bad_input(
                fmt::format("--{} does not apply to --model: config.json decides it", option));
    or_throw(files::check_extension({"-o", text.output}, ".npz"));
}

void trace_text(const CLI::App& app, const TraceArguments& text, Streams io) {
    check_model_usage(app, text);
    auto keep = parse_keep(text.keep);
    if (text.stream && !text.keep.empty() && keep[index_of(Stage::output)])
        throw bad_input("--keep output cannot be combined with --stream; leave one out");
    if (text.stream) keep.reset(index_of(Stage::output));
    const auto threads = parse_threads(text.threads);
    const ThreadLimit limit(threads);
    const bool image = app.count("--image") > 0;
    const std::string ids =
        app.count("--token-ids") > 0 ? text_of_token_ids(text.token_ids) : text.text;
    const auto given = given_options(app, text.attention);
    const auto group = given.find("group");
    const bool pairs = reads_pairs(text.model);
    const bool alone = image && !pairs;
    const Reading reading{alone ? text.image : ids, pairs ? text.image : text.decoder,
                          group == given.end()
                              ? group_of_given(text.model, {app.count("--text") > 0 || !ids.empty(),
                                                            image, !text.decoder.empty()})
                              : group->second.text};
    trace_model({text.model, reading, text.output, text.backend, keep, alone,
                 parse_interventions(text.off, text.rows, text.patches),
                 text.stream ? LoadedBlocks::one : LoadedBlocks::all},
                io);
}

/// Every input; one that fails is reported and the others go on. The exit status, of the first that failed.
int trace(const CLI::App& app, const TraceArguments& text, Streams io) {
    if (app.count("--model") > 0) {
        TraceArguments call = text;
        call.model = files::model_path(text.model);
        const bool given =
            app.count("--text") + app.count("--token-ids") + app.count("--image") > 0;
        if (app.count("--audio") > 0) {
            check_audio(text.audio, call.model, given);
            call.text = text.audio;
        } else if (!given)
            call.text = files::default_text(call.model);
        trace_text(app, call, io);
        return kSuccess;
    }
    for (const char* flag : {"--text", "--token-ids", "--image", "--audio", "--decoder", "--off",
                             "--row", "--patch", "--stream"})
        if (app.count(flag) > 0)
            throw bad_input(
                fmt::format("{} is given without --model; expected a model's folder", flag));
    const std::vector<TraceArguments> calls = calls_of(text);
    check_usage(text, calls);
    const auto threads = parse_threads(text.threads);
    const ThreadLimit limit(threads);
    make_folder(text);
    int status = kSuccess;
    std::ptrdiff_t failures = 0;
    for (const TraceArguments& call : calls)
        if (const auto traced = caught([&] { trace_one(app, call, io); }); !traced) {
            const int code = report(traced.error(), kName, io);
            if (failures++ == 0) status = code;
        }
    if (calls.size() > 1)
        io.out << fmt::format("{} -> {}", view::counted(std::ssize(calls) - failures, "file"),
                              text.output)
               << (failures > 0 ? fmt::format(", {} failed\n", failures) : "\n");
    return status;
}

}  // namespace

int run_trace(Args args, Streams io) {
    CLI::App app(
        "Computes one attention call a file and saves every stage as an array of an .npz file.",
        std::string(kName));
    TraceArguments text;
    declare(app, text, io.backends);
    return run_command(app, args, io, [&] { return trace(app, text, io); });
}

}  // namespace attn::cli
