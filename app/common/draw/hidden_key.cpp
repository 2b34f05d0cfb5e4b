#include "app/common/draw/hidden_key.h"

#include <imgui_internal.h>

#include "app/common/draw/imgui_compat.h"

namespace attn::ui {

HiddenKey::HiddenKey(view::Key key, bool hidden) {
    if (!hidden) return;
#if IMGUI_VERSION_NUM < 18700
    down_s_ = &ImGui::GetIO().KeysDownDuration[native_key(key)];
#else
    down_s_ = &ImGui::GetKeyData(static_cast<ImGuiKey>(native_key(key)))->DownDuration;
#endif
    was_ = *down_s_;
    *down_s_ = 1e-6F;  // down, but neither just pressed nor long enough to repeat
}

HiddenKey::~HiddenKey() {
    if (down_s_ != nullptr) *down_s_ = was_;
}

}  // namespace attn::ui
