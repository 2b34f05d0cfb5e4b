#pragma once

#include "app/common/keys.h"

namespace attn::ui {

/// While it lives, the toolkit does not see that the key was pressed in this frame.
class HiddenKey {
  public:
    HiddenKey(view::Key key, bool hidden);
    ~HiddenKey();
    HiddenKey(const HiddenKey&) = delete;
    HiddenKey& operator=(const HiddenKey&) = delete;

  private:
    float* down_s_ = nullptr;  // how long it has been down: 0 in the frame of the press
    float was_ = 0.0F;
};

}  // namespace attn::ui
