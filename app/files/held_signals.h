#pragma once

namespace attn::files {

/// From now on SIGINT, SIGTERM and SIGHUP that would end the program wait while a file is replaced (core/io/file.h), whichever
/// thread they reach, until it is whole or gone. One that is ignored, as under nohup, or that the program handles is left
/// alone. For main(), before the first file is written.
void hold_signals_while_saving();

}  // namespace attn::files
