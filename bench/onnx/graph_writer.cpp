#include "stoker/bench/onnx/graph_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "stoker/bench/harness/inputs.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::bench {
namespace {

using onnx::ElementType;
using protobuf::WireWriter;

constexpr std::int64_t ir_version = 8;
constexpr std::int64_t opset = 17;

WireWriter tensor(const std::string& name, ElementType type, const std::vector<std::int64_t>& dims,
                  std::span<const std::byte> bytes) {
  return onnx::write_tensor(name, {.type = type,
                                   .dims = dims,
                                   .bytes = onnx::SharedBytes::own({bytes.begin(), bytes.end()}),
                                   .strings = {}});
}

std::size_t elements_of(const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file{path, std::ios::binary};
  file << content;
  if (!file.flush()) throw std::runtime_error{"cannot write " + path.string()};
}

WireWriter attribute(const GraphWriter::Attribute& given) {
  static constexpr std::array<std::string_view, 8> single{
      "axis", "group", "keepdims", "K", "N", "bits", "block_size", "accuracy_level"};
  constexpr std::int64_t type_int = 2;
  constexpr std::int64_t type_ints = 7;
  const auto& [name, values] = given;
  WireWriter made;
  made.bytes(1, name);
  if (std::ranges::find(single, name) != single.end())
    return std::move(made.integer(3, values.front()).integer(20, type_int));
  for (const std::int64_t value : values) made.integer(8, value);
  return std::move(made.integer(20, type_ints));
}

}  // namespace

GraphWriter& GraphWriter::input(const std::string& name, const std::vector<Dim>& dims) {
  WireWriter shape;
  for (const Dim& dim : dims) {
    WireWriter written;
    if (const auto* const extent = std::get_if<std::int64_t>(&dim)) written.integer(1, *extent);
    if (const auto* const symbol = std::get_if<const char*>(&dim)) written.bytes(2, *symbol);
    shape.message(1, written);
  }
  WireWriter of_tensor;
  of_tensor.integer(1, static_cast<std::int64_t>(ElementType::f32)).message(2, shape);
  WireWriter type;
  type.message(1, of_tensor);
  WireWriter info;
  info.bytes(1, name).message(2, type);
  inputs_.message(11, info);
  return *this;
}

GraphWriter& GraphWriter::output(const std::string& name) {
  WireWriter info;
  info.bytes(1, name);
  outputs_.message(12, info);
  return *this;
}

GraphWriter& GraphWriter::weights(const std::string& name, const std::vector<std::int64_t>& dims,
                                  float largest) {
  const std::vector<float> values = noise(elements_of(dims), -largest, largest);
  initializers_.message(5, tensor(name, ElementType::f32, dims, std::as_bytes(std::span{values})));
  return *this;
}

GraphWriter& GraphWriter::external_weights(const std::string& name,
                                           const std::vector<std::int64_t>& dims, float largest,
                                           const std::filesystem::path& file) {
  const std::vector<float> values = noise(elements_of(dims), -largest, largest);
  write_file(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  WireWriter location;
  location.bytes(1, std::string_view{"location"}).bytes(2, file.filename().string());
  WireWriter made;
  for (const std::int64_t dim : dims) made.integer(1, dim);
  made.integer(2, static_cast<std::int64_t>(ElementType::f32)).bytes(8, name);
  initializers_.message(5, made.message(13, location).integer(14, 1));
  return *this;
}

GraphWriter& GraphWriter::bytes(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::vector<std::byte> values(elements_of(dims));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::byte>(i * 167 + i / 251);
  initializers_.message(5, tensor(name, ElementType::u8, dims, values));
  return *this;
}

GraphWriter& GraphWriter::scalar(const std::string& name, float value) {
  initializers_.message(5, tensor(name, ElementType::f32, {}, std::as_bytes(std::span{&value, 1})));
  return *this;
}

GraphWriter& GraphWriter::integers(const std::string& name,
                                   const std::vector<std::int64_t>& values) {
  initializers_.message(5,
                        tensor(name, ElementType::s64, {static_cast<std::int64_t>(values.size())},
                               std::as_bytes(std::span{values})));
  return *this;
}

GraphWriter& GraphWriter::node(const std::string& op, const std::vector<std::string>& inputs,
                               const std::string& output, const std::vector<Attribute>& attributes,
                               const std::string& domain) {
  WireWriter made;
  for (const std::string& input : inputs) made.bytes(1, input);
  made.bytes(2, output).bytes(3, output).bytes(4, op);
  for (const Attribute& one : attributes) made.message(5, attribute(one));
  if (!domain.empty()) {
    made.bytes(7, domain);
    domains_.insert(domain);
  }
  nodes_.message(1, made);
  return *this;
}

void GraphWriter::save(const std::filesystem::path& path) const {
  // Fields of a message may stand in any order, and messages one after the other are one.
  WireWriter name;
  name.bytes(2, std::string_view{"bench"});
  WireWriter imported;
  imported.bytes(1, std::string_view{}).integer(2, opset);
  WireWriter model;
  model.integer(1, ir_version)
      .bytes(7, nodes_.written() + name.written() + initializers_.written() + inputs_.written() +
                    outputs_.written())
      .message(8, imported);
  for (const std::string& domain : domains_) {
    WireWriter own;
    own.bytes(1, domain).integer(2, 1);
    model.message(8, own);
  }
  write_file(path, model.written());
}

}  // namespace stoker::bench
