#include "app/files/call.h"

#include <utility>

namespace attn::files {

Result<FileCall> read_call(const std::string& path, const OptionValues& given, Index layer) {
    return read_layer(path, given, layer).map([](TensorFile&& file) {
        return FileCall{std::move(file.layers.front()),
                        std::move(file.spec),
                        file.size,
                        std::move(file.upstreams.front()),
                        std::move(file.param_extents.front()),
                        std::move(file.notes)};
    });
}

}  // namespace attn::files
