#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace attn::view {

// The members of a plain struct, by their names: what a journal needs to know of an action.

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
constexpr auto addresses(A& of) {
    constexpr std::size_t count = count_members<std::remove_const_t<A>>();
    static_assert(count <= kMostMembers);
    if constexpr (count == 0) {
        return std::tuple{};
    } else if constexpr (count == 1) {
        auto& [a] = of;
        return std::tuple{&a};
    } else if constexpr (count == 2) {
        auto& [a, b] = of;
        return std::tuple{&a, &b};
    } else if constexpr (count == 3) {
        auto& [a, b, c] = of;
        return std::tuple{&a, &b, &c};
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = of;
        return std::tuple{&a, &b, &c, &d};
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = of;
        return std::tuple{&a, &b, &c, &d, &e};
    } else {
        auto& [a, b, c, d, e, f] = of;
        return std::tuple{&a, &b, &c, &d, &e, &f};
    }
}

template <class A>
struct Example {
    static const A of;  // nowhere: only the addresses of its members are asked
};
template <class Pointer>
struct At {
    Pointer pointer;
};
template <class Pointer>
At(Pointer) -> At<Pointer>;
template <At at>
consteval std::string_view name_at() {
    // "… [with At<…> at = At<const bool*>{(& Example<SetScaling>::of.SetScaling::on)}; …]" of GCC, "… [at = At<const
    // bool *>{&of.on}]" of clang
    std::string_view name = std::source_location::current().function_name();
    name.remove_prefix(name.rfind('&'));
    name = name.substr(0, name.find_first_of(")}"));
    return name.substr(name.find_last_of(":.") + 1);
}
template <class A>
consteval std::string_view type_name() {
    // "… [with A = attn::view::SetScaling; …]" of GCC, "… [A = attn::view::SetScaling]" of clang
    std::string_view name = std::source_location::current().function_name();
    name.remove_prefix(name.find("A = "));
    name = name.substr(0, name.find_first_of(";]"));
    return name.substr(name.find_last_of(": ") + 1);
}
template <class A>
inline constexpr auto kSnakeCase = [] {
    std::array<char, 2 * type_name<A>().size()> text{};
    std::size_t length = 0;
    for (const char letter : type_name<A>()) {
        const bool capital = letter >= 'A' && letter <= 'Z';
        if (capital && length > 0) text[length++] = '_';
        text[length++] = capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return std::pair{text, length};
}();

}  // namespace reflect

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"  // Example has none on purpose
#endif
/// Calls `each(name, member)` for every member of a struct without constructors and bases, in order; of the first `most`.
template <std::size_t most = reflect::kMostMembers, class A, class Each>
void each_member(A& of, Each&& each) {
    const auto at = reflect::addresses(of);
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        using namespace reflect;
        (each(name_at<At{std::get<N>(addresses(Example<A>::of))}>(), *std::get<N>(at)), ...);
    }
    (std::make_index_sequence<std::min(most, std::tuple_size_v<decltype(at)>)>());
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// Of the struct SetScaling: "set_scaling".
template <class A>
inline constexpr std::string_view kNameOf{reflect::kSnakeCase<A>.first.data(),
                                          reflect::kSnakeCase<A>.second};

}  // namespace attn::view
