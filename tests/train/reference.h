#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/train/trainer.h"

// The model of trainer.h once more: double, plain loops, nothing shared with core.

namespace reference {

using attn::Index;
using Table = std::vector<std::vector<double>>;

class Model {
  public:
    Model(const attn::train::Spec& spec, const std::vector<attn::train::Matrix>& matrices,
          const std::vector<double>& weights, const attn::train::Switches& switches)
        : spec_(spec), switches_(switches) {
        for (const auto& matrix : matrices) {
            Table table(static_cast<std::size_t>(matrix.rows));
            std::size_t n = matrix.offset;
            for (auto& row : table)
                for (Index c = 0; c < matrix.columns; ++c) row.push_back(weights[n++]);
            tables_[matrix.name] = std::move(table);
        }
    }

    /// Mean over the answers of −ln softmax.
    double loss(const std::vector<attn::train::Example>& batch) const {
        double sum = 0.0, count = 0.0;
        for (const auto& example : batch) {
            const Table out = logits(example.tokens);
            for (std::size_t p = 0; p < out.size(); ++p) {
                if (example.targets[p] < 0) continue;
                double whole = 0.0;
                for (const double logit : out[p]) whole += std::exp(logit);
                sum += std::log(whole) - out[p][example.targets[p]];
                count += 1.0;
            }
        }
        return sum / count;
    }

    Table logits(const std::vector<Index>& tokens) const {
        const auto d = static_cast<std::size_t>(spec_.d_model);
        Table x;
        for (std::size_t p = 0; p < tokens.size(); ++p) {
            x.push_back(at("embedding")[tokens[p]]);
            for (std::size_t c = 0; c < d; ++c) {
                if (spec_.positions == attn::train::Positions::learned)
                    x[p][c] += at("positions")[p][c];
                const double angle =
                    static_cast<double>(p) /
                    std::pow(10000.0, static_cast<double>(c - c % 2) / static_cast<double>(d));
                if (spec_.positions == attn::train::Positions::sinusoidal)
                    x[p][c] += c % 2 == 0 ? std::sin(angle) : std::cos(angle);
            }
        }
        for (Index layer = 0; layer < spec_.layers; ++layer) {
            const std::string name = "layers." + std::to_string(layer) + ".";
            add(x, attention(norm(x, name + "norm"), name, layer));
            if (spec_.mlp) add(x, mlp(norm(x, name + "mlp_norm"), name));
        }
        return times(norm(x, "norm"), at("w_out"));
    }

  private:
    const Table& at(const std::string& name) const { return tables_.at(name); }

    static Table times(const Table& a, const Table& b) {
        Table c(a.size(), std::vector<double>(b.front().size()));
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t t = 0; t < b.size(); ++t)
                for (std::size_t j = 0; j < b[t].size(); ++j) c[i][j] += a[i][t] * b[t][j];
        return c;
    }
    static void add(Table& x, const Table& y) {
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j < x[i].size(); ++j) x[i][j] += y[i][j];
    }

    Table norm(Table x, const std::string& name) const {
        if (spec_.norm == attn::train::NormPlace::none) return x;
        for (auto& row : x) {
            double mean = 0.0, variance = 0.0;
            for (const double v : row) mean += v / static_cast<double>(row.size());
            for (const double v : row)
                variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
            for (std::size_t c = 0; c < row.size(); ++c)
                row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * at(name + ".scale")[0][c] +
                         at(name + ".shift")[0][c];
        }
        return x;
    }

    void turn(Table& x) const {
        const auto d = static_cast<std::size_t>(spec_.d_k);
        for (std::size_t p = 0; p < x.size(); ++p)
            for (std::size_t h = 0; h < x[p].size(); h += d)
                for (std::size_t c = 0; c < d / 2; ++c) {
                    const double angle =
                        static_cast<double>(p) *
                        std::pow(10000.0, -2.0 * static_cast<double>(c) / static_cast<double>(d));
                    const double a = x[p][h + c], b = x[p][h + c + d / 2];
                    x[p][h + c] = a * std::cos(angle) - b * std::sin(angle);
                    x[p][h + c + d / 2] = b * std::cos(angle) + a * std::sin(angle);
                }
    }

    Table attention(const Table& x, const std::string& name, Index layer) const {
        Table q = times(x, at(name + "w_q")), k = times(x, at(name + "w_k"));
        const Table v = times(x, at(name + "w_v"));
        if (spec_.positions == attn::train::Positions::rotary) {
            turn(q);
            turn(k);
        }
        const auto d_k = static_cast<std::size_t>(spec_.d_k);
        const auto d_v = static_cast<std::size_t>(spec_.value_width());
        const double factor =
            (switches_.scaling ? 1.0 / std::sqrt(static_cast<double>(d_k)) : 1.0) /
            spec_.temperature;
        Table context(x.size(), std::vector<double>(v.front().size()));
        for (std::size_t h = 0; h < static_cast<std::size_t>(spec_.heads); ++h) {
            if (switches_.silenced[static_cast<std::size_t>(layer * spec_.heads) + h]) continue;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::size_t keys = info(spec_.task).causal ? i + 1 : x.size();
                std::vector<double> a(keys);
                double sum = 0.0;
                for (std::size_t j = 0; j < keys; ++j) {
                    for (std::size_t c = 0; c < d_k; ++c)
                        a[j] += q[i][h * d_k + c] * k[j][h * d_k + c];
                    sum += a[j] = std::exp(a[j] * factor);
                }
                for (std::size_t j = 0; j < keys; ++j)
                    for (std::size_t c = 0; c < d_v; ++c)
                        context[i][h * d_v + c] += a[j] / sum * v[j][h * d_v + c];
            }
        }
        return times(context, at(name + "w_o"));
    }

    Table mlp(const Table& x, const std::string& name) const {
        Table u = times(x, at(name + "w_up"));
        for (auto& row : u)
            for (std::size_t c = 0; c < row.size(); ++c) {
                const double y = row[c] + at(name + "b_up")[0][c];
                row[c] = 0.5 * y *
                         (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979323846) *
                                          (y + 0.044715 * y * y * y)));
            }
        Table out = times(u, at(name + "w_down"));
        for (auto& row : out)
            for (std::size_t c = 0; c < row.size(); ++c) row[c] += at(name + "b_down")[0][c];
        return out;
    }

    attn::train::Spec spec_;
    attn::train::Switches switches_;
    std::map<std::string, Table> tables_;
};

}  // namespace reference
