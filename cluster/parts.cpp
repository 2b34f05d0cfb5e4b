#include "cluster/parts.h"

#include <algorithm>
#include <new>
#include <utility>

#include "app/common/or_throw.h"
#include "cluster/world.h"

namespace attn::cluster {

void on_first(const std::function<void()>& work) {
    Result<void> done;
    if (is_first()) try {
            done = caught(work);
        } catch (const std::bad_alloc&) {
            done = failed("out of memory: rank 0 reads the whole file");
        }
    int kind = done ? -1 : static_cast<int>(done.error().kind);
    share(&kind, sizeof kind);
    if (kind < 0) return;
    std::string sentence = done ? std::string() : done.error().sentence;
    share(sentence);
    throw tl::unexpected(Error{sentence, static_cast<ErrorKind>(kind)});
}

void on_each(const std::function<void()>& work) {
    try {
        const auto done = caught(work);
        if (!done) end_every_rank(done.error());
    } catch (const std::bad_alloc&) {
        end_every_rank({"out of memory", ErrorKind::failure});
    }
}

void share(AttentionSpec& spec) {
    std::string options = files::options_to_json(spec);
    share(options);
    Mask custom = spec.mask.custom ? *spec.mask.custom : Mask();
    share(custom);
    if (is_first()) return;
    spec = files::call_options(files::options_from_json(options, "options")).spec;
    if (!custom.empty()) spec.mask.custom = std::make_shared<const Mask>(std::move(custom));
}

}  // namespace attn::cluster
