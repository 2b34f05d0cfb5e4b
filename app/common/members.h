#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace attn::view {

// The members of a plain struct, in order: a journal writes those of an action.

namespace reflect {

struct Anything {
    template <class T>
    operator T() const;
};
template <class A, std::size_t count>
consteval bool is_made_of() {
    return []<std::size_t... N>(std::index_sequence<N...>) {
        return requires { A{(void(N), Anything{})...}; };
    }
    (std::make_index_sequence<count>());
}
inline constexpr std::size_t kMostMembers = 6;
template <class A, std::size_t count = 0>
consteval std::size_t count_members() {
    if constexpr (is_made_of<A, count + 1>())
        return count_members<A, count + 1>();
    else
        return count;
}

template <class A>
constexpr auto addresses(A& value) {
    constexpr std::size_t count = count_members<std::remove_const_t<A>>();
    static_assert(count <= kMostMembers);
    if constexpr (count == 0) {
        return std::tuple{};
    } else if constexpr (count == 1) {
        auto& [a] = value;
        return std::tuple{&a};
    } else if constexpr (count == 2) {
        auto& [a, b] = value;
        return std::tuple{&a, &b};
    } else if constexpr (count == 3) {
        auto& [a, b, c] = value;
        return std::tuple{&a, &b, &c};
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = value;
        return std::tuple{&a, &b, &c, &d};
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = value;
        return std::tuple{&a, &b, &c, &d, &e};
    } else {
        auto& [a, b, c, d, e, f] = value;
        return std::tuple{&a, &b, &c, &d, &e, &f};
    }
}

}  // namespace reflect

/// Calls `each(member)` for the first `most` members of a struct without constructors and bases, in order.
template <std::size_t most = reflect::kMostMembers, class A, class Each>
void each_member(A& value, Each&& each) {
    const auto at = reflect::addresses(value);
    [&]<std::size_t... N>(std::index_sequence<N...>) { (each(N, *std::get<N>(at)), ...); }
    (std::make_index_sequence<std::min(most, std::tuple_size_v<decltype(at)>)>());
}

}  // namespace attn::view
