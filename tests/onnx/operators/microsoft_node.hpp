// One node of com.microsoft in a model of its own, and operands by a formula, so that ONNX Runtime could be
// given the same.
//
// The tests microsoft_*_test.cpp expect what ONNX Runtime 1.30 gave on the CPU, where they do not say otherwise.
#pragma once

#include <cmath>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class MicrosoftTest : public OnnxTest {
 protected:
  /// An operand that is not given.
  static Value none() { return {}; }
  /// Multiples of 1/8 in [-2, 2].
  static Tensor some(const Shape& shape, std::int64_t seed) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      all.push_back(static_cast<double>((i * 7 + seed * 11 + i * i * 3) % 33) / 8 - 2);
    return Known::reals(all, shape, ElementType::f32).tensor();
  }
  /// Integers over the whole range of u8 or s8.
  static Tensor bytes(const Shape& shape, std::int64_t seed, DType dtype) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      all.push_back((i * 37 + seed * 53 + i * i) % 256 - (dtype == DType::s8 ? 128 : 0));
    return integers_of(all, shape, dtype);
  }
  static Tensor integers_of(const std::vector<std::int64_t>& values, const Shape& shape,
                            DType dtype = DType::s32) {
    return as_type(Known::integers(values, shape).tensor(), dtype);
  }
  static Value scalar(float value) { return Value{tensor(value)}; }

  /// The outputs of one node, by these names. Operands are inputs of the model.
  NamedValues of_microsoft(const std::string& op, const std::vector<Value>& operands,
                           std::vector<Attribute> attributes = {},
                           const std::vector<std::string>& outputs = {"y"},
                           const std::string& domain = "com.microsoft", std::int64_t opset = 21) {
    GraphBuilder builder;
    builder.opset = opset;
    std::vector<std::string> names;
    NamedValues values;
    for (const Value& operand : operands) {
      names.push_back(operand.is_given() ? "x" + std::to_string(names.size()) : "");
      if (!operand.is_given()) continue;
      builder.graph.inputs.push_back({.name = names.back(), .type = {}, .doc = {}});
      values.emplace(names.back(), operand);
    }
    builder.node(op, names, outputs, std::move(attributes), domain);
    for (const std::string& output : outputs)
      if (!output.empty()) builder.output(output);
    return builder.load(here()).run(values).get();
  }
  /// Why the node is refused, when it is loaded or run.
  std::string refused(const std::string& op, const std::vector<Value>& operands,
                      std::vector<Attribute> attributes = {}) {
    return refusal([&] { (void)of_microsoft(op, operands, std::move(attributes)); }).what();
  }

  static void expect_near(const NamedValues& values, const char* name, const Shape& shape,
                          const std::vector<float>& wanted, float bound = 2e-5F) {
    ASSERT_EQ(values.at(name).shape(), shape);
    const std::vector<float> got = floats(values, name);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], bound * (1 + std::abs(wanted[i]))) << name << " at " << i;
  }
};

}  // namespace stoker::onnx
