// One node of ai.onnx.ml at a time. Expected numbers are those of ONNX Runtime 1.30 for the same model, unless a test
// says otherwise.
#pragma once

#include <gtest/gtest.h>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class MlTest : public OnnxTest {
 protected:
  using Floats = std::vector<float>;
  using Doubles = std::vector<double>;
  using Whole = std::vector<std::int64_t>;
  using Words = std::vector<std::string>;
  using Attributes = std::vector<Attribute>;

  static Value words(const Shape& shape, Words all) { return Texts{shape, std::move(all)}; }
  static Value whole_numbers(const Shape& shape, const Whole& all,
                             ElementType type = ElementType::s64) {
    return Known::integers(all, shape, type);
  }
  static Tensor rows(const Shape& shape, const Floats& all) { return tensor(all, shape); }
  static Attribute text(std::string name, std::string value) {
    return named(std::move(name), std::move(value));
  }
  static Attributes with(Attributes all, const Attributes& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Attributes without(Attributes all, std::string_view name) {
    std::erase_if(all, [&](const Attribute& one) { return one.name == name; });
    return all;
  }

  /// The node reads "a", "b", … and writes "y", "z", ….
  [[nodiscard]] Model node(const std::string& op, std::size_t inputs, Attributes attributes,
                           std::size_t outputs = 1, std::int64_t opset = 3) const {
    GraphBuilder builder;
    Words in, out;
    for (std::size_t i = 0; i < inputs; ++i) {
      in.emplace_back(1, static_cast<char>('a' + i));
      builder.graph.inputs.push_back({.name = in.back(), .type = {}, .doc = {}});
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      out.emplace_back(1, static_cast<char>('y' + i));
      builder.output(out.back());
    }
    builder.node(op, in, out, std::move(attributes), "ai.onnx.ml");
    builder.graph.nodes.back().opset = opset;
    return builder.load(here());
  }
  NamedValues run(const std::string& op, const std::vector<Value>& inputs, Attributes attributes,
                  std::size_t outputs = 1, std::int64_t opset = 3) {
    NamedValues given;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      given.emplace(std::string(1, static_cast<char>('a' + i)), inputs[i]);
    return node(op, inputs.size(), std::move(attributes), outputs, opset).run(given).get();
  }
  Floats reals(const std::string& op, const std::vector<Value>& inputs, Attributes attributes,
               std::int64_t opset = 3) {
    return floats(run(op, inputs, std::move(attributes), 1, opset), "y");
  }
  ErrorCode code(const std::string& op, const std::vector<Value>& inputs, Attributes attributes,
                 std::int64_t opset = 3) {
    return refusal([&] { (void)run(op, inputs, std::move(attributes), 1, opset); }).code();
  }
  /// Of one that has only labels and scores.
  std::pair<Whole, Floats> classified(const std::string& op, const Value& x,
                                      Attributes attributes) {
    const NamedValues out = run(op, {x}, std::move(attributes), 2);
    return {whole(out, "y"), floats(out, "z")};
  }

  static void expect_near(const Floats& got, const Doubles& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(expected[i]))
        EXPECT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
      else
        EXPECT_NEAR(got[i], expected[i], 1e-4) << i;
    }
  }
};

}  // namespace stoker::onnx
