#pragma once

#include <span>
#include <string_view>

namespace attn::gl {

/// A compute shader as text, complete: shaders/<name>.comp with everything that it includes.
struct ShaderSource {
    std::string_view name;
    std::string_view text;
};

/// All of them; written by the build (cmake/embed_shaders.cmake).
std::span<const ShaderSource> shader_sources();

}  // namespace attn::gl
