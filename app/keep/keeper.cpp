#include "app/keep/keeper.h"

#include <iostream>
#include <string>
#include <utility>

#include "app/keep/recent.h"
#include "app/window/session.h"

namespace attn::keep {
namespace {

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

/// Another document took the place of what stood there before.
bool opens_another(const view::Action& action, const view::AppState& state) {
    return state.history[state.now].opens && !action.is<view::Undo>() && !action.is<view::Redo>();
}

}  // namespace

Keeper::Keeper(bool on, std::function<void()> wake) : on_(on), wake_(std::move(wake)) {}

std::string Keeper::session(const view::AppState& state) const {
    return view::session_to_json(state, folder_);
}

view::Actions Keeper::add_recent(const std::string& path, const view::AppState& state) {
    if (folder_.empty()) return {};
    const auto recent = with_recent(state.recent, path);
    write_recent(folder_ / "recent.json", recent);
    return {view::SetRecent{recent}};
}

view::Actions Keeper::keep_settings(const view::AppState& state) {
    if (!std::exchange(settings_changed_, false) || config_.empty() || settings_broken_) return {};
    const Settings now = settings_of(state, settings_);
    if (now == settings_) return {};
    settings_ = now;
    const auto done = write_settings(config_ / "settings.json", now);
    if (done) return {};
    settings_broken_ = true;  // said once
    std::cerr << "attnscope: " << done.error().sentence << std::endl;
    return {view::Notify{{done.error().sentence, view::Severity::error}}};
}

Result<view::Actions> Keeper::settings(bool scale_is_open) {
    if (!on_ || config_.empty()) return {};
    auto read = read_settings(config_ / "settings.json");
    if (!read) {
        settings_broken_ = true;
        read.error().sentence += "; it is left as it is";
        return tl::unexpected(std::move(read.error()));
    }
    if (!*read) return {};
    settings_ = **read;
    view::Actions actions = {view::SetTheme{settings_.theme}};
    if (scale_is_open) actions.push_back(view::StartAtScale{settings_.ui_scale});
    if (settings_.reduced_motion) actions.push_back(view::SetReducedMotion{true});
    if (settings_.inspector) actions.push_back(view::ShowInspector{settings_.inspector});
    return actions;
}

view::Actions Keeper::begin(const view::AppState& state) {
    if (!on_) return {};
    settings_ = settings_of(state, settings_);
    saved_ = state.history[state.now];
    if (folder_.empty())
        return {warning(std::string("Neither XDG_STATE_HOME nor HOME is set: ") + kLost)};
    view::Actions actions = {view::SetRecent{read_recent(folder_ / "recent.json")}};
    leftovers_.emplace(folder_);
    if (auto left = leftovers_->first()) actions.push_back(view::OfferRecovery{std::move(left)});
    auto autosave = Autosave::open(folder_, wake_);
    if (!autosave) {
        actions.push_back(warning(autosave.error().sentence));
        return actions;
    }
    autosave_.emplace(*std::move(autosave));
    kept_ = session(state);
    return actions;
}

view::Actions Keeper::follow(const view::Action& action, const view::AppState& state,
                             bool by_person) {
    if (!on_) return {};
    if (view::kind_of(action) != view::Kind::moment && !unkept_since_) unkept_since_ = Clock::now();
    if (by_person && is_setting(action)) settings_changed_ = true;
    if (resumes_ && !state.recovery) {  // it is open
        resumes_ = false;
        resumed_ = true;
        if (autosave_) autosave_->adopt(leftovers_->take_first());
    }
    if (const auto* const saved = action.as<view::SessionSaved>()) {
        kept_ = session(state);
        saved_ = state.history[state.now];
        resumed_ = unsaved_ = false;
        unkept_since_ = Clock::now();
        return add_recent(saved->path, state);
    }
    const bool was_unsaved = std::exchange(unsaved_, has_unsaved(state));
    if (was_unsaved && !unsaved_ && state.now > 0 && opens_another(action, state))
        return {view::Notify{{"What was changed before is not saved: Ctrl+Z goes back to it.",
                              view::Severity::warning}}};
    const auto* const open = action.as<view::OpenFile>();
    std::error_code ignored;
    const bool is_leftover =
        open != nullptr && state.recovery && state.recovery->path == open->path;
    if (open != nullptr && !is_leftover && std::filesystem::exists(open->path, ignored))
        return add_recent(open->path, state);
    return {};
}

view::Actions Keeper::update(const view::AppState& state) {
    if (!autosave_) return {};
    view::Actions actions;
    if (const auto failure = autosave_->take_failure())
        actions.push_back(warning(*failure + ": " + kLost));
    if (const auto due = due_in(); !due || *due > 0.0) return actions;
    unkept_since_.reset();
    for (view::Action& action : keep_settings(state)) actions.push_back(std::move(action));
    std::string now = session(state);
    if (now == kept_) now.clear();
    autosave_->save(std::move(now));
    return actions;
}

std::optional<double> Keeper::due_in() const {
    if (!unkept_since_ || !autosave_) return std::nullopt;
    const std::chrono::duration<double> passed = Clock::now() - *unkept_since_;
    return kKeepSeconds - passed.count();
}

view::Actions Keeper::answer(view::RecoveryAnswer answer, const view::AppState& state) {
    if (!leftovers_ || !leftovers_->first()) return {};
    if (answer == view::RecoveryAnswer::resume) {
        resumes_ = true;
        return {view::OpenFile{state.recovery->path}};
    }
    if (answer == view::RecoveryAnswer::later) return {view::OfferRecovery{}};
    leftovers_->take_first().remove();
    return {view::OfferRecovery{leftovers_->first()}};
}

bool Keeper::has_unsaved(const view::AppState& state) const {
    if (!on_ || !saved_) return false;
    const view::Edit& now = state.history[state.now];
    const view::Edit& then = *saved_;
    const bool same = now.document == then.document && now.controls == then.controls;
    return !same && (!now.opens || resumed_);
}

void Keeper::end(const view::AppState& state, bool keeps_work) {
    keep_settings(state);
    if (!autosave_) return;
    if (keeps_work)
        autosave_->save(session(state));
    else
        autosave_->end();
}

}  // namespace attn::keep
