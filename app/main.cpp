#include <chrono>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/desktop_options.h"
#include "app/desktop.h"
#include "app/studio.h"

int main(int argc, char** argv) {
    const auto started = std::chrono::steady_clock::now();
    const std::vector<std::string> args(argv + 1, argv + argc);
    const attn::cli::Streams io{std::cout, std::cerr, attn::open_studio};

    if (const auto code = attn::cli::run(args, io)) return *code;
    const auto options = attn::cli::parse_desktop(args, io);
    if (const int* code = std::get_if<int>(&options)) return *code;
    return attn::run_desktop(std::get<attn::cli::DesktopOptions>(options), io, started);
}
