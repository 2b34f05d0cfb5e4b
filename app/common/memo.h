#pragma once

#include <memory>
#include <utility>

namespace attn::view {

/// `kept`, where it is of the same, as its member `of` says; else what is found anew: a T of that.
template <class T, class Find>
std::shared_ptr<const T> found_once(const std::shared_ptr<const T>& cached, decltype(T::of) of,
                                    const Find& find) {
    if (cached && cached->of == of) return cached;
    return std::make_shared<const T>(find(std::move(of)));
}

}  // namespace attn::view
