#pragma once

// The browser's WebGL 2 is OpenGL ES 3: no loader is needed.
#include <GLES3/gl3.h>
