#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/common/action.h"
#include "app/common/folder.h"
#include "app/common/image.h"
#include "app/common/set_field.h"
#include "app/common/state.h"

namespace attn::view {

/// How wide an exported figure is: as on screen; one, one and a half or two columns of a page; a slide.
enum class FigureSize : std::uint8_t { screen, column, wide_column, page, slide };
template <>
inline constexpr std::string_view kNamesOf<FigureSize>[] = {"screen", "85mm", "120mm", "180mm",
                                                            "slide"};

/// On a page the headline is next to the figure.
constexpr bool is_paper(FigureSize size) {
    return size != FigureSize::screen && size != FigureSize::slide;
}
/// "weights.caption.txt", beside weights.svg.
inline std::string caption_file(std::filesystem::path figure) {
    return figure.replace_extension(".caption.txt").string();
}

/// What lies behind it: white on a page and the theme's own ground elsewhere; cream, in the light theme; nothing.
enum class FigurePaper : std::uint8_t { plain, cream, transparent };
template <>
inline constexpr std::string_view kNamesOf<FigurePaper>[] = {"plain", "cream", "transparent"};

/// Settings of the next export: of the moment, in no session.
struct FigureLook {
    FigureSize size = FigureSize::screen;
    FigurePaper paper = FigurePaper::plain;
    std::shared_ptr<const Image> preview;  // while the prompt asks for the figure's path
    bool operator==(const FigureLook&) const = default;
};
inline constexpr Look<FigureLook> figure_look;
/// Of a prompt for a figure on a page: the path of its caption; "": none.
inline std::string caption_of(const AppState& state, PromptKind kind, const std::string& path) {
    return kind == PromptKind::figure && is_paper(figure_look(state).size) ? caption_file(path)
                                                                           : "";
}

/// State of file dialogs and written files of the desktop: of the moment, in no session.
struct DesktopLook {
    bool has_dialog = false;   // a file dialog of its own
    bool asks_dialog = false;  // it is to be opened
    int answers = 0;  // paths that it gave: each has a field of its own, which held another text
    std::string written;  // the written file that the bottom line names; "": none
    std::string opens;    // path to open with the program of the desktop; "": nothing
    Folder folder;        // of the path that a prompt asks for
    Index path_row = -1;  // of its rows; -1: what is typed
    bool operator==(const DesktopLook&) const = default;
};
inline constexpr Look<DesktopLook> desktop_look;

using AskFileDialog = Put<desktop_look, &DesktopLook::asks_dialog>;
using CountFileDialog = Put<desktop_look, &DesktopLook::answers>;
using ShowWritten = Put<desktop_look, &DesktopLook::written>;
using OpenWritten = Put<desktop_look, &DesktopLook::opens>;
using ShowFolder = Put<desktop_look, &DesktopLook::folder>;
using ChoosePath = Put<desktop_look, &DesktopLook::path_row>;

using SetFigureSize = Put<figure_look, &FigureLook::size, "set_figure_size", "size">;
using SetFigurePaper = Put<figure_look, &FigureLook::paper, "set_figure_paper", "paper">;
using ShowFigurePreview = Put<figure_look, &FigureLook::preview>;
using FigureActions =
    ActionList<ViewActions<SetFigureSize, SetFigurePaper>,
               TransientActions<ShowFigurePreview, AskFileDialog, CountFileDialog, ShowWritten,
                                OpenWritten, ShowFolder, ChoosePath>>;
template <ListedIn<FigureActions> A>
inline constexpr Meta kMetaOf<A> = FigureActions::kMeta<A>;

}  // namespace attn::view
