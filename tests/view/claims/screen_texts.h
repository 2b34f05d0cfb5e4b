#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::view {

struct AppState;
struct CurveView;
struct GridView;
struct InspectorView;
struct Line;
struct Piece;
struct PlotLevel;
struct PlotMark;
struct PlotView;
struct Readout;
struct SideVector;

/// Every text on the screen of a state, without labels, formulas and single numbers: headlines, muted lines, notes, tooltips,
/// legends, the inspector, the bottom line. A file of workspaces/ adds those of its workspace: add_<name>_texts() gives the
/// views, and add_texts() the texts of a type.
class ScreenTexts {
  public:
    explicit ScreenTexts(const AppState& state);
    std::vector<std::string> texts;

    template <class... T>
    void add_all(const T&... each) {
        (add(each), ...);
    }
    /// "label: text", for a text that is ambiguous alone.
    void add_labelled(std::string_view label, std::string_view text);

    void add(const std::string& text);
    void add(std::string_view text);
    template <class T>
    void add(const std::vector<T>& list) {
        for (const T& each : list) add(each);
    }
    template <class T, std::size_t N>
    void add(const std::array<T, N>& list) {
        for (const T& each : list) add(each);
    }
    template <class T>
    void add(const std::optional<T>& maybe) {
        if (maybe) add(*maybe);
    }
    void add(const Piece& piece);
    void add(const Line& line);
    void add(const InspectorView& inspector);
    void add(const SideVector& vector);
    void add(const GridView& grid);
    void add(const CurveView& curve);
    void add(const PlotMark& mark);
    void add(const PlotLevel& level);
    void add(const PlotView& plot);
    void add(const Readout& readout);
    /// A type of one workspace.
    template <class T>
    void add(const T& view) {
        add_texts(*this, view);
    }
};

/// One row a file of workspaces/.
struct WorkspaceTexts {
    std::string_view workspace;  // its key
    void (*add)(ScreenTexts& texts, const AppState& state);
};
std::span<const WorkspaceTexts> workspace_texts();

}  // namespace attn::view
