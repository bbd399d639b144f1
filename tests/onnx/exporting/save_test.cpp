// Functions of tensors as ONNX models: what is written gives the numbers of the function.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "stoker/api/onnx.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::onnx {
namespace {

using Tensors = std::vector<Tensor>;

/// One input and one output.
SavedFunction of_one(Tensor (*function)(const Tensor&)) {
  return [function](const Tensors& x) { return Tensors{function(x[0])}; };
}

Tensor ramp(const Shape& shape) { return reshape(linspace(-2.4, 2.3, shape.elements()), shape); }

class Saving : public testing::Test {
 protected:
  [[nodiscard]] Model model_of(const SavedFunction& function, const std::vector<SaveInput>& inputs,
                               const SaveOptions& options = {}) const {
    return load(std::make_shared<const ModelFile>(exported(function, inputs, options)),
                {.device = device});
  }
  /// For an open batch of 3 and of 1, and in the first and the last opset.
  void expect_same(const SavedFunction& function, const Shape& row, int least_opset = 13) const {
    SaveInput input{"x", DType::f32, {"n"}};
    for (const std::int64_t extent : row.extents()) input.dims.emplace_back(extent);
    for (const int opset : {least_opset, most_saved_opset}) {
      const Model model = model_of(function, {input}, {.opset = opset});
      for (const std::int64_t batch : {3, 1}) {
        std::vector<std::int64_t> extents{batch};
        extents.insert(extents.end(), row.begin(), row.end());
        const Tensor x = ramp(Shape::make(extents));
        const Tensors expected = function({x});
        const NamedValues made = model.run({{"x", x}}).get();
        for (std::size_t i = 0; i < expected.size(); ++i)
          expect_near(made.at("output_" + std::to_string(i)).tensor(), expected[i]);
      }
    }
  }
  static void expect_near(const Tensor& made, const Tensor& expected) {
    ASSERT_EQ(made.spec().to_string(), expected.spec().to_string());
    const std::vector<double> a = made.to_vector<double>();
    const std::vector<double> b = expected.to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      ASSERT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i]))) << "element " << i;
    }
  }
  template <class F> static Error error_of(F function) {
    try {
      function();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
};

TEST_F(Saving, keeps_functions_of_elements) {
  using Function = Tensor (*)(const Tensor&);
  const std::vector<Function> functions{
      [](const Tensor& x) { return abs(x); },
      [](const Tensor& x) { return cbrt(x) + sign(x); },
      [](const Tensor& x) { return ceil(x) * floor(x) - round(x * 2); },
      [](const Tensor& x) { return cosh(x) / (1 + exp(-x)); },
      [](const Tensor& x) { return erf(x) + erfc(x * 0.5); },
      [](const Tensor& x) { return expm1(x * 0.1) + log1p(abs(x)); },
      [](const Tensor& x) { return log(abs(x) + 1) * rsqrt(abs(x) + 0.5); },
      [](const Tensor& x) { return max(x, 0) - min(x, 0.5); },
      [](const Tensor& x) { return pow(abs(x), 1.5) + sin(x) * cos(x) + tan(x * 0.2); },
      [](const Tensor& x) { return remainder(x, 0.7) + sqrt(abs(x)) + sigmoid(x) + tanh(x); },
      [](const Tensor& x) { return asinh(x) + atan(x) + sinh(x) + acos(x * 0.1) + asin(x * 0.1); },
      [](const Tensor& x) {
        return select(greater(x, 0.1), x, -x) + as_type(less_equal(x, 0), DType::f32);
      },
      [](const Tensor& x) { return logical_and(greater(x, 0), logical_not(greater_equal(x, 2))); },
      [](const Tensor& x) { return not_equal(round(x), x); },
      [](const Tensor& x) { return logical_xor(is_nan(x / 0), is_infinity(1 / (x * 0))); },
      [](const Tensor& x) { return quotient(as_type(x * 9, DType::s32), 4); },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_NO_THROW(expect_same(of_one(functions[i]), {5}));
  }
}

TEST_F(Saving, keeps_views_and_positions) {
  using Function = Tensor (*)(const Tensor&);
  const std::vector<Function> functions{
      [](const Tensor& x) {
        return reshape(x, {x.shape()[0] * 2, 6});
      },
      [](const Tensor& x) {
        return transpose(x, Axes{2, 0, 1});
      },
      [](const Tensor& x) {
        return reverse(x, Axes{1, 2});
      },
      [](const Tensor& x) {
        return slice(x, {0, 1, 0}, {x.shape()[0], 2, 4}, Axes{1, 1, 2});
      },
      [](const Tensor& x) {
        return concatenate({x, zeros_like(x), x * 2}, 1);
      },
      [](const Tensor& x) {
        return pad(x, 7, {{}, {.low = 1, .high = 2, .interior = 1}, {.low = -1, .high = 1}});
      },
      [](const Tensor& x) {
        return take(x, tensor({2, 0, 9, -3}), 1);
      },
      [](const Tensor& x) { return take_along_axis(x, argsort(x, 2), 2); },
      [](const Tensor& x) {
        return broadcast(sum(x, {.axes = Axes{1}, .keepdims = true}), x.shape()) -
               tanh(broadcast(tensor(2.0), x.shape()));
      },
      [](const Tensor& x) { return x + iota_along(x.shape(), 0) + iota_along(x.shape(), 2); },
      [](const Tensor& x) { return iota(x.shape(), DType::f32) * x; },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_NO_THROW(expect_same(of_one(functions[i]), {3, 4}));
  }
}

TEST_F(Saving, keeps_updates_at_positions) {
  using Update =
      Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const std::optional<Axes>&);
  const Tensor twice = tensor({{1}, {1}, {9}});
  for (const auto& [update, least_opset] : {std::pair<Update, int>{&indexed_put, 13},
                                            {&indexed_add, 16},
                                            {&indexed_multiply, 16},
                                            {&indexed_max, 18},
                                            {&indexed_min, 18}}) {
    const auto function = [&, update = update](const Tensors& x) {
      const Tensor given =
          broadcast(reshape(tensor({0.5, 0.5, -2.0}), {3, 1, 1}), {3, x[0].shape()[0], 4});
      return Tensors{update(x[0], twice, given, Axes{1})};
    };
    EXPECT_NO_THROW(expect_same(function, {3, 4}, least_opset)) << least_opset;
  }
}

TEST_F(Saving, keeps_reductions_order_and_products) {
  using Function = Tensor (*)(const Tensor&);
  const std::vector<Function> functions{
      [](const Tensor& x) {
        return sum(x, {.axes = Axes{1}}) + slice_along_axis(mean(x, {.axes = Axes{2}}), 0, 1, 1);
      },
      [](const Tensor& x) {
        return reduce_max(x, {.axes = Axes{2}}) * reduce_min(x, {.axes = Axes{2}});
      },
      [](const Tensor& x) { return product(x, {.axes = Axes{1}}); },
      [](const Tensor& x) {
        return concatenate(
            {all(greater(x, -1), {.axes = Axes{2}}), any(greater(x, 1), {.axes = Axes{2}})}, 1);
      },
      [](const Tensor& x) {
        return argmax(x, {.axis = 1}) + argmin(x, {.axis = 1, .ties = TieBreak::high});
      },
      [](const Tensor& x) { return sort(x, 1); },
      [](const Tensor& x) { return cumulative_sum(x, 2) + cumulative_sum(x, 1, true); },
      [](const Tensor& x) { return softmax(x, 1); },
      [](const Tensor& x) {
        return matmul(x, transpose(x, Axes{0, 2, 1}));
      },
      [](const Tensor& x) {
        return linalg::determinant(matmul(x, transpose(x, Axes{0, 2, 1})));
      },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_NO_THROW(expect_same(of_one(functions[i]), {3, 4}));
  }
}

TEST_F(Saving, keeps_loops_and_branches) {
  const auto halved = [](const Tensors& x) {
    return Tensors{while_loop(
        x[0], [](const Tensor& y) { return greater(reduce_max(abs(y)), 1); },
        [](const Tensor& y) { return y / 2; })};
  };
  EXPECT_NO_THROW(expect_same(halved, {4}));
  const auto chosen = [](const Tensors& x) {
    return Tensors{cond(
        greater(sum(x[0]), 0), [&] { return x[0] * 3; }, [&] { return -x[0]; })};
  };
  EXPECT_NO_THROW(expect_same(chosen, {4}));
  for (const bool is_reverse : {false, true}) {
    const auto running = [is_reverse](const Tensors& x) {
      const Tensor columns = transpose(x[0], Axes{1, 0});
      const auto [last, all] = scan(
          [&](const Tensor& total, const Tensor& one) {
            const Tensor next = total * 0.5 + one;
            return std::pair{next, next * 2};
          },
          zeros_like(columns[0]), columns, {.reverse = is_reverse});
      return Tensors{last, all};
    };
    EXPECT_NO_THROW(expect_same(running, {4}));
  }
}

TEST_F(Saving, writes_operators_and_not_more_than_it_takes) {
  const Tensor w = ramp({4, 2}).eval();
  const auto layer = [&](const Tensors& x) { return Tensors{max(matmul(x[0], w) + 1, 0)}; };
  const ModelFile file = exported(layer, {{"x", DType::f32, {"batch", 4}}},
                                  {.opset = 15, .outputs = {"y"}, .weights = {{"w", w}}});
  EXPECT_EQ(file.opset(""), 15);
  EXPECT_EQ(file.ir_version, 8);
  ASSERT_EQ(file.graph.nodes.size(), 3U);
  EXPECT_EQ(file.graph.nodes[0].op, "MatMul");
  EXPECT_EQ(file.graph.nodes[0].inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(file.graph.nodes[1].op, "Add");
  EXPECT_EQ(file.graph.nodes[2].op, "Relu");
  EXPECT_EQ(file.graph.nodes[2].outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(file.graph.inputs[0].type.to_string(), "float[batch,4]");
  EXPECT_EQ(file.graph.outputs[0].type.to_string(), "float[batch,2]");
}

TEST_F(Saving, finds_relu_where_it_is_written_out) {
  const ModelFile file =
      exported(of_one([](const Tensor& x) { return relu(x); }), {{"x", DType::f32, {"batch", 4}}});
  ASSERT_EQ(file.graph.nodes.size(), 1U);
  EXPECT_EQ(file.graph.nodes[0].op, "Relu");
  const auto nearly = [](const Tensor& x) {
    return select(greater(x, 0), x, select(is_nan(x), x, -1));
  };
  EXPECT_NO_THROW(expect_same(of_one(nearly), {4}));
  EXPECT_NO_THROW(expect_same(of_one([](const Tensor& x) { return relu(x); }), {4}));
}

TEST_F(Saving, takes_a_number_in_the_place_of_the_open_extent) {
  const ModelFile file = exported(of_one([](const Tensor& x) { return x * 2; }),
                                  {{"x", DType::f32, {"batch", 4}}}, {.batch = 5});
  EXPECT_EQ(file.graph.inputs[0].type.to_string(), "float[5,4]");
  EXPECT_EQ(file.graph.outputs[0].type.to_string(), "float[5,4]");
}

TEST_F(Saving, hands_inputs_and_weights_through_as_outputs) {
  const Tensor w = ramp({2}).eval();
  const auto both = [&](const Tensors& x) { return Tensors{x[0], w, x[0]}; };
  const Model model = model_of(both, {{"x", DType::f32, {2}}});
  const NamedValues made = model.run({{"x", tensor({5.0, 6.0})}}).get();
  EXPECT_EQ(made.at("output_0").tensor().to_vector<float>(), (std::vector{5.0F, 6.0F}));
  expect_near(made.at("output_1").tensor(), w);
  EXPECT_EQ(made.at("output_2").tensor().to_vector<float>(), (std::vector{5.0F, 6.0F}));
}

TEST_F(Saving, writes_files_that_are_read_again) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("stoker_saving_" + std::to_string(getpid()) + ".onnx");
  save(of_one([](const Tensor& x) { return tanh(x); }), {{"x", DType::f32, {"batch", 4}}}, path,
       {.doc = "a test", .metadata = {{"author", "somebody"}}});
  const Model model = load(path, {.device = device});
  EXPECT_EQ(model.metadata().doc, "a test");
  EXPECT_EQ(model.metadata().producer_name, "Stoker");
  EXPECT_EQ(model.metadata().properties, (Metadata{{"author", "somebody"}}));
  std::filesystem::remove(path);
}

TEST_F(Saving, refuses_all_that_has_no_form_at_once) {
  const auto none = [](const Tensors& x) {
    return Tensors{cumulative_product(x[0], 0), erf_inv(x[0]), erf_inv(x[0] * 2)};
  };
  const Error error = error_of([&] {
    static_cast<void>(exported(none, {{"x", DType::f32, {4}}}));
  });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.reason(),
            "there is no ONNX form of 'cumulative_product': ONNX has no such operator; 'erf_inv': "
            "ONNX has no such operator");
}

TEST_F(Saving, refuses_what_needs_a_newer_opset) {
  const auto bits = of_one([](const Tensor& x) { return bitwise_and(as_type(x, DType::s32), 3); });
  const std::vector<SaveInput> x{{"x", DType::f32, {4}}};
  const Error error = error_of([&] { static_cast<void>(exported(bits, x)); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.reason().find("needs opset 18"), std::string::npos) << error.reason();
  EXPECT_NO_THROW(static_cast<void>(exported(bits, x, {.opset = 18})));
}

TEST_F(Saving, refuses_a_function_that_depends_on_the_batch_otherwise) {
  const std::vector<SaveInput> open{{"x", DType::f32, {"batch", 2}}};
  const auto mean_of_all = of_one([](const Tensor& x) { return x / x.shape()[0]; });
  EXPECT_EQ(error_of([&] { static_cast<void>(exported(mean_of_all, open)); }).code(),
            ErrorCode::unsupported);
  const auto other = of_one([](const Tensor& x) { return x.shape()[0] % 2 == 0 ? x + 1 : exp(x); });
  const Error error = error_of([&] { static_cast<void>(exported(other, open)); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.reason().find("give the batch a number"), std::string::npos) << error.reason();
  EXPECT_NO_THROW(static_cast<void>(exported(other, open, {.batch = 2})));
}

TEST_F(Saving, refuses_extents_that_only_two_batches_would_allow) {
  using Function = Tensor (*)(const Tensor&);
  const std::vector<Function> functions{
      [](const Tensor& x) {
        const std::int64_t n = x.shape()[0];
        return reshape(matmul(x, transpose(x, Axes{1, 0})), {n * n}) + iota_along(Shape{n * n}, 0);
      },
      [](const Tensor& x) { return as_type(x, DType::s64) * (x.shape()[0] * x.shape()[0]); },
      [](const Tensor& x) {
        return slice(x, {0, 0}, {x.shape()[0] / 8, 2});
      },
      [](const Tensor& x) { return as_type(x, DType::s64) * (x.shape()[0] % 4 + 2); },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    const Error error = error_of([&] {
      static_cast<void>(exported(of_one(functions[i]), {{"x", DType::f32, {"n", 2}}}));
    });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(error.reason().find("in no proportion to the batch"), std::string::npos)
        << error.reason();
  }
}

TEST_F(Saving, refuses_tensors_that_are_made_for_each_batch) {
  const std::vector<SaveInput> open{{"x", DType::f32, {"n", 2}}};
  for (const bool has_its_shape : {false, true}) {
    const auto scaled = [=](const Tensors& x) {
      const std::int64_t n = x[0].shape()[0];
      const std::vector<float> made(static_cast<std::size_t>(has_its_shape ? n * 2 : 1),
                                    static_cast<float>(has_its_shape ? 1 : n));
      return Tensors{x[0] * tensor(std::as_bytes(std::span{made}),
                                   {DType::f32, has_its_shape ? x[0].shape() : Shape{1}})};
    };
    EXPECT_EQ(error_of([&] { static_cast<void>(exported(scaled, open)); }).code(),
              ErrorCode::invalid_argument);
    EXPECT_NO_THROW(static_cast<void>(exported(scaled, open, {.batch = 2})));
  }
  const auto doubled = of_one([](const Tensor& x) { return x * tensor({2.0, 3.0}); });
  EXPECT_NO_THROW(static_cast<void>(exported(doubled, open)));
}

TEST_F(Saving, computes_in_f32_where_an_operator_takes_no_shorter_float) {
  struct Case {
    Tensor (*function)(const Tensor&);
    DType dtype;
    int opset;
    std::vector<std::string> operators;
  };
  const std::vector<Case> cases{
      {[](const Tensor& x) { return sin(x); }, DType::bf16, 21, {"Cast", "Sin", "Cast"}},
      {[](const Tensor& x) { return sin(x); }, DType::f16, 21, {"Sin"}},
      {[](const Tensor& x) { return is_infinity(x); }, DType::f16, 19, {"Cast", "IsInf", "Cast"}},
      {[](const Tensor& x) { return is_infinity(x); }, DType::f16, 20, {"IsInf", "Cast"}},
      {[](const Tensor& x) { return cumulative_sum(x, 0); },
       DType::f16,
       13,
       {"Cast", "CumSum", "Cast"}},
      {[](const Tensor& x) { return cumulative_sum(x, 0); }, DType::f16, 14, {"CumSum"}},
      {[](const Tensor& x) { return sort(x, 0); }, DType::bf16, 21, {"Cast", "TopK", "Cast"}},
      {[](const Tensor& x) { return pow(x, x); }, DType::bf16, 15, {"Pow"}},
      {[](const Tensor& x) { return reduce_max(x); },
       DType::s16,
       21,
       {"Cast", "ReduceMax", "Cast"}},
      {[](const Tensor& x) { return reduce_max(x); }, DType::s32, 21, {"ReduceMax"}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [function, dtype, opset, operators] = cases[i];
    const std::vector<SaveInput> inputs{{"x", dtype, {5}}};
    std::vector<std::string> made;
    for (const Node& node : exported(of_one(function), inputs, {.opset = opset}).graph.nodes)
      made.push_back(node.op);
    EXPECT_EQ(made, operators);
    const Tensor x = as_type(ramp({5}), dtype);
    const Model model = model_of(of_one(function), inputs, {.opset = opset});
    EXPECT_NO_THROW(expect_near(model.run({{"x", x}}).get().at("output_0").tensor(), function(x)));
  }
}

TEST_F(Saving, computes_cube_roots_of_short_floats) {
  const auto root = of_one([](const Tensor& x) { return cbrt(x); });
  const Model model = model_of(root, {{"x", DType::bf16, {2}}});
  const Tensor x = as_type(tensor({1e30, -8.0}), DType::bf16);
  const auto made = model.run({{"x", x}}).get().at("output_0").tensor().to_vector<double>();
  EXPECT_NEAR(made[0], 1e10, 1e8);
  EXPECT_NEAR(made[1], -2, 0.02);
}

TEST_F(Saving, writes_integers_as_operators_take_them) {
  const auto file_of = [](Tensor (*function)(const Tensor&), DType dtype, int opset = 17) {
    return exported(of_one(function), {{"x", dtype, {3}}}, {.opset = opset});
  };
  const auto negated = [](const Tensor& x) { return -x; };
  EXPECT_EQ(file_of(negated, DType::s32).graph.nodes.at(0).op, "Neg");
  EXPECT_EQ(file_of(negated, DType::u32).graph.nodes.at(0).op, "Sub");
  const Model model = model_of(of_one(negated), {{"x", DType::u8, {2}}});
  const Tensor x = as_type(tensor({1, 0}), DType::u8);
  EXPECT_EQ(model.run({{"x", x}}).get().at("output_0").tensor().to_vector<int>(),
            (std::vector{255, 0}));
  const auto refused = [&](Tensor (*function)(const Tensor&), DType dtype, int opset) {
    const Error error = error_of([&] { static_cast<void>(file_of(function, dtype, opset)); });
    return std::string{error.reason()};
  };
  const auto squared = [](const Tensor& x) { return pow(x, x); };
  EXPECT_NE(refused(squared, DType::u8, 21).find("no powers of u8"), std::string::npos);
  const auto halved = [](const Tensor& x) { return quotient(x, x); };
  EXPECT_NE(refused(halved, DType::s16, 13).find("needs opset 14"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(file_of(halved, DType::s16, 14)));
}

TEST_F(Saving, refuses_names_and_opsets_that_cannot_be) {
  const auto same = of_one([](const Tensor& x) { return x + 1; });
  const auto code = [&](const std::vector<SaveInput>& inputs, const SaveOptions& options = {}) {
    return error_of([&] { static_cast<void>(exported(same, inputs, options)); }).code();
  };
  const SaveInput x{"x", DType::f32, {2}};
  EXPECT_EQ(code({x}, {.opset = 12}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({x}, {.opset = 22}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({x, x}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"", DType::f32, {2}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({x}, {.outputs = {"x"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({x}, {.outputs = {"a", "b"}}), ErrorCode::arity_mismatch);
  EXPECT_EQ(code({{"x", DType::f32, {"a", "b"}}}), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::onnx
