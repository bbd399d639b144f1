// Writes an ONNX file with f32 weights that are the same in every run: node after node, as exporters do.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
//
//     GraphWriter graph;
//     graph.input("x", {"batch", 784}).weights("w", {784, 10}, 0.1F);
//     graph.node("MatMul", {"x", "w"}, "y").output("y").save(path);
//
// Threads: one at a time. Errors are thrown: std::runtime_error if the file cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::bench {

class GraphWriter {
 public:
  /// An extent, or a symbol.
  using Dim = std::variant<std::int64_t, const char*>;
  using Attribute = std::pair<std::string, std::vector<std::int64_t>>;

  GraphWriter& input(const std::string& name, const std::vector<Dim>& dims);
  GraphWriter& output(const std::string& name);
  /// Noise in (-largest, largest), the same in every run.
  GraphWriter& weights(const std::string& name, const std::vector<std::int64_t>& dims,
                       float largest);
  /// The same in a file of that name, which is written beside the model.
  GraphWriter& external_weights(const std::string& name, const std::vector<std::int64_t>& dims,
                                float largest, const std::filesystem::path& file);
  /// u8 of all values in turn, the same in every run.
  GraphWriter& bytes(const std::string& name, const std::vector<std::int64_t>& dims);
  GraphWriter& scalar(const std::string& name, float value);
  GraphWriter& integers(const std::string& name, const std::vector<std::int64_t>& values);
  /// A list of one number is that number, if the attribute is named "axis", "group" or "keepdims", or is one of
  /// MatMulNBits. Operators of `domain` are of its version 1.
  GraphWriter& node(const std::string& op, const std::vector<std::string>& inputs,
                    const std::string& output, const std::vector<Attribute>& attributes = {},
                    const std::string& domain = {});
  void save(const std::filesystem::path& path) const;

 private:
  protobuf::WireWriter nodes_, initializers_, inputs_, outputs_;
  std::set<std::string> domains_;
};

}  // namespace stoker::bench
