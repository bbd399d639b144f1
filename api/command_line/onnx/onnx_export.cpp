#include "onnx_export.hpp"

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/one_line.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/model/core/model_kind.hpp"
#include "stoker/api/model/core/network_export.hpp"
#include "stoker/api/onnx/run/description.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::command_line {
namespace {

/// What is written is read again, which a pipe or a terminal does not allow; and nobody wants a trained model replaced.
void check_output(const OnnxExportWords& words) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::path{words.output}.parent_path();
  const std::string reason =
      fs::equivalent(words.model, words.output, ignored)
          ? "'" + words.output + "' is the model itself: give another file to write"
      : fs::exists(words.output, ignored) && !fs::is_regular_file(words.output, ignored)
          ? "expected a file to write, '" + words.output + "' is none"
      : !folder.empty() && !fs::is_directory(folder, ignored)
          ? "there is no folder '" + folder.string() + "' to write into"
          : "";
  if (!reason.empty())
    throw Error{"onnx.export", ErrorCode::invalid_argument, reason, {{"output", words.output}}};
}

}  // namespace

int export_model(const OnnxExportWords& words) {
  if (const ModelKind kind = kind_of_model(words.model); kind != ModelKind::network)
    throw Error{"onnx.export",
                ErrorCode::unsupported,
                "'" + words.model + "' is no network of Stoker's: " + std::string{to_string(kind)},
                {{"model", words.model}}};
  check_output(words);
  const System system;
  onnx::save_model_file(
      words.model, words.output,
      {.opset = words.opset, .batch = words.batch, .device = system.device(words.device)});
  const onnx::Description made = onnx::describe(onnx::read_model(words.output).value());
  if (words.json) {
    print_json({{"model", words.model},
                {"output", words.output},
                {"opset", words.opset},
                {"batch", words.batch ? nlohmann::json(*words.batch) : nlohmann::json("symbolic")},
                {"nodes", made.nodes},
                {"parameters", made.parameters.elements},
                {"bytes", std::filesystem::file_size(words.output)}});
  } else {
    std::cout << one_line(words.output) << ": opset " << words.opset << ", "
              << count_of(made.nodes, "node") << ", "
              << count_of(made.parameters.elements, "parameter") << ", "
              << std::filesystem::file_size(words.output) << " bytes\n";
  }
  return ok;
}

}  // namespace stoker::command_line
