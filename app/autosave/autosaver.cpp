#include "app/autosave/autosaver.h"

#include <iostream>

#include <fmt/format.h>

#include "app/autosave/recent.h"
#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/window/rail.h"
#include "app/window/session.h"

namespace attn::autosave {
namespace {

/// Work is kept so long after the first change that is not kept yet.
constexpr double kKeepSeconds = 0.5;
constexpr const char* kLost = "unsaved work is lost if the program ends";

view::Action warning(const std::string& text) {
    return view::Notify{{text, view::Severity::warning}};
}

/// What a person sets for every session.
bool is_setting(const view::Action& action) {
    return action.is<view::SetTheme>() || action.is<view::SetUiScale>() ||
           action.is<view::SetReducedMotion>() || action.is<view::ShowInspector>() ||
           action.is<view::SetColorMap>() || action.is<view::SetWeightsToOne>() ||
           action.is<view::ShowAllTools>();
}

/// Where it does, another document takes the place of the present one. A tour's pages are not meant: what is done there is
/// an exercise.
bool may_open(const view::Action& action) {
    return action.is<view::DocumentReady>() || action.is<view::LoadPreset>() ||
           action.is<view::SetSentence>() || action.is<view::StartTour>() ||
           action.is<view::Redo>();
}

bool is_same_work(const view::Edit& a, const view::Edit& b) {
    return a.document == b.document && a.controls == b.controls;
}

}  // namespace

Autosaver::Autosaver(bool on, std::function<void()> wake) : on_(on), wake_(std::move(wake)) {}

std::string Autosaver::session(const view::AppState& state) const {
    return view::session_to_json(state, folder_);
}

view::Actions Autosaver::add_recent(const std::string& path, const view::AppState& state) {
    if (folder_.empty()) return {};
    const auto recent = with_recent(state.recent, path);
    write_recent(folder_ / "recent.json", recent);
    return {view::SetRecent{recent}};
}

view::Actions Autosaver::keep_settings(const view::AppState& state) {
    if (!std::exchange(settings_changed_, false) || config_.empty() || settings_broken_) return {};
    const Settings now = settings_of(state, settings_);
    if (now == settings_) return {};
    settings_ = now;
    const auto done = write_settings(config_ / "settings.json", now);
    if (done) return {};
    settings_broken_ = true;  // said once
    std::cerr << "attnscope: " << done.error().text() << std::endl;
    return {view::Notify{{done.error().text(), view::Severity::error}}};
}

Result<view::Actions> Autosaver::settings(bool scale_is_open) {
    if (!on_ || config_.empty()) return {};
    auto read = read_settings(config_ / "settings.json");
    if (!read) {
        settings_broken_ = true;
        read.error().text() += "; it is not changed";
        return tl::unexpected(std::move(read.error()));
    }
    if (!*read) return {};
    settings_ = **read;
    view::Actions actions = {view::SetTheme{settings_.theme}};
    if (scale_is_open) actions.push_back(view::StartAtScale{settings_.ui_scale});
    if (settings_.reduced_motion) actions.push_back(view::SetReducedMotion{true});
    if (settings_.inspector) actions.push_back(view::ShowInspector{settings_.inspector});
    if (settings_.colors.map != view::ColorMap::violet)
        actions.push_back(view::SetColorMap{settings_.colors.map});
    if (settings_.all_tools) actions.push_back(view::ShowAllTools{true});
    if (settings_.colors.to_one) actions.push_back(view::SetWeightsToOne{true});
    return actions;
}

view::Actions Autosaver::begin(const view::AppState& state) {
    if (!on_) return {};
    settings_ = settings_of(state, settings_);
    saved_ = present_ = state.history[state.now];
    edits_ = state.edits;
    if (folder_.empty())
        return {warning(std::string("Neither XDG_STATE_HOME nor HOME is set: ") + kLost)};
    view::Actions actions = {view::SetRecent{read_recent(folder_ / "recent.json")}};
    leftovers_.emplace(folder_);
    if (auto left = leftovers_->first()) actions.push_back(view::OfferRecovery{std::move(left)});
    auto autosave = Autosave::open(folder_, wake_);
    if (!autosave) {
        actions.push_back(warning(autosave.error().text()));
        return actions;
    }
    autosave_.emplace(*std::move(autosave));
    saved_text_ = session(state);
    return actions;
}

void Autosaver::foresee(const view::Action& action, const view::AppState& state) {
    if (autosave_ && unsaved_since_ && may_open(action) && is_unsaved(state.history[state.now]))
        autosave_->save(session(state));
}

view::Actions Autosaver::follow_present(const view::Action& action, const view::AppState& state) {
    if (!saved_ || edits_ == state.edits) return {};
    edits_ = state.edits;
    view::Actions actions;
    const view::Edit& now = state.history[state.now];
    if (now.opens && may_open(action)) {
        if (is_unsaved(present_)) actions = leave_work();
        resumed_ = false;
    } else {
        go_back_to_left(now);
    }
    present_ = now;
    return actions;
}

/// What is opened is kept in a file of its own.
view::Actions Autosaver::leave_work() {
    if (!autosave_) return {};
    auto next = Autosave::open(folder_, wake_);
    if (!next) return {warning(next.error().text())};
    left_.push_back({std::exchange(*autosave_, *std::move(next)), present_, resumed_});
    return {warning("Unsaved changes were replaced. Ctrl+Z brings them back.")};
}

void Autosaver::go_back_to_left(const view::Edit& work) {
    const auto found = std::ranges::find_if(
        left_, [&](const Left& left) { return is_same_work(left.work, work); });
    if (found == left_.end()) return;
    autosave_->end();
    *autosave_ = std::move(found->file);
    resumed_ = found->resumed;
    left_.erase(found);
}

view::Actions Autosaver::follow(const view::Action& action, const view::AppState& state,
                                bool by_person) {
    if (!on_) return {};
    view::Actions actions = follow_present(action, state);
    if (view::kind_of(action) != view::Kind::moment && !unsaved_since_)
        unsaved_since_ = Clock::now();
    if (by_person && is_setting(action)) settings_changed_ = true;
    if (resumes_ && !state.recovery) {  // it is open
        resumes_ = false;
        resumed_ = true;
        if (autosave_) autosave_->adopt(leftovers_->take_first());
    }
    if (const auto* const saved = action.as<view::SessionSaved>()) {
        saved_text_ = session(state);
        saved_ = state.history[state.now];
        resumed_ = false;
        unsaved_since_ = Clock::now();
        return add_recent(saved->path, state);
    }
    const auto* const open = action.as<view::OpenFile>();
    std::error_code ignored;
    const bool is_leftover =
        open != nullptr && state.recovery && state.recovery->path == open->path;
    // A model that comes with the program is in the palette and on the first screen.
    if (open != nullptr && !is_leftover && view::built_in_name(open->path).empty() &&
        view::built_in_model(open->path).empty() && std::filesystem::exists(open->path, ignored))
        return add_recent(open->path, state);
    return actions;
}

view::Actions Autosaver::update(const view::AppState& state) {
    if (!autosave_) return {};
    view::Actions actions;
    if (const auto failure = autosave_->take_failure())
        actions.push_back(warning(*failure + ": " + kLost));
    if (const auto due = due_in(); !due || *due > 0.0) return actions;
    unsaved_since_.reset();
    for (view::Action& action : keep_settings(state)) actions.push_back(std::move(action));
    std::string now = session(state);
    if (now == saved_text_) now.clear();
    autosave_->save(std::move(now));
    return actions;
}

std::optional<double> Autosaver::due_in() const {
    if (!unsaved_since_ || !autosave_) return std::nullopt;
    const std::chrono::duration<double> passed = Clock::now() - *unsaved_since_;
    return kKeepSeconds - passed.count();
}

view::Actions Autosaver::answer(view::RecoveryAnswer answer, const view::AppState& state) {
    if (!leftovers_ || !leftovers_->first()) return {};
    if (answer == view::RecoveryAnswer::resume) {
        resumes_ = true;
        return {view::OpenFile{state.recovery->path}};
    }
    if (answer == view::RecoveryAnswer::later) return {view::OfferRecovery{}};
    leftovers_->take_first().remove();
    return {view::OfferRecovery{leftovers_->first()}};
}

bool Autosaver::is_unsaved(const view::Edit& work) const {
    return on_ && saved_ && !is_same_work(work, *saved_) && (!work.opens || resumed_);
}

std::optional<view::UnsavedWork> Autosaver::unsaved(const view::AppState& state) const {
    constexpr std::size_t kMostTitles = 3;
    view::UnsavedWork work{is_unsaved(state.history[state.now]), {}};
    for (std::size_t n = 0; n < std::min(left_.size(), kMostTitles); ++n)
        work.left += fmt::format("{}“{}”", n > 0 ? ", " : "", left_[n].work.document->title);
    if (left_.size() > kMostTitles)
        work.left += fmt::format(" and {} more", left_.size() - kMostTitles);
    if (!work.shown && work.left.empty()) return std::nullopt;
    return work;
}

void Autosaver::end(const view::AppState& state, view::QuitAnswer answer) {
    keep_settings(state);
    if (answer == view::QuitAnswer::discard)
        for (Left& left : left_) left.file.end();
    if (!autosave_) return;
    if (answer == view::QuitAnswer::keep && is_unsaved(state.history[state.now]))
        autosave_->save(session(state));
    else
        autosave_->end();
}

}  // namespace attn::autosave
