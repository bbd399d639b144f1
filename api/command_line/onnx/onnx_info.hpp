// Descriptions of ONNX models, and of their plans, for people and as JSON. Texts of the file are printable().
//
// Pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stoker/api/onnx/run/description.hpp"
#include "stoker/api/onnx/run/plan_description.hpp"

namespace stoker::command_line {

[[nodiscard]] std::string to_text(const onnx::Description& model);
[[nodiscard]] std::string to_text(const onnx::PlanDescription& plan);
[[nodiscard]] nlohmann::json to_json(const onnx::Description& model);
[[nodiscard]] nlohmann::json to_json(const onnx::PlanDescription& plan);

}  // namespace stoker::command_line
