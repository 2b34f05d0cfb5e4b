#include "app/keep/keeper.h"

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include "app/keep/autosave.h"
#include "app/keep/places.h"
#include "app/keep/recent.h"
#include "app/keep/settings.h"
#include "app/window/session.h"

namespace attn::keep {
namespace {

using Clock = std::chrono::steady_clock;

/// Work is kept so long after the first change that is not kept yet.
constexpr double kKeepSeconds = 0.5;
constexpr const char* kLost = "work that is not saved is lost where the program is ended";

view::Action warning(const std::string& words) {
    return view::Notify{{words, view::Severity::warning}};
}

/// What a person sets for every session.
bool is_setting(const view::Action& action) {
    return action.is<view::SetTheme>() || action.is<view::SetUiScale>() ||
           action.is<view::SetReducedMotion>() || action.is<view::ShowInspector>();
}

}  // namespace

struct Keeper::Parts {
    bool on = false;
    std::function<void()> wake;
    std::filesystem::path config = config_folder();
    std::filesystem::path folder = state_folder();
    Settings settings;
    bool settings_changed = false;  // by the person, not by a session that was opened
    bool settings_broken = false;   // the file stays as it is
    std::optional<Leftovers> leftovers;
    std::optional<Autosave> autosave;
    std::string kept;                               // what needs no keeping: as begun, or as saved
    std::optional<Clock::time_point> unkept_since;  // the first change that is not kept
    std::optional<view::Edit> saved;                // the present as begun or saved
    bool resumed = false;                           // and it is not saved since
    bool resumes = false;                           // what another program left is being opened

    std::string session(const view::AppState& state) const {
        return view::session_to_json(state, folder);
    }

    view::Actions add_recent(const std::string& path, const view::AppState& state) {
        if (folder.empty()) return {};
        const auto recent = with_recent(state.recent, path);
        write_recent(folder / "recent.json", recent);
        return {view::SetRecent{recent}};
    }

    view::Actions keep_settings(const view::AppState& state) {
        if (!std::exchange(settings_changed, false) || config.empty() || settings_broken) return {};
        const Settings now = settings_of(state, settings);
        if (now == settings) return {};
        settings = now;
        const auto done = write_settings(config / "settings.json", now);
        if (done) return {};
        settings_broken = true;  // said once
        std::cerr << "attnscope: " << done.error().sentence << std::endl;
        return {view::Notify{{done.error().sentence, view::Severity::error}}};
    }
};

Keeper::Keeper(bool on, std::function<void()> wake) : parts_(std::make_unique<Parts>()) {
    parts_->on = on;
    parts_->wake = std::move(wake);
}

Keeper::~Keeper() = default;

Result<view::Actions> Keeper::settings(bool scale_is_open) {
    Parts& own = *parts_;
    if (!own.on || own.config.empty()) return {};
    auto read = read_settings(own.config / "settings.json");
    if (!read) {
        own.settings_broken = true;
        read.error().sentence += "; it is left as it is";
        return tl::unexpected(std::move(read.error()));
    }
    if (!*read) return {};
    own.settings = **read;
    view::Actions actions = {view::SetTheme{own.settings.theme}};
    if (scale_is_open) actions.push_back(view::StartAtScale{own.settings.ui_scale});
    if (own.settings.reduced_motion) actions.push_back(view::SetReducedMotion{true});
    if (own.settings.inspector) actions.push_back(view::ShowInspector{own.settings.inspector});
    return actions;
}

view::Actions Keeper::begin(const view::AppState& state) {
    Parts& own = *parts_;
    if (!own.on) return {};
    own.settings = settings_of(state, own.settings);
    own.saved = state.history[state.now];
    if (own.folder.empty())
        return {warning(std::string("Neither XDG_STATE_HOME nor HOME is set: ") + kLost)};
    view::Actions actions = {view::SetRecent{read_recent(own.folder / "recent.json")}};
    own.leftovers.emplace(own.folder);
    if (auto left = own.leftovers->first()) actions.push_back(view::OfferRecovery{std::move(left)});
    auto autosave = Autosave::open(own.folder, own.wake);
    if (!autosave) {
        actions.push_back(warning(autosave.error().sentence));
        return actions;
    }
    own.autosave.emplace(*std::move(autosave));
    own.kept = own.session(state);
    return actions;
}

view::Actions Keeper::follow(const view::Action& action, const view::AppState& state,
                             bool by_person) {
    Parts& own = *parts_;
    if (!own.on) return {};
    if (view::kind_of(action) != view::Kind::moment && !own.unkept_since)
        own.unkept_since = Clock::now();
    if (by_person && is_setting(action)) own.settings_changed = true;
    if (own.resumes && !state.recovery) {  // it is open
        own.resumes = false;
        own.resumed = true;
        if (own.autosave) own.autosave->adopt(own.leftovers->take_first());
    }
    if (const auto* const saved = action.as<view::SessionSaved>()) {
        own.kept = own.session(state);
        own.saved = state.history[state.now];
        own.resumed = false;
        own.unkept_since = Clock::now();
        return own.add_recent(saved->path, state);
    }
    const auto* const open = action.as<view::OpenFile>();
    std::error_code ignored;
    const bool is_leftover =
        open != nullptr && state.recovery && state.recovery->path == open->path;
    if (open != nullptr && !is_leftover && std::filesystem::exists(open->path, ignored))
        return own.add_recent(open->path, state);
    return {};
}

view::Actions Keeper::update(const view::AppState& state) {
    Parts& own = *parts_;
    if (!own.autosave) return {};
    view::Actions actions;
    if (const auto failure = own.autosave->take_failure())
        actions.push_back(warning(*failure + ": " + kLost));
    if (const auto due = due_in(); !due || *due > 0.0) return actions;
    own.unkept_since.reset();
    for (view::Action& action : own.keep_settings(state)) actions.push_back(std::move(action));
    std::string session = own.session(state);
    if (session == own.kept) session.clear();
    own.autosave->save(std::move(session));
    return actions;
}

std::optional<double> Keeper::due_in() const {
    if (!parts_->unkept_since || !parts_->autosave) return std::nullopt;
    const std::chrono::duration<double> passed = Clock::now() - *parts_->unkept_since;
    return kKeepSeconds - passed.count();
}

view::Actions Keeper::answer(view::RecoveryAnswer answer, const view::AppState& state) {
    Parts& own = *parts_;
    if (!own.leftovers || !own.leftovers->first()) return {};
    if (answer == view::RecoveryAnswer::resume) {
        own.resumes = true;
        return {view::OpenFile{state.recovery->path}};
    }
    if (answer == view::RecoveryAnswer::later) return {view::OfferRecovery{}};
    own.leftovers->take_first().remove();
    return {view::OfferRecovery{own.leftovers->first()}};
}

bool Keeper::has_unsaved(const view::AppState& state) const {
    const Parts& own = *parts_;
    if (!own.on || !own.saved) return false;
    const view::Edit& now = state.history[state.now];
    const view::Edit& then = *own.saved;
    const bool same = now.document == then.document && now.controls == then.controls;
    return !same && (!now.opens || own.resumed);
}

void Keeper::end(const view::AppState& state, bool keeps_work) {
    parts_->keep_settings(state);
    if (!parts_->autosave) return;
    if (keeps_work)
        parts_->autosave->save(parts_->session(state));
    else
        parts_->autosave->end();
}

}  // namespace attn::keep
