// Blocks of images moved between channels, rows and columns by reshapes, and what is certain about parts of a join.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Blocks = PassTest;
using JoinedParts = PassTest;

TEST_F(Blocks, depth_to_space_as_pytorch_writes_pixel_shuffle) {
  expect("depth_to_space", R"(
    in x float[1,8,2,3]
    const apart int64[6] = 1 2 2 2 2 3
    const last int64[4] = 1 2 4 6
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,1,4,2,5,3]}
    y = Reshape(b, last)
    out y
  )",
         "y = DepthToSpace(x) {blocksize: 2, mode: \"CRD\"}\n");
  // Of any batch, and of the result of a convolution, where only the channels are certain.
  expect("depth_to_space", R"(
    in x float[batch,2,4,3]
    const w float[9,2,1,1] = 0.5
    const apart int64[6] = -1 1 3 3 4 3
    const last int64[4] = -1 1 12 9
    c = Conv(x, w)
    a = Reshape(c, apart)
    b = Transpose(a) {perm: [0,1,4,2,5,3]}
    y = Reshape(b, last)
    out y
  )",
         "const c.1 int64[4] = -1 9 4 3\nc = Conv(x, w)\ny.1 = Reshape(c, c.1)\n"
         "y = DepthToSpace(y.1) {blocksize: 3, mode: \"CRD\"}\n");
}

TEST_F(Blocks, depth_to_space_with_the_blocks_before_the_channels) {
  expect("depth_to_space", R"(
    in x float[batch,12,2,2]
    const apart int64[6] = 0 2 2 3 2 2
    const last int64[4] = 0 3 4 4
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,3,4,1,5,2]}
    y = Reshape(b, last)
    out y
  )",
         "y = DepthToSpace(x) {blocksize: 2, mode: \"DCR\"}\n");
  opset = 4;
  expect("depth_to_space", R"(
    in x float[2,4,2,2]
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,3,4,1,5,2]}
    y = Reshape(b, last)
    const apart int64[6] = -1 2 2 1 2 2
    const last int64[4] = -1 1 4 4
    out y
  )",
         "y = DepthToSpace(x) {blocksize: 2, mode: \"DCR\"}\n");
}

TEST_F(Blocks, space_to_depth) {
  expect("depth_to_space", R"(
    in x float[batch,3,4,6]
    const apart int64[6] = -1 3 2 2 3 2
    const last int64[4] = -1 12 2 3
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,3,5,1,2,4]}
    y = Reshape(b, last)
    out y
  )",
         "y = SpaceToDepth(x) {blocksize: 2}\n");
  // With batch and channels copied, and rows that only the run knows.
  expect("depth_to_space", R"(
    in x float[batch,3,h,6]
    const apart int64[6] = 0 3 -1 2 3 2
    const last int64[4] = 0 12 -1 3
    r = Concat(x, x) {axis: 2}
    a = Reshape(r, apart)
    b = Transpose(a) {perm: [0,3,5,1,2,4]}
    y = Reshape(b, last)
    out y
  )",
         "const r.1 int64[4] = 0 3 -1 6\nr = Concat(x, x) {axis: 2}\ny.1 = Reshape(r, r.1)\n"
         "y = SpaceToDepth(y.1) {blocksize: 2}\n");
}

TEST_F(Blocks, what_moves_blocks_otherwise_stays) {
  // The order of channels of PyTorch's pixel_unshuffle; blocks that are not square; other extents or another order; a
  // value between the nodes that is an output.
  expect_left("depth_to_space", R"(
    in x float[1,4,4,4]
    const unshuffle int64[6] = 1 4 2 2 2 2
    const small int64[4] = 1 16 2 2
    a = Reshape(x, unshuffle)
    b = Transpose(a) {perm: [0,1,3,5,2,4]}
    y = Reshape(b, small)
    const oblong int64[6] = 1 1 4 1 4 4
    const long int64[4] = 1 1 16 4
    c = Reshape(x, oblong)
    d = Transpose(c) {perm: [0,1,4,2,5,3]}
    z = Reshape(d, long)
    const square int64[6] = 1 1 2 2 4 4
    const flat int64[4] = 1 1 4 16
    e = Reshape(x, square)
    f = Transpose(e) {perm: [0,1,4,2,5,3]}
    u = Reshape(f, flat)
    const wide int64[4] = 1 1 8 8
    g = Reshape(x, square)
    h = Transpose(g) {perm: [0,1,4,2,5,3]}
    v = Reshape(h, wide)
    i = Reshape(x, square)
    j = Transpose(i) {perm: [0,1,5,2,4,3]}
    w = Reshape(j, wide)
    out y z u h v w
  )");
}

TEST_F(Blocks, a_batch_that_only_one_of_the_shapes_says_stays) {
  expect_left("depth_to_space", R"(
    in x float[1,4,4,4]
    const apart int64[6] = -1 1 2 2 4 4
    const last int64[4] = 1 1 8 8
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,1,4,2,5,3]}
    y = Reshape(b, last)
    out y
  )");
}

TEST_F(Blocks, what_the_operator_or_a_reshape_would_refuse_stays) {
  // Channels left open may be none, which a Reshape takes. It refuses two open extents, an extent below -1, and a
  // product beyond int64, and says why.
  expect_left("depth_to_space", R"(
    in x float[1,0,4,4]
    const apart int64[6] = 1 2 2 -1 4 4
    const last int64[4] = 1 -1 8 8
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,3,4,1,5,2]}
    y = Reshape(b, last)
    in z float[2,4,2,2]
    const open int64[6] = -1 2 2 1 -1 2
    const square int64[4] = -1 1 4 4
    c = Reshape(z, open)
    d = Transpose(c) {perm: [0,3,4,1,5,2]}
    u = Reshape(d, square)
    const below int64[6] = -2 2 2 1 2 2
    e = Reshape(z, below)
    f = Transpose(e) {perm: [0,3,4,1,5,2]}
    v = Reshape(f, square)
    const huge int64[6] = -1 4194304 4194304 4194304 2 2
    const large int64[4] = -1 4194304 8388608 8388608
    g = Reshape(z, huge)
    h = Transpose(g) {perm: [0,3,4,1,5,2]}
    w = Reshape(h, large)
    out y u v w
  )");
}

TEST_F(Blocks, of_texts_as_well) {
  const Graph graph = GraphText::parse(R"(
    in x string[1,4,1,2]
    const apart int64[6] = 1 2 2 1 1 2
    const last int64[4] = 1 1 2 4
    a = Reshape(x, apart)
    b = Transpose(a) {perm: [0,3,4,1,5,2]}
    y = Reshape(b, last)
    const back int64[6] = 1 1 1 2 2 2
    const first int64[4] = 1 4 1 2
    c = Reshape(y, back)
    d = Transpose(c) {perm: [0,3,5,1,2,4]}
    z = Reshape(d, first)
    out y z
  )",
                                       opset);
  EXPECT_EQ(GraphText::print(rewritten(graph, {"depth_to_space"}), graph),
            "const y.1 int64[4] = 1 1 2 4\ny = DepthToSpace(x) {blocksize: 2, mode: \"DCR\"}\n"
            "z.1 = Reshape(y, y.1)\nz = SpaceToDepth(z.1) {blocksize: 2}\n");
  const std::vector<std::string> words{"a", "b", "c", "d", "e", "f", "g", "h"};
  const NamedValues got = load(file_of(graph), {.device = device_, .optimize = Optimize::basic})
                              .run({{"x", Texts{Shape{1, 4, 1, 2}, words}}})
                              .get();
  EXPECT_EQ(got.at("y").texts().strings,
            (std::vector<std::string>{"a", "c", "b", "d", "e", "g", "f", "h"}));
  EXPECT_EQ(got.at("z").texts().strings, words);
}

TEST_F(JoinedParts, an_extent_that_another_operand_may_enlarge_is_not_certain) {
  // Each first part has 1 at the axis before the run broadcasts it to 3.
  expect_left("split_concat", R"(
    in x float[1,2]
    const wide float[3,2] = 1 -1 0.5 0 0.25 0
    p = Clip(x, wide)
    j = Concat(p, x) {axis: 0}
    a, b = Split(j) {axis: 0, num_outputs: 2}
    q = LayerNormalization(x, wide)
    k = Concat(q, x) {axis: 0}
    c, d = Split(k) {axis: 0, num_outputs: 2}
    in u float[2,1,2,2]
    const three float[3] = 1 2 3
    const w float[1,1,1,1] = 2
    r = BatchNormalization(u, three, three, three, three)
    l = Concat(r, u) {axis: 1}
    e, f = Split(l) {axis: 1, num_outputs: 2}
    s = Conv(u, w, three)
    m = Concat(s, u) {axis: 1}
    g, h = Split(m) {axis: 1, num_outputs: 2}
    t = ConvTranspose(u, w, three)
    n = Concat(t, u) {axis: 1}
    aa, bb = Split(n) {axis: 1}
    in z float[2,1]
    const v float[1,1] = 2
    o = Gemm(z, v, three)
    i = Concat(o, z) {axis: 1}
    cc, dd = Split(i) {axis: 1, num_outputs: 2}
    y = Sum(a, b, c, d)
    y1 = Sum(e, f, g, h, aa, bb, cc, dd)
    out y y1
  )");
  // More axes would move the extents, too.
  expect_left("split_concat", R"(
    in x float[2,2]
    const deep float[3,2,2] = 1 -1 0.5 0 0.25 0 1 2 3 4 5 6
    p = LayerNormalization(x, deep)
    j = Concat(p, p) {axis: 0}
    a, b = Split(j) {axis: 0, num_outputs: 2}
    y = Sub(a, b)
    out y
  )");
}

TEST_F(JoinedParts, an_extent_that_other_operands_leave_is_certain) {
  expect("split_concat", R"(
    in x float[1,2,2,2]
    const low float[] = -1
    const row float[2] = 0.5 2
    const column float[2,1,1] = 0.5 -1
    const w float[2,2,1,1] = 1 2 3 4
    p = Clip(x, low)
    q = LayerNormalization(p, row)
    r = Clip(q, column)
    s = BatchNormalization(r, row, row, row, row)
    t = Conv(x, w, row)
    j = Concat(s, t) {axis: 1}
    a, b = Split(j) {axis: 1, num_outputs: 2}
    k = Concat(s, t) {axis: 0}
    c, d = Split(k) {axis: 0, num_outputs: 2}
    y = Sub(a, b)
    z = Sub(c, d)
    out y z
  )",
         "p = Clip(x, low)\nq = LayerNormalization(p, row)\nr = Clip(q, column)\n"
         "s = BatchNormalization(r, row, row, row, row)\nt = Conv(x, w, row)\ny = Sub(s, t)\n"
         "z = Sub(s, t)\n");
}

TEST_F(JoinedParts, a_join_without_an_axis_is_along_the_second) {
  opset = 3;  // later versions want one
  expect("split_concat", R"(
    in x float[2,2]
    in z float[2,2]
    j = Concat(x, z)
    a, b = Split(j) {axis: 1}
    y = Sub(a, b)
    c, d = Split(j) {axis: 0}
    w = Sub(c, d)
    e, f = Split(z) {axis: 1}
    k = Concat(e, f)
    v = Neg(k)
    g, h = Split(z) {axis: 0}
    u = Concat(g, h)
    out y w v u
  )",
         "j = Concat(x, z)\ny = Sub(x, z)\nc, d = Split(j) {axis: 0}\nw = Sub(c, d)\n"
         "v = Neg(z)\ng, h = Split(z) {axis: 0}\nu = Concat(g, h)\n");
}

}  // namespace
}  // namespace stoker::onnx
