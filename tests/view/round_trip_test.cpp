// Every described field of every workspace, set to another value, survives saving and opening: in the state and on screen.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "app/common/actions.h"
#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "app/window/session.h"

using namespace attn;
using namespace attn::view;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// Gives the n-th field another value of its kind; says how many there are, and what it is called.
class ChangeOne : public IdleVisitor {
  public:
    explicit ChangeOne(std::size_t n) : wanted_(n) {}
    std::size_t count() const { return count_; }
    const std::string& name() const { return name_; }

  protected:
    void flag(std::string_view name, bool& value, const About&) override {
        if (is_wanted(name)) value = !value;
    }
    void number(std::string_view name, int& value, const About& about) override {
        if (is_wanted(name)) value = other(value, about);
    }
    void number(std::string_view name, Index& value, const About& about) override {
        if (is_wanted(name)) value = other(value, about);
    }
    void number(std::string_view name, std::uint64_t& value, const About& about) override {
        if (is_wanted(name)) value = other(value, about);
    }
    void number(std::string_view name, double& value, const About& about) override {
        if (is_wanted(name)) value = value + 0.125 <= about.high ? value + 0.125 : value - 0.125;
    }
    void text(std::string_view name, std::string& value, const About&) override {
        if (is_wanted(name)) value = "a b";
    }
    void numbers(std::string_view name, std::vector<double>& value, const About&) override {
        if (is_wanted(name)) value = {0.5, 1.5, -1.0};
    }
    void texts(std::string_view name, std::map<std::string, std::string>& value,
               const About&) override {
        if (is_wanted(name)) value = {{"Q", "-"}};
    }
    void choice(std::string_view name, std::size_t& n, Names names, const About&) override {
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
    template <class Whole>
    static Whole other(Whole value, const About& about) {
        const bool up = static_cast<double>(value) + 1.0 <= about.high;
        return static_cast<Whole>(up ? value + 1 : value - 1);
    }

    std::size_t wanted_;
    std::size_t count_ = 0;
    std::string name_;
};

Slots& slots_of(AppState& state, const KeptValue& kept) {
    return kept.undone ? state.history[state.now].controls : state.looks;
}

/// All that the described values of a workspace say.
json kept_of(AppState state, const WorkspaceInfo& workspace) {
    auto all = ordered_json::object();
    JsonWriter writer(all, None::null);
    for (const KeptValue& kept : workspace.values)
        kept.type->describe(writer, slots_of(state, kept).edit(*kept.type));
    return all;
}

/// What the window does with a session's file.
AppState opened(const std::string& text, const AppState& before) {
    auto session = session_from_json(text, "session.json");
    REQUIRE_MESSAGE(session, (session ? std::string() : session.error().sentence));
    AppState state = before;
    state.opening = OpenRequest{"session.json", ++state.opened};
    Opened answer{session->shared_document(), std::make_shared<const AppState>(*session), {}};
    apply(state, DocumentReady{"session.json", "", std::make_shared<const Opened>(answer)});
    return state;
}

}  // namespace

TEST_CASE("every described field of every workspace survives saving and opening") {
    const AppState first = initial_state();
    std::size_t fields = 0, refused = 0;
    for (const WorkspaceInfo* workspace : workspaces()) {
        CAPTURE(workspace->key);
        for (const KeptValue& kept : workspace->values) {
            std::size_t count = 1;
            for (std::size_t n = 0; n < count; ++n) {
                AppState state = first;
                ChangeOne change(n);
                kept.type->describe(change, slots_of(state, kept).edit(*kept.type));
                count = change.count();
                CAPTURE(change.name());
                const std::string text = session_to_json(state);
                ++fields;
                if (const auto read = session_from_json(text, "session.json"); !read) {
                    // a value that cannot be alone is refused with its name
                    CHECK(read.error().sentence.find("session.json") != std::string::npos);
                    ++refused;
                    continue;
                }
                const AppState again = opened(text, first);
                // what the open document lacks is brought back inside it, and a path is made absolute
                constexpr std::string_view kBrought[] = {"width", "stage", "head", "layer", "file"};
                if (std::ranges::count(kBrought, change.name()) > 0) continue;
                CHECK(kept_of(again, *workspace) == kept_of(state, *workspace));
            }
        }
    }
    MESSAGE(fields << " fields, of which " << refused << " values are refused");
    CHECK(fields >= 60);
    CHECK(refused * 3 < fields);
}
