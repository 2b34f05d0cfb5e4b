#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/common/document/actions.h"
#include "app/common/document/opened.h"
#include "app/common/workspace.h"
#include "app/window/session.h"

namespace attn::test {

// Every described field of what workspaces keep, one after the other set to another value, saved and opened.

/// Gives the n-th field another value of its kind; says how many there are, and what it is called.
class ChangeOne : public view::IdleVisitor {
  public:
    explicit ChangeOne(std::size_t n) : wanted_(n) {}
    std::size_t count() const { return count_; }
    const std::string& name() const { return name_; }

  protected:
    void leaf(std::string_view name, view::Leaf value, const view::About& about) override {
        std::visit(
            [&](auto* field) {
                if constexpr (requires { other(*field, about); })
                    if (is_wanted(name)) *field = other(*field, about);
            },
            value);
    }
    void choice(std::string_view name, std::size_t& n, Names names, const view::About&) override {
        if (is_wanted(name)) n = (n + 1) % names.size();
    }
    bool maybe(std::string_view name, bool there) override {
        return is_wanted(name) ? !there : there;
    }

  private:
    bool is_wanted(std::string_view name) {
        const bool wanted = count_++ == wanted_;
        if (wanted) name_ = name;
        return wanted;
    }
    static bool other(bool value, const view::About&) { return !value; }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    static Number other(Number value, const view::About& about) {
        const auto step = static_cast<Number>(std::is_integral_v<Number> ? 1.0 : 0.125);
        const bool up = static_cast<double>(value) + static_cast<double>(step) <= about.high;
        return up ? value + step : value - step;
    }
    static std::string other(const std::string&, const view::About&) { return "a b"; }
    static std::vector<double> other(const std::vector<double>&, const view::About&) {
        return {0.5, 1.5, -1.0};
    }
    static std::map<std::string, std::string> other(const std::map<std::string, std::string>&,
                                                    const view::About&) {
        return {{"Q", "-"}};
    }

    std::size_t wanted_;
    std::size_t count_ = 0;
    std::string name_;
};

inline view::Slots& slots_of(view::AppState& state, const view::PersistedValue& retained) {
    return retained.undone ? state.history[state.now].controls : state.looks;
}

/// What the window does with a session's file.
inline view::AppState opened(const std::string& text, const view::AppState& before) {
    auto session = view::session_from_json(text, "session.json");
    REQUIRE_MESSAGE(session, (session ? std::string() : session.error().text()));
    view::AppState state = before;
    state.opening = std::make_shared<const view::OpenRequest>(
        view::OpenRequest{"session.json", ++state.opened});
    view::Opened answer{
        session->shared_document(), std::make_shared<const view::AppState>(*session), {}};
    view::apply(state, view::DocumentReady{"session.json", "",
                                           std::make_shared<const view::Opened>(answer)});
    return state;
}

/// A state in which one field of one workspace has another value.
struct Changed {
    const view::WorkspaceInfo* workspace;
    std::string field;
    view::AppState state;
    bool is(std::pair<std::string_view, std::string_view> key_and_field) const {
        return workspace->key == key_and_field.first && field == key_and_field.second;
    }
};
/// One for each field of each workspace, from `first`.
inline std::vector<Changed> every_field_changed(const view::AppState& first) {
    std::vector<Changed> all;
    for (const view::WorkspaceInfo* workspace : view::workspaces())
        for (const view::PersistedValue& retained : workspace->values) {
            std::size_t count = 1;
            for (std::size_t n = 0; n < count; ++n) {
                Changed one{workspace, {}, first};
                ChangeOne change(n);
                retained.type->describe(change, slots_of(one.state, retained).edit(*retained.type));
                count = change.count();
                one.field = change.name();
                all.push_back(std::move(one));
            }
        }
    return all;
}

}  // namespace attn::test
