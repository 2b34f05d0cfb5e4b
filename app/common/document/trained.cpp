#include "app/common/document/trained.h"

#include "app/common/document/origin.h"
#include "core/train/course.h"
#include "core/train/language.h"
#include "core/train/spec_fields.h"

namespace attn::train {
namespace {

/// As the text of its JSON; "" without a language.
void describe_language(view::Visitor& visit, std::string_view name, LanguageRef& language) {
    std::string text = language.empty() ? "" : language->json_text();
    visit(name, text);
    if (!visit.reads() || text.empty()) return;
    auto made = Language::parse(text, name);
    if (!made) return visit.complain(": " + made.error().text());
    language.value = *std::move(made);
}

}  // namespace

void describe(view::Visitor& visit, Spec& spec) {
    if (visit.reads()) spec = {};  // what is not there is as at first
    for_fields(spec, [&](std::string_view name, auto& member) {
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_enum_v<Member>) {
            const auto names = names_of<Member>();
            visit(name, member, names);
        } else if constexpr (std::is_same_v<Member, LanguageRef>) {
            describe_language(visit, name, member);
        } else {
            visit(name, member);
        }
    });
    if (!visit.reads()) return;
    if (auto valid = check(spec); !valid) visit.complain(": " + valid.error().text());
}

}  // namespace attn::train

namespace attn::view {

void describe_switches(Visitor& visit, std::string_view name, std::vector<train::Switch>& list,
                       NoSwitches none) {
    std::optional<std::vector<std::vector<Index>>> rows;
    if (none == NoSwitches::written || !list.empty()) rows.emplace();
    for (const train::Switch& each : list) rows->push_back({each.step, each.head, each.on ? 1 : 0});
    visit(name, rows);
    if (!visit.reads()) return;
    list.clear();
    if (!rows) return;
    for (const auto& row : *rows) {
        if (row.size() != 3)
            return visit.complain(
                "has switches: expected a list of [step, head, 0 or 1], with head −1 for ÷√d_k");
        list.push_back({row[0], row[1], row[2] != 0});
    }
}

void describe(Visitor& visit, TrainedOrigin& origin) {
    visit("spec", origin.spec, {.needed = true});
    describe_switches(visit, "switches", origin.switches);
    visit("step", origin.step, {.low = 0.0, .high = 1e6});
    visit("sentence", origin.sentence);
    visit("head", origin.head, {.low = 0.0, .high = 7.0});
    if (!visit.reads()) return;
    if (auto valid = train::check(origin.spec, origin.switches); !valid)
        visit.complain(": " + valid.error().text());
    if (origin.head >= origin.spec.heads)
        visit.complain("has a 'head' that the model does not have");
}

}  // namespace attn::view
