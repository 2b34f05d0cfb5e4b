#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/files/outputs.h"
#include "app/gl/pixels.h"
#include "app/view/actions.h"

namespace attn::cli {

/// What the window and `render` can be started with. Empty: not given.
struct StartOptions {
    std::vector<std::string> files;  // FILE: what settle_start() takes for session or map_file
    std::string session;             // a file
    std::string replay;              // a file
    std::string preset;
    std::string sentence;
    std::string workspace;
    std::string map_file;          // queries and keys for the Large workspace
    std::optional<Index> planted;  // tokens of a generated matrix
    std::string go_to;             // "70001,5"
    std::string stage;
    std::string select;  // "scores:1,2"
    std::string theme;
    std::string backend;
    std::optional<double> scale;
    std::string size;  // "1600x1000"
};
void add_start_options(CLI::App& app, StartOptions& options);

/// After parsing, before anything is read or written: FILE goes where its kind goes, numbers are in their range,
/// and none of `outputs` is a file that is read, or another output. --save-session may be the session.
Result<void> settle_start(StartOptions& options, std::span<const files::NamedFile> outputs);

/// A first state and what is to be done to it, so that a journal of it can be played again.
struct Start {
    view::AppState state;
    view::Actions actions;
    std::size_t asked = 0;  // how many of them options ask for; the others are a journal's
};
/// Reads the files; what the state computes with is one of `backends`. An error names the option or file, its value and what was expected.
Result<Start> read_start(const StartOptions& options, BackendList backends);

/// "1600x1000"; "": 1600 x 1000.
Result<gl::Size> parse_size(std::string_view text);

/// Every action of a journal. An error names the file, the line and its fault.
Result<view::Actions> read_journal(const std::filesystem::path& path);
/// A session, or a preset, from a file.
Result<view::AppState> read_session(const std::filesystem::path& path, BackendList backends);

}  // namespace attn::cli
