// Layouts are chosen for plans, and can be left out by name and by level as what rewrites graphs can.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

class Layouts : public PassTest {
 protected:
  /// The weights meet few pixels, so that they are worth putting into blocks.
  [[nodiscard]] static Graph graph() {
    Graph made = GraphText::parse(R"(
      in x float[1,32,9,8]
      const w float[48,32,3,3] = 1
      c = Conv(x, w)
      y = Relu(c)
      out y
    )",
                                  21);
    std::vector<float> weights(count_of_weights);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 0.01F * static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
    TensorData& w = made.initializers.at(0).tensor;
    w.bytes = reals(weights).bytes;
    return made;
  }
  [[nodiscard]] static NamedValues inputs() { return {{"x", some(graph().inputs.at(0).type)}}; }
  [[nodiscard]] Model loaded(LoadOptions options) const {
    options.device = device_;
    return load(file_of(graph()), options);
  }
  /// The images and the weights that the convolution of a plan reads.
  static std::vector<std::string> operands(const Model& model, const NamedValues& given) {
    const PlanDescription plan = model.plan(given);
    for (const auto& step : plan.segments.at(0).steps)
      for (const auto& kernel : step.kernels)
        if (kernel.inputs.size() >= 2 && kernel.inputs[1].shape.elements() == count_of_weights)
          return {kernel.inputs[0].to_string(), kernel.inputs[1].to_string()};
    return {};
  }
  static std::vector<std::string> operands(const Model& model) { return operands(model, inputs()); }

  static constexpr std::int64_t count_of_weights = std::int64_t{48} * 32 * 9;
  const std::vector<std::string> plain{"f32[1,32,9,8]", "f32[48,32,3,3]"};
  const std::string last = "f32[1,9,8,32]";  ///< the images with their channels last
};

TEST_F(Layouts, without_them_a_plan_has_channels_and_weights_as_the_file_has_them) {
  const Model chosen = loaded({}), left = loaded({.without = {"layouts"}});
  EXPECT_EQ(operands(chosen).at(0), last);
  EXPECT_NE(operands(chosen).at(1), plain[1]) << "they are in blocks";
  EXPECT_EQ(operands(left), plain);
  const auto a = floats(chosen.run(inputs()).get(), "y");
  const auto b = floats(left.run(inputs()).get(), "y");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST_F(Layouts, are_chosen_at_the_level_that_lets_sums_round_otherwise) {
  for (const Optimize level : {Optimize::none, Optimize::basic})
    EXPECT_EQ(operands(loaded({.optimize = level})), plain);
  EXPECT_EQ(operands(loaded({.optimize = Optimize::all})).at(0), last);
}

TEST_F(Layouts, need_no_pass_that_rewrites_the_graph) {
  const Model model = loaded({.without = names_of_rewriting_passes()});
  EXPECT_EQ(model.plan(inputs()).nodes, 2U);
  EXPECT_EQ(operands(model).at(0), last);
}

TEST_F(Layouts, are_those_of_a_run_that_gives_an_initializer_too) {
  Graph with_default = graph();
  with_default.inputs.push_back(GraphText::parse("in t float[1]\nout t", 21).inputs.at(0));
  with_default.initializers.push_back({"t", reals({2})});
  with_default.outputs.push_back({.name = "t", .type = {}, .doc = {}});
  NamedValues given = inputs();
  given.emplace("t", tensor({3.0F}));
  for (const bool chooses : {true, false}) {
    const Model model = load(
        file_of(with_default),
        {.device = device_,
         .without = chooses ? std::vector<std::string>{} : std::vector<std::string>{"layouts"}});
    EXPECT_EQ(operands(model, given).at(0), chooses ? last : plain[0]);
  }
}

}  // namespace
}  // namespace stoker::onnx
