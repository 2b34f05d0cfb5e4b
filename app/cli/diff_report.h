#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/verify/compare.h"
#include "core/verify/diagnose.h"
#include "core/verify/signs.h"

namespace attn::cli {

/// One array of the results and what it is compared with.
struct DiffRow {
    std::string key;
    std::string expected_from;  // a file, or "reference"
    verify::Comparison comparison;
};

/// What was found out about one file's results.
struct Examined {
    std::string path;
    bool has_reference = false;
    Index beyond = 0;  // cells, against the reference
    std::optional<verify::Diagnosis> diagnosis;
    std::vector<verify::Fact> facts;
    std::vector<verify::Sign> signs;  // where there is no reference
};

/// Everything that `attnscope diff` says.
struct DiffReport {
    std::string a, b;         // files; b "" where one is compared with the reference
    std::string inputs_from;  // a file; "" where there are no inputs
    std::string options;      // "" for none
    std::optional<Dimensions> size;
    std::vector<DiffRow> rows;
    std::vector<std::string> only_a, only_b;  // arrays that nothing is compared with
    std::vector<Examined> examined;
    std::vector<std::string> notes;
    bool equal = false;
    std::string verdict;
};

/// Aligned text; the verdict is its last line.
std::string diff_text(const DiffReport& report);
/// All of it; numbers that are not finite as "nan", "inf" and "-inf".
std::string diff_json(const DiffReport& report);

/// "1.2e-07", "0", "nan".
std::string short_number(double value);

}  // namespace attn::cli
