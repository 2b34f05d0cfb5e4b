#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace attn {

/// Makes streams, stack and signals of the process as the program needs them. An error: it cannot run. For main(), before there is a
/// second thread.
Result<void> prepare_process();
/// The arguments after the program's name, in UTF-8.
std::vector<std::string> arguments(int argc, char** argv);
/// Closes a console that the system opened for this program alone, which is about to open its window.
void close_own_console();

}  // namespace attn
