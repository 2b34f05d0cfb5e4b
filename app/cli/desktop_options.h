#pragma once

#include <string>
#include <variant>

#include "app/cli/cli.h"
#include "app/cli/start.h"

namespace attn::cli {

/// What the desktop app can be started with.
struct DesktopOptions {
    StartOptions start;
    std::string journal;         // a file for every action; "": none
    std::string save_session;    // a file for Ctrl+S and for the end; "": Ctrl+S has a default
    std::string screenshot_dir;  // for F12; "": the current folder
    std::string frame_log;       // a file with one line for each frame drawn; "": none
    bool exit_after_replay = false;
    bool follow = false;  // the file of tensors is read again whenever it was written
};
/// The options, or the exit code after --help or bad usage.
std::variant<int, DesktopOptions> parse_desktop(Args args, Streams io);
/// A heading and a line for each of them, for `attnscope --help`.
std::string desktop_options_help();

}  // namespace attn::cli
