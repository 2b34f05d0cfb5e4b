#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/sizes.h"

namespace attn::train {

/// What a model is trained on; task_table() describes each.
enum class Task : std::uint8_t {
    copy,
    reverse,
    sort,
    induction,
    recall,
    majority,
    text,
    grammar,
    marked,
    sentences
};

/// Where a position enters. learned: a trained row each, added to the embedding. sinusoidal: sin and cos of
/// p / 10000^(2c/d_model) in columns 2c and 2c + 1, added (Vaswani et al. 2017). rotary: RoPE of Q and K, base 10000, pairs
/// c and c + d_k/2 (Rope, spec.h). none: nowhere.
enum class Positions : std::uint8_t { learned, sinusoidal, rotary, none };
/// pre: LayerNorm with scale and shift before attention, before the MLP and before the read-out. none: nowhere.
enum class NormPlace : std::uint8_t { pre, none };
/// adamw: Loshchilov & Hutter 2019, arXiv:1711.05101. sgd: with momentum as PyTorch has it.
enum class Optimiser : std::uint8_t { adamw, sgd };

/// How the learning rate goes on after the warm-up, r = min(1, (step + 1)/warmup): constant: lr · r; linear: lr · (r · (1 − step/steps) + 0.02).
enum class Schedule : std::uint8_t { constant, linear };

std::string_view key_of(Positions positions);
std::string_view key_of(NormPlace norm);
std::string_view key_of(Optimiser optimiser);

class Language;
/// The language of Task::marked and Task::sentences, shared and immutable; may be empty for other tasks. Compares by content.
struct LanguageRef {
    std::shared_ptr<const Language> value;
    const Language* operator->() const { return value.get(); }
    bool empty() const { return value == nullptr; }
    bool operator==(const LanguageRef& other) const;
};

/// All that determines a run: the same spec gives the same run, bit for bit, on one machine, whatever its threads.
struct Spec {
    Task task = Task::induction;
    Index tokens = 64;   // T: length of a sequence
    Index symbols = 32;  // of the tasks that have an alphabet
    std::string text;    // of Task::text: words between white space
    LanguageRef language{};

    Index layers = 2;
    Index heads = 4;
    Index d_model = 128;
    Index d_k = 32;               // of each head; free of d_model
    Index d_v = 0;                // of each head; 0: d_k
    bool scaling = true;          // ÷√d_k
    double temperature = 1.0;     // scores are divided by it too
    double initial_spread = 1.0;  // g: W_Q and W_K start as N(0, g²/rows), so q·k has g² √d_k
    Positions positions = Positions::learned;
    bool mlp = false;  // GELU, 4 d_model wide
    NormPlace norm = NormPlace::pre;

    Optimiser optimiser = Optimiser::adamw;
    double learning_rate = 3e-3;
    Index warmup = 100;  // steps in which the rate rises evenly: lr · min(1, (step + 1)/warmup)
    Schedule schedule = Schedule::constant;
    double weight_decay = 0.01;  // of matrices; not of norms and biases
    double clip = 1.0;           // largest norm of the whole gradient; 0: none
    double beta1 = 0.9;          // adamw
    double beta2 = 0.99;
    double momentum = 0.9;  // sgd
    Index batch = 32;       // sequences a step
    Index steps = 2000;
    std::uint64_t seed = 1;

    Index value_width() const { return d_v > 0 ? d_v : d_k; }
    bool operator==(const Spec&) const = default;
};

}  // namespace attn::train
