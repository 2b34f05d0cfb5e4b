# cmake -DFOLDER=shaders -DOUT=folder -DNAMES=a,b -P embed_shaders.cmake
# Writes OUT/<name>.comp, each shader with its #include lines replaced by the files they name, and OUT/shaders.cpp with
# all of them as text: the program looks for no file at run time. Included files include nothing themselves. Comments
# are left out, their line breaks are not: they have letters that some drivers reject even in a comment.
string(REPLACE "," ";" names "${NAMES}")
set(table "")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name}.comp text)
  foreach(part layout.h exponential.glsl mask.glsl dropout.glsl product.glsl)
    file(READ ${FOLDER}/${part} part_text)
    string(REPLACE "#include \"${part}\"\n" "${part_text}" text "${text}")
  endforeach()
  string(REGEX REPLACE " *//[^\n]*" "" text "${text}")
  file(WRITE ${OUT}/${name}.comp "${text}")
  string(APPEND table "    {\"${name}\", R\"glsl(${text})glsl\"},\n")
endforeach()
file(WRITE ${OUT}/shaders.cpp "// Written by cmake/embed_shaders.cmake.
#include \"app/gl/compute_shaders.h\"

namespace attn::gl {
namespace {
constexpr ShaderSource kSources[] = {
${table}};
}  // namespace

std::span<const ShaderSource> shader_sources() { return kSources; }
}  // namespace attn::gl
")
