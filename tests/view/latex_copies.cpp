#include <cstdio>

#include <set>

#include "app/common/explain/backward.h"
#include "app/common/explain/explain.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/step/view.h"
#include "core/gradient_tex.h"
#include "core/large/map_input.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/sample_states.h"

// Prints a LaTeX document with every stage's formula and what "Copy as LaTeX" gives of many cells, for
// latex.sh.

using namespace attn::view;

namespace {

/// pdfTeX sets the letters of Latin-1; other tokens are another engine's matter.
bool is_latin(const std::string& text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) > 0xC3U) return false;
    return true;
}

void print_copy(const Explanation& explanation, std::set<std::string>& printed) {
    const std::string copy = copy_as_latex(explanation);
    if (copy.size() > 2000 || !is_latin(copy) || !printed.insert(copy).second) return;
    std::fputs(copy.c_str(), stdout);
}

void print_formula(const std::string& tex, std::set<std::string>& printed) {
    if (printed.insert(tex).second) std::printf("\\[ %s \\]\n", tex.c_str());
}

void print_copies(const AppState& state, Stage stage, std::set<std::string>& printed) {
    std::vector<CellRef> cells{{stage, 0, 0}, {stage, 1, 0}, {stage, 0, 1}};
    for (const auto& operand : info(stage).operands)
        if (operand) cells.push_back({operand->id, 0, 0});
    for (const CellRef& cell : cells) {
        if (!has_cell(state, cell)) continue;
        print_copy(explain(state, cell), printed);
        if (gradient_at(state, cell)) print_copy(explain_gradient(state, cell), printed);
    }
}

}  // namespace

int main() {
    std::puts("\\documentclass{article}\\usepackage{amsmath}\\setlength{\\textwidth}{40in}");
    std::puts("\\allowdisplaybreaks\\begin{document}");
    std::set<std::string> printed;
    for (const StageInfo& stage : stage_table()) {
        print_formula(std::string(stage.tex), printed);
        print_formula(std::string(gradient_tex(stage.stage)), printed);
    }
    for (const ParamInfo& param : param_table())
        print_formula(std::string(gradient_tex(param.param)), printed);
    for (AppState state : sample_states())
        for (const Stage stage : ribbon_stages(state.document())) {
            state = after(state, {GoToStage{stage}});
            for (const AppState& shown : {state, after(state, {ShowGradients{true}}),
                                          after(state, {SetLoss{LossKind::squared}}),
                                          after(state, {SetLossCell{{Stage::output, 0, 1}}})}) {
                print_formula(build_step_view(shown).tex, printed);
                print_copies(shown, stage, printed);
            }
        }
    std::puts("\\end{document}");
    std::fprintf(stderr, "%zu formulas and copies\n", printed.size());
}
