// Nodes of constants are computed when a model is loaded.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Folding = PassTest;

TEST_F(Folding, what_stands_on_constants_only_is_computed) {
  expect("constant_folding", R"(
    in x float[2,2]
    const a float[2,2] = 1 2 3 4
    const b float[2] = 10 20
    t = Transpose(a)
    c = Add(t, b)
    w = Constant() {value_float: 2.0}
    d = Mul(c, w)
    y = MatMul(x, d)
    out y
  )",
         "const d float[2,2] = 22 46 24 48\ny = MatMul(x, d)\n");
}

TEST_F(Folding, shapes_that_exporters_put_together_are_constants) {
  opset = 11;
  expect("constant_folding", R"(
    in x float[2,6]
    const n int64[] = 4
    const minus int64[1] = -1
    u = Unsqueeze(n) {axes: [0]}
    s = Concat(minus, u) {axis: 0}
    y = Reshape(x, s)
    out y
  )",
         "const s int64[2] = -1 4\ny = Reshape(x, s)\n");
}

TEST_F(Folding, a_constant_may_be_an_output) {
  expect("constant_folding", R"(
    in x float[2]
    const a float[2] = 1 2
    y = Neg(a)
    z = Add(x, y)
    out y z
  )",
         "const y float[2] = -1 -2\nz = Add(x, y)\n");
}

TEST_F(Folding, random_nodes_and_those_that_make_weights_larger_stay) {
  expect_left("constant_folding", R"(
    in x float[64,64]
    const a float[64] = 3
    const s int64[2] = 64 64
    const small int8[4096] = 3
    r = RandomUniformLike(a)
    e = Expand(a, s)
    c = Cast(small) {to: 1}
    f = Reshape(c, s)
    y = Sum(x, r, e, f)
    out y
  )");
}

TEST_F(Folding, what_cannot_be_computed_is_left_to_the_run) {
  const char* const graph = R"(
    in x float[2]
    const a float[2] = 1
    const b float[3] = 1
    c = Add(a, b)
    y = Add(x, c)
    out y
  )";
  expect_left("constant_folding", graph);
  const Model model = load(file_of(GraphText::parse(graph, opset)), here());
  EXPECT_EQ(refusal([&] {
              static_cast<void>(model.run({{"x", ones({2})}}).get());
            }).code(),
            ErrorCode::shape_mismatch);
}

TEST_F(Folding, weights_that_nothing_changes_stay_in_the_file) {
  const Graph graph = GraphText::parse(R"(
    in x float[2]
    const w float[2] = 5
    const a float[1] = 1
    b = Neg(a)
    c = Mul(x, w)
    y = Add(c, b)
    out y
  )",
                                       opset);
  const Graph after = rewritten(graph, {"constant_folding"});
  ASSERT_NE(after.initializer("b"), nullptr);
  EXPECT_EQ(after.initializer("w")->tensor.bytes.view.data(),
            graph.initializer("w")->tensor.bytes.view.data());
}

}  // namespace
}  // namespace stoker::onnx
