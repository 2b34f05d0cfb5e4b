// Random input of a person: keys, clicks, drags, the wheel, text and sizes of the window, in every workspace. Nothing may
// end the program, and the journal of a session, played again, gives the same state.
//
//   ATTN_INPUT_SEED=7 ATTN_INPUT_SESSIONS=1 build/release/test_random_input      one session again
//   ATTN_INPUT_EVENTS=2000 ATTN_INPUT_SESSIONS=100 build/release/test_random_input   longer and more
//   ATTN_INPUT_SECONDS=600 …                                                      sessions until then

#include <doctest/doctest.h>

#include <attn_tree.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/opened.h"
#include "app/common/workspace.h"
#include "app/files/open.h"
#include "app/window/draw/window.h"
#include "app/window/journal.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "core/backend.h"
#include "core/rng.h"
#include "tests/ui/null_ui.h"

using namespace attn;
using namespace attn::test;
using namespace attn::view;

namespace {

std::uint64_t setting(const char* name, std::uint64_t usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t count) { return mix(seed_, n_++) % count; }
    bool one_in(std::uint64_t count) { return below(count) == 0; }
    template <class List>
    const auto& among(const List& list) {
        return list[below(std::size(list))];
    }
    float between(float low, float high) {
        return low + (high - low) * static_cast<float>(uniform(seed_, n_++));
    }

  private:
    std::uint64_t seed_, n_ = 0;
};

const ImVec2 kSizes[] = {{200, 150},  {320, 480},   {640, 400},   {1280, 200}, {1280, 720},
                         {2000, 150}, {1600, 1000}, {1024, 3000}, {4000, 300}, {4000, 3000}};
constexpr float kScales[] = {1.0F, 1.3F, 2.0F};
constexpr const char* kTexts[] = {"0",  "1", "-1.5", "1e9",   "nan", "7",        "0.5",
                                  "k",  "^", "the ", "W_Q",   "é",   "\xF0\x9F", "cat sat",
                                  "12", ",", " ",    "gpt2/", "-",   "100000"};

/// Files that the program reads in less than a moment.
std::vector<std::string> small_files() {
    std::vector<std::string> files;
    const std::filesystem::path data = ATTN_TEST_DATA;
    for (const auto& entry : std::filesystem::directory_iterator(data / "npz"))
        files.push_back(entry.path().string());
    for (const char* name : {"gpt2", "bert", "t5", "vit", "use_lite"})
        files.push_back((data / "models" / name).string());
    std::ranges::sort(files);
    return files;
}

/// Planted documents are small here, so that a session has more than one.
Result<Opened> open_small(const OpenRequest& request, const RunControl& control) {
    static const Opener all = files::opener(backends());
    const auto* const planted = std::get_if<large::PlantedSpec>(&request.what);
    if (planted != nullptr && planted->tokens > 4096)
        return bad_input("too many tokens for a test");
    return all(request, control);
}

/// Where two texts part, with what stands around it.
std::string difference(const std::string& a, const std::string& b) {
    const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
    const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 120, 0));
    return "…" + a.substr(from, 240) + "…\nreplayed: …" + b.substr(from, 240) + "…";
}

/// A program without a window: what a person does, and the actions that it carries out.
class Program {
  public:
    explicit Program(std::uint64_t seed) : random_(mix(seed, 1)) { open_window(); }

    void live(std::uint64_t events) {
        for (std::uint64_t n = 0; n < events; ++n) {
            if (n % 400 == 399) open_window();  // of another scale
            do_something();
            if (random_.one_in(3)) answer_one();
        }
        answer_all(state_, open_small);
    }

    const AppState& state() const { return state_; }
    const Actions& journal() const { return journal_; }
    std::size_t frames() const { return frames_; }
    /// By the key of the workspace that was shown.
    const std::map<std::string, int>& seen() const { return seen_; }

  private:
    void open_window() {
        ui_.reset();
        ui_ = std::make_unique<NullUi>(ImVec2{1600.0F, 1000.0F}, random_.among(kScales));
        ui_->show([this](const ui::Frame& frame, Actions& out) {
            ui::draw_window(state_, frame, out);
            ++frames_;
            ++seen_[std::string(state_.workspace)];
            for (const Action& action : std::exchange(out, {})) carry_out_now(action);
            if (is_animating(state_)) carry_out_now(Tick{1.0 / 60.0});
            for (const Action& action : due_actions(state_)) carry_out_now(action);
            state_.effects = {};  // nothing is written, and the program goes on
        });
        ui_->frames(2);
    }

    /// What no journal has must leave what a session keeps as it is: a replay does not do it.
    void carry_out_now(const Action& action) {
        const auto line = to_journal(action);
        if (action.is<Quit>()) return;
        const bool checked = !line && random_.one_in(checks_every_);
        const std::string before = checked ? session_to_json(state_) : std::string();
        view::apply(state_, action);
        if (checked)
            if (const std::string after = session_to_json(state_); after != before)
                FAIL_CHECK("an action that no journal has changes the session: " << difference(
                               before, after));
        if (!line) return;
        const auto read = from_journal(*line);
        REQUIRE_MESSAGE(read, *line);
        journal_.push_back(*read);
    }

    /// One request, as a job would: the answer comes at any time after it.
    void answer_one() {
        for (const RequestKind& kind : all_requests()) {
            if (kind.lasts || kind.name == "learning") continue;
            const auto request = open_request(kind, state_);
            if (!request || random_.one_in(2)) continue;
            carry_out_now(answered(kind.name, *request, open_small, {}));
        }
    }

    ImVec2 point() {
        const ImVec2 size = ImGui::GetIO().DisplaySize;
        if (random_.one_in(3))  // near the last one
            return {last_.x + random_.between(-60, 60), last_.y + random_.between(-60, 60)};
        return last_ = {random_.between(0, size.x), random_.between(0, size.y)};
    }

    void do_something() {
        switch (random_.below(16)) {
            case 0:
            case 1:
            case 2:
            case 3:
                ui_->click(point());
                return;
            case 4:
                ui_->double_click(point());
                return;
            case 5:
            case 6:
                ui_->drag(point(), point());
                return;
            case 7:
                ui_->move_to(point());
                ui_->wheel(random_.between(-3, 3));
                return;
            case 8:
            case 9:
            case 10:
            case 11:
                ui_->press(static_cast<Key>(1 + random_.below(kKeyCount - 1)), random_.one_in(6),
                           random_.one_in(6));
                return;
            case 12:
                ui_->type(random_.among(kTexts));
                return;
            case 13:
                ImGui::GetIO().DisplaySize = random_.one_in(2) ? random_.among(kSizes)
                                                               : ImVec2{random_.between(200, 4000),
                                                                        random_.between(150, 3000)};
                ui_->frames(2);
                return;
            case 14:
                ui_->press(Key::escape);
                return;
            default:
                go_somewhere();
        }
    }

    /// Where keys and clicks seldom lead: another workspace, its own screens, another document.
    void go_somewhere() {
        static const std::vector<std::string> files = small_files();
        const WorkspaceInfo& workspace = *random_.among(workspaces());
        const auto kind = random_.below(8);
        if (kind < 4) carry_out_now(go_to(workspace));
        if (kind == 4) {
            const auto shots = workspace.shots();
            carry_out_now(go_to(workspace));
            for (const Action& action : random_.among(shots).actions)
                if (!is_awaited(action)) carry_out_now(action);  // its answer comes as any other
        }
        if (kind == 5) carry_out_now(OpenFile{random_.among(files)});
        if (kind == 6) carry_out_now(LoadPreset{random_.among(state_.presets).key});
        if (kind == 7)
            carry_out_now(OpenPlanted{{.tokens = 256 + static_cast<Index>(random_.below(1000))}});
        ui_->frames(2);
    }

    Random random_;
    AppState state_ = initial_state();
    std::unique_ptr<NullUi> ui_;
    Actions journal_;
    ImVec2 last_{800, 500};
    std::size_t frames_ = 0;
    std::map<std::string, int> seen_;
    std::uint64_t checks_every_ = setting("ATTN_INPUT_CHECKS", 20);
};

/// What a session keeps, but for the bottom line: some of its sentences give a number of a result that a job may not have
/// brought yet, and a journal does not say when it came.
std::string session_of(AppState state) {
    state.message = {};
    return session_to_json(state);
}

std::string replayed(const Actions& journal) {
    AppState state = initial_state();
    play(state, journal, open_small);
    return session_of(std::move(state));
}

}  // namespace

TEST_CASE("random input ends no program, and its journal gives the same state") {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::uint64_t first = setting("ATTN_INPUT_SEED", 0);
    const std::uint64_t sessions = setting("ATTN_INPUT_SESSIONS", 16);
    const std::uint64_t events = setting("ATTN_INPUT_EVENTS", 250);
    const std::chrono::seconds most(setting("ATTN_INPUT_SECONDS", 1'000'000));
    std::size_t frames = 0, actions = 0, played = 0;
    std::map<std::string, int> seen;
    for (std::uint64_t seed = first; seed < first + sessions && Clock::now() - begin < most;
         ++seed) {
        std::cout << "seed " << seed << std::endl;  // an abort says which
        Program program(seed);
        program.live(events);
        frames += program.frames(), actions += program.journal().size(), ++played;
        for (const auto& [key, count] : program.seen()) seen[key] += count;
        const std::string lived = session_of(program.state());
        const std::string again = replayed(program.journal());
        CAPTURE(seed);
        if (lived != again)
            FAIL_CHECK("the journal gives another state: " << difference(lived, again));
    }
    MESSAGE(played << " sessions, " << frames << " frames, " << actions << " actions");
    for (const WorkspaceInfo* workspace : workspaces()) {
        INFO(workspace->key);
        if (played * events >= 3000) CHECK(seen[std::string(workspace->key)] > 0);
    }
}
