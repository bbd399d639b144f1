// Small ONNX files, written by tests: messages in protobuf's wire format as trees of fields, so that a test may also
// damage them.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::onnx {

struct Message {
  struct Field {
    std::uint64_t number = 0;
    unsigned wire_type = 0;
    std::string content;          // of a field that is no message
    std::vector<Message> inside;  // the message, if it is one
  };
  std::vector<Field> fields;

  Message& integer(std::uint64_t number, std::int64_t value) {
    fields.push_back({number, 0, varint(static_cast<std::uint64_t>(value)), {}});
    return *this;
  }
  Message& real(std::uint64_t number, float value) {
    std::string content(sizeof value, '\0');
    std::memcpy(content.data(), &value, sizeof value);
    fields.push_back({number, 5, std::move(content), {}});
    return *this;
  }
  Message& text(std::uint64_t number, std::string_view value) {
    fields.push_back({number, 2, std::string{value}, {}});
    return *this;
  }
  Message& message(std::uint64_t number, Message value) {
    fields.push_back({number, 2, {}, {std::move(value)}});
    return *this;
  }
  Message& texts(std::uint64_t number, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(number, value);
    return *this;
  }
  Message& messages(std::uint64_t number, const std::vector<Message>& values) {
    for (const Message& value : values) message(number, value);
    return *this;
  }
  Message& packed(std::uint64_t number, const std::vector<std::int64_t>& values) {
    std::string content;
    for (const std::int64_t value : values) content += varint(static_cast<std::uint64_t>(value));
    return text(number, content);
  }

  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const Field& field : fields) {
      all += varint(field.number << 3U | field.wire_type);
      const std::string content = field.inside.empty() ? field.content : field.inside[0].bytes();
      if (field.wire_type == 2) all += varint(content.size());
      all += content;
    }
    return all;
  }

  static std::string varint(std::uint64_t value) {
    std::string all;
    protobuf::WireWriter::append_varint(all, value);
    return all;
  }
};

template <class T> std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A TensorProto without elements.
inline Message empty_tensor(std::string_view name, ElementType type,
                            const std::vector<std::int64_t>& dims) {
  Message tensor;
  for (const std::int64_t extent : dims) tensor.integer(1, extent);
  return tensor.integer(2, static_cast<std::int64_t>(type)).text(8, name);
}
inline Message raw_tensor(std::string_view name, ElementType type,
                          const std::vector<std::int64_t>& dims, std::string_view bytes) {
  return empty_tensor(name, type, dims).text(9, bytes);
}
inline Message float_tensor(std::string_view name, const std::vector<float>& values) {
  return raw_tensor(name, ElementType::f32, {static_cast<std::int64_t>(values.size())},
                    raw(values));
}
inline Message tensor_type(ElementType type, const std::vector<Message>& dims) {
  return Message{}.message(1, Message{}
                                  .integer(1, static_cast<std::int64_t>(type))
                                  .message(2, Message{}.messages(1, dims)));
}
inline Message value_info(std::string_view name, Message type) {
  return Message{}.text(1, name).message(2, std::move(type));
}
inline Message floats(std::string_view name) {
  return value_info(name, tensor_type(ElementType::f32, {Message{}.integer(1, 2)}));
}

struct Nodes {
  std::vector<Message> all;

  Nodes& add(std::string_view op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {},
             std::string_view domain = "") {
    Message node;
    node.texts(1, inputs).texts(2, outputs).text(4, op).messages(5, attributes);
    if (!domain.empty()) node.text(7, domain);
    all.push_back(std::move(node));
    return *this;
  }
};
inline Nodes node(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs,
                  const std::vector<Message>& attributes = {}, std::string_view domain = "") {
  return Nodes{}.add(op, inputs, outputs, attributes, domain);
}

inline Message graph(const Nodes& nodes, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<Message>& initializers = {}) {
  Message graph;
  graph.messages(1, nodes.all).messages(5, initializers);
  for (const std::string& input : inputs) graph.message(11, floats(input));
  for (const std::string& output : outputs) graph.message(12, floats(output));
  return graph;
}
inline Message opset(std::string_view domain, std::int64_t version) {
  return Message{}.text(1, domain).integer(2, version);
}
/// IR 8 and opset 17.
inline Message model(Message graph) {
  return Message{}.integer(1, 8).message(7, std::move(graph)).message(8, opset("", 17));
}
inline Message graph_attribute(std::string_view name, Message graph) {
  return Message{}.text(1, name).message(6, std::move(graph)).integer(20, 5);
}

inline Result<ModelFile> read(const std::string& bytes, const ReadOptions& options = {}) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return read_model(std::as_bytes(std::span{*owner}), options, owner);
}
inline Result<ModelFile> read(const Message& model, const ReadOptions& options = {}) {
  return read(model.bytes(), options);
}

/// Why the model is refused: the reason with all that is listed.
inline std::string refusal(const Message& model, ErrorCode code = ErrorCode::invalid_argument,
                           const ReadOptions& options = {}) {
  const Result<ModelFile> read_it = read(model, options);
  if (read_it) {
    ADD_FAILURE() << "it is read";
    return {};
  }
  EXPECT_EQ(read_it.error().code(), code) << read_it.error().what();
  return read_it.error().what();
}

/// The only tensor of a model that has one initializer.
inline Result<TensorData> read_only_tensor(const Message& tensor, const ReadOptions& options = {}) {
  STOKER_ASSIGN(const ModelFile model, read(onnx::model(graph({}, {}, {}, {tensor})), options));
  return model.graph.initializers.at(0).tensor;
}
template <class T> std::vector<T> values_of(const TensorData& tensor) {
  std::vector<T> values(tensor.bytes.view.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.view.data(), tensor.bytes.view.size());
  return values;
}

}  // namespace stoker::onnx
