// Blocks of images moved between channels, rows and columns by reshapes.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Blocks = PassTest;

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
  // Of any batch, and of a convolution, of whose result only the channels are certain.
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
  // With channels and batch as they are, and rows that only the run knows.
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
  // Channels of PyTorch's pixel_unshuffle; blocks that are not square; extents or an order of another kind; a result
  // between that others read.
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

}  // namespace
}  // namespace stoker::onnx
