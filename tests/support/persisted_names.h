#pragma once

#include <set>
#include <string>

namespace attn::test {

/// Names that journals and sessions of this program hold, one each: `set_scaling`, `set_scaling.on` of an action and its
/// members, `/learn/page` of a session, `.../0` of a list's element, `/learn/page=maps` of a value that is chosen by name.
std::set<std::string> persisted_names();

}  // namespace attn::test
