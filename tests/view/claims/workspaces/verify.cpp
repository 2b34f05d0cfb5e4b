#include "app/workspaces/verify/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const VerifyView& v) {
    texts.add_all(v.missing_data, v.point, v.blocks, v.status, v.grid);
    for (const Finding& each : v.findings) texts.add(each.text);
    for (const CheckedPart& each : v.heads) texts.add(each.text);
    for (const CheckedPart& each : v.rows) texts.add(each.text);
}

void add_verify_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_verify_view(state));
}

}  // namespace attn::view
