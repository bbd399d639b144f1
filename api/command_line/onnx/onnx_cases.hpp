// Test cases in the layout of ONNX's backend tests: DIR/model.onnx, DIR/test_data_set_N/{input,output}_K.pb.
//
// Threads: one at a time; calls block.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/onnx.hpp"

namespace stoker::command_line {

enum class CaseOutcome : std::uint8_t { pass, fail, unsupported };

struct CaseResult {
  std::string name;
  CaseOutcome outcome = CaseOutcome::pass;
  std::string why = {};                  ///< empty for a plain pass
  double largest = 0;                    ///< difference of a float
  std::int64_t opset = 0;                ///< of ONNX's own domain
  std::set<std::string> operators = {};  ///< in the model, with those of subgraphs
};

struct Tolerances {
  std::optional<double> atol, rtol;  ///< instead of those of the dtype
};

/// The cases at or below these folders, by name. Throws not_found for a folder that is not there or has none.
[[nodiscard]] std::vector<std::filesystem::path> find_cases(
    const std::vector<std::string>& folders);
/// Never throws for what is wrong with the case.
[[nodiscard]] CaseResult run_case(const std::filesystem::path& folder,
                                  const onnx::LoadOptions& options, const Tolerances& tolerances);

}  // namespace stoker::command_line
