#include "app/files/call.h"

#include "app/common/or_throw.h"

namespace attn::files {

Result<FileCall> read_call(const std::string& path, const OptionValues& given, Index layer,
                           Values values) {
    return caught([&] {
        TensorFile file = read_layer(path, given, layer, values);
        OperationParams params;
        if (file.operation) params = std::move(file.operation_params.front());
        std::optional<GivenPairs> pairs;
        if (!file.given.empty()) pairs = std::move(file.given.front());
        return FileCall{std::move(file.layers.front()),
                        file.spec_of(0),
                        file.size,
                        file.operation,
                        std::move(params),
                        std::move(pairs),
                        std::move(file.upstreams.front()),
                        std::move(file.param_extents.front()),
                        std::move(file.notes),
                        std::move(file.tokens),
                        std::move(file.tokens_kv),
                        std::move(file.image)};
    });
}

}  // namespace attn::files
