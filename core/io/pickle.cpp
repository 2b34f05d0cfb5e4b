#include "core/io/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <unordered_map>

#include "core/stop.h"

namespace attn {
namespace {

/// Codes, by their names in pickletools.
enum class PickleCode : unsigned char {
    kMark = '(',
    kStop = '.',
    kPop = '0',
    kPopMark = '1',
    kDup = '2',
    kBinFloat = 'G',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kNone = 'N',
    kBinPersId = 'Q',
    kReduce = 'R',
    kBinString = 'T',
    kShortBinString = 'U',
    kBinUnicode = 'X',
    kAppend = 'a',
    kBuild = 'b',
    kGlobal = 'c',
    kDict = 'd',
    kEmptyDict = '}',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kList = 'l',
    kEmptyList = ']',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTuple = 't',
    kEmptyTuple = ')',
    kSetItems = 'u',
    kBinBytes = 'B',
    kShortBinBytes = 'C',
    kProto = 0x80,
    kNewObj = 0x81,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kLong1 = 0x8a,
    kShortBinUnicode = 0x8c,
    kBinUnicode8 = 0x8d,
    kBinBytes8 = 0x8e,
    kEmptySet = 0x8f,
    kAddItems = 0x90,
    kFrozenSet = 0x91,
    kNewObjEx = 0x92,
    kStackGlobal = 0x93,
    kMemoize = 0x94,
    kFrame = 0x95,
    kByteArray8 = 0x96,
};

/// The machine of pickles without its calls. Errors are thrown as Failure and returned at its border.
class PickleMachine {
  public:
    PickleMachine(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

    Pickle run() {
        while (true) {
            if (++steps_ % kSteps == 0) end_if_stopped();
            const std::size_t place = at_;
            const auto code = static_cast<unsigned char>(take(1)[0]);
            if (code == static_cast<unsigned char>(PickleCode::kStop)) break;
            step(code, place);
        }
        pickle_.root = pop();
        return std::move(pickle_);
    }

  private:
    static constexpr std::size_t kSteps = 1 << 16;  // between two checks

    [[noreturn]] void damaged(std::string_view why) const {
        throw bad_input(fmt::format("{} is a damaged pickle: {} before byte {}", what_, why, at_));
    }
    std::string_view take(std::uint64_t count) {
        if (count > bytes_.size() - at_) damaged("it is cut off");
        const std::string_view part = bytes_.substr(at_, count);
        at_ += count;
        return part;
    }
    std::uint64_t number(std::size_t width) {
        const std::string_view part = take(width);
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(part[i]);
        return value;
    }
    std::string_view line() {
        const std::size_t end = bytes_.find('\n', at_);
        if (end == bytes_.npos) damaged("a name does not end");
        const std::string_view text = take(end - at_);
        take(1);
        return text;
    }

    PickleId add(PickleValue value) {
        if (pickle_.values.size() == kMostPickleValues)
            throw bad_input(
                fmt::format("{} is a pickle of more than {} values", what_, kMostPickleValues));
        pickle_.values.push_back(std::move(value));
        return static_cast<PickleId>(pickle_.values.size() - 1);
    }
    void push(PickleValue value) { stack_.push_back(add(std::move(value))); }
    /// The top of the stack above the last mark.
    PickleId pop() {
        if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) damaged("a value is missing");
        const PickleId id = stack_.back();
        stack_.pop_back();
        return id;
    }
    PickleId& top() {
        if (stack_.empty()) damaged("a value is missing");
        return stack_.back();
    }
    std::vector<PickleId> pop_to_mark() {
        if (marks_.empty()) damaged("a mark is missing");
        const std::vector<PickleId> items(
            stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
        stack_.resize(marks_.back());
        marks_.pop_back();
        return items;
    }
    std::vector<PickleId> pop_several(std::size_t count) {
        std::vector<PickleId> items(count);
        for (std::size_t n = count; n-- > 0;) items[n] = pop();
        return items;
    }
    const std::vector<PickleId>& items_of(PickleId id) {
        const PickleList* const list = pickle_.as<PickleList>(id);
        if (!list) damaged("the arguments are not a tuple");
        return list->items;
    }

    void append(const std::vector<PickleId>& items) {
        auto* const list = std::get_if<PickleList>(&pickle_.values[top()]);
        if (!list) damaged("a value is appended to something that is not a list");
        list->items.insert(list->items.end(), items.begin(), items.end());
    }
    void set_items(const std::vector<PickleId>& items) {
        if (items.size() % 2 != 0) damaged("a key has no value");
        PickleValue& value = pickle_.values[top()];
        auto* const dict = std::get_if<PickleDict>(&value);
        auto* const call = std::get_if<PickleCall>(&value);
        if (!dict && !call) damaged("a key is set in something that is not a dict");
        auto& to = dict ? dict->items : call->items;
        for (std::size_t n = 0; n < items.size(); n += 2) to.emplace_back(items[n], items[n + 1]);
    }
    void call() {
        const PickleId arguments = pop();
        const PickleId function = pop();
        push(PickleCall{function, items_of(arguments)});
    }
    void build() {
        const PickleId state = pop();
        if (auto* const call = std::get_if<PickleCall>(&pickle_.values[top()])) call->state = state;
    }
    void get(std::uint64_t key) {
        const auto found = memo_.find(key);
        if (found == memo_.end()) damaged("a value is used that was never stored");
        stack_.push_back(found->second);
    }
    void put(std::uint64_t key) { memo_[key] = top(); }
    /// Of two's complement; one above 64 bits is rounded.
    void push_long(std::string_view bytes) {
        double rounded = 0.0;
        std::uint64_t exact = 0;
        const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            const auto byte = static_cast<unsigned char>(bytes[i]);
            rounded = 256.0 * rounded + byte;
            exact = exact << 8 | byte;
        }
        if (bytes.size() > sizeof exact)
            return push(negative ? rounded - std::ldexp(1.0, static_cast<int>(8 * bytes.size()))
                                 : rounded);
        if (negative && bytes.size() < sizeof exact) exact -= std::uint64_t{1} << 8 * bytes.size();
        push(static_cast<std::int64_t>(exact));
    }
    void push_name() {
        const PickleId name = pop(), module = pop();
        const auto* const of = pickle_.as<std::string_view>(module);
        const auto* const text = pickle_.as<std::string_view>(name);
        if (!of || !text) damaged("a function has no name");
        push(PickleName{*of, *text});
    }

    void step(unsigned char code, std::size_t place) {
        using enum PickleCode;
        switch (static_cast<PickleCode>(code)) {
            case kProto: {
                const std::uint64_t protocol = number(1);
                if (protocol < 2 || protocol > 5)
                    throw bad_input(fmt::format("{} is a pickle of protocol {}; expected 2 to 5",
                                                what_, protocol));
                return;
            }
            case kFrame:
                return void(take(8));
            case kMark:
                return marks_.push_back(stack_.size());
            case kPop:
                if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
                return void(pop());
            case kPopMark:
                return void(pop_to_mark());
            case kDup:
                return stack_.push_back(top());
            case kNone:
                return push(PickleNone{});
            case kNewTrue:
                return push(true);
            case kNewFalse:
                return push(false);
            case kBinInt:
                return push(std::int64_t{static_cast<std::int32_t>(number(4))});
            case kBinInt1:
                return push(static_cast<std::int64_t>(number(1)));
            case kBinInt2:
                return push(static_cast<std::int64_t>(number(2)));
            case kLong1:
                return push_long(take(number(1)));
            case kBinFloat: {
                const std::string_view part = take(8);
                std::uint64_t bits = 0;
                for (const char c : part) bits = bits << 8 | static_cast<unsigned char>(c);
                return push(std::bit_cast<double>(bits));
            }
            case kBinUnicode:
            case kBinString:
                return push(take(number(4)));
            case kShortBinUnicode:
            case kShortBinString:
                return push(take(number(1)));
            case kBinUnicode8:
                return push(take(number(8)));
            case kBinBytes:
                return push(PickleBytes{take(number(4))});
            case kShortBinBytes:
                return push(PickleBytes{take(number(1))});
            case kBinBytes8:
            case kByteArray8:
                return push(PickleBytes{take(number(8))});
            case kEmptyTuple:
            case kEmptyList:
            case kEmptySet:
                return push(PickleList{});
            case kTuple:
            case kList:
            case kFrozenSet:
                return push(PickleList{pop_to_mark()});
            case kTuple1:
                return push(PickleList{pop_several(1)});
            case kTuple2:
                return push(PickleList{pop_several(2)});
            case kTuple3:
                return push(PickleList{pop_several(3)});
            case kAppend: {
                const PickleId item = pop();
                return append({item});
            }
            case kAppends:
            case kAddItems: {
                const std::vector<PickleId> items = pop_to_mark();
                return append(items);
            }
            case kEmptyDict:
                return push(PickleDict{});
            case kDict: {
                const std::vector<PickleId> items = pop_to_mark();
                push(PickleDict{});
                return set_items(items);
            }
            case kSetItem: {
                const std::vector<PickleId> items = pop_several(2);
                return set_items(items);
            }
            case kSetItems: {
                const std::vector<PickleId> items = pop_to_mark();
                return set_items(items);
            }
            case kGlobal: {
                const std::string_view module = line();
                return push(PickleName{module, line()});
            }
            case kStackGlobal:
                return push_name();
            case kReduce:
            case kNewObj:
                return call();
            case kNewObjEx:
                pop();
                return call();
            case kBuild:
                return build();
            case kBinPersId:
                return push(PicklePersistent{pop()});
            case kBinGet:
                return get(number(1));
            case kLongBinGet:
                return get(number(4));
            case kBinPut:
                return put(number(1));
            case kLongBinPut:
                return put(number(4));
            case kMemoize:
                return put(memo_.size());
            default:
                throw bad_input(
                    fmt::format("{} is a pickle with code 0x{:02x} at byte {}, which is not read; "
                                "expected protocol 2 "
                                "to 5 without extensions and outer buffers",
                                what_, code, place));
        }
    }

    std::string_view bytes_, what_;
    std::size_t at_ = 0, steps_ = 0;
    Pickle pickle_;
    std::vector<PickleId> stack_;
    std::vector<std::size_t> marks_;  // sizes of the stack
    std::unordered_map<std::uint64_t, PickleId> memo_;
};

}  // namespace

Result<Pickle> parse_pickle(std::string_view bytes, std::string_view what) {
    try {
        return PickleMachine(bytes, what).run();
    } catch (const Failure& failure) {
        return failure;
    }
}

}  // namespace attn
