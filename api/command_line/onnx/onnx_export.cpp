#include "onnx_export.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/output.hpp"
#include "stoker/api/model/core/model_kind.hpp"
#include "stoker/api/model/core/network_export.hpp"
#include "stoker/api/onnx/run/description.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::command_line {

int export_model(const OnnxExportWords& words) {
  if (const ModelKind kind = kind_of_model(words.model); kind != ModelKind::network)
    throw Error{"onnx.export",
                ErrorCode::unsupported,
                "'" + words.model + "' is no network of Stoker's: " + std::string{to_string(kind)},
                {{"model", words.model}}};
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
