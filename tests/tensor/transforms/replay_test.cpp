// Functions that run again: what differs in shapes is not compiled anew, what differs in memory is not
// recorded anew.
#include "stoker/api/tensor/transforms/jit.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class Replays : public TensorsOnDevices {
 protected:
  static DeviceStats stats() { return current_device().stats(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Replays, every_device(), device_name);

TEST_P(Replays, a_layer_of_a_thousand_batch_sizes_is_compiled_once_for_each_tiling) {
  const Tensor w = as_type(remainder(iota({24, 20}), 7), DType::f32).eval();
  const Tensor b = ones({20}).eval();
  const auto layer = jit([&](const Tensor& x) { return relu(matmul(x, w) + b); });
  const auto last = [&](std::int64_t batch) {
    return layer(ones({batch, 24})).to_vector<float>().back();
  };
  // A row, and a few tilings by how well they are filled.
  for (const std::int64_t batch : {1, 2, 24, 32, 48, 64, 90, 128, 1000}) last(batch);
  const std::uint64_t compiled = stats().backend.pipelines_created;
  const float right = last(2);
  for (std::int64_t batch = 1; batch <= 1000; ++batch) ASSERT_EQ(last(batch), right) << batch;
  EXPECT_EQ(stats().backend.pipelines_created, compiled);
}

TEST_P(Replays, views_and_reductions_of_many_shapes_are_compiled_once) {
  const auto f = jit([&](const Tensor& x) {
    return sum(x + reverse(x, Axes{1}) + slice_along_axis(x, 0, 1, 0), {Axes{1}});
  });
  const auto rounds = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t rows = from; rows < to; ++rows) {
      const Tensor x = iota({rows, 20}, DType::f32);
      (void)f(x).to_vector<float>();
    }
    return stats().backend.pipelines_created;
  };
  const std::uint64_t compiled = rounds(2, 6);
  EXPECT_EQ(rounds(6, 80), compiled);
}

TEST_P(Replays, a_step_records_and_allocates_nothing_from_its_second_run_on) {
  const auto step = jit([](const Tensor& p, const Tensor& g) {
    const Tensor h = relu(matmul(p, g));
    return p - 0.01 * matmul(h, h);
  });
  const Tensor g = (ones({48, 48}) * 0.01).eval();
  Tensor p = ones({48, 48}).eval();
  const auto again = [&] {
    p = step(p, g);
    p.computed().get();
  };
  again();
  const DeviceStats first = stats();
  for (int run = 2; run < 20; ++run) {
    again();
    const DeviceStats now = stats();
    ASSERT_EQ(now.backend.recordings, first.backend.recordings) << "run " << run;
    ASSERT_EQ(now.backend.encoded, first.backend.encoded) << "run " << run;
    ASSERT_EQ(now.backend.pipelines_created, first.backend.pipelines_created) << "run " << run;
    ASSERT_EQ(now.memory.allocations, first.memory.allocations) << "run " << run;
  }
}

TEST_P(Replays, a_program_that_is_no_step_is_encoded_once_when_it_runs_once) {
  const Tensor x = ones({9, 11}).eval();
  x.computed().get();
  const std::uint64_t before = stats().backend.encoded;
  exp(x * 3.0 + 1.0).eval().computed().get();
  EXPECT_LE(stats().backend.encoded, before + 1);
}

TEST_P(Replays, many_operands_are_one_kernel) {
  std::vector<Tensor> xs;
  for (int i = 0; i < 30; ++i) xs.push_back((ones({7, 5}) * i).eval());
  Tensor all = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) all = all + xs[i];
  EXPECT_NE(plan_text(std::array{all}).find("pipeline of 1 kernels"), std::string::npos);
  EXPECT_EQ(all.to_vector<float>(), std::vector<float>(35, 435.0F));
}

}  // namespace
}  // namespace stoker
