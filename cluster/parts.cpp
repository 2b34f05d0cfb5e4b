#include "cluster/parts.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "cluster/world.h"

namespace attn::cluster {

void add_description(CLI::App& app, Arguments& text, const char* input, const Output& output) {
    text.name = app.get_name();
    app.add_option("FILE", text.input, input);
    cli::add_value(app, "-o,--output", text.output, output.placeholder, output.text);
    cli::add_number(app, "--layer", text.layer, "N", files::whole_numbers(0, files::kMostLayer),
                    "of a file with several layers");
    cli::add_call_options(app, text.attention);
}

files::FileCall read_call(const Arguments& text, const files::OptionValues& given, cli::Streams io,
                          files::Values values) {
    files::FileCall call =
        or_throw(files::read_call(text.input, given, cli::parse_layer(text.layer), values));
    for (const Note& note : call.notes) cli::write_note(note, text.name, io);
    if (call.operation || call.given)
        throw bad_input(fmt::format("{}: expected Q, K and V, or X and its weights, under softmax",
                                    text.input));
    return call;
}

void make_folder(const std::filesystem::path& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        throw failed(
            fmt::format("cannot make the folder {}: {}", folder.string(), fault.message()));
}

void on_first(const std::function<void()>& work) {
    Result<void> done;
    if (is_first())
        done = contained([&] {
            try {
                work();
            } catch (const std::bad_alloc&) {
                throw failed("out of memory: rank 0 reads the whole file");
            }
        });
    int kind = done ? -1 : static_cast<int>(done.error().kind);
    share(&kind, sizeof kind);
    if (kind < 0) return;
    std::string sentence = done ? std::string() : done.error().text();
    share(sentence);
    throw Failure(Error{sentence, static_cast<ErrorKind>(kind)});
}

void on_each(const std::function<void()>& work) {
    if (const auto done = contained(work); !done) end_every_rank(done.error());
}

void share(AttentionSpec& spec) {
    std::string options = files::options_to_json(spec);
    share(options);
    Mask custom = spec.mask.custom ? *spec.mask.custom : Mask();
    share(custom);
    if (is_first()) return;
    spec = files::call_options(files::options_from_json(options, "options")).spec;
    if (!custom.empty()) spec.mask.custom = std::make_shared<const Mask>(std::move(custom));
}

}  // namespace attn::cluster
