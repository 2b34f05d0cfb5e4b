#include "app/common/math.h"

#include <algorithm>

#include "core/stages.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// Letters of rows and of whole matrices that the stage table does not name so.
struct Letter {
    std::string_view symbol;
    Stage stage;
};
constexpr Letter kLetters[] = {{"x", Stage::x},           {"q", Stage::q},
                               {"k", Stage::k},           {"v", Stage::v},
                               {"a", Stage::weights},     {"s", Stage::scaled},
                               {"scores", Stage::scores}, {"context", Stage::context},
                               {"output", Stage::output}, {"weights", Stage::weights},
                               {"q′", Stage::q_rot},      {"k′", Stage::k_rot}};

constexpr std::string_view kPrime = "′";

bool is_level_bar(const MathStroke& stroke) { return stroke.points.size() == 2; }

// ---- layout

using tex::Form, tex::Node, tex::Spacing;

// Of the em.
constexpr float kAxis = 0.25F;  // bars and large signs have their middle here, above the baseline
constexpr float kRaise = 0.40F;
constexpr float kLower = 0.22F;
constexpr float kGap = 0.15F;       // between a bar and what stands above and below it
constexpr float kOverhang = 0.12F;  // of a bar on either side
constexpr float kRelation = 0.28F;
constexpr float kBinary = 0.17F;
constexpr float kHook = 0.55F;  // width of a root's hook
constexpr float kBar = 0.055F;
constexpr float kFenceReach = 0.5F;  // of a parenthesis, above and below the axis
// Of the size.
constexpr float kScript = 0.72F;
constexpr float kBigSign = 1.4F;
constexpr float kInnerSign = 1.15F;  // in a fraction, where limits stand beside the sign
constexpr float kDescriptions =
    0.86F;  // words of a language look larger than symbols of the same size

/// Where a node stands.
struct Level {
    float px;
    bool script = false;                              // signs keep no space
    bool inner = false;                               // in a fraction
    std::optional<OperandId> operand = std::nullopt;  // of the symbol that an index belongs to

    float em() const { return px / kLinePerEm; }
};

bool is_one_of(std::string_view letter, std::string_view letters) {
    return letters.find(letter) != letters.npos;
}

/// What is seen of a symbol above and below the baseline, of the em.
Point ink_of(const Node& symbol) {
    const std::string& text = symbol.text;
    const auto all_in = [&](std::string_view letters) {
        return std::ranges::all_of(text, [&](char c) { return letters.find(c) != letters.npos; });
    };
    const bool low = all_in("acemnorsuvwxz");
    const bool hangs = std::ranges::any_of(text, [](char c) {
        return std::string_view("gjpqyQ()[],;").find(c) != std::string_view::npos;
    });
    const bool sign = is_one_of(text, "·−+=×÷") && !text.empty();
    return {low || sign ? 0.48F : 0.72F, hangs ? 0.22F : 0.0F};
}

void append(MathBox& to, const MathBox& part, float x, float y) {
    for (MathWord word : part.runs) {
        word.at = {word.at.x + x, word.at.y + y};
        to.runs.push_back(std::move(word));
    }
    for (MathStroke stroke : part.strokes) {
        for (Point& point : stroke.points) point = {point.x + x, point.y + y};
        to.strokes.push_back(std::move(stroke));
    }
    to.width = std::max(to.width, x + part.width);
    to.ascent = std::max(to.ascent, part.ascent - y);
    to.descent = std::max(to.descent, part.descent + y);
}

Face face_of(Form form) {
    if (form == Form::text) return Face::sans;
    return form == Form::italic ? Face::italic : Face::roman;
}

bool is_blank(const Node& node) { return node.kind == tex::Kind::row && node.parts.empty(); }

/// Between two neighbours of a row, of the em.
float gap_between(const Node& left, const Node& right) {
    const auto either = [&](Spacing spacing) {
        return left.spacing == spacing || right.spacing == spacing;
    };
    if (either(Spacing::relation)) return kRelation;
    if (left.form == Form::text || right.form == Form::text) return 0.0F;
    if (either(Spacing::binary) || left.spacing == Spacing::punctuation) return kBinary;
    if (either(Spacing::space) || right.spacing == Spacing::punctuation) return 0.0F;
    if (left.kind == tex::Kind::big_op || right.kind == tex::Kind::big_op) return kBinary;
    if (left.spacing == Spacing::function) return right.kind == tex::Kind::fence ? 0.0F : kBinary;
    return right.spacing == Spacing::function ? kBinary : 0.0F;
}

class Setter {
  public:
    Setter(const MathSize& size, Painter& measure) : size_(size), measure_(measure) {}

    MathBox row(const Node& row, const Level& level) const {
        MathBox box;
        const Node* left = nullptr;
        for (const Node& node : row.parts) {
            const float gap = left && !level.script ? gap_between(*left, node) * level.em() : 0.0F;
            append(box, set(node, level), box.width + gap, 0.0F);
            left = &node;
        }
        return box;
    }

  private:
    MathBox set(const Node& node, const Level& level) const {
        switch (node.kind) {
            case tex::Kind::row:
                return row(node, level);
            case tex::Kind::symbol:
                return symbol(node, level);
            case tex::Kind::script:
                return script(node, level);
            case tex::Kind::fraction:
                return fraction(node, level);
            case tex::Kind::root:
                return root(node, level);
            case tex::Kind::big_op:
                return big_op(node, level);
            case tex::Kind::fence:
                return fence(node, level);
        }
        return {};
    }

    Level script_of(const Level& level) const {
        return {std::max(level.px * kScript, std::min(size_.least_px, level.px)), true, true,
                level.operand};
    }

    MathBox word(std::string_view text, const Font& font, Point ink) const {
        MathBox box;
        box.width = measure_.text_size(font, text).x;
        box.ascent = ink.x * font.em();
        box.descent = ink.y * font.em();
        box.runs.push_back(
            {std::string(text), font, {0.0F, -std::round(font.ascent())}, box.width, std::nullopt});
        return box;
    }

    MathBox symbol(const Node& node, const Level& level) const {
        if (node.spacing == Spacing::space) {
            MathBox blank;
            blank.width = static_cast<float>(node.space_em) * level.em();
            return blank;
        }
        const bool text = node.form == Form::text;
        const float px =
            text ? std::max({level.px * kDescriptions, size_.least_px, size_.least_text_px})
                 : level.px;
        MathBox box = word(node.text, {face_of(node.form), px}, ink_of(node));
        const auto own = text || level.script ? std::nullopt : operand_named(node.text);
        box.runs.back().operand = level.operand ? level.operand : own;
        return box;
    }

    /// W_Q is one matrix, also transposed; the indices of another belong to it.
    static std::optional<OperandId> operand_of(const Node& script) {
        Node upright = script;
        if (tex::plain_text(script.parts[2]) == "⊤") upright.parts[2] = Node{};
        if (const auto whole = operand_named(tex::plain_text(upright))) return whole;
        const Node& base = script.parts[0];
        return base.kind == tex::Kind::symbol ? operand_named(base.text) : std::nullopt;
    }

    MathBox script(const Node& node, const Level& level) const {
        Node base = node.parts[0];
        Node prime = base;  // of a letter: it stands over the index
        prime.text = kPrime;
        const bool primed = base.kind == tex::Kind::symbol && base.text.size() > kPrime.size() &&
                            base.text.ends_with(kPrime);
        if (primed) base.text.resize(base.text.size() - kPrime.size());
        Level own = level;
        if (!level.operand) own.operand = operand_of(node);
        MathBox box = set(base, own);
        const float em = level.em();
        const bool tall = base.kind != tex::Kind::symbol;
        const float low = tall ? std::max(kLower * em, box.descent) : kLower * em;
        const float high = tall ? std::max(kRaise * em, box.ascent - 0.3F * em) : kRaise * em;
        const float x = box.width + 0.03F * em;
        const float slant =
            base.form == Form::italic && base.kind == tex::Kind::symbol ? 0.06F : 0.0F;
        const Level small = script_of(own);
        if (primed) append(box, set(prime, own), box.width, 0.0F);
        const float above = primed ? box.width + 0.03F * em : x;
        if (!is_blank(node.parts[1])) append(box, row(node.parts[1], small), x, low);
        if (!is_blank(node.parts[2]))
            append(box, row(node.parts[2], small), above + slant * em, -high);
        return box;
    }

    float bar_of(const Level& level) const { return std::max(1.0F, std::round(kBar * level.em())); }

    MathBox fraction(const Node& node, const Level& level) const {
        Level part = level.inner ? script_of(level) : level;
        part.script = level.script;
        part.inner = true;
        const MathBox above = row(node.parts[0], part);
        const MathBox below = row(node.parts[1], part);
        const float em = level.em();
        const float bar = bar_of(level);
        const float top = -kAxis * em - bar / 2;
        const float pad = kOverhang * em;
        MathBox box;
        box.width = std::max(above.width, below.width) + 2 * pad;
        append(box, above, (box.width - above.width) / 2, top - kGap * em - above.descent);
        append(box, below, (box.width - below.width) / 2, top + bar + kGap * em + below.ascent);
        box.strokes.push_back({{{pad / 3, top}, {box.width - pad / 3, top}}, bar});
        return box;
    }

    MathBox root(const Node& node, const Level& level) const {
        const MathBox inside = row(node.parts[0], level);
        const float em = level.em();
        const float bar = bar_of(level);
        const float hook = kHook * em;
        const float top = -inside.ascent - kGap * em - bar;
        const float low = inside.descent + 0.04F * em;
        MathBox box;
        append(box, inside, hook + 0.05F * em, 0.0F);
        box.width += 0.1F * em;
        box.ascent = -top;
        box.descent = std::max(box.descent, low);
        box.strokes.push_back({{{0.0F, -0.28F * em},
                                {0.14F * em, -0.36F * em},
                                {0.3F * em, low},
                                {hook, top + bar / 2}},
                               bar});
        box.strokes.push_back({{{hook, top}, {box.width, top}}, bar});
        return box;
    }

    /// The sign has its middle on the axis.
    MathBox big_sign(const Node& node, const Level& level) const {
        const bool is_word = node.text.size() > 2;
        if (is_word) return word(node.text, {Face::roman, level.px}, ink_of(node));
        const float scale = level.inner ? kInnerSign : kBigSign;
        const Font font{Face::roman, level.px * scale};
        const MathBox sign = word(node.text, font, {0.67F, 0.0F});
        MathBox box;
        append(box, sign, 0.0F, sign.ascent / 2 - kAxis * level.em());
        box.descent = std::max(box.descent, sign.ascent / 2 - kAxis * level.em());
        return box;
    }

    MathBox big_op(const Node& node, const Level& level) const {
        const MathBox sign = big_sign(node, level);
        const MathBox below = row(node.parts[0], script_of(level));
        const MathBox above = row(node.parts[1], script_of(level));
        const float em = level.em();
        MathBox box;
        if (level.inner) {
            append(box, sign, 0.0F, 0.0F);
            append(box, below, sign.width, std::max(sign.descent, kLower * em));
            append(box, above, sign.width, -sign.ascent + 0.3F * em);
            return box;
        }
        box.width = std::max({sign.width, below.width, above.width});
        const auto middle = [&](const MathBox& part) { return (box.width - part.width) / 2; };
        append(box, sign, middle(sign), 0.0F);
        if (!is_blank(node.parts[0]))
            append(box, below, middle(below), sign.descent + kGap * em + below.ascent);
        if (!is_blank(node.parts[1]))
            append(box, above, middle(above), -sign.ascent - kGap * em - above.descent);
        return box;
    }

    /// A fence that is higher than its letter, as strokes: a letter that is scaled up has blurred edges. nullopt: it has
    /// none.
    std::optional<MathBox> tall_fence(std::string_view text, float reach,
                                      const Level& level) const {
        constexpr int kPieces = 16;
        const float em = level.em(), axis = kAxis * em, width = 0.36F * em;
        const float near = 0.06F * em, far = 0.28F * em;
        const bool left = text == "(" || text == "[", round = text == "(" || text == ")";
        if (!left && text != ")" && text != "]" && text != "|") return std::nullopt;
        const auto x = [&](float across) { return left ? across : width - across; };
        const float top = -axis - reach, bottom = -axis + reach;
        MathStroke stroke{{}, std::max(0.055F * em, 1.0F)};
        if (round) {
            for (int n = 0; n <= kPieces; ++n) {
                const float t = 2.0F * static_cast<float>(n) / kPieces - 1.0F;
                stroke.points.push_back({x(near + (far - near) * t * t), -axis + t * reach});
            }
        } else if (text == "|") {
            stroke.points = {{width / 2, top}, {width / 2, bottom}};
        } else {
            stroke.points = {
                {x(far), top}, {x(2 * near), top}, {x(2 * near), bottom}, {x(far), bottom}};
        }
        MathBox box;
        box.width = width;
        box.ascent = -top;
        box.descent = bottom;
        box.strokes.push_back(std::move(stroke));
        return box;
    }

    /// A fence grows with what it holds, about the axis.
    MathBox fence(const Node& node, const Level& level) const {
        const MathBox inside = row(node.parts[0], level);
        const float axis = kAxis * level.em();
        const float reach = std::max(inside.ascent - axis, inside.descent + axis);
        const float growth = std::max(1.0F, reach / (kFenceReach * 1.15F * level.em()));
        const Font font{Face::roman, level.px * growth};
        const Point ink{kFenceReach + kAxis, kFenceReach - kAxis};
        const float drop = kAxis * (font.em() - level.em());
        MathBox box;
        const auto add = [&](const std::string& text) {
            const auto tall = growth > 1.0F ? tall_fence(text, reach, level) : std::nullopt;
            append(box, tall ? *tall : word(text, font, ink), box.width, tall ? 0.0F : drop);
        };
        add(node.text);
        append(box, inside, box.width, 0.0F);
        add(node.close);
        return box;
    }

    MathSize size_;
    Painter& measure_;
};

}  // namespace

std::optional<OperandId> operand_named(std::string_view symbol) {
    for (const Letter& letter : kLetters)
        if (letter.symbol == symbol) return letter.stage;
    for (const StageInfo& stage : stage_table())
        if (stage.symbol == symbol) return stage.stage;
    for (const ParamInfo& param : param_table())
        if (param.symbol == symbol) return param.param;
    return std::nullopt;
}

void draw_math(const MathBox& box, Point baseline, const Theme& theme,
               const std::optional<OperandId>& highlighted, Painter& painter) {
    const Point from{std::round(baseline.x), std::round(baseline.y)};
    const auto placed = [&](Point at) { return Point{from.x + at.x, from.y + at.y}; };
    for (const MathWord& word : box.runs) {
        const auto role = [](auto id) { return info(id).role; };
        const Color color = word.operand ? theme.role(std::visit(role, *word.operand)) : theme.text;
        painter.text(word.font, placed(word.at), color, word.text);
        if (!highlighted || word.operand != highlighted) continue;
        const float y = from.y + std::round(word.at.y + word.font.ascent() + word.font.em() * 0.2F);
        painter.line({from.x + word.at.x, y}, {from.x + word.at.x + word.width, y}, color, 1.0F);
    }
    for (const MathStroke& stroke : box.strokes) {
        std::vector<Point> points;
        for (const Point point : stroke.points) points.push_back(placed(point));
        if (!is_level_bar(stroke)) {
            painter.polyline(points, theme.text, stroke.thickness);
            continue;
        }
        const float y = std::round(points[0].y);
        painter.rect({points[0].x, y}, {points[1].x, y + stroke.thickness}, theme.text);
    }
}

std::optional<OperandId> operand_at(const MathBox& box, Point baseline, Point pointer) {
    for (const MathWord& word : box.runs) {
        const Point low{baseline.x + word.at.x, baseline.y + word.at.y};
        const bool inside = pointer.x >= low.x && pointer.x < low.x + word.width &&
                            pointer.y >= low.y && pointer.y < low.y + word.font.px;
        if (inside && word.operand) return word.operand;
    }
    return std::nullopt;
}

Result<MathBox> lay_out_math(std::string_view tex, const MathSize& size, Painter& measure) {
    const auto formula = tex::parse(tex);
    if (!formula) return tl::unexpected(formula.error());
    return Setter(size, measure).row(*formula, {size.px});
}

}  // namespace attn::view
