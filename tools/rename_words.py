#!/usr/bin/env python3
"""Renames the identifiers that tests/architecture/words.py counts, in a source tree, by token.

    rename_words.py TREE [--no-format] [--report FILE]

Its tables were checked in part only: build the result and run the tests before it is committed, then delete this file.

String literals, comments, include paths, persisted names, Python and JavaScript stay as they are; comments change only where
they name a renamed function as `name` or name(). The result depends on the tree alone. Run it once on a clean tree; a second
run changes nothing more. At the end clang-format 14 formats the changed files and words.py --lower lowers words_left.txt.
"""
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys

FOLDERS = ("core", "app", "cluster", "tests", "web")
ENDS = (".cpp", ".h", ".inl", ".cpp.in")
TOKEN = re.compile(
    r'''(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<str>(?:u8|[LuU])?R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F_])'(?:\\.|[^'\\\n])+')'''
    r'''|(?P<inc>^[ \t]*\#[ \t]*include[^\n]*)|(?P<num>\b\d[\w.']*)|(?P<id>[A-Za-z_]\w*)|(?P<op>->|::|\.\.\.|[^\s\w])''',
    re.S | re.M)

# ---------------------------------------------------------------------------------------------------------------- tables
# Parts of identifiers: the first candidate that makes a name that the tree does not have is taken.
PARTS = {
    "words": ("text", "description", "wording"),
    "told": ("reported",),
    "said": ("stated", "declared"),
    "unsaid": ("unstated",),
    "room": ("space", "extent", "available"),
    "rooms": ("spaces",),
    "roomy": ("spacious",),
    "lacks": ("missing_data",),
    "lacking": ("missing", "absent"),
    "settle": ("resolve", "clamp"),
    "settled": ("resolved", "finished"),
    "doors": ("start_buttons",),
    "door": ("start_button",),
    "ways": ("variants", "modes"),
    "way": ("variant", "mode"),
    "keeper": ("autosaver",),
    "kept": ("retained", "stored"),
    "unkept": ("unsaved",),
    "forget": ("clear", "reset"),
    "says": ("contains", "mentions"),
    "say": ("show_message",),
    "fine": ("valid", "checked"),
    "foot": ("bottom", "lower_edge"),
    "feet": ("bottoms",),
    "lit": ("highlighted", "emphasized"),
    "anew": ("again", "afresh"),
}
# Whole identifiers, wherever they are. None: stays.
GLOBAL = {
    # told, said
    "Told": "Match", "said_of": "job_status_text", "kSaid": "kExplicitOptions",
    "causal_unsaid": "causal_alignment_defaulted", "unless_said": "default_true",
    "SaidSize": "DeclaredSize", "said_size": "declared_size", "Said": "ScreenTexts", "all_said": "all_texts_of",
    "check_said": "check_texts_of", "words_said": "all_text_of", "is_said": "is_shown_text", "way_said": "direction_stated",
    "said_spec": "spec_option", "said_mask": "mask_option", "said_of_rope": "rope_option", "said_score": "score_option",
    "said_scale": "scale_option", "said_rope": "rope_pairs_option", "said_rope_scaling": "rope_scaling_option",
    "said_causal": "causal_option", "said_padding": "padding_option", "said_empty_rows": "empty_rows_option",
    "told_apart": "distinguished", "told_weights": "described_weights", "is_told": "is_described",
    # room
    "TrainRoom": "TrainFolder", "keep_room": "keep_window_settings", "say_room": "report_canvas_size",
    "say_gesture": "report_gesture", "room_left": "space_left",
    # lacks and the hooks of a workspace
    "lacks_values": "has_no_values", "call_field_lacks": "call_field_unavailable", "switch_lacks": "switch_unavailable",
    "leave_lacking_workspace": "leave_unavailable_workspace", "lacks_words": "missing_data_text",
    "has_settled": "is_idle", "has_step_settled": "is_step_idle", "has_large_settled": "is_map_workspace_idle",
    "is_settled": "is_map_complete", "settled_state": "idle_state", "kFramesToSettle": "kLayoutFrames",
    "settle_learn": "clamp_learn", "settle_compare": "clamp_compare", "settle_gradients": "clamp_gradients",
    "settle_heads": "clamp_heads", "settle_kinds": "clamp_kinds", "settle_lookup": "clamp_lookup",
    "settle_masks": "clamp_masks", "settle_step": "clamp_step", "settle_tensors": "clamp_tensors", "settle_map": "clamp_map",
    "settle_place": "clamp_place", "settle_prediction": "update_prediction", "settle_gesture": "finish_gesture",
    "settle_note": "update_note", "note_settled": "note_idle",
    "forget_after": "truncate",
    # doors
    "ShowDoors": "ShowStartButtons",
    # way
    "WayBack": "UndoHint", "way_back": "undo_hint", "draw_way_back": "draw_undo_hint", "CausalWay": "CausalAlignment",
    "TailWay": "TailMode", "GroupWay": "GroupMode", "FillWay": "FillMode", "give_way_to_others": "lower_priority",
    "give_way": "yield_to_others", "draw_ways": "draw_ways_to_load", "in_ways": "in_variants",
    # kept
    "KeptValue": "PersistedValue", "KeptField": "PersistedField", "KeptFields": "UnknownFields", "Kept": "Persisted",
    "kKept": "kPersisted", "kept_type": "persisted_type", "prepare_kept": "prepare_persisted",
    "is_kept": "is_stored_stage", "kMostKept": "kMaxCached", "kMostKeptBytes": "kMaxCachedBytes", "KeptFloats": "CachedFloats",
    "kept_bytes": "stored_bytes", "OperationKept": "OperationStorage", "release_kept_blocks": "release_cached_blocks",
    "kept_block_bytes": "cached_block_bytes", "kept_blocks": "cached_blocks", "unkept_since_": "unsaved_since_",
    "drop_unkept": "drop_unneeded", "kept_prediction": "present_prediction", "reason_not_kept": "reason_not_stored",
    "explain_kept_weight": "explain_retained_weight", "not_kept_words": "not_stored_text", "read_kept": "read_saved",
    "kept_elsewhere": "saved_elsewhere", "with_kept": "with_unknown", "kept_lines": "unknown_lines",
    "kept_by_others": "saved_by_others", "gather_kept": "gather_saved", "kept_document": "cached_document",
    "kept_name": "cached_name", "kept_of_untouched": "stages_of_untouched", "attn_kept_work": None, "attnKept": None,
    # Keeper of app/keep
    "Keeper": "Autosaver", "keepers": "backends_with",
    # say, stands
    "say_stands": "record_rect_for_tests", "say_error": "show_error", "say_muted": "show_muted", "notes_say": "notes_contain",
    "say_whole": "show_whole", "say_hovered": "show_hovered", "say_forbidden": "report_forbidden",
    "say_unknown_measure": "report_unknown_measure", "say_no_pin": "report_no_pin", "say_off_plane": "report_off_plane",
    "say_no_model": "report_no_model", "say_left_out": "add_left_out", "say_guess": "describe_guess",
    "say_difference": "describe_difference", "kBinsSay": "kBinsTooltip", "says_call": "mentions_call",
    "says_not": "forbidden_text", "says_options": "states_options", "says_rest": "adds_rest", "says_nothing": "is_silent",
    "Stand": "RecordedRect", "stands": "record_rect", "stand_ins": "substitutes", "stand_in": "substitute",
    "kStandIns": "kSubstitutes", "stand_in_note": "substitute_note", "stands_for_answer": "awaits_answer",
    "stands_for": "representative_of",
    "hand_over": "offer_download", "asks_for_nothing": "is_default_start",
    # anew
    "begins_anew": "restarts", "is_given_anew": "is_replaced",
    # foot
    "draw_foot": "draw_footer", "foot_of": "footer_of", "kFoldedFoot": "kFoldedFooter", "kPresentedFoot": "kPresentedFooter",
    "kFootHeight": "kFooterHeight", "foot_width": "footer_width", "foot_height": "footer_height", "kBarFoot": "kBarFooter",
    "foot_words": "footer_text",
    # lit
    "lit_by_inspector": "highlighted_by_inspector", "is_lit": "is_highlighted", "are_lit": "are_highlighted",
    "lit_cells": "highlighted_cells", "outline_lit": "outline_highlighted", "lit_operand": "highlighted_operand",
    # kinds of actions
    "Moments": "TransientActions", "Plain": "ViewActions", "Edits": "EditActions", "Drags": "DragActions",
    # words: structs
    "MathWord": None,
    "AttentionWords": "AttentionArguments", "TraceWords": "TraceArguments", "BenchWords": "BenchArguments",
    "DiffWords": "DiffArguments", "LectureWords": "LectureArguments", "SaturateWords": "SaturateArguments",
    "HeadsWords": "HeadsArguments", "AxisWords": "AxisText", "with_long_words": None, "search_words": None,
    "words_of_void": "text_of_void", "words_alone": None, "kMostWords": None, "kWords": "kDescriptions",
    "grammar_words": None, "split_words": None, "symbol_words": None, "kStateTextWords": "kStateTextName", "words_x": "text_x",
    "words_box": "text_box", "kWordsAndMathematics": "kTextAndMathematics", "kWordsAndHeads": "kTextAndHeads",
}
# Whole identifiers in some files, first match first. ".name": only as a member; "name(": only where it is called or declared so.
FILES = [
    ("tests/view/claims/*", {"told": "match", "said": "stated", "check_kept": "check_retained"}),
    # prepositions
    ("core/models/*", {".beside": "second_input", "struct beside": "second_input"}),
    ("app/common/document/*", {".beside": "second_input", "struct beside": "second_input"}),
    ("app/workspaces/generate/*", {".beside": "second_input", "struct beside": "second_input"}),
    ("*", {".beside": "second_input"}),
    ("core/models/sweep.*", {"struct by": "ablation", ".by": "ablation"}), ("app/common/document/opened.h", {"struct by": "ablation"}),
    ("app/cli/circuits.cpp", {".by": "ablation"}), ("app/files/circuits.cpp", {".by": "ablation"}),
    ("app/workspaces/heads/sweep.cpp", {"sweep.by": "ablation"}), ("tests/view/head_sweep_test.cpp", {"model.by": "ablation"}),
    ("tests/view/swept_sample.h", {"of.by": "ablation"}),
    ("core/result.h", {"words": "message"}),
    # words of a language
    ("core/train/spec.h", {"struct words": "takes_text"}), ("app/workspaces/learn/view.cpp", {"task.words": "takes_text"}),
    ("core/train/*", {"words": None, "Words": None, "words_": None, "words_of": None, "of_words": None}),
    ("core/models/split.*", {"*words": None}), ("core/models/tokenizer*", {"*words": None}), ("core/models/pieces.*", {"*words": None}),
    ("core/models/rewrite.*", {"*words": None}), ("core/models/gguf_tokenizer.cpp", {"*words": None}),
    ("tests/models/tokenizer*", {"*words": None}),
    ("core/kernels/widen.cpp", {"Words": "UnsignedLanes", "words": "lanes"}),
    ("app/common/math.cpp", {"kWords": "kTextScale", ".words": "runs"}), ("app/common/math.h", {"struct words": "runs"}),
    ("tests/view/math_test.cpp", {".words": "runs"}), ("app/common/draw/typeset.cpp", {"struct words": "runs", "line.words": "runs"}),
    ("app/workspaces/lookup/draw/alignment.cpp", {"kWords": "kTextColumn"}), ("tests/figures/*", {"kWords": "kTextFont"}),
    ("app/common/exercise/page.h", {"struct words": "runs"}),
    ("app/common/exercise/page.cpp", {"to.words": "runs", "from.words": "runs", "content.words": "runs", "block.words": "runs"}),
    ("app/common/draw/grid_cells.cpp", {"struct words": "text_chars", "setting.words": "text_chars"}),
    ("tests/measure/tracer.h", {"struct words": "lines"}), ("tests/measure/*", {"log.words": "lines", "log_.words": "lines"}),
    ("tests/ui/color_bar_test.cpp", {"log.words": "lines"}), ("tests/measure/measures.h", {"struct words": "word_count"}),
    ("tests/measure/*", {"measures.words": "word_count", "clean.words": "word_count", "m.words": "word_count"}),
    ("app/common/exercise/page.*", {"Words": "TextRun"}), ("app/common/draw/typeset.cpp", {"Words": "TextRun"}),
    ("tests/measure/*", {"Words": "TextLine"}), ("tests/ui/color_bar_test.cpp", {"Words": "TextLine"}),
    ("tests/files/model_test.cpp", {"Words": None}), ("tests/view/toy_test.cpp", {"Words": None}),
    ("app/cli/sheet.cpp", {"Words": "Arguments"}), ("cluster/*", {"Words": "Arguments"}),
    ("app/workspaces/step/*", {"door": "start_button"}),
    # draw.h's words(frame, font, color, text)
    # told
    ("core/verify/signs.cpp", {"told": "fractional"}), ("app/gl/offscreen.cpp", {"told": "context"}),
    ("app/workspaces/step/sentence.cpp", {"told": "described"}), ("cluster/attend.cpp", {"told": "broadcast"}),
    ("app/common/draw/plot.cpp", {"told": "has_tooltip"}),
    # said
    ("tests/ui/*", {"said(": "action_of", "said<": "action_of"}),
    ("app/cli/corpus.cpp", {"Said": "ProgressLine", "said_": "since_report_", "say": "report"}),
    ("app/cli/train.cpp", {"said_": "since_report_"}), ("app/desktop.cpp", {"said(": "shown_message", "said_": "shown_text_", "said_at_": "shown_at_"}),
    ("core/models/config.h", {"said": "if_declared"}), ("core/models/config.cpp", {"::said": "if_declared"}),
    ("core/models/families.cpp", {"::said": "if_declared"}),
    ("app/window/draw/prompt.cpp", {"said": "message"}), ("app/window/draw/window.cpp", {"said": "message"}),
    ("tests/cli/command.h", {"said": "output"}), ("tests/cli/lecture_test.cpp", {"said": "output"}),
    ("app/files/said.cpp", {"said": "text_of"}),
    ("tests/view/saturation_seeds_test.cpp", {"said_at": "texts_at"}),
    # room
    ("core/heads/*", {"room": "buffer"}), ("tests/cli/train_test.cpp", {"room": "folder"}), ("app/files/stored.cpp", {"room": "buffer"}),
    ("core/models/gguf_config.cpp", {"room": "prefix"}), ("app/cli/render.cpp", {"room": "canvas"}),
    # settle
    ("core/large/*", {"settle": "wait_until_idle"}), ("tests/large/*", {"settle": "wait_until_idle", "settled": "finished_snapshot"}),
    ("app/jobs/*", {"settle": "wait_until_idle"}), ("tests/jobs/*", {"settle": "wait_until_idle"}),
    ("app/common/request.h", {"settle": "wait_until_idle"}), ("app/common/map/requests.cpp", {"settle": "wait_until_idle"}),
    ("app/workspaces/learn/job.*", {"settle": "wait_until_idle"}), ("tests/files/model_test.cpp", {"settle": "wait_until_idle"}),
    ("tests/cli/opens_test.cpp", {"settle": "wait_until_idle"}), ("tests/view/large_sample.h", {"settle": "wait_until_idle"}),
    ("tests/ui/sizes_test.cpp", {"settle": "wait_until_idle"}), ("tests/ui/*", {"settle": "draw_frames"}),
    ("tests/cli/start_test.cpp", {"settled": "resolved"}), ("app/*", {"settle": "clamp_to_document"}),
    ("tests/view/probe_workspace.h", {"settle": "clamp_to_document"}),
    # the hook; the rest of the name is "clear"
    ("app/common/workspace.h", {"forget": "clear_cache", "kept": "persisted"}),
    ("app/workspaces/*/workspace.cpp", {".forget": "clear_cache", "kept(": "persisted"}),
    ("tests/view/probe_workspace.h", {".forget": "clear_cache"}),
    ("app/common/document/*", {".forget": "clear_cache", "forget": "clear_caches"}),
    ("app/window/*", {".forget": "clear_cache"}),
    # way
    ("core/models/model.*", {"Way": "BlockOptions", "way": "options"}),
    ("app/workspaces/saturation/*", {"Way": "GradientChange", "way_of": "gradient_change", "way": "change"}),
    ("tests/view/saturation_words_test.cpp", {"Way": "GradientChange", "way_of": "gradient_change"}),
    ("app/workspaces/lookup/workspace.cpp", {"Way": "Direction", "kWays": "kDirections", "way": "direction"}),
    ("app/common/document/commands.h", {"way": "arrow"}), ("app/workspaces/masks/workspace.cpp", {"way": "arrow"}),
    ("app/workspaces/step/backward_inputs.cpp", {"Way": "GradientPath", "ways_of": "paths_of", "way": "path"}),
    ("app/workspaces/gradients/inspector.cpp", {"way": "direction"}), ("app/workspaces/step/edit_cell.cpp", {"way": "step"}),
    ("app/common/draw/overlay.cpp", {"way": "distance"}), ("tests/measure/contrasts.cpp", {"way": "direction"}),
    ("app/workspaces/heads/draw/listing.cpp", {"way": "direction"}),
    ("core/mask_conventions.*", {"way": "mode"}), ("app/workspaces/masks/conventions.cpp", {"way": "mode"}),
    ("tests/known/mask_conventions_test.cpp", {"way": "mode"}),
    # kept
    ("web/app/fonts/*", {"Kept": "FontFile", "kept": "file"}), ("app/gl/*", {"*kept": None}), ("web/app/keep/*", {"kept": None}),
    ("cluster/*", {"KeptBlocks": "SavedBlocks", "kept": "saved"}), ("core/blocks.cpp", {"KeptBlocks": "CachedBlocks", "kept_": "cached_bytes_"}),
    ("*", {"KeptBlocks": "LoadedBlocks"}),
    ("core/engine.*", {"kept": "stored"}), ("core/validate.*", {"kept": "stored"}), ("tests/support/compare.cpp", {"kept": "stored"}),
    ("tests/support/tolerance.h", {"kept": "stored"}), ("tests/backends/staged_test.cpp", {"kept": "stored"}),
    ("core/cost.*", {"kept": "stored"}), ("app/workspaces/cost/*", {".kept": "stored", "kept": "stored"}),
    ("tests/known/cost_test.cpp", {"kept": "stored"}), ("core/operations/operation.*", {"kept": "stored"}),
    ("core/operations/chunked.cpp", {".kept": "stored"}), ("core/operations/latents.cpp", {".kept": "stored"}),
    ("core/operations/linear.cpp", {".kept": "stored"}), ("core/operations/linformer.cpp", {".kept": "stored"}),
    ("app/workspaces/kinds/view.cpp", {"kept": "stored", ".kept": "stored"}),
    ("app/common/kept.h", {"kept": "cached"}), ("app/common/state.h", {"kept": "unknown_fields"}),
    ("app/common/document/apply.cpp", {".kept": "unknown_fields"}), ("app/window/session.cpp", {".kept": "unknown_fields"}),
    ("tests/view/document_test.cpp", {".kept": "unknown_fields"}), ("app/window/session.cpp", {"kept": "unknown"}),
    ("app/files/open.cpp", {"kept": "unknown", "kept_words": "unknown_text", ".kept": "unknown_fields"}),
    ("app/workspaces/heads/state.h", {"kept": "previous"}), ("app/workspaces/heads/compute.cpp", {"kept": "previous"}),
    ("app/workspaces/heads/workspace.cpp", {".kept": "previous"}), ("app/workspaces/heads/shown.cpp", {"kept": "cached"}),
    ("app/workspaces/step/predict.cpp", {"kept": "cached"}), ("app/workspaces/step/map.cpp", {"kept": "cached"}),
    ("tests/measure/*", {"kept": "cached"}),
    ("app/keep/keeper.*", {"kept_": "saved_text_"}), ("app/common/fields.*", {"kept_": "unknown_", "kept": "unknown"}),
    ("app/keep/settings.cpp", {"kept": "unknown"}),
    # fine
    ("core/large/not_finite.*", {"fine": "finite"}), ("core/large/map_state.cpp", {"::fine": "finite"}),
    ("core/large/stored_strips.cpp", {"fine(": "valid"}),
    ("tests/large/preview_test.cpp", {"fine": "detailed"}), ("tests/large/not_finite_test.cpp", {"fine": "finite"}),
    ("core/models/weight*", {"fine(": "ok"}), ("core/models/gguf_config.cpp", {"fine(": "ok"}), ("core/io/gguf.cpp", {"fine(": "ok"}),
    ("*", {".fine(": "ok", "fine(": "ok"}),
    # say: the message of the status line
    ("app/cli/trace.cpp", {"say": "report"}), ("app/workspaces/lookup/draw/*", {"say": "can_draw"}),
    ("tests/view/claims/number_claims.cpp", {"say": "pieces"}),
    ("tests/view/odd_inputs_test.cpp", {"says": "expected"}), ("tests/view/true_words_test.cpp", {"says": "expected"}),
    ("tests/cli/corpus_test.cpp", {}), ("app/files/arrays.cpp", {"says": "describe"}), ("app/files/stored.cpp", {"says": "is_stated"}),
    ("tests/view/claims/plain_claims.cpp", {"says": "holds"}), ("tests/view/positions_test.cpp", {"says": "sentence_of"}),
    ("core/models/tokenizer_files.cpp", {"stand": "role_of"}), ("core/models/sentence_pieces.cpp", {"stand": "place"}),
    ("tests/measure/*", {"stand": "recorded", ".stands": "rects", "stands": "rects", "stands(": "record_rect", "forget": "clear"}),
    ("app/cli/stages.cpp", {}),
    ("app/common/document/mask_rules.cpp", {"anew": "restarts"}), ("app/common/document/toy.cpp", {"anew": "recomputed"}),
    ("tests/models/gguf_test.cpp", {"anew": "again"}),
    ("tests/keep/keeper_test.cpp", {"keeper": "autosaver"}),
]
# Locals and parameters of such a type, to the end of their scope.
TYPED = [
    (r"\bArguments\s*&?\s*$", "words", ("arguments", "args")),
    (r"\b(?:Attention|Trace|Bench|Diff|Lecture|Saturate|Heads)Words\s*&?\s*$", "words", ("arguments", "args")),
    (r"\bfloat\s*$", "words", ("text_extent", "text_size")),
    (r"(?:vector|span)<(?:const )?(?:std::)?string(?:_view)?>\s*&?\s*$", "words", ("items", "entries", "list")),
    (r"(?:vector|span)<(?:std::)?(?:int32_t|Index)>\s*&?\s*$", "words", ("items", "entries", "list")),
    (r"\bIndex\s*$", "words", ("word_count", "token_count")),
]
TYPED_KEEP = ("app/common/glossary.*", "app/window/commands.cpp", "core/models/*", "core/train/*")
NEVER = {"std", "ImGui"}
# Files in which a part means what plain English means by it.
PLAIN_PARTS = [("core/models/split.*", "words"), ("core/models/tokenizer*", "words"), ("core/models/pieces.*", "words"),
               ("core/train/words.*", "words"), ("tests/models/tokenizer*", "words"), ("core/models/sentence_pieces.*", "words")]
# Folders and files that move, and the texts that name them.
MOVED = [("tests/house", "tests/architecture")]


# ---------------------------------------------------------------------------------------------------------------- engine
def parts_of(name):
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|_+", name)


class Source:
    def __init__(self, tree, path):
        self.path, self.file = path, str(path.relative_to(tree))
        self.text = path.read_text(errors="surrogateescape")
        self.tokens = []
        skip = -1
        for found in TOKEN.finditer(self.text):
            if found.lastgroup == "d":
                kind = "str"
            else:
                kind = found.lastgroup
            if found["str"] is not None:
                kind = "str"
            if found.start() < skip:
                continue
            if kind == "id" and found[0] in ("EM_JS", "EM_ASM", "EM_ASM_INT", "EM_ASM_PTR", "EM_ASYNC_JS", "EM_ASM_DOUBLE"):
                skip = self.end_of_call(found.end())
            self.tokens.append((kind, found[0], found.start(), found.end()))
        self.code = [n for n, token in enumerate(self.tokens) if token[0] in ("id", "op", "num", "str")]
        self.index = {n: k for k, n in enumerate(self.code)}
        self.scopes()

    def end_of_call(self, at):
        depth = 0
        for n in range(at, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[n], 0)
            if depth == 0 and self.text[n] == ")":
                return n
        return len(self.text)

    def scopes(self):
        """For each code token: its chunk (function) and whether it stands directly in a struct."""
        self.chunk, self.in_struct, self.closes, self.parent = {}, {}, {}, {}
        stack, start, chunk, chunks, paren = [], 0, None, 0, 0
        opened = []
        for k, n in enumerate(self.code):
            text = self.tokens[n][1]
            inner = all(kind != "other" for kind, *_ in stack)
            if inner:
                self.chunk[k] = chunks
            else:
                self.chunk[k] = chunks
            self.in_struct[k] = bool(stack) and stack[-1][0] == "struct" and paren == stack[-1][2]
            self.parent[k] = stack[-1][1] if stack else -1
            if text == "(":
                paren += 1
            elif text == ")":
                paren -= 1
            elif text == "{":
                kind = self.kind_of(k, inner)
                stack.append((kind, k, paren))
            elif text == "}":
                if stack:
                    kind, begin, _ = stack.pop()
                    self.closes[begin] = k
                    if all(each != "other" for each, *_ in stack) and paren == 0:
                        chunks += 1
            elif text == ";" and inner and paren == 0:
                chunks += 1

    def kind_of(self, k, inner):
        """What a brace opens, by the tokens since the last ; { }."""
        words = []
        for back in range(k - 1, max(k - 60, -1), -1):
            text = self.tokens[self.code[back]][1]
            if text in (";", "{", "}"):
                break
            words.append(text)
        words.reverse()
        if not words:
            return "other"
        if "namespace" in words or words[:1] == ["extern"]:
            return "namespace"
        if "(" not in words or (words[0] in ("struct", "class") and words[-1] != ")"):
            for key in ("struct", "class", "union"):
                if key in words and "=" not in words and ")" not in words[words.index(key):]:
                    return "struct"
            if "enum" in words:
                return "struct"
        if "template" in words and ("struct" in words or "class" in words) and "(" not in words:
            return "struct"
        return "other"

    def around(self, k):
        get = lambda at: self.tokens[self.code[at]][1] if 0 <= at < len(self.code) else ""
        return get(k - 2), get(k - 1), get(k + 1)


def matches(file, glob):
    return fnmatch.fnmatch(file, glob)


class Renames:
    def __init__(self, sources, names):
        self.sources, self.names = sources, names
        self.made, self.taken, self.notes = {}, {}, []
        self.chosen = set(value for value in GLOBAL.values() if value)

    def compound(self, name):
        """The new name by the parts, or None."""
        if name in self.made:
            return self.made[name]
        new = None
        pieces = parts_of(name)
        constant = len(name) > 1 and name[0] == "k" and name[1].isupper()
        if constant:
            pieces = ["k"] + parts_of(name[1:])
        hits = [n for n, piece in enumerate(pieces) if piece.lower() in PARTS]
        if hits and not name.isupper() and "".join(pieces) == name:
            most = max(len(PARTS[pieces[n].lower()]) for n in hits)
            for choice in range(most):
                made = list(pieces)
                for n in hits:
                    options = PARTS[pieces[n].lower()]
                    word = options[min(choice, len(options) - 1)]
                    if pieces[n][0].isupper():
                        word = "".join(each.capitalize() for each in word.split("_"))
                    made[n] = word
                candidate = "".join(made)
                if candidate not in self.names and candidate not in self.taken and candidate not in self.chosen:
                    new = candidate
                    break
            if new is None:
                self.notes.append(f"no free name: {name}")
        self.made[name] = new
        if new:
            self.taken[new] = name
        return new


SIMPLE = {name for name in PARTS}


def rename(tree, report):
    paths = []
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob("*")):
            file = str(path.relative_to(tree))
            if path.is_file() and file.endswith(ENDS) and "/corpus/version" not in file and "third_party" not in file:
                paths.append(path)
    sources = [Source(tree, path) for path in paths]
    names = collections.Counter()
    for source in sources:
        for kind, text, *_ in source.tokens:
            if kind == "id":
                names[text] += 1
    table = Renames(sources, names)
    changed = []
    used = collections.Counter()
    for source in sources:
        rules = {}
        for glob, rows in FILES:
            if matches(source.file, glob):
                for key, value in rows.items():
                    rules.setdefault(key, value)
        plain = {part for glob, part in PLAIN_PARTS if matches(source.file, glob)}
        new_at = {}
        # Typed locals.
        if not any(matches(source.file, glob) for glob in TYPED_KEEP):
            typed(source, new_at, rules)
        bare = collections.defaultdict(set)  # chunk -> bare identifiers
        declared = collections.defaultdict(set)  # chunk -> old simple names that it declares as locals
        members = set()  # simple names that a struct of this file has
        for k, n in enumerate(source.code):
            kind, text, *_ = source.tokens[n]
            if kind != "id":
                continue
            before2, before, after = source.around(k)
            if before in (".", "->") or before == "::":
                continue
            if source.in_struct[k]:
                if text in SIMPLE and after in (";", "=", "{", ",", ")", "("):
                    members.add(text)
                continue
            bare[source.chunk[k]].add(text)
            if text in SIMPLE and (re.match(r"[A-Za-z_>&*]", before) and before not in ("return", "case", "co_return", "else", "not", "and", "or", "&&", "throw", "goto") or
                                   before in ("[", ",") and is_binding(source, k)):
                if not (before == "&" and before2 in ("(", ",", "=", "{", "return")) and not (before == "*" and before2 in ("(", ",", "=", "{", "return", "!")):
                    declared[source.chunk[k]].add(text)
        for k, n in enumerate(source.code):
            if n in new_at:
                continue
            kind, text, *_ = source.tokens[n]
            if kind != "id":
                continue
            before2, before, after = source.around(k)
            member = before in (".", "->")
            keys = []
            if member and after == "(":
                keys.append("." + text + "(")
            if member:
                keys += [before2 + "." + text, "." + text]
            if source.in_struct[k]:
                keys.append("struct " + text)
            if before == "::":
                keys.append("::" + text)
            if after == "(" and not member:
                keys.append(text + "(")
            if after == "<":
                keys.append(text + "<")
            keys += [text, "*" + text]
            if before == "::" and before2 in NEVER:
                continue
            done = False
            for key in keys:
                if key in rules:
                    if rules[key]:
                        new_at[n] = rules[key]
                    done = True
                    break
            if done:
                continue
            if text in GLOBAL:
                if GLOBAL[text]:
                    new_at[n] = GLOBAL[text]
                continue
            if text in SIMPLE:
                options = PARTS[text]
                if text == "words" and not member and after == "(" and before != "::" and is_draw_call(source, k):
                    new_at[n] = "put_text"
                    continue
                choice = options[0]
                chunk = source.chunk[k]
                local = text in declared[chunk] and not member and not source.in_struct[k] and before != "::"
                if local and after == "(" and text == "words" and text not in declared[chunk]:
                    local = False
                if local:
                    for option in options:
                        if option not in bare[chunk]:
                            choice = option
                            break
                    else:
                        table.notes.append(f"{source.file}: every name for '{text}' is taken")
                new_at[n] = choice
                continue
            pieces = [part.lower() for part in parts_of(text[1:] if re.match(r"k[A-Z]", text) else text)]
            if any(part in PARTS and part not in plain for part in pieces):
                new = table.compound(text)
                if new:
                    new_at[n] = new
        for n, new in new_at.items():
            used[source.tokens[n][1], new] += 1
        if new_at:
            changed.append((source, new_at))
    # Comments that name a function.
    only = collections.defaultdict(set)
    for (old, new), count in used.items():
        only[old].add(new)
    unique = {old: next(iter(news)) for old, news in only.items() if len(news) == 1 and ("_" in old.strip("_") or old[0].isupper() and len(parts_of(old)) > 1 or re.match("k[A-Z]", old))}
    by_path = {source: new_at for source, new_at in changed}
    written = []
    for source in sources:
        new_at = by_path.get(source, {})
        out, at = [], 0
        for n, (kind, text, start, end) in enumerate(source.tokens):
            new = new_at.get(n)
            if kind == "comment":
                new = re.sub(r"\b[A-Za-z_]\w*\b", lambda found: unique.get(found[0], found[0]), text)
                if new == text:
                    new = None
            if new is not None:
                out += [source.text[at:start], new]
                at = end
        if out:
            out.append(source.text[at:])
            source.path.write_text("".join(out), errors="surrogateescape")
            written.append(source.file)
    docs(tree, unique, used)
    move(tree)
    if report:
        with open(report, "w") as file:
            for (old, new), count in sorted(used.items(), key=lambda row: -row[1]):
                file.write(f"{count} {old} -> {new}{'   (exists)' if names[new] else ''}\n")
            file.write("\n".join(table.notes) + "\n")
    return written


def is_binding(source, k):
    """Whether it is a name of a structured binding: auto [a, b]."""
    for back in range(k - 1, max(k - 16, -1), -1):
        text = source.tokens[source.code[back]][1]
        if text == "[":
            before = source.tokens[source.code[back - 1]][1]
            if before in ("&", "&&"):
                before = source.tokens[source.code[back - 2]][1]
            return before == "auto"
        if text not in (",",) and not re.match(r"\w", text):
            return False
    return False


def is_draw_call(source, k):
    """words(frame, …) and void words(const Frame& …)."""
    text = [source.tokens[source.code[at]][1] for at in range(k + 1, min(k + 5, len(source.code)))]
    return text[:3] in (["(", "frame", ","], ["(", "const", "Frame"]) or text[:4] == ["(", "canvas", ".", "frame"] or text[:2] == ["(", "Color"]


def typed(source, new_at, rules):
    for k, n in enumerate(source.code):
        kind, text, start, end = source.tokens[n]
        if kind != "id":
            continue
        for pattern, old, options in TYPED:
            if text != old or source.in_struct[k] or old in rules:
                continue
            line = source.text[max(0, start - 90):start]
            if not re.search(pattern, line):
                continue
            if pattern.startswith(r"(?:vector") and source.file.startswith(("app/cli", "tests/cli", "cluster")):
                options = ("arguments", "args", "items")
            last = end_of_scope(source, k)
            inside = {source.tokens[source.code[at]][1] for at in range(k, last)
                      if source.tokens[source.code[at]][0] == "id" and source.around(at)[1] not in (".", "->", "::")}
            inside |= {source.tokens[source.code[at]][1] for at in range(max(0, k - 30), k)
                       if source.chunk[at] == source.chunk[k] and source.tokens[source.code[at]][0] == "id"}
            new = next((each for each in options if each not in inside), options[-1] + "_given")
            for at in range(k, last):
                m = source.code[at]
                if source.tokens[m][0] == "id" and source.tokens[m][1] == old and source.around(at)[1] not in (".", "->", "::") and m not in new_at:
                    new_at[m] = new
            break


def end_of_scope(source, k):
    """The code token at which the scope of what is declared at k ends."""
    depth = 0
    for at in range(k, len(source.code)):
        text = source.tokens[source.code[at]][1]
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
            if depth < 0:  # a parameter, or of for (…)
                nested = depth
                for after in range(at + 1, len(source.code)):
                    text = source.tokens[source.code[after]][1]
                    if text == "(":
                        nested += 1
                    elif text == ")":
                        nested -= 1
                    elif text == "{":
                        # of a constructor's initialisers too: to the last brace that follows at once
                        end = source.closes.get(after, len(source.code) - 1)
                        while end + 1 < len(source.code) and source.tokens[source.code[end + 1]][1] in ("{", ","):
                            follow = end + 1
                            while follow < len(source.code) and source.tokens[source.code[follow]][1] != "{":
                                follow += 1
                            end = source.closes.get(follow, len(source.code) - 1)
                        return end + 1
                    elif text == ";":
                        return after
                return len(source.code)
        elif text == "{" and depth >= 0:
            pass
    begin = source.parent[k]
    return source.closes.get(begin, len(source.code))


def docs(tree, unique, used):
    """Names within `code` and fenced blocks of the pages."""
    for path in sorted((tree / "docs").glob("*.md")) + [tree / "CONTRIBUTING.md"]:
        if not path.exists():
            continue
        text = path.read_text()
        special = {"said_of": "job_status_text", "Moments": "TransientActions", "Plain": "ViewActions", "Edits": "EditActions",
                   "Drags": "DragActions"}
        def swap(found):
            code = found[0]
            code = re.sub(r"(?<=\.)words(?= = )", "text", code)
            code = re.sub(r"\bkept(?=\()", "persisted", code)
            return re.sub(r"(?<![\w/.-])[A-Za-z_]\w*(?![\w./-]*\.(?:h|cpp|md|py|sh|json)\b)", lambda each: special.get(each[0]) or unique.get(each[0], each[0]), code)
        new = re.sub(r"^```.*?^```|`[^`\n]+`", swap, text, flags=re.S | re.M) if path.name in ("develop.md", "CONTRIBUTING.md") else text
        if new != text:
            path.write_text(new)


def move(tree):
    for old, new in MOVED:
        if (tree / old).is_dir() and not (tree / new).exists():
            (tree / old).rename(tree / new)
    files = subprocess.run(["git", "-C", str(tree), "ls-files"], capture_output=True, text=True).stdout.split("\n")
    for file in files + [str(path.relative_to(tree)) for path in (tree / "tests/architecture").glob("*")]:
        path = tree / file
        if not file or not path.is_file() or file.startswith(("third_party/", "tests/corpus/", "tests/goldens/")) or file.endswith((".png", ".gguf", ".npz", ".npy")):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        new = text
        for old, to in MOVED:
            new = re.sub(re.escape(old) + r"\b", to, new)
        if file == "tests/CMakeLists.txt":
            new = re.sub(r"(foreach\(folder )house\b", r"\1architecture", new)
        if file == "tests/architecture/sleeps.py":
            new = new.replace('"house/sleeps"', '"architecture/sleeps"')
        if file.startswith("tests/architecture/") and file.endswith("CMakeLists.txt") or file in ("tests/gl/CMakeLists.txt", "tests/web/CMakeLists.txt"):
            new = re.sub(r'(LABELS "?)house\b', r"\1architecture", new)
        if file == "CMakePresets.json":
            new = new.replace("window|house|slow", "window|architecture|slow")
        if file in ("test", ".ci/run", "docs/develop.md", "CONTRIBUTING.md"):
            new = re.sub(r"(-L )house( {7})?\b", r"\1architecture", new)
        if new != text:
            path.write_text(new)


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    report = sys.argv[3] if sys.argv[2:3] == ["--report"] else None
    written = rename(tree, report)
    if "--no-format" in sys.argv:
        return
    formatted = [file for file in written if file.endswith((".cpp", ".h"))]
    for n in range(0, len(formatted), 100):
        subprocess.run(["clang-format", "-i", *formatted[n:n + 100]], cwd=tree, check=True)
    words = next(iter(tree.glob("tests/*/words.py")))
    subprocess.run([str(words), str(tree), "--lower"], check=True)
    print(f"{len(written)} files are changed.")


if __name__ == "__main__":
    main()
