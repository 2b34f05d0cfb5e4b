#include "app/common/apart.h"

#include "app/common/format.h"

namespace attn::view {

std::pair<std::string, std::string> distinguished(double a, double b) {
    if (a == b || number(a) != number(b)) return {number(a), number(b)};
    for (int digits = 5; digits < 17; ++digits)
        if (significant(a, digits) != significant(b, digits))
            return {significant(a, digits), significant(b, digits)};
    return {exact(a), exact(b)};
}

std::pair<std::string, std::string> percents_apart(double a, double b) {
    if (a == b || percent(a) != percent(b)) return {percent_text(a), percent_text(b)};
    const auto [one, other] = distinguished(100.0 * a, 100.0 * b);
    return {one + " %", other + " %"};
}

}  // namespace attn::view
