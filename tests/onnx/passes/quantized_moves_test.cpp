// The passes that move integers where floats between DequantizeLinear and QuantizeLinear are moved, and those that drop
// the clips that the integers do.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

class QuantizedMoves : public PassTest {
 protected:
  /// What is computed of `d`, which stands for 8-bit integers.
  static std::string behind(const std::string& type, const std::string& rest) {
    return "in x float" + type + R"(
    const s float[] = 0.0625
    const z int8[] = -5
    const other float[] = 0.125
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
)" + rest;
  }
};
using QuantizedClips = QuantizedMoves;

TEST_F(QuantizedMoves, what_lies_between_equal_scales_moves_integers) {
  expect("quantized_moves", behind("[1,2,4,4]", R"(
    t = Transpose(d) {perm: [0,2,3,1]}
    y = QuantizeLinear(t, s, z)
    out y
  )"),
         "q = QuantizeLinear(x, s, z)\ny = Transpose(q) {perm: [0,2,3,1]}\n");
  expect("quantized_moves", behind("[1,2,4,4]", R"(
    const shape int64[2] = 2 -1
    const from int64[1] = 1
    const to int64[1] = 3
    const axis int64[1] = 1
    m = MaxPool(d) {kernel_shape: [3,3], pads: [1,1,1,1], strides: [2,2]}
    r = Reshape(m, shape)
    l = Slice(r, from, to, axis)
    y = QuantizeLinear(l, s, z)
    out y
  )"),
         "q = QuantizeLinear(x, s, z)\n"
         "q.1 = MaxPool(q) {kernel_shape: [3,3], pads: [1,1,1,1], strides: [2,2]}\n"
         "q.2 = Reshape(q.1, shape)\ny = Slice(q.2, from, to, axis)\n");
}

TEST_F(QuantizedMoves, those_of_microsoft_are_moved_like_those_of_onnx) {
  Graph graph = GraphText::parse(behind("[2,3]", R"(
    t = Transpose(d) {perm: [1,0]}
    y = QuantizeLinear(t, s, z)
    out y
  )"),
                                 opset);
  for (Node& node : graph.nodes)
    if (node.op != "Transpose") {
      node.domain = "com.microsoft";
      node.opset = 1;
    }
  const std::vector<std::string> passes{"microsoft_quantization", "quantized_moves"};
  const Graph after = rewritten(graph, passes);
  EXPECT_EQ(GraphText::print(after, graph),
            "q = QuantizeLinear(x, s, z)\ny = Transpose(q) {perm: [1,0]}\n");
  EXPECT_EQ(after.nodes.at(0).domain, "");
  expect_equal_numbers(graph, passes);
}

TEST_F(QuantizedMoves, an_output_dtype_of_0_says_nothing) {
  expect("quantized_moves", R"(
    in x float[2,3]
    const s float[] = 0.5
    q = QuantizeLinear(x, s) {output_dtype: 0}
    d = DequantizeLinear(q, s) {output_dtype: 0}
    t = Transpose(d) {perm: [1,0]}
    y = QuantizeLinear(t, s) {output_dtype: 0}
    out y
  )",
         "q = QuantizeLinear(x, s) {output_dtype: 0}\ny = Transpose(q) {perm: [1,0]}\n");
}

TEST_F(QuantizedMoves, a_concat_of_equal_scales_joins_integers) {
  expect("quantized_moves", R"(
    in a float[2,3]
    in b float[2,2]
    const s float[] = 0.03125
    const z uint8[] = 128
    qa = QuantizeLinear(a, s, z)
    qb = QuantizeLinear(b, s, z)
    da = DequantizeLinear(qa, s, z)
    db = DequantizeLinear(qb, s, z)
    c = Concat(da, db) {axis: 1}
    y = QuantizeLinear(c, s, z)
    out y
  )",
         "qa = QuantizeLinear(a, s, z)\nqb = QuantizeLinear(b, s, z)\n"
         "y = Concat(qa, qb) {axis: 1}\n");
}

TEST_F(QuantizedMoves, a_concat_of_other_scales_joins_what_was_quantised_anew) {
  expect("quantized_moves", R"(
    in a float[2,3]
    in b float[2,2]
    const s float[] = 0.03125
    const other float[] = 0.0625
    const z uint8[] = 128
    qa = QuantizeLinear(a, s, z)
    qb = QuantizeLinear(b, other, z)
    da = DequantizeLinear(qa, s, z)
    db = DequantizeLinear(qb, other, z)
    c = Concat(da, db) {axis: 1}
    y = QuantizeLinear(c, s, z)
    out y
  )",
         "qa = QuantizeLinear(a, s, z)\nqb = QuantizeLinear(b, other, z)\n"
         "db = DequantizeLinear(qb, other, z)\ndb.1 = QuantizeLinear(db, s, z)\n"
         "y = Concat(qa, db.1) {axis: 1}\n");
}

/// Some exporters quantise behind a pool, not before and after it.
TEST_F(QuantizedMoves, a_pool_behind_what_computes_takes_what_is_quantised_before) {
  expect("quantized_moves", R"(
    in x float[1,2,4,4]
    const s float[] = 0.03125
    const z uint8[] = 0
    a = Tanh(x)
    m = MaxPool(a) {kernel_shape: [2,2], strides: [2,2]}
    y = QuantizeLinear(m, s, z)
    out y
  )",
         "a = Tanh(x)\na.1 = QuantizeLinear(a, s, z)\n"
         "y = MaxPool(a.1) {kernel_shape: [2,2], strides: [2,2]}\n");
}

TEST_F(QuantizedMoves, floats_come_of_what_was_moved) {
  expect("quantized_moves", behind("[2,3]", R"(
    t = Transpose(d) {perm: [1,0]}
    y = Tanh(t)
    out y
  )"),
         "q = QuantizeLinear(x, s, z)\nq.1 = Transpose(q) {perm: [1,0]}\n"
         "t = DequantizeLinear(q.1, s, z)\ny = Tanh(t)\n");
  expect("quantized_moves", R"(
    in x float[4,3]
    const w int8[2,3] = 1 2 3 4 5 6
    const ws float[2] = 0.5 0.25
    dw = DequantizeLinear(w, ws) {axis: 0}
    t = Transpose(dw) {perm: [1,0]}
    y = MatMul(x, t)
    out y
  )",
         "w.1 = Transpose(w) {perm: [1,0]}\nt = DequantizeLinear(w.1, ws) {axis: 1}\n"
         "y = MatMul(x, t)\n");
  expect("quantized_moves", R"(
    const at int64[3] = 2 0 1
    const w uint8[3,2] = 1 2 3 4 5 6
    const ws float[] = 0.5
    dw = DequantizeLinear(w, ws)
    y = Gather(dw, at)
    out y
  )",
         "w.1 = Gather(w, at)\ny = DequantizeLinear(w.1, ws)\n");
}

TEST_F(QuantizedMoves, weights_that_were_transposed_reach_their_product) {
  const std::string text = behind("[4,3]", R"(
    const w int8[2,3] = 1 2 3 4 5 6
    const ws float[2] = 0.5 0.25
    dw = DequantizeLinear(w, ws) {axis: 0}
    t = Transpose(dw) {perm: [1,0]}
    c = MatMul(d, t)
    l = Relu(c)
    y = QuantizeLinear(l, other, low)
    const low int8[] = -128
    out y
  )");
  const Graph graph = GraphText::parse(text, opset);
  const std::vector<std::string> passes{"quantized_clips", "quantized_moves", "quantized_products",
                                        "constant_folding"};
  EXPECT_EQ(GraphText::print(rewritten(graph, passes), graph),
            "const ws.1 int8[] = 0\nconst w.1 int8[3,2] = 1 4 2 5 3 6\n"
            "q = QuantizeLinear(x, s, z)\n"
            "y = QLinearMatMul(q, s, z, w.1, ws, ws.1, other, low)\n");
  expect_equal_numbers(graph, passes);
}

TEST_F(QuantizedMoves, what_depends_on_the_floats_stays) {
  // Scales for each row, behind which a Reshape cannot say what they belong to.
  expect_left("quantized_moves", R"(
    in x float[2,3]
    const s float[2] = 0.5 0.25
    const z int8[2] = 0 1
    const shape int64[2] = 3 2
    q = QuantizeLinear(x, s, z) {axis: 0}
    d = DequantizeLinear(q, s, z) {axis: 0}
    r = Reshape(d, shape)
    y = Tanh(r)
    out y
  )");
  // A window in the padding only, where the pool is minus infinity; and scales that turn the order round.
  expect_left("quantized_moves", behind("[1,1,3]", R"(
    y = MaxPool(d) {kernel_shape: [1], pads: [1,0]}
    out y
  )"));
  // A window that has no axes: a run refuses it.
  expect_left("quantized_moves", behind("[1,1,3]", R"(
    y = MaxPool(d) {kernel_shape: [], pads: [1,0]}
    out y
  )"));
  expect_left("quantized_moves", R"(
    in x float[1,1,3]
    const s float[] = -0.5
    const z int8[] = 0
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    y = MaxPool(d) {kernel_shape: [2]}
    out y
  )");
  // What is read in floats, too, and what comes in floats.
  expect_left("quantized_moves", R"(
    in x float[2,3]
    const s float[] = 0.5
    const z int8[] = 0
    a = Tanh(x)
    t = Transpose(a) {perm: [1,0]}
    y = QuantizeLinear(t, s, z)
    out y t
  )");
  expect_left("quantized_moves", R"(
    in x float[2,3]
    const s float[] = 0.5
    const z int8[] = 0
    t = Transpose(x) {perm: [1,0]}
    y = QuantizeLinear(t, s, z)
    out y
  )");
  // Another zero point, another type.
  expect_left("quantized_moves", behind("[2,3]", R"(
    const one int8[] = 1
    y = QuantizeLinear(d, s, one)
    out y
  )"));
  expect_left("quantized_moves", behind("[2,3]", R"(
    const u uint8[] = 5
    y = QuantizeLinear(d, s, u)
    out y
  )"));
}

TEST_F(QuantizedClips, a_relu_or_clip_that_the_type_does_is_dropped) {
  const auto quantised_to = [](const std::string& zero, const std::string& clip) {
    return "in x float[8,8]\nconst s float[] = 0.00784313725\nconst z " + zero +
           "\nconst zero float[] = 0\nconst two float[] = 2\na = Neg(x)\n" + clip +
           "y = QuantizeLinear(c, s, z)\nout y\n";
  };
  const std::string left = "a = Neg(x)\ny = QuantizeLinear(a, s, z)\n";
  expect("quantized_clips", quantised_to("uint8[] = 0", "c = Relu(a)\n"), left);
  expect("quantized_clips", quantised_to("int8[] = -128", "c = Relu(a)\n"), left);
  expect("quantized_clips", quantised_to("uint8[] = 0", "c = Clip(a, zero, two)\n"), left);
  // It cuts off more than the type.
  expect_left("quantized_clips", quantised_to("uint8[] = 1", "c = Relu(a)\n"));
  expect_left("quantized_clips", quantised_to("int8[] = 0", "c = Clip(a, zero, two)\n"));
  expect_left("quantized_clips", quantised_to("uint8[] = 0", "c = Clip(a, , zero)\n"));
  expect_left("quantized_clips",
              quantised_to("uint8[] = 0", "c = Relu(a)\ne = Tanh(c)\n") + "out e\n");
}

TEST_F(QuantizedClips, a_relu_or_clip_that_cuts_off_no_integer_is_dropped) {
  const auto read_from = [](const std::string& zero, const std::string& clip) {
    return "in x float[8,8]\nconst s float[] = 0.0625\nconst z " + zero +
           "\nconst zero float[] = 0\nconst most float[] = 15.9375\nconst less float[] = 15\n"
           "q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\n" +
           clip + "y = Tanh(c)\nout y\n";
  };
  const std::string left =
      "q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\ny = Tanh(d)\n";
  expect("quantized_clips", read_from("uint8[] = 0", "c = Relu(d)\n"), left);
  expect("quantized_clips", read_from("int8[] = -128", "c = Clip(d, zero, most)\n"), left);
  expect_left("quantized_clips", read_from("uint8[] = 3", "c = Relu(d)\n"));
  expect_left("quantized_clips", read_from("uint8[] = 0", "c = Clip(d, zero, less)\n"));
}

}  // namespace
}  // namespace stoker::onnx
