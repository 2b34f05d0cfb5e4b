#include "app/desktop.h"
#include "app/common/assets.h"
#include "app/common/document/document.h"
#include "app/common/map/state.h"
#include "app/window/journal.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <iostream>
#include <mutex>
#include <utility>

#include "app/autosave/autosaver.h"
#include "app/autosave/known_file.h"
#include "app/cli/desktop_options.h"
#include "app/common/clip.h"
#include "app/common/document/actions.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/requests.h"
#include "app/common/figure_size.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/common/state_text.h"
#include "app/common/workspace.h"
#include "app/figure.h"
#include "app/files/axes.h"
#include "app/fonts/fonts.h"
#include "app/gl/animated_png.h"
#include "app/jobs/jobs.h"
#include "app/jobs/script.h"
#include "app/platform/file_dialog.h"
#include "app/platform/line_file.h"
#include "app/platform/main_loop.h"
#include "app/platform/signals.h"
#include "app/platform/video.h"
#include "app/screen.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "core/io/file.h"
#include "core/io/paths.h"
#include "core/models/groups.h"
#include "core/text.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

// After an event ImGui needs a frame to notice, one to lay out, one to be at rest.
constexpr int kFramesAfterEvent = 3;
constexpr double kFrameSeconds = 1.0 / 60.0;  // while something moves
constexpr double kIdleSeconds = 30.0;
constexpr double kFollowSeconds = 0.2;  // from a look at a followed file to the next
// What just happened is said so long, and no shorter than it takes to read.
constexpr double kMessageSeconds = 6.0, kBytesReadPerSecond = 8.0;  // a student reads slowly

constexpr double kClipSeconds = 0.06;      // least from one frame of a clip to the next
constexpr double kMostClipSeconds = 60.0;  // a longer clip ends

/// From the end of the window to the end of the program, for jobs that do not stop.
constexpr double kEndSeconds = 1.5;

int exit_code(const EndingSignals& ending) {
    constexpr int kEndedBySignal = 128;  // as a shell says it
    return ending.caught() == 0 ? cli::kSuccess : kEndedBySignal + ending.caught();
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

/// Of a file that is written.
std::filesystem::path folder_of(const std::string& path) {
    return std::filesystem::absolute(path).parent_path();
}

bool is_there(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// A file that another program writes again and again, whole each time.
class FollowedFile {
  public:
    explicit FollowedFile(std::filesystem::path path) : path_(std::move(path)), seen_(written()) {}

    /// Whether it was written since the last call. A deleted file was not.
    bool was_written() {
        const auto now = written();
        return now && now != std::exchange(seen_, now);
    }

  private:
    std::optional<std::filesystem::file_time_type> written() const {
        std::error_code fault;
        const auto time = std::filesystem::last_write_time(path_, fault);
        return fault ? std::nullopt : std::optional(time);
    }

    std::filesystem::path path_;
    std::optional<std::filesystem::file_time_type> seen_;
};

/// attnscope-20260131-094500.png, or …-2.png and so on where there is one already.
std::filesystem::path free_screenshot_path(const std::filesystem::path& folder,
                                           std::string_view ending = "png") {
    const std::string stem =
        fmt::format("attnscope-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
    std::filesystem::path path = folder / fmt::format("{}.{}", stem, ending);
    for (int n = 2; is_there(path); ++n) path = folder / fmt::format("{}-{}.{}", stem, n, ending);
    return path;
}

/// Neither an option nor a journal says how large text is; a session says so as it is opened.
bool is_scale_open(const cli::StartOptions& start) { return !start.scale && start.replay.empty(); }

/// What StartAtScale will be when the window stands, as far as it is known before: Desktop asks the same again.
double likely_scale(const cli::Start& start, const cli::StartOptions& options, int height,
                    double device_scale) {
    if (options.scale) return *options.scale;
    if (!is_scale_open(options)) return start.state.ui_scale;
    const double wanted = default_scale(height, device_scale);
    if (wanted != start.state.ui_scale) return wanted;
    const auto settings = autosave::read_settings(autosave::config_folder() / "settings.json");
    return settings && *settings ? (*settings)->ui_scale : wanted;
}

/// As the journal names it: a file is found again from another folder.
view::Action named_from(const std::string& journal, const view::Action& action) {
    if (journal == "-") return action;
    const auto from = [&](const std::string& path) { return path_from(folder_of(journal), path); };
    if (const auto* const image = action.as<view::ReadImage>())
        return view::ReadImage{from(image->path)};
    const auto* const open = action.as<view::OpenFile>();
    if (open == nullptr || view::is_state_text(open->path)) return action;
    view::OpenFile named = *open;
    std::error_code ignored;
    const bool is_name =
        !view::built_in_model(open->path).empty() && !std::filesystem::exists(open->path, ignored);
    if (!is_name) named.path = from(open->path);  // "pronouns" is found from everywhere
    if (open->image && !open->image->empty()) named.image = with_parts(*open->image, from);
    return named;
}

/// The window with everything around it. One frame: gather actions, carry them out, draw.
class Desktop {
  public:
    Desktop(const cli::DesktopOptions& options, std::unique_ptr<gl::Window> window,
            const ui::BuiltFonts& fonts, cli::Start start, std::optional<LineFile> journal,
            std::optional<LineFile> frame_log, std::optional<FollowedFile> followed,
            Clock::time_point started, std::shared_ptr<const EndingSignals> ending)
        : options_(options),
          window_(std::move(window)),
          state_(std::move(start.state)),
          screen_(window_->imgui(), fonts),
          jobs_(start.open, gl::Window::wake),
          journal_(std::move(journal)),
          frame_log_(std::move(frame_log)),
          followed_(std::move(followed)),
          started_(started),
          ending_(std::move(ending)),
          last_frame_(started),
          autosaver_(options.start.replay.empty() && !options.exit_after_replay, gl::Window::wake) {
        view::map_look(state_).machine.probes = true;
        view::desktop_look(state_).has_dialog = FileDialog::is_here();
        const auto settings = autosaver_.settings(is_scale_open(options.start));
        if (settings) script_.add(*settings);
        const double scale = default_scale(window_->size().height, window_->content_scale());
        if (is_scale_open(options.start) && scale != state_.ui_scale)
            script_.add({view::StartAtScale{scale}});
        script_.add(start.actions);
        script_.add(start.replay);
        play();
        if (!options.save_session.empty()) state_.session_file = options.save_session;
        screen_.prepare(state_, window_->size().height, window_->content_scale());
        for (const Note& warning : start.warnings) warn(warning.text);
        if (!screen_.font_warning().empty()) warn(screen_.font_warning());
        if (!settings) warn(settings.error().text());
        dispatch_all(autosaver_.begin(state_));
        dispatch(view::Tick{0.0});  // from now on what changes may move
        display_lost_.emplace([this](Exiting by) { save_lost(by); });
    }

    /// What came since the last turn, and a frame where one is due. Seconds until the next turn; nullopt: the person quit, or a
    /// signal asked for the end.
    std::optional<double> turn() {
        const std::scoped_lock lock(turning_);
        bool ends = false;
        if (take_news()) {
            session_.know(state_.session_file);
            gather();
            frame();
            answer_effects();
            jobs_.update(state_);
            ends = options_.exit_after_replay && script_.done() && is_idle();
        }
        if (!ends && !state_.effects.quit && ending_->caught() == 0) return patience();
        end();
        return std::nullopt;
    }
    gl::Window& window() { return *window_; }

    ~Desktop() {
        const bool saved = failure_.empty();
        end_within({kEndSeconds, saved ? exit_code(*ending_) : cli::kFailure,
                    saved ? std::string() : "attnscope: " + failure_});
    }
    Desktop(const Desktop&) = delete;
    Desktop& operator=(const Desktop&) = delete;

  private:
    /// --save-session at the end.
    Result<void> save_at_exit() const {
        if (options_.save_session.empty()) return {};
        return write_file_atomically(
            options_.save_session, view::session_to_json(state_, folder_of(options_.save_session)));
    }

    /// Another thread may read the state only between two turns.
    void save_lost(Exiting by) {
        std::unique_lock lock(turning_, std::defer_lock);
        if (by == Exiting::other_thread && !lock.try_lock_for(std::chrono::seconds(1)))
            return report_loss(failed("the window did not answer"));
        report_loss(save_at_exit());
    }

    /// Where the program ends by itself nothing is left to be resumed.
    void end() {
        display_lost_.reset();
        const auto saved = save_at_exit();
        if (!saved) failure_ = saved.error().text();
        or_throw(saved);
        const bool saved_elsewhere = !options_.save_session.empty();
        if (ending_->caught() == 0 || saved_elsewhere) autosaver_.end(state_, quit_answer_);
    }

    // ---- the script: what the start options and a journal ask for

    void play() {
        script_.play(state_, jobs_, [this](const view::Action& action) { dispatch(action); });
    }

    /// Nothing of what the last action meant is still computed, but for the exact pass of a map.
    bool is_idle() const {
        return !state_.opening && !view::requested_trace(state_) &&
               view::is_idle(view::shown_workspace(state_), state_);
    }

    void dispatch(const view::Action& action) {
        autosaver_.foresee(action, state_);
        view::apply(state_, action);
        const view::Actions retained = autosaver_.follow(action, state_, script_.done());
        write_journal(action);
        dispatch_all(retained);
    }

    void write_journal(const view::Action& action) {
        if (!journal_) return;
        const auto line = view::to_journal(named_from(options_.journal, action));
        if (!line) return;
        if (const auto written = journal_->write(*line); !written) {
            journal_.reset();
            view::apply(state_, view::Notify{{written.error().text(), view::Severity::error}});
        }
    }

    void dispatch_all(const view::Actions& actions) {
        for (const view::Action& action : actions) dispatch(action);
    }

    /// A failure is also said on standard error: the notice on screen is gone with the next one.
    void notify(const Result<void>& done, const std::string& text) {
        if (!done) std::cerr << "attnscope: " << done.error().text() << std::endl;
        dispatch(done ? view::Notify{{text, view::Severity::info}}
                      : view::Notify{{done.error().text(), view::Severity::error}});
        frames_wanted_ = kFramesAfterEvent;
    }

    void warn(const std::string& text) { dispatch(view::Notify{{text, view::Severity::warning}}); }

    /// How long the app may sleep before the next frame.
    double patience() const {
        if (frames_wanted_ > 0) return 0.0;
        if (view::is_animating(state_))
            return std::max(0.0, kFrameSeconds - seconds_between(last_frame_, Clock::now()));
        const double idle = std::min(
            {autosaver_.due_in().value_or(kIdleSeconds), message_left().value_or(kIdleSeconds),
             followed_ || dialog_.is_open() || !videos_.empty() ? kFollowSeconds : kIdleSeconds});
        return std::clamp(idle, 0.001, kIdleSeconds);
    }

    // ---- the bottom line

    const view::Message& shown_message() const {
        return state_.notice ? *state_.notice : state_.message;
    }

    /// How long it is said yet; nullopt: it stays, or nothing is.
    std::optional<double> message_left() const {
        const bool empty = shown_message().text.empty() && state_.held == view::Key::none;
        if (empty || shown_message().severity != view::Severity::info) return std::nullopt;
        const auto length = static_cast<double>(shown_message().text.size());
        return std::max(kMessageSeconds, length / kBytesReadPerSecond) -
               seconds_between(shown_at_, Clock::now());
    }

    /// Not where a journal alone says what happens: it knows no clock.
    void fade_message() {
        if (options_.exit_after_replay) return;
        const std::string text = fmt::format("{} {}", key_name(state_.held), shown_message().text);
        if (text != std::exchange(shown_text_, text)) shown_at_ = Clock::now();
        if (message_left().value_or(kMessageSeconds) > 0.0) return;
        dispatch(view::FadeMessage{});
        frames_wanted_ = kFramesAfterEvent;
    }

    /// Of jobs, files and the person; whether a frame is due.
    bool take_news() {
        dispatch_all(autosaver_.update(state_));
        for (const view::Action& answer : jobs_.take()) {
            frames_wanted_ = kFramesAfterEvent;
            if (!script_.keep(answer)) dispatch(answer);
        }
        play();
        take_from_dialog();
        follow_file();
        fade_message();
        if (frames_wanted_ > 0) jobs_.update(state_);
        if (window_->events().take_news()) frames_wanted_ = kFramesAfterEvent;
        return frames_wanted_ > 0 || view::is_animating(state_);
    }

    /// While it is what is open; the person may have opened something else.
    void follow_file() {
        if (!followed_ || state_.opening || !script_.done()) return;
        const auto* const origin = std::get_if<view::FileOrigin>(&state_.document().origin);
        if (!origin || origin->path != options_.start.file || !followed_->was_written()) return;
        dispatch(view::OpenFile{origin->path, {}, origin->options});
        frames_wanted_ = kFramesAfterEvent;
    }

    /// What the clock and the window's frame ask for.
    void gather() {
        const auto now = Clock::now();
        const bool animating = view::is_animating(state_);
        // A sleep before the first moving frame is no part of the movement.
        if (animating)
            dispatch(
                view::Tick{was_animating_ ? seconds_between(last_frame_, now) : kFrameSeconds});
        was_animating_ = animating;
        last_frame_ = now;
        if (script_.done() && !options_.exit_after_replay) dispatch_all(view::due_actions(state_));
        for (const std::string& path : window_->events().take_dropped())
            dispatch(view::OpenFile{path});
        if (window_->take_close()) dispatch(view::AskQuit{});
    }

    void frame() {
        const auto begin = Clock::now();
        screen_.prepare(state_, window_->size().height, window_->content_scale());
        window_->begin_frame();
        view::Actions actions = screen_.build(state_);
        window_->draw(background(state_));
        if (std::exchange(state_.effects.screenshot, false)) take_screenshot(window_->read());
        record_clip();
        window_->swap();
        screen_.end_frame();
        log_frame(begin);
        dispatch_all(actions);
        --frames_wanted_;
        if (!actions.empty()) frames_wanted_ = kFramesAfterEvent;
    }

    void log_frame(Clock::time_point begin) {
        if (!frame_log_) return;
        const auto end = Clock::now();
        const auto written =
            frame_log_->write(fmt::format("{:.4f} s {:.2f} ms", seconds_between(started_, end),
                                          1e3 * seconds_between(begin, end)));
        if (written) return;
        frame_log_.reset();
        notify(written, "");
    }

    /// What apply() asked of the world; a screenshot waits for the next frame.
    void answer_effects() {
        if (const auto text = std::exchange(state_.effects.clipboard, std::nullopt))
            ImGui::SetClipboardText(text->c_str());
        if (const auto session = std::exchange(state_.effects.session, std::nullopt))
            save_session(*session);
        if (const auto figure = std::exchange(state_.effects.figure, std::nullopt))
            export_figure(*figure);
        save_videos();
        preview_figure();
        list_folder();
        ask_desktop();
        if (const auto answer = std::exchange(state_.effects.recovery, std::nullopt))
            dispatch_all(autosaver_.answer(*answer, state_));
        if (std::exchange(state_.effects.ask_quit, false)) ask_quit();
        if (const auto answer = std::exchange(state_.effects.quit_answer, std::nullopt)) {
            quit_answer_ = *answer;
            dispatch(view::Quit{});
        }
        if (const auto runs = std::exchange(state_.effects.runs, std::nullopt)) save_runs(*runs);
    }

    /// Where the session is saved at the end anyway nothing is asked.
    void ask_quit() {
        const auto work = autosaver_.unsaved(state_);
        const bool asks = options_.save_session.empty() && work.has_value();
        dispatch(asks ? view::Action(view::OfferQuit{*work}) : view::Action(view::Quit{}));
        frames_wanted_ = kFramesAfterEvent;
    }

    /// Asks once more before it overwrites a file that nobody asked to; of a figure its caption too.
    bool confirm(view::PromptKind kind, const view::FileRequest& request) {
        const std::string caption = view::caption_of(state_, kind, request.path);
        if (request.overwrite || (!is_there(request.path) && !is_there(caption))) return true;
        dispatch(view::ShowPrompt{kind, request.path, true});
        frames_wanted_ = kFramesAfterEvent;
        return false;
    }

    void save_session(const view::FileRequest& request) {
        const bool known = session_.holds_what_is_known(request.path);
        if (!known && !confirm(view::PromptKind::save, request)) {
            if (request.path == state_.session_file)
                warn(request.path + " was changed since this window read or saved it.");
            return;
        }
        const auto done = write_file_atomically(
            request.path, view::session_to_json(state_, folder_of(request.path)));
        if (done) session_.know(request.path, true), offer_download(request.path);
        if (!done) dispatch(view::ShowPrompt{view::PromptKind::save, request.path});
        dispatch(done ? view::Action(view::SessionSaved{request.path})
                      : view::Action(view::AnswerQuit{view::QuitAnswer::stay}));
        notify(done, "saved " + request.path);
    }

    void export_figure(const view::FileRequest& request) {
        if (!confirm(view::PromptKind::figure, request)) return;
        const FigureWindow window{window_->size(), window_->content_scale(), request.chrome};
        const auto done = attn::export_figure(state_, request.path, window);
        if (!done) dispatch(view::ShowPrompt{view::PromptKind::figure, request.path});
        notify(done, "figure: " + request.path);
        if (done) offer_download(request.path), dispatch(view::ShowWritten{request.path});
    }

    /// Its file dialog, and its programs for what was written.
    void ask_desktop() {
        const view::DesktopLook look = view::desktop_look(state_);
        if (!look.opens.empty()) {
            dispatch(view::OpenWritten{});
            if (const auto opened = open_with_desktop(look.opens); !opened)
                warn(opened.error().problem);
        }
        if (look.asks_dialog) dispatch(view::AskFileDialog{false});
        if (look.asks_dialog && state_.prompt) dialog_.ask(*state_.prompt);
    }

    void take_from_dialog() {
        const auto path = dialog_.take(state_.prompt);
        if (!path || path->empty()) return;
        dispatch(view::DraftPrompt{*path});
        dispatch(view::CountFileDialog{view::desktop_look(state_).answers + 1});
        frames_wanted_ = kFramesAfterEvent;
    }

    /// What the prompt for a figure would write.
    void preview_figure() {
        if (!state_.prompt || state_.prompt->kind != view::PromptKind::figure)
            return previewed_.reset();
        const view::FigureLook& look = view::figure_look(state_);
        const std::pair of{look.size, look.paper};
        if (std::exchange(previewed_, of) == of) return;
        dispatch(view::ShowFigurePreview{
            figure_preview(state_, {window_->size(), window_->content_scale()})});
        frames_wanted_ = kFramesAfterEvent;
    }

    /// What lies beside the path that is typed.
    void list_folder() {
        if (!state_.prompt || !view::lists_paths(state_.prompt->kind)) return listed_.reset();
        const std::pair of{state_.prompt->kind, state_.prompt->path};
        if (std::exchange(listed_, of) == of) return;
        dispatch(view::ShowFolder{view::read_folder(state_.prompt->path)});
        dispatch(view::ChoosePath{-1});
        frames_wanted_ = kFramesAfterEvent;
    }

    void save_runs(const view::RunsRequest& request) {
        const auto& [file, runs] = request;
        if (!confirm(view::PromptKind::runs, file)) return;
        for (std::size_t n = 0; n < runs->size(); ++n) {
            const auto folder = std::filesystem::path(file.path) / (n == 0 ? "run-a" : "run-b");
            if (const auto done = train::save_run(folder, (*runs)[n]); !done)
                return notify(done, {});
        }
        notify({}, fmt::format("saved {} in {}", counted(runs->size(), "run"), file.path));
    }

    void take_screenshot(const gl::Pixels& pixels) {
        const auto path = free_screenshot_path(options_.screenshot_dir);
        notify(write_file_atomically(path, encode_png(gl::opaque(pixels))),
               "screenshot: " + path.string());
        offer_download(path.string());
    }

    /// A frame of the clip, or its end. A frame is shown until the next, so that it is added with that one.
    void record_clip() {
        const bool records = view::clip_look(state_).records;
        if (!records && !clip_) return;
        const auto now = Clock::now();
        if (!clip_) {
            const bool is_video = view::clip_look(state_).format != view::ClipFormat::png;
            if (const auto found = check_ffmpeg(); is_video && !found) {
                dispatch(view::RecordClip{false});
                return notify(found, "");
            }
            clip_.emplace();
            clip_->began = now;
        } else if (records && seconds_between(clip_->at, now) < kClipSeconds) {
            return;
        }
        if (clip_->last) add_to_clip(now);
        clip_->last = gl::opaque(window_->read());
        clip_->at = now;
        const double most = view::clip_look(state_).seconds.value_or(kMostClipSeconds);
        if (records && seconds_between(clip_->began, now) < most) return;
        if (records) dispatch(view::RecordClip{false});
        add_to_clip(now + std::chrono::milliseconds(500));
        const auto format = view::clip_look(state_).format;
        const auto path = free_screenshot_path(
            options_.screenshot_dir,
            view::kNamesOf<view::ClipFormat>[static_cast<std::size_t>(format)]);
        const double seconds = seconds_between(clip_->began, now);
        std::string bytes = clip_->film.finish();
        clip_.reset();
        if (format == view::ClipFormat::png) return save_clip(path, seconds, bytes);
        const auto video = format == view::ClipFormat::mp4 ? VideoFormat::mp4 : VideoFormat::webm;
        notify({}, fmt::format("ffmpeg makes {} …", path.string()));
        auto made = std::make_shared<Result<std::string>>();
        videos_.push_back({path, seconds, made, begin_beside([made, video, png = std::move(bytes)] {
                               *made = video_of(png, video);
                           })});
    }
    void save_clip(const std::filesystem::path& path, double seconds, const std::string& bytes) {
        notify(write_file_atomically(path, bytes),
               fmt::format("clip: {}, {:.1f} s, {}", path.string(), seconds,
                           view::bytes_text(static_cast<double>(bytes.size()))));
        offer_download(path.string());
    }
    /// Writes the videos that ffmpeg has made since.
    void save_videos() {
        std::erase_if(videos_, [&](Video& video) {
            if (video.done.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
                return false;
            if (*video.made)
                save_clip(video.path, video.seconds, **video.made);
            else
                notify(tl::unexpected(video.made->error()), "");
            return true;
        });
    }
    void add_to_clip(Clock::time_point until) {
        clip_->film.add(*clip_->last,
                        static_cast<int>(std::lround(1e3 * seconds_between(clip_->at, until))));
    }

    void report_loss(const Result<void>& saved) const {
        std::cerr << "attnscope: the display is lost";
        if (!saved) std::cerr << "; " << saved.error().text();
        if (saved && !options_.save_session.empty())
            std::cerr << "; the session is saved in " << options_.save_session;
        std::cerr << std::endl;
    }

    const cli::DesktopOptions options_;
    std::unique_ptr<gl::Window> window_;
    view::AppState state_;
    Screen screen_;
    jobs::Jobs jobs_;
    jobs::Script script_;  // of the start and of a replay, not carried out yet
    std::optional<LineFile> journal_;
    std::optional<LineFile> frame_log_;
    std::optional<FollowedFile> followed_;
    Clock::time_point started_;
    std::shared_ptr<const EndingSignals> ending_;
    std::string shown_text_;  // on the bottom line
    Clock::time_point shown_at_;
    Clock::time_point last_frame_;
    autosave::Autosaver autosaver_;
    autosave::KnownFile session_;
    bool was_animating_ = false;
    view::QuitAnswer quit_answer_ = view::QuitAnswer::save;  // nothing is asked: nothing is lost
    std::optional<std::pair<view::FigureSize, view::FigurePaper>> previewed_;
    std::optional<std::pair<view::PromptKind, std::string>> listed_;
    FileDialog dialog_;
    struct Clip {
        gl::AnimatedPng film;
        std::optional<RgbImage> last;
        Clock::time_point began, at;  // at: of the last frame
    };
    std::optional<Clip> clip_;  // while one is recorded
    struct Video {
        std::filesystem::path path;
        double seconds = 0.0;
        std::shared_ptr<Result<std::string>> made;
        std::future<void> done;
    };
    std::vector<Video> videos_;  // that ffmpeg makes
    int frames_wanted_ = kFramesAfterEvent;
    std::timed_mutex turning_;  // held during a turn
    std::optional<AtExit> display_lost_;
    std::string failure_;  // why the session was not saved at the end
};

/// Opened when a name was given.
std::optional<LineFile> open_lines(const std::string& path, const LineKind& kind) {
    if (path.empty()) return std::nullopt;
    return or_throw(LineFile::open(path, kind));
}

void run_window(const cli::DesktopOptions& options, cli::Streams io, Clock::time_point started,
                std::shared_ptr<const EndingSignals>& ending) {
    const gl::Size size = or_throw(cli::parse_size(options.start.size));
    std::optional<FollowedFile> followed;  // from before it is read
    if (options.follow) followed.emplace(options.start.file);
    cli::Start start = or_throw(cli::read_start(options.start, io));
    if (cli::is_default_start(options.start)) cli::append_first_screen(start);
    auto journal = open_lines(options.journal, kJournalLines);
    auto frame_log = open_lines(options.frame_log, kFrameLogLines);
    // The glyphs of all fonts take about as long as OpenGL's driver: they are drawn beside it.
    ui::BuiltFonts fonts;
    std::future<void> drawing;
    const auto draw_fonts = [&](gl::Size likely, double device_scale) {
        const auto scale = static_cast<float>(
            device_scale * likely_scale(start, options.start, likely.height, device_scale));
        drawing = begin_beside([&fonts, scale] { fonts = ui::build_fonts(scale); });
    };
    const auto take_fonts = [&] {
        if (drawing.valid()) drawing.get();
        return fonts.atlas;
    };
    auto window = or_throw(gl::Window::open(
        {.title = "attnscope", .size = size, .on_size = draw_fonts, .atlas = take_fonts}));
    // Only once there is something to save: a signal ends at once a start that still reads a file.
    ending = std::make_shared<const EndingSignals>(gl::Window::wake);
    // Only once the window is there: a run that fails before leaves every file as it was.
    for (std::optional<LineFile>* lines : {&journal, &frame_log})
        if (*lines) or_throw((*lines)->begin());
    const auto desktop = std::make_shared<Desktop>(
        options, std::move(window), fonts, std::move(start), std::move(journal),
        std::move(frame_log), std::move(followed), started, ending);
    run_turns(desktop->window(), [desktop] { return desktop->turn(); });
}

}  // namespace

int run_desktop(const cli::DesktopOptions& options, cli::Streams io, Clock::time_point started) {
    std::shared_ptr<const EndingSignals> ending;
    const auto preloaded = begin_beside(fonts::preload);
    const auto done = caught([&] { run_window(options, io, started, ending); });
    if (!done) return cli::report(done.error(), "attnscope", io);
    return exit_code(*ending);
}

}  // namespace attn
