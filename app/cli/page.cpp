// attnscope page: what is open as one HTML file that opens from a disk, the program with it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/common/assets.h"
#include "app/common/document/document.h"
#include "app/common/or_throw.h"
#include "app/files/axes.h"
#include "app/files/standard.h"
#include "app/window/session.h"
#include "core/io/arrays/array_file.h"
#include "core/io/base64.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPageFooter =
    "The page needs no network. It contains the opened file, and a session with the view that the "
    "options describe.\n\n"
    "Examples:\n"
    "  attnscope page session.json -o page.html\n"
    "  attnscope page qkv.npz --workspace heads -o page.html\n"
    "  attnscope page pronouns --workspace heads -o page.html\n";
constexpr std::string_view kPlace = "<!--document-->";
constexpr std::string_view kSession = "session.json";
constexpr std::size_t kMostLetters = std::size_t{64} << 20U;

/// The page of the program, without a document.
std::string empty_page() {
    std::string looked;
    for (const fs::path& folder : view::asset_folders("web")) {
        const fs::path page = folder / "attnscope-page.html";
        std::error_code ignored;
        if (fs::exists(page, ignored)) return or_throw(read_text_file(page));
        looked += fmt::format("{}{}", looked.empty() ? "" : ", ", page.string());
    }
    throw failed(fmt::format(
        "a page needs the program as WebAssembly, which is not here: install the package "
        "attnscope-web, or build it as docs/web.md says and set ATTNSCOPE_ASSETS (looked for {})",
        looked));
}

/// Inside an attribute's quotes.
std::string quoted(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '"')
            out += "&quot;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    return out;
}

/// One file of the page's memory; `words`: what the program is started with.
std::string held(std::string_view name, std::string_view bytes, std::string_view text = {}) {
    return fmt::format("<script type=\"text/x-attnscope\" data-name=\"{}\"{}>{}</script>\n",
                       quoted(name), text, base64(bytes));
}

/// The file of tensors that the document is read from; "": none. The built-in models are in every page.
fs::path file_of(const view::DocumentOrigin& origin) {
    if (const auto* const model = std::get_if<view::ModelOrigin>(&origin)) {
        if (!view::built_in_name(model->path).empty()) return {};
        throw bad_input(
            fmt::format("'{}' is a trained model; of models a page holds only {}. attnscope trace "
                        "--model writes the tensors of a text, which a page can hold",
                        model->path, fmt::join(view::built_in_models(), ", ")));
    }
    const auto* const file = std::get_if<view::FileOrigin>(&origin);
    if (file != nullptr && files::is_standard(file->path))
        throw bad_input("FILE is -, and a page contains a file; expected the name of a file");
    return file == nullptr ? fs::path() : fs::absolute(file->path);
}

/// The document's file lies beside its session, and has no other place.
void name_beside(view::AppState& state, const fs::path& file) {
    auto document = std::make_shared<view::Document>(state.document());
    std::get<view::FileOrigin>(document->origin).path = file.filename().string();
    state.history[state.now].document = std::move(document);
}

/// What the document is read from, named from `folder`.
std::string held_files(const fs::path& file, const fs::path& folder) {
    std::string all;
    for (const fs::path& each : files_behind(file)) {
        all +=
            held(each.lexically_relative(folder).generic_string(), or_throw(read_text_file(each)));
        if (all.size() > kMostLetters)
            throw bad_input(fmt::format("'{}' is larger than a page may be, {} MB", file.string(),
                                        kMostLetters >> 20U));
    }
    return all;
}

std::string document_of(const StartOptions& options, Streams io) {
    const Start start = or_throw(read_start(options, io));
    view::AppState state = start.state;
    jobs::Jobs jobs(start.open, [] {});
    or_throw(carry_out(start, state, jobs));
    for (const Note& warning : start.warnings) write_note(warning, "attnscope page", io);
    const fs::path file = file_of(state.document().origin);
    if (!file.empty()) name_beside(state, file);
    const std::string text = fmt::format(" data-words='[\"{}\"]'", kSession);
    return (file.empty() ? std::string() : held_files(file, file.parent_path())) +
           held(kSession, view::session_to_json(state), text);
}

}  // namespace

int run_page(Args args, Streams io) {
    CLI::App app("Writes the program and a document as one HTML file for any browser.",
                 "attnscope page");
    StartOptions options;
    std::string output = "-";
    add_start_options(app, options);
    add_value(app, "-o,--output", output, "FILE.html", "the page; - for standard output");
    app.footer(std::string(kPageFooter));
    return run_command(app, args, io, [&] {
        const files::NamedFile written{"-o", output};
        or_throw(files::check_extension(written, ".html"));
        or_throw(resolve_start(options, {&written, 1}));
        std::string page = empty_page();
        const auto place = page.find(kPlace);
        if (place == std::string::npos)
            throw failed("the page of the program has no place for a document");
        page.replace(place, kPlace.size(), document_of(options, io));
        if (files::is_standard(output))
            io.out << page;
        else
            or_throw(write_file_atomically(output, page));
        return kSuccess;
    });
}

}  // namespace attn::cli
