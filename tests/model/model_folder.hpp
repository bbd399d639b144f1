// A folder with small models of every kind, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stoker/api/nn.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {

/// Where a test keeps its models; removed at the end.
class ModelFolder {
 public:
  ModelFolder()
      : path{std::filesystem::temp_directory_path() /
             ("stoker_models_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name())} {
    std::filesystem::create_directories(path);
  }
  ~ModelFolder() { std::filesystem::remove_all(path); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream{path / name, std::ios::binary} << content;
    return path / name;
  }
  /// y = op(x), both float[2].
  std::filesystem::path write_onnx(const std::string& name, const char* op = "Abs") const {
    return write(name,
                 onnx::model(onnx::graph(onnx::node(op, {"x"}, {"y"}), {"x"}, {"y"})).bytes());
  }
  /// output = op(input), both float of these extents.
  std::filesystem::path write_image_model(const std::string& name, const char* op,
                                          const std::vector<std::int64_t>& extents) const {
    std::vector<onnx::Message> dims;
    dims.reserve(extents.size());
    for (const std::int64_t extent : extents) dims.push_back(onnx::Message{}.integer(1, extent));
    const onnx::Message type = onnx::tensor_type(onnx::ElementType::f32, dims);
    onnx::Message graph;
    graph.messages(1, onnx::node(op, {"input"}, {"output"}).all);
    graph.message(11, onnx::value_info("input", type));
    graph.message(12, onnx::value_info("output", type));
    return write(name, onnx::model(graph).bytes());
  }
  /// y = 2 a + 3 b + 1, for rows of a and b.
  std::filesystem::path save_line(const std::string& name, const Device& device) const {
    const DeviceScope scope{device};
    nn::Model line{nn::Network{nn::dense(nn::input("rows", {2}), 1, {.name = "line"})},
                   {.device = device}};
    line.merge_variables({{"line.kernel", tensor({{2.0}, {3.0}})}, {"line.bias", tensor({1.0})}});
    line.save(path / name);
    return path / name;
  }
  std::filesystem::path write_script(const std::string& name) const {
    return write(name, R"(
      return {
        inputs = {{name = "x", shape = {"rows", 2}}, {name = "factor", shape = {"rows", 1}}},
        outputs = {"product", {name = "total", dtype = "f32", shape = {}}},
        predict = function(given)
          local product = given.x * given.factor
          return {product = product, total = sum(product)}
        end,
      })");
  }

  const std::filesystem::path path;
};

template <class F> Error refusal_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "it is not refused";
  return {};
}

}  // namespace stoker
