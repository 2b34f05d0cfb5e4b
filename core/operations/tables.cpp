// The stage tables of the operations, and what each is called; <operation>.cpp has its arithmetic.

#include <array>
#include <cmath>

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr Stage kUpToMask[] = {Stage::x,     Stage::x_kv,   Stage::q,      Stage::k,
                               Stage::v,     Stage::q_norm, Stage::k_norm, Stage::q_rot,
                               Stage::k_rot, Stage::scores, Stage::scaled, Stage::biased,
                               Stage::masked};
constexpr Stage kUpToDropped[] = {Stage::x,      Stage::x_kv,    Stage::q,      Stage::k,
                                  Stage::v,      Stage::q_norm,  Stage::k_norm, Stage::q_rot,
                                  Stage::k_rot,  Stage::scores,  Stage::scaled, Stage::biased,
                                  Stage::masked, Stage::weights, Stage::dropped};
constexpr Stage kValues[] = {Stage::x, Stage::v};

std::string_view key_of(const OperandId& id) {
    return std::visit([](auto which) { return info(which).key; }, id);
}

/// Softmax attention's own row, of those that the operation has too.
OperationStage shared_row(Stage stage) {
    const StageInfo& row = info(stage);
    OperationStage made{row.key,  row.symbol,  row.step,  row.title,  row.tex,
                        row.rows, row.columns, row.heads, row.exists, row.colors,
                        row.role, {},          row.text,  row.source};
    for (std::size_t n = 0; n < row.operands.size(); ++n)
        if (row.operands[n])
            made.operands[n] = {key_of(row.operands[n]->id), row.operands[n]->lights};
    return made;
}

/// Softmax attention's own rows, the operation's, and the output; a row that names no source has the operation's.
std::vector<OperationStage> stages_of(std::string_view source, std::span<const Stage> shared,
                                      std::initializer_list<OperationStage> own) {
    std::vector<OperationStage> rows;
    for (const Stage stage : shared) rows.push_back(shared_row(stage));
    rows.insert(rows.end(), own.begin(), own.end());
    for (OperationStage& row : rows)
        if (row.source.empty()) row.source = source;
    rows.push_back(shared_row(Stage::output));
    return rows;
}

/// context = implied V; `tex` is how the operation gets there.
OperationStage context_row(std::string_view tex, std::string_view text) {
    OperationStage row = shared_row(Stage::context);
    row.tex = tex;
    row.text = text;
    row.source = {};
    row.operands[0] = {"implied", Lights::same_row};
    return row;
}

/// A fresh parameter's entries: normal with variance 1 / rows.
double per_rows(double noise, const ParamEntry& at) {
    return noise / std::sqrt(static_cast<double>(at.rows));
}

// clang-format off

// ---- chunked attention

OperationInfo chunked_row() {
    constexpr std::string_view kSource = "Milakov & Gimelshein 2018, arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"chunk_max", "μ", "max", "Largest logit of the chunk",
         R"(\mu_{i,c} = \max_{j \in c} M_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"masked", Lights::same_row}},
         "The largest logit of the chunk in each row.", {}, false},
        {"running_max", "m", "m", "Largest logit so far",
         R"(m_{i,c} = \max(m_{i,c-1}, \mu_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"chunk_max", Lights::same_cell}},
         "The largest logit of all chunks up to this one; −∞ before the first.", {}, false},
        {"rescale", "r", "rescale", "Factor of the earlier sums",
         R"(r_{i,c} = \exp(m_{i,c-1} - m_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"running_max", Lights::same_row}},
         "Earlier sums used the old maximum; this factor converts them to the new one.", {}},
        {"shares", "P", "exp", "Exponentials below the running maximum",
         R"(P_{i,j} = \exp(M_{i,j} - m_{i,c}))",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}, OperationOperand{"running_max", Lights::same_row}},
         "The exponentials of each chunk, relative to the running maximum.", {}},
        {"running_sum", "ℓ", "ℓ", "Sum so far",
         R"(\ell_{i,c} = r_{i,c}\,\ell_{i,c-1} + \sum_{j \in c} P_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"rescale", Lights::same_cell}, OperationOperand{"shares", Lights::same_row}},
         "The softmax denominator so far: rescaled, then increased.", {}},
        {"accumulator", "O", "O", "Weighted values so far",
         R"(O_{i,c} = r_{i,c}\,O_{i,c-1} + \sum_{j \in c} P_{i,j}\,v_j)",
         Axis::query, Axis::chunk_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"rescale", Lights::same_row}, OperationOperand{"shares", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The context so far, before the division: rescaled, then increased.", {}},
        {"logsumexp", "L", "L", "Logarithm of the row's sum",
         R"(L_i = m_i + \ln(\ell_i))",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"running_max", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "One number for each row; the backward pass recomputes every weight from it.", {}, false},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{P_{i,j}}{\ell_i} \cdot \prod_{c' > c} r_{i,c'})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"shares", Lights::same_cell}, OperationOperand{"rescale", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "The final factor of each value: the softmax weights, which a chunked kernel never stores.", {}},
        context_row(R"(\mathrm{context}_i = \frac{O_i}{\ell_i})",
                    "One division for each row after the last chunk."),
    });
    return {Operation::chunked, "chunked", "Chunked attention (online softmax)",
        R"(m' = \max(m, \mu)\text{, }\ell' = e^{m - m'}\,\ell + \sum_j P_j\text{, }O' = e^{m - m'}\,O + \sum_j P_j\,v_j)",
        "Softmax attention over one chunk of keys at a time: the same result without a stored row of weights.",
        kSource, true, stages, {}, kChunkedWork.cost, kChunkedWork.refuses, kChunkedWork.forward, kChunkedWork.backward};
}

// ---- linear attention

OperationInfo linear_row() {
    constexpr std::string_view kSource = "Katharopoulos et al. 2020, arXiv:2006.16236";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"phi_q", "φ(Q)", "φ(Q)", "Features of queries",
         R"(\phi(Q) = \mathrm{elu}(Q) + 1)",
         Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"q", Lights::same_cell}},
         "Each entry above 0 grows by 1, each below becomes its exponential: no feature is negative.", {}},
        {"phi_k", "φ(K)", "φ(K)", "Features of keys",
         R"(\phi(K) = \mathrm{elu}(K) + 1)",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"k", Lights::same_cell}},
         "The same for the keys, so every pair has a positive match.", {}},
        {"states", "S_j", "S_j", "State after each key",
         R"(S_j = S_{j-1} + \phi(k_j)\,v_j^\top)",
         Axis::key, Axis::key_value, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The memory of all earlier keys: one matrix that each key adds to.", {}},
        {"normalisers", "z_j", "z_j", "Normaliser after each key",
         R"(z_j = z_{j-1} + \phi(k_j))",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::same_row}},
         "The sum of the keys' features so far, for the denominator.", {}},
        {"state", "S", "S", "State",
         R"(S = \sum_j \phi(k_j)\,v_j^\top)",
         Axis::d_k, Axis::d_v, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::column}, OperationOperand{"v", Lights::column}},
         "All keys and values in one matrix of d_k by d_v numbers, for any number of tokens.", {}},
        {"normaliser", "z", "z", "Normaliser",
         R"(z = \sum_j \phi(k_j))",
         Axis::one, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::column}},
         "The sum of the keys' features.", {}},
        {"denominator", "φ(q)·z", "φ(q)·z", "Denominator of each query",
         R"(\phi(q_i) \cdot z)",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"normaliser", Lights::same_row}},
         "The sum of the matches of a query.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{\phi(q_i) \cdot \phi(k_j)}{\phi(q_i) \cdot z})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"phi_k", Lights::row_of_column}, OperationOperand{"denominator", Lights::same_row}},
         "The final factor of each value. No linear kernel computes it; rows sum to 1 as with softmax.", {}},
        context_row(R"(\mathrm{context}_i = \frac{S^\top\,\phi(q_i)}{\phi(q_i) \cdot z})",
                    "Each query reads the state with its features, divided by its denominator."),
    });
    return {Operation::linear, "linear", "Linear attention (elu + 1)",
        R"(\mathrm{context}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j)\,v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)})",
        "φ(q)·φ(k) instead of exp(q·k): the sum over keys is one small matrix, the same for every query. There is no scale.",
        kSource, false, stages, {}, kLinearWork.cost, kLinearWork.refuses, kLinearWork.forward, kLinearWork.backward};
}

// ---- learned latents

constexpr OperationParam kLatentsParams[] = {
    {"latents", "latents", "L", Role::query, Axis::latent, Axis::d_k, "Learned queries; initially standard normal.",
     [](double noise, const ParamEntry&) { return noise; }},
    {"w_latent", "W_latent", "W", Role::key, Axis::d_v, Axis::d_k,
     "From a latent's values to its key; initially normal with variance 1 / d_v.",
     per_rows},
};

OperationInfo latents_row() {
    constexpr std::string_view kSource = "Jaegle et al. 2021, arXiv:2103.03206 and arXiv:2107.14795; Lee et al. 2019, arXiv:1810.00825";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"scores_in", "S_in", "L Kᵀ", "Scores of latents and tokens",
         R"(S^\mathrm{in} = L\,K^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"latents", Lights::same_row}, OperationOperand{"k", Lights::row_of_column}},
         "Each latent, a learned query, meets each token's key.", {}},
        {"weights_in", "A_in", "in", "Weights of each latent",
         R"(A^\mathrm{in} = \mathrm{softmax}(S^\mathrm{in}))",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_in", Lights::same_row}},
         "The weights of each latent over the tokens: a row sums to 1.", {}},
        {"latent_values", "Z", "Z", "Values of the latents",
         R"(Z = A^\mathrm{in}\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"weights_in", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The contexts of the latents: M rows summarize the whole sequence.", {}},
        {"latent_keys", "K_Z", "K_Z", "Keys of the latents",
         R"(K_Z = Z\,W)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"latent_values", Lights::same_row}, OperationOperand{"w_latent", Lights::column}},
         "The keys of the latents: their values times a learned matrix.", {}},
        {"scores_out", "S_out", "Q K_Zᵀ", "Scores of tokens and latents",
         R"(S^\mathrm{out} = Q\,K_Z^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"latent_keys", Lights::row_of_column}},
         "Each token's query meets each latent's key.", {}},
        {"weights_out", "A_out", "out", "Weights of each token",
         R"(A^\mathrm{out} = \mathrm{softmax}(S^\mathrm{out}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_out", Lights::same_row}},
         "The weights of each token over the latents: a row sums to 1.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{out}\,A^\mathrm{in})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"weights_out", Lights::same_row}, OperationOperand{"weights_in", Lights::column}},
         "The final factor of each value, from token to latent to token. The rank is at most M.", {}},
        context_row(R"(\mathrm{context} = A^\mathrm{out}\,Z)", "Each token takes a weighted average of the latents' values."),
    });
    return {Operation::latents, "latents", "Learned latents, in and out",
        R"(\mathrm{context} = A^\mathrm{out}\,(A^\mathrm{in}\,V)\text{, }A^\mathrm{in} = \mathrm{softmax}(L\,K^\top)\text{, }A^\mathrm{out} = \mathrm{softmax}(Q\,K_Z^\top))",
        "A few learned queries read all tokens, and the tokens read them: the cost grows with M · n, not n².",
        kSource, false, stages, kLatentsParams, kLatentsWork.cost, kLatentsWork.refuses, kLatentsWork.forward, kLatentsWork.backward};
}

// ---- the selective state space

/// b with softplus(b) log-uniform in [0.1, 1]: a token is remembered over 1 to 10 others. Mamba begins at [0.001, 0.1],
/// for thousands of tokens.
double fresh_delta(double noise, const ParamEntry&) {
    const double uniform = 0.5 * std::erfc(-noise / std::sqrt(2.0));
    return std::log(std::expm1(std::exp(std::log(0.1) * (1.0 - uniform))));
}

constexpr OperationParam kStateSpaceParams[] = {
    {"a_log", "A_log", "A_log", Role::weight, Axis::d_v, Axis::state, "A = −exp(A_log), how fast states decay; initially A = −(n + 1).",
     [](double, const ParamEntry& at) { return std::log(static_cast<double>(at.column + 1)); }},
    {"w_b", "W_B", "W_B", Role::key, Axis::d_v, Axis::state, "From a value to B; initially normal with variance 1 / d_v.", per_rows},
    {"w_c", "W_C", "W_C", Role::query, Axis::d_v, Axis::state, "From a value to C; initially normal with variance 1 / d_v.", per_rows},
    {"w_delta", "W_delta", "W_Δ", Role::weight, Axis::d_v, Axis::d_v, "From a value to Δ; initially normal with variance 1 / d_v.", per_rows},
    {"b_delta", "b_delta", "b_Δ", Role::weight, Axis::one, Axis::d_v, "The bias of Δ; initially its softplus is log-uniform in [0.1, 1].",
     fresh_delta},
    {"d_skip", "D_skip", "D", Role::value, Axis::one, Axis::d_v, "How much of a token's own value is added; initially 1.",
     [](double, const ParamEntry&) { return 1.0; }},
};

OperationInfo state_space_row() {
    constexpr std::string_view kSource = "Gu & Dao 2023, arXiv:2312.00752, §3; Gu et al. 2022, arXiv:2206.11893 (A)";
    static const std::vector<OperationStage> stages = stages_of(kSource, kValues, {
        {"delta", "Δ", "Δ", "Step sizes",
         R"(\Delta = \mathrm{softplus}(V\,W_\Delta + b_\Delta))",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_delta", Lights::column}, OperationOperand{"b_delta", Lights::column}},
         "How much each token counts, for each column: a large step lets it in and forgets the rest, 0 skips it.", {}},
        {"b", "B", "B", "Input of each token to the states",
         R"(B = V\,W_B)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_b", Lights::column}},
         "Which states a token writes to; it acts as a key.", {}},
        {"c", "C", "C", "Readout of each token from the states",
         R"(C = V\,W_C)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_c", Lights::column}},
         "Which states a token reads; it acts as a query.", {}},
        {"a_bar", "A′", "A′", "Decay of the state",
         R"(A'_i = \exp(\Delta_i\,A)\text{, }A = -\exp(A_\mathrm{log}))",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}},
         "The factor of each old state, between 0 and 1.", {}},
        {"b_bar", "B′", "B′", "What a token adds to the state",
         R"(B'_i = \frac{\exp(\Delta_i\,A) - 1}{A} \cdot B_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}, OperationOperand{"b", Lights::same_row}},
         "The factor of the token's value; with euler it is Δ B.", {}},
        {"states", "h", "h", "States after each token",
         R"(h_i = A'_i\,h_{i-1} + B'_i\,v_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The whole memory: N numbers for each column of V, for any length.", {}},
        {"implied", "Â", "implied", "Implied weights, mean of the columns",
         R"(\hat{A}_{i,j} = \frac{1}{d_v} \cdot \sum_c \sum_n C_{i,n}\,(\prod_{k=j+1}^{i} A'_k)\,B'_j)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"c", Lights::same_row}, OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::row_of_column}},
         "The factor of each value, averaged over the columns of V, which have separate matrices. Signed; rows need not sum to 1.", {}},
        context_row(R"(\mathrm{context}_i = \sum_n C_{i,n}\,h_{i,n} + D\,v_i)",
                    "Each token reads the states, and adds its own value times D."),
    });
    return {Operation::state_space, "state-space", "Selective state space",
        R"(h_i = A'_i\,h_{i-1} + B'_i\,v_i\text{, }\mathrm{context}_i = C_i\,h_i + D\,v_i)",
        "A recurrence over the values instead of attention. Each token chooses its step; there are no queries or keys, and it reads only earlier tokens.",
        kSource, false, stages, kStateSpaceParams, kStateSpaceWork.cost, kStateSpaceWork.refuses, kStateSpaceWork.forward, kStateSpaceWork.backward};
}

// ---- low-rank attention

constexpr OperationParam kLinformerParams[] = {
    {"e", "E", "E", Role::key, Axis::latent, Axis::key, "How much of each key is in each row; initially normal with variance 1 / M.", per_rows},
    {"f", "F", "F", Role::value, Axis::latent, Axis::key, "How much of each value is in each row; initially normal with variance 1 / M.", per_rows},
};

OperationInfo linformer_row() {
    constexpr std::string_view kSource = "Wang et al. 2020, arXiv:2006.04768";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"k_low", "E K", "E K", "Keys, projected to M rows",
         R"(K^\mathrm{low} = E\,K)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"e", Lights::same_row}, OperationOperand{"k", Lights::column}},
         "Each of M rows is a weighted sum of all keys; the learned weights depend only on positions.", {}},
        {"v_low", "F V", "F V", "Values, projected to M rows",
         R"(V^\mathrm{low} = F\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"f", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The same for the values, with their own weights.", {}},
        {"scores_low", "S_low", "Q (E K)ᵀ", "Scores of queries and rows",
         R"(S^\mathrm{low} = Q\,(E\,K)^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"k_low", Lights::row_of_column}},
         "Each query meets M rows instead of n keys.", {}},
        {"weights_low", "A_low", "low", "Weights of the rows",
         R"(A^\mathrm{low} = \mathrm{softmax}(S^\mathrm{low}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_low", Lights::same_row}},
         "The weights of each query over the rows: they sum to 1.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{low}\,F)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_low", Lights::same_row}, OperationOperand{"f", Lights::column}},
         "The final factor of each value. The rank is at most M; entries may be negative, and a row need not sum to 1.", {}},
        context_row(R"(\mathrm{context} = A^\mathrm{low}\,(F\,V))", "Each query takes a weighted average of the projected values."),
    });
    return {Operation::linformer, "linformer", "Low-rank attention (Linformer)",
        R"(\mathrm{context} = \mathrm{softmax}(Q\,(E\,K)^\top)\,(F\,V))",
        "A few weighted sums replace the keys and the values: the cost grows with M · n, not n².",
        kSource, false, stages, kLinformerParams, kLinformerWork.cost, kLinformerWork.refuses, kLinformerWork.forward, kLinformerWork.backward};
}

// ---- recurrences on a matrix state (recurrent.cpp)

/// −softplus(z) / 2: α is about 0.5 to 0.9, so that a few tokens are remembered. Trained models are nearer to 1.
double fresh_log_decay(double noise, const ParamEntry&) { return -0.5 * std::log1p(std::exp(noise)); }

constexpr OperationParam decay_param(Axis columns) {
    return {"log_decay", "log_decay", "λ", Role::weight, Axis::query, columns,
            "The logarithm of α, the share of the state that stays at each token; initially −softplus(z) / 2, z standard normal.", fresh_log_decay};
}
constexpr OperationParam kBetaParam{"beta", "beta", "β", Role::weight, Axis::query, Axis::one,
    "How much of a key's value each token replaces; initially the sigmoid of a standard normal number.",
    [](double noise, const ParamEntry&) { return 1.0 / (1.0 + std::exp(-noise)); }};
constexpr OperationParam kRetentionParams[] = {
    {"log_decay", "log_decay", "λ", Role::weight, Axis::one, Axis::one, "The logarithm of γ, the share of the state that stays at every token; initially γ = 1 − 2^(−5−h) of head h.",
     [](double, const ParamEntry& at) { return std::log1p(-std::exp2(-5.0 - static_cast<double>(at.head))); }},
};
constexpr OperationParam kGatedLinearParams[] = {decay_param(Axis::d_k)};
constexpr OperationParam kGatedDeltaParams[] = {decay_param(Axis::one), kBetaParam};
constexpr OperationParam kKdaParams[] = {decay_param(Axis::d_k), kBetaParam};

OperationStage decay_row(Axis columns, std::string_view text) {
    return {"decay", "α", "α", "Decay of the state",
            R"(\alpha_i = \exp(\lambda_i))",
            Axis::query, columns, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
            {OperationOperand{"log_decay", Lights::same_cell}}, text, {}};
}
OperationStage implied_row(std::string_view tex, std::string_view key, std::string_view query) {
    return {"implied", "Â", "implied", "Implied weights", tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
            {OperationOperand{query, Lights::same_row}, OperationOperand{key, Lights::row_of_column}, OperationOperand{"decay", Lights::whole}},
            "The final factor of each value. Signed; rows need not sum to 1.", {}};
}
constexpr std::string_view kReadout = R"(\mathrm{context}_i = S_i^\top\,q_i \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})";
constexpr std::string_view kReadoutText = "Each query reads the state after its own token.";

/// Keys add their values.
std::vector<OperationStage> adding_stages(std::string_view source, Axis decay, std::string_view decay_text) {
    return stages_of(source, std::span(kUpToMask).first(5), {
        decay_row(decay, decay_text),
        {"states", "S", "S", "State after each token",
         R"(S_i = \alpha_i\,S_{i-1} + k_i\,v_i^\top)",
         Axis::query, Axis::key_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The whole memory: one matrix of d_k by d_v numbers, for any length. The old part decays, and each key adds its value.", {}},
        implied_row(R"(\hat{A}_{i,j} = \frac{\mathrm{scale}}{\mathrm{temperature}} \cdot \sum_a Q_{i,a}\,(\prod_{t=j+1}^{i} \alpha_{t,a})\,K_{j,a})", "k", "q"),
        context_row(kReadout, kReadoutText),
    });
}

/// Keys replace their values: the delta rule.
std::vector<OperationStage> replacing_stages(std::string_view source, Axis decay, std::string_view decay_text) {
    return stages_of(source, std::span(kUpToMask).first(5), {
        {"q_unit", "q/‖q‖", "q/‖q‖", "Queries of length 1",
         R"(\frac{q_i}{\sqrt{\sum_a q_{i,a}^2 + 10^{-6}}})",
         Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"q", Lights::same_row}},
         "Only the direction of a query counts. The formulas below call it q.", {}},
        {"k_unit", "k/‖k‖", "k/‖k‖", "Keys of length 1",
         R"(\frac{k_i}{\sqrt{\sum_a k_{i,a}^2 + 10^{-6}}})",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"k", Lights::same_row}},
         "The formulas below call it k. With keys of length 1, β = 1 replaces the value of a key completely.", {}},
        decay_row(decay, decay_text),
        {"read", "r", "r", "Value that the state has for the key",
         R"(r_i = (\alpha_i\,S_{i-1})^\top\,k_i)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k_unit", Lights::same_row}},
         "The value that a query equal to this key would get before the token is written.", {}},
        {"written", "u", "u", "Change of the key's value",
         R"(u_i = \beta_i\,(v_i - r_i))",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"beta", Lights::same_row}, OperationOperand{"v", Lights::same_cell}, OperationOperand{"read", Lights::same_cell}},
         "The error of the memory, times β: 0 where the state has the value already.", {}},
        {"states", "S", "S", "State after each token",
         R"(S_i = \alpha_i\,S_{i-1} + k_i\,u_i^\top)",
         Axis::query, Axis::key_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k_unit", Lights::same_row}, OperationOperand{"written", Lights::same_row}},
         "The whole memory: one matrix of d_k by d_v numbers, for any length. The old part decays, and each key's value is replaced.", {}},
        implied_row(R"(\hat{A}_{i,j} = \frac{\mathrm{scale}}{\mathrm{temperature}} \cdot q_i^\top\,(\prod_{t=j+1}^{i} (I - \beta_t\,k_t\,k_t^\top)\,\alpha_t)\,k_j\,\beta_j)", "k_unit", "q_unit"),
        context_row(R"(\mathrm{context}_i = S_i^\top\,q_i \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})", kReadoutText),
    });
}

OperationInfo retention_row() {
    constexpr std::string_view kSource = "Sun et al. 2023, arXiv:2307.08621 (RetNet), without xPos and group normalisation";
    static const std::vector<OperationStage> stages = adding_stages(kSource, Axis::one, "One number for each head, the same at every token.");
    return {Operation::retention, "retention", "Retention",
        R"(S_i = \gamma\,S_{i-1} + k_i\,v_i^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "Linear attention without softmax whose memory fades: a key t tokens back counts γ^t. It reads only earlier tokens.",
        kSource, false, stages, kRetentionParams, kRecurrentWork.cost, kRecurrentWork.refuses, kRecurrentWork.forward, kRecurrentWork.backward};
}
OperationInfo gated_linear_row() {
    constexpr std::string_view kSource = "Yang et al. 2023, arXiv:2312.06635 (GLA)";
    static const std::vector<OperationStage> stages = adding_stages(kSource, Axis::d_k, "A factor for each token and each row of the state: the share that stays.");
    return {Operation::gated_linear, "gated-linear", "Gated linear attention (GLA)",
        R"(S_i = \alpha_i\,S_{i-1} + k_i\,v_i^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "Each token fades the rows of one memory by its own factors, then adds its value. It reads only earlier tokens.",
        kSource, false, stages, kGatedLinearParams, kRecurrentWork.cost, kRecurrentWork.refuses, kRecurrentWork.forward, kRecurrentWork.backward};
}
OperationInfo gated_delta_row() {
    constexpr std::string_view kSource = "Yang et al. 2024, arXiv:2412.06464 (Gated DeltaNet; Qwen3-Next)";
    static const std::vector<OperationStage> stages = replacing_stages(kSource, Axis::one, "One factor for each token: the share of the whole state that stays.");
    return {Operation::gated_delta, "gated-delta", "Gated delta rule",
        R"(S_i = \alpha_i\,S_{i-1} + \beta_i\,k_i\,(v_i - (\alpha_i\,S_{i-1})^\top\,k_i)^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "A memory in which each key replaces its old value instead of adding to it, and that fades by a factor of each token. It reads only earlier tokens.",
        kSource, false, stages, kGatedDeltaParams, kRecurrentWork.cost, kRecurrentWork.refuses, kRecurrentWork.forward, kRecurrentWork.backward};
}
OperationInfo kda_row() {
    constexpr std::string_view kSource = "Kimi Team 2025, arXiv:2510.26692 (Kimi Linear)";
    static const std::vector<OperationStage> stages = replacing_stages(kSource, Axis::d_k, "A factor for each token and each row of the state: the share that stays.");
    return {Operation::kda, "kda", "Kimi delta attention",
        R"(S_i = \alpha_i\,S_{i-1} + \beta_i\,k_i\,(v_i - (\alpha_i\,S_{i-1})^\top\,k_i)^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "The gated delta rule in which every row of the state has its own factor. It reads only earlier tokens.",
        kSource, false, stages, kKdaParams, kRecurrentWork.cost, kRecurrentWork.refuses, kRecurrentWork.forward, kRecurrentWork.backward};
}

// ---- softmax attention with a gate

constexpr OperationParam kGatedParams[] = {
    {"gate", "gate", "G", Role::weight, Axis::query, Axis::d_v, "How far each number of the context gets through, before the sigmoid; initially standard normal.",
     [](double noise, const ParamEntry&) { return noise; }},
};

OperationInfo gated_row() {
    constexpr std::string_view kSource = "Qiu et al. 2025, arXiv:2505.06708";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToDropped, {
        {"attended", "A V", "A V", "Context before the gate",
         R"(A\,V)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"weights", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The context of softmax attention.", {}},
        {"gate_open", "σ(G)", "σ(G)", "Open gate",
         R"(\sigma(G) = \frac{1}{1 + e^{-G}})",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"gate", Lights::same_cell}},
         "A factor for each number of the context: 1 lets it through, 0 closes the gate.", {}},
        {"implied", "Â", "implied", "Implied weights, mean of the columns",
         R"(\hat{A}_{i,j} = \frac{1}{d_v} \cdot \sum_c \sigma(G_{i,c})\,A_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"gate_open", Lights::same_row}, OperationOperand{"weights", Lights::same_cell}},
         "The factor of each value, averaged over the columns of V. A row sums to 1 at most: a closed gate needs no sink.", {}},
        context_row(R"(\mathrm{context} = \sigma(G) \cdot (A\,V))", "The gate multiplies the context, number by number."),
    });
    return {Operation::gated, "gated", "Gated softmax attention",
        R"(\mathrm{context} = \sigma(G) \cdot \mathrm{softmax}(S)\,V)",
        "Softmax attention whose context passes a gate between 0 and 1: a token can take nothing, without a sink.",
        kSource, false, stages, kGatedParams, kGatedWork.cost, kGatedWork.refuses, kGatedWork.forward, kGatedWork.backward};
}

// ---- differential attention

constexpr OperationParam kDifferentialParams[] = {
    {"lambda", "lambda", "λ", Role::weight, Axis::one, Axis::one, "How much of the second softmax is subtracted; initially 0.2, that of a first layer.",
     [](double, const ParamEntry&) { return 0.2; }},
    {"norm_weight", "norm_weight", "w", Role::value, Axis::one, Axis::d_v, "The weight of the norm; initially 0.8, which is 1 − λ.",
     [](double, const ParamEntry&) { return 0.8; }},
};

OperationInfo differential_row() {
    constexpr std::string_view kSource = "Ye et al. 2024, arXiv:2410.05258";
    const auto logits = [](std::string_view key, std::string_view symbol, std::string_view title, std::string_view tex, std::string_view text) {
        return OperationStage{key, symbol, symbol, title, tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
            {OperationOperand{"q", Lights::same_row}, OperationOperand{"k", Lights::row_of_column}}, text, {}};
    };
    const auto weights = [](std::string_view key, std::string_view symbol, std::string_view title, std::string_view tex, std::string_view from, std::string_view text) {
        return OperationStage{key, symbol, symbol, title, tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
            {OperationOperand{from, Lights::same_row}}, text, {}};
    };
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        logits("masked_1", "M_1", "Scores of the first half", R"(M_1 = Q_1\,K_1^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
               "The first d_k/2 columns of the queries meet those of the keys. The mask is included."),
        weights("weights_1", "A_1", "Weights of the first half", R"(A_1 = \mathrm{softmax}(M_1))", "masked_1",
                "Each row of the first scores becomes weights that sum to 1."),
        logits("masked_2", "M_2", "Scores of the second half", R"(M_2 = Q_2\,K_2^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
               "The same with the last d_k/2 columns."),
        weights("weights_2", "A_2", "Weights of the second half", R"(A_2 = \mathrm{softmax}(M_2))", "masked_2",
                "Each row of the second scores becomes weights that sum to 1."),
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A_1 - \lambda\,A_2)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_1", Lights::same_cell}, OperationOperand{"weights_2", Lights::same_cell}, OperationOperand{"lambda", Lights::own_head}},
         "Weight that both softmaxes give to a key cancels. Rows sum to 1 − λ; entries may be negative.", {}},
        {"mixed", "Â V", "Â V", "Context before the norm",
         R"(\mathrm{mixed} = \hat{A}\,V)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"implied", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The values, each times its weight.", {}},
        {"context", info(Stage::context).symbol, info(Stage::context).step, info(Stage::context).title,
         R"(\mathrm{context}_{i,c} = w_c \cdot \frac{\mathrm{mixed}_{i,c}}{\sqrt{\frac{1}{d_v} \cdot \sum_c \mathrm{mixed}_{i,c}^2 + 10^{-5}}})",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::output,
         {OperationOperand{"mixed", Lights::same_row}, OperationOperand{"norm_weight", Lights::column}},
         "RMSNorm of each head: rows whose weights nearly cancel get the size of the others.", {}},
    });
    return {Operation::differential, "differential", "Differential attention",
        R"(\mathrm{context} = \mathrm{RMSNorm}((\mathrm{softmax}(Q_1\,K_1^\top) - \lambda\,\mathrm{softmax}(Q_2\,K_2^\top))\,V))",
        "Two softmaxes, over the two halves of each query and key; the second, times λ, is subtracted from the first.",
        kSource, false, stages, kDifferentialParams, kDifferentialWork.cost, kDifferentialWork.refuses, kDifferentialWork.forward, kDifferentialWork.backward};
}

// ---- native sparse attention

/// A number of each query: how much of a branch it takes.
constexpr OperationParam gate_param(std::string_view key, std::string_view symbol, std::string_view text) {
    return {key, key, symbol, Role::weight, Axis::query, Axis::one, text, [](double, const ParamEntry&) { return 1.0 / 3.0; }};
}
constexpr OperationParam kNsaParams[] = {
    gate_param("g_cmp", "g_c", "How much each query takes of the compressed branch; initially 1/3."),
    gate_param("g_slc", "g_s", "How much each query takes of the selected branch; initially 1/3."),
    gate_param("g_win", "g_w", "How much each query takes of the window branch; initially 1/3."),
};

OperationInfo nsa_row() {
    constexpr std::string_view kSource = "Yuan et al. 2025, arXiv:2502.11089";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"scores_cmp", "S_c", "S_c", "Scores of compressed keys",
         R"(S^c_{i,n} = \frac{1}{l} \cdot \sum_{j \in n} S_{i,j} \text{ where the mask allows the whole block } n)",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"scaled", Lights::same_row}},
         "One key for each block of l keys, their mean; its score is the mean of theirs.", {}},
        {"weights_cmp", "P_c", "P_c", "Weights of compressed keys",
         R"(P^c = \mathrm{softmax}(S^c))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_cmp", Lights::same_row}},
         "Softmax over the blocks; 0 where a query has no whole block yet.", {}},
        {"block_weights", "I", "I", "Block weights of the group",
         R"(I_{i,n} = \sum_h P^c_{h,i,n})",
         Axis::query, Axis::chunk, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_cmp", Lights::same_cell}},
         "Summed over the query heads of one key head: they select the same blocks.", {}, false},
        {"weights_slc", "P_s", "P_s", "Weights of selected keys",
         R"(P^s_{i,j} = \mathrm{softmax}_j(S_{i,j}) \text{ over the own block and the blocks with the largest } I_{i,n})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_row}, OperationOperand{"block_weights", Lights::same_row}},
         "Each query reads its own block and those with the largest block weight, key by key.", {}},
        {"weights_win", "P_w", "P_w", "Weights of the window",
         R"(P^w_{i,j} = \mathrm{softmax}_j(S_{i,j}) \text{ over } |p_i - j| < \mathrm{recent})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_row}},
         "Each query reads the keys next to it.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{g^c_i}{l} \cdot P^c_{i,n} + g^s_i \cdot P^s_{i,j} + g^w_i \cdot P^w_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_cmp", Lights::same_row}, OperationOperand{"weights_slc", Lights::same_cell}, OperationOperand{"weights_win", Lights::same_cell}},
         "The factor of each value over the three branches; n is the block of key j. A row sums to g_c + g_s + g_w where every branch has a key.", {}},
        context_row(R"(\mathrm{context} = \hat{A}\,V)", "The three branches, each times the query's gate."),
    });
    return {Operation::nsa, "nsa", "Native sparse attention (NSA)",
        R"(\mathrm{context}_i = g^c_i\,\mathrm{Attn}(q_i, K^c, V^c) + g^s_i\,\mathrm{Attn}(q_i, K_{\mathrm{selected}}, V) + g^w_i\,\mathrm{Attn}(q_i, K_{\mathrm{window}}, V))",
        "Three softmaxes: over the mean key of each block, over the keys of the blocks with the largest weights there, and over the nearest keys.",
        kSource, false, stages, kNsaParams, kNsaWork.cost, kNsaWork.refuses, kNsaWork.forward, kNsaWork.backward};
}

// ---- selective attention

OperationInfo selective_row() {
    constexpr std::string_view kSource = "Leviathan, Kalman & Matias 2024, arXiv:2410.02703";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"selection", "R", "R", "What each token declares unneeded",
         R"(R_{i,j} = \max(0, M_{0,i,j}) \text{, and } 0 \text{ for the first key and for } j = i)",
         Axis::query, Axis::key, HeadAxis::none, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}},
         "Positive logits of head 0: how strongly token i declares token j unneeded for later queries.", {}},
        {"forgotten", "F", "F", "What was declared before",
         R"(F_{i,j} = \sum_{l < i} R_{l,j})",
         Axis::query, Axis::key, HeadAxis::none, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"selection", Lights::column}},
         "The declarations of all earlier tokens add up, for every head.", {}},
        {"selective", "M − F", "M − F", "Scores after forgetting",
         R"(M_{i,j} - F_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"masked", Lights::same_cell}, OperationOperand{"forgotten", Lights::same_cell}},
         "Each key's score is lowered by the amount that earlier tokens declared.", {}},
        {"implied", "A", "softmax", "Attention weights",
         R"(A = \mathrm{softmax}(M - F))",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"selective", Lights::same_row}},
         "Softmax turns each row into weights that sum to 1.", {}},
        context_row(R"(\mathrm{context} = A\,V)", "The values, each times its weight."),
    });
    return {Operation::selective, "selective", "Selective attention",
        R"(\mathrm{context}_i = \sum_j \mathrm{softmax}_j(M_{i,j} - \sum_{l < i} R_{l,j})\,v_j)",
        "Softmax attention in which a token can declare earlier tokens unneeded, for every later query and every head.",
        kSource, false, stages, {}, kSelectiveWork.cost, kSelectiveWork.refuses, kSelectiveWork.forward, kSelectiveWork.backward};
}

// clang-format on

}  // namespace

std::span<const OperationInfo, kOperationCount> operation_table() {
    static const std::array<OperationInfo, kOperationCount> table{
        chunked_row(),   linear_row(),    latents_row(),      state_space_row(),
        linformer_row(), retention_row(), gated_linear_row(), gated_delta_row(),
        kda_row(),       gated_row(),     differential_row(), nsa_row(),
        selective_row()};
    return table;
}

}  // namespace attn
