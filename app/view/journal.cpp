#include <algorithm>
#include <span>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "app/view/actions.h"
#include "app/view/common/json.h"
#include "app/view/large/json.h"
#include "core/io/json.h"
#include "core/text.h"

namespace attn::view {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <class T>
struct Type {};

// ---- values

constexpr std::span<const std::string_view> names_of(Type<ThemeName>) { return kThemeNames; }
constexpr std::span<const std::string_view> names_of(Type<SaturationModel>) { return kModelNames; }
constexpr std::span<const std::string_view> names_of(Type<LossKind>) { return kLossNames; }
constexpr std::span<const std::string_view> names_of(Type<CopyAs>) { return kCopyAsNames; }
constexpr std::span<const std::string_view> names_of(Type<SoftmaxAlgorithm>) {
    return kAlgorithmNames;
}
constexpr std::span<const std::string_view> names_of(Type<CostSize>) { return kCostSizeNames; }
constexpr std::span<const std::string_view> names_of(Type<CostPass>) { return kCostPassNames; }
constexpr std::span<const std::string_view> names_of(Type<CostItem>) { return kCostItemNames; }
constexpr std::span<const std::string_view> names_of(Type<FloatFormat>) { return kFormatNames; }
constexpr std::span<const std::string_view> names_of(Type<LookupPage>) { return kLookupPageNames; }
constexpr std::span<const std::string_view> names_of(Type<LearnMeasure>) { return kLearnMeasures; }
constexpr std::span<const std::string_view> names_of(Type<LearnPage>) { return kLearnPages; }
constexpr std::span<const std::string_view> names_of(Type<SimilarityOf>) {
    return kSimilarityOfNames;
}
constexpr std::span<const std::string_view> names_of(Type<SimilarityMeasure>) {
    return kSimilarityMeasureNames;
}
constexpr std::span<const std::string_view> names_of(Type<SimilaritySoftmax>) {
    return kSimilaritySoftmaxNames;
}
constexpr std::span<const std::string_view> names_of(Type<PermutationPosition>) {
    return kPermutationPositionNames;
}
constexpr std::span<const std::string_view> names_of(Type<TokenOrder>) { return kTokenOrderNames; }
constexpr std::span<const std::string_view> names_of(Type<LogitRow>) { return kLogitRowNames; }
constexpr std::span<const std::string_view> names_of(Type<MapPictureOf>) {
    return kMapPictureNames;
}

constexpr std::span<const std::string_view> names_of(Type<TensorColumn>) {
    return kTensorColumnNames;
}
constexpr std::span<const std::string_view> names_of(Type<ErrorScale>) { return kErrorScaleNames; }
constexpr std::span<const std::string_view> names_of(Type<MasksTab>) { return kMasksTabNames; }
constexpr std::span<const std::string_view> names_of(Type<CausalChoice>) { return kCausalNames; }
constexpr std::span<const std::string_view> names_of(Type<PaintShape>) { return kPaintShapeNames; }
constexpr std::span<const std::string_view> names_of(Type<MaskCode>) { return kMaskCodeNames; }
constexpr std::span<const std::string_view> names_of(Type<KindsSide>) { return kKindsSideNames; }

template <class Value>
constexpr bool kScalarOrNone =
    std::is_same_v<Value, std::optional<Index>> || std::is_same_v<Value, std::optional<bool>> ||
    std::is_same_v<Value, std::optional<std::string>>;

template <class Value>
ordered_json written(const Value& value) {
    if constexpr (std::is_same_v<Value, CellRef>)
        return cell_to(value);
    else if constexpr (requires { map_to(value); })
        return map_to(value);
    else if constexpr (std::is_same_v<Value, Stage>)
        return info(value).key;
    else if constexpr (std::is_same_v<Value, double>)
        return number_to(value);
    else if constexpr (std::is_same_v<Value, std::vector<double>>)
        return numbers_to(value);
    else if constexpr (kScalarOrNone<Value>)
        return value ? ordered_json(*value) : ordered_json(nullptr);
    else if constexpr (std::is_enum_v<Value>)
        return names_of(Type<Value>{})[static_cast<std::size_t>(value)];
    else
        return value;
}

/// Values that may be none: a missing key is one.
template <class Value>
constexpr bool kOptional =
    kScalarOrNone<Value> || std::is_same_v<Value, std::optional<large::Search>>;

template <class Value>
void read_value(Fields& fields, std::string_view key, Value& value) {
    const json* found = fields.find(key);
    if constexpr (kOptional<Value>) {
        value.reset();
        if (found == nullptr) return;
    }
    if (found == nullptr) return fields.complain(fmt::format("has no '{}'", key));
    if constexpr (requires { map_from(fields, key, value); })
        map_from(fields, key, value);
    else if constexpr (std::is_same_v<Value, CellRef>)
        value = cell_from(fields, key, *found);
    else if constexpr (std::is_same_v<Value, Stage>)
        read_stage(fields, key, value);
    else if constexpr (kScalarOrNone<Value>) {
        typename Value::value_type one{};
        fields.read(key, one);
        value = std::move(one);
    } else if constexpr (std::is_enum_v<Value>)
        fields.read_name(key, value, names_of(Type<Value>{}));
    else
        fields.read(key, value);
}

// ---- actions

template <class Struct>
Result<Action> read_action(Fields& fields) {
    Struct action{};
    std::apply(
        [&](const auto&... each) { (read_value(fields, each.name, action.*(each.member)), ...); },
        Struct::kMeta.fields);
    return fields.finish().map([&] { return Action(action); });
}

template <class Struct>
ordered_json write_action(const Action& action) {
    ordered_json line{{"action", Struct::kMeta.name}};
    std::apply(
        [&](const auto&... each) {
            ((line[std::string(each.name)] = written(action.as<Struct>()->*(each.member))), ...);
        },
        Struct::kMeta.fields);
    return line;
}

/// How the actions of one struct stand in a journal.
struct Form {
    const ActionType* type;
    ordered_json (*write)(const Action&);
    Result<Action> (*read)(Fields&);
};

template <class... Structs>
std::span<const Form> forms(Type<ActionList<Structs...>>) {
    static constexpr Form kForms[] = {
        {&kActionType<Structs>, &write_action<Structs>, &read_action<Structs>}...};
    return kForms;
}

}  // namespace

std::optional<std::string> to_journal(const Action& action) {
    if (name_of(action).empty()) return std::nullopt;
    const auto form = std::ranges::find(forms(Type<AllActions>{}), &action.type(), &Form::type);
    return form->write(action).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Action> from_journal(std::string_view line) {
    return parse_json(line, "the journal line").and_then([](const json& value) -> Result<Action> {
        Fields fields(value, "the journal line");
        std::string name;
        fields.need("action", name);
        if (!fields.fine()) return tl::unexpected(fields.finish().error());
        const auto all = forms(Type<AllActions>{});
        const auto form = std::ranges::find(all, std::string_view(name),
                                            [](const Form& each) { return each.type->name; });
        if (name.empty() || form == all.end())
            return bad_input(
                fmt::format("the journal line has the unknown action '{}'", shortened(name)));
        return form->read(fields);
    });
}

}  // namespace attn::view
