#include "app/workspaces/heads/corpus.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/memo.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/text.h"
#include "core/corpus/file.h"
#include "core/io/npy.h"
#include "core/models/model_stages.h"
#include "core/scores/score.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostWords = 200;  // of a text that a tooltip has

/// What is looked at of a head: the measure that heads are sorted by, or its strongest pattern.
HeadMeasure shown_measure(const std::string& by, const CorpusHead& head) {
    if (const auto sort = find_head_measure(by); sort && *sort != HeadMeasure::change) return *sort;
    HeadMeasure most = HeadMeasure::sink;
    for (const HeadMeasureInfo& each : head_measure_table())
        if (is_head_label(each.measure) &&
            head[each.measure].mean().value_or(-1.0) > head[most].mean().value_or(-1.0))
            most = each.measure;
    return most;
}

std::string spread_text(const MeasureStatistics& of) {
    if (of.texts == 0) return "–";
    std::string deviation = cell_number(*of.deviation(), 2);
    if (deviation.starts_with("0.")) deviation.erase(0, 1);
    return fmt::format("{}±{}", cell_number(*of.mean(), 2), deviation);
}

std::string extreme_line(std::string_view word, HeadMeasure measure, const Extreme& extreme) {
    return fmt::format("{} {} in text {}: {}", word, measure_text(measure, extreme.value),
                       extreme.text->number, shortened(extreme.text->text, kMostWords));
}

HeadsTableRow row_of(const std::string& sort, const CorpusHead& head, bool shown) {
    const HeadMeasure measure = shown_measure(sort, head);
    const MeasureStatistics& of = head[measure];
    HeadsTableRow row{head.place, head_name(head.place), {}, {}, shown};
    for (std::size_t n = 0; n < kCorpusMeasures; ++n)
        row.cells.push_back(spread_text(head.measures[n]));
    if (of.texts == 0) return row;
    row.text = of.most->text->as_read();
    row.tip = fmt::format("{}: mean {} ± {} of {}\n{}\n{}", info(measure).title,
                          measure_text(measure, of.mean()), measured(of.deviation()),
                          counted(of.texts, "text"), extreme_line("most", measure, *of.most),
                          extreme_line("least", measure, *of.least));
    return row;
}

CorpusShown found_corpus(CorpusShown::Of of) {
    const CorpusResult& result = of.read->result;
    HeadsTable table;
    table.sort = of.sort;
    table.labels = false;
    for (const HeadMeasureInfo& each : measures_of_heads(false))
        table.columns.push_back(
            {std::string(each.key), std::string(each.title),
             fmt::format("{}\nmean ± standard deviation over the texts in which it is defined\n{}",
                         each.formula, each.source)});
    for (const HeadPlace place : corpus_order(result, of.sort)) {
        HeadsTableRow row = row_of(of.sort, result.head(place), place == of.here);
        if (!of.reads)
            row.text.clear();  // nothing can read it
        else if (!row.text.empty())
            row.tip += "\nClick: run the model on the text with the largest value";
        table.rows.push_back(std::move(row));
    }
    return {std::move(of), std::move(table)};
}

}  // namespace

std::optional<CorpusRequest> requested_head_corpus(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (state.workspace != "heads" || look.list != HeadsList::corpus || look.corpus.empty())
        return std::nullopt;
    if (look.corpus_read && look.corpus_read->path == look.corpus) return std::nullopt;
    return CorpusRequest{look.corpus};
}

Action run(const CorpusRequest& request, const RunControl&) {
    HeadsCorpus made{request.path, {}, {}};
    if (auto read = read_corpus(request.path))
        made.result = *std::move(read);
    else
        made.fault = read.error().text();
    return HeadsCorpusRead{std::make_shared<const HeadsCorpus>(std::move(made))};
}

std::string corpus_missing_data(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (look.corpus.empty())
        return "No corpus is open: attnscope heads MODEL --texts FILE -o OUT.npz measures one, and "
               "attnscope OUT.npz shows it here.";
    if (!look.corpus_read || look.corpus_read->path != look.corpus)
        return job_status_text(state, "corpus", fmt::format("Reading {}.", look.corpus));
    if (!look.corpus_read->fault.empty()) return sentence(look.corpus_read->fault);
    const Document& document = state.document();
    if (document.groups.empty() || group_of(document) == document.groups.front()) return {};
    return fmt::format("A corpus measures the first attention, {}, but {} is shown.",
                       document.groups.front(), group_of(document));
}

std::shared_ptr<const CorpusShown> corpus_shown(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const bool reads = model_of(state.document()) != nullptr;
    return found_once(look.corpus_shown, {look.corpus_read, look.sort, head_here(state), reads},
                      found_corpus);
}

void follow_corpus(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (look.list != HeadsList::corpus || !corpus_missing_data(state).empty())
        return look.corpus_shown.reset();
    look.corpus_shown = corpus_shown(state);
}

}  // namespace attn::view
