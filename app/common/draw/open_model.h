#pragma once

#include <optional>
#include <string>
#include <utility>

#include "app/common/document/actions.h"
#include "app/common/draw/bar.h"

namespace attn::ui {

/// A button that opens the built-in model of that name, over `text` or its own: for workspaces that need a trained model.
inline void open_model_button(ControlBar& bar, const std::string& name,
                              std::optional<std::string> text = {}) {
    if (bar.button("open model", "Open " + name,
                   {"Open the built-in model " + name,
                    "A small trained model that comes with the program"}))
        bar.out.push_back(view::OpenFile{name, std::move(text)});
}

}  // namespace attn::ui
