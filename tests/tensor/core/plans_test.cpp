// What programs of tensors come to: kernels, memory, and what runs at once.
#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class Plans : public Tensors {
 protected:
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(Plans, a_chain_of_elements_is_one_kernel) {
  const Tensor x = ones({100}).eval();
  const std::string plan = plan_text(std::array{exp(x * 2 + 1) / (x + 3)});
  EXPECT_EQ(count(plan, "  fused "), 1U) << plan;
  EXPECT_NE(plan.find("pipeline of 1 kernels"), std::string::npos) << plan;
}

TEST_F(Plans, large_transpositions_are_made_by_a_kernel_and_small_ones_read_through) {
  const auto plan_for = [](std::int64_t n) {
    const Tensor x = ones({n, n}).eval();
    return plan_text(std::array{x + transpose(x)});
  };
  EXPECT_EQ(count(plan_for(300), "  transpose "), 1U);
  EXPECT_EQ(count(plan_for(30), "  transpose "), 0U);
  const Tensor x = reshape(iota({300 * 301}, DType::f32), {300, 301});
  const Tensor y = (transpose(x) * 2).eval();
  EXPECT_EQ(y.shape(), (Shape{301, 300}));
  const auto values = y.to_vector<float>();
  for (const auto& [i, j] : {std::pair{0, 0}, {300, 0}, {0, 299}, {17, 123}})
    EXPECT_EQ(values[static_cast<std::size_t>(i * 300 + j)], static_cast<float>(2 * (j * 301 + i)));
}

TEST_F(Plans, axes_of_one_element_make_no_transposition) {
  const Tensor x = ones({300, 1, 300}).eval();
  EXPECT_EQ(count(plan_text(std::array{transpose(x, Axes{1, 0, 2}) + 1}), "  transpose "), 0U);
  EXPECT_EQ(count(plan_text(std::array{transpose(x, Axes{2, 1, 0}) + 1}), "  transpose "), 1U);
}

TEST_F(Plans, reducing_what_is_transposed_reduces_other_axes) {
  const Tensor x = reshape(iota({2 * 300 * 400}, DType::f32), {2, 300, 400});
  x.eval();
  const Tensor turned = transpose(x, Axes{0, 2, 1});
  const Tensor rows = sum(turned, {Axes{1}});
  EXPECT_EQ(count(plan_text(std::array{rows}), "transpose"), 0U);
  expect_near(rows, sum(x, {Axes{2}}).to_vector<double>());
  const Tensor kept = reduce_max(turned, {Axes{2}, true});
  EXPECT_EQ(kept.shape(), (Shape{2, 400, 1}));
  expect_near(kept, reduce_max(x, {Axes{1}}).to_vector<double>());
  const Tensor other = sum(transpose(x, Axes{2, 1, 0}), {Axes{0}});
  EXPECT_EQ(other.shape(), (Shape{300, 2})) << "what is left has changed its order";
  expect_near(other, transpose(sum(x, {Axes{2}})).to_vector<double>());
}

TEST_F(Plans, reductions_compute_what_they_reduce) {
  const Tensor x = (iota({30, 40}, DType::f32) * 0.01).eval();
  const Tensor y = (iota({30, 40}, DType::f32) * 0.02).eval();
  const auto kernels = [](const Tensor& t) {
    const std::string plan = plan_text(std::array{t});
    EXPECT_NE(plan.find("  fused_reduce_"), std::string::npos) << plan;
    return plan.substr(0, plan.find(','));
  };
  const std::string one = "pipeline of 1 kernels";
  for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}})
    EXPECT_EQ(kernels(sum(x * y, {axes})), one);
  EXPECT_EQ(kernels(mean((x - 3) * (x - 3))), one);
  EXPECT_EQ(kernels(reduce_max(abs(x - y), {Axes{1}, true})), one);
  EXPECT_EQ(kernels(all(x < y)), one);
  EXPECT_EQ(kernels(sum(as_type(x, DType::s32))), one);
  EXPECT_EQ(kernels(sum(reshape(x * y, {20, 60}), {Axes{0}})), one) << "reshapes change nothing";
  EXPECT_EQ(kernels(sum(reverse(x), {Axes{1}})), one) << "nor need views memory";
  EXPECT_EQ(kernels(sum(broadcast(x, {5, 30, 40}), {Axes{0}})), one);
  expect_near(sum(x * y), {0.0002 * 1199 * 1200 * 2399 / 6}, 1e-5);
  expect_near(sum(reverse(x), {Axes{1}}), reverse(sum(x, {Axes{1}})).to_vector<double>(), 1e-5);
}

TEST_F(Plans, products_hand_their_elements_to_what_reads_them) {
  const Tensor x = (iota({6, 5}, DType::f32) * 0.1).eval();
  const Tensor w = (iota({5, 4}, DType::f32) * 0.2 - 1).eval();
  const Tensor b = (iota({4}, DType::f32) - 1).eval();
  const auto one_kernel = [&](const Tensor& y) {
    const std::string plan = plan_text(std::array{y});
    EXPECT_NE(plan.find("pipeline of 1 kernels"), std::string::npos) << plan;
    EXPECT_EQ(count(plan, "  fused_matmul "), 1U) << plan;
  };
  const Tensor p = matmul(x, w).eval();
  one_kernel(relu(matmul(x, w) + b));
  expect_near(relu(matmul(x, w) + b), relu(p + b).to_vector<double>());
  one_kernel(reshape(matmul(x, w), {3, 2, 4}) * b);
  const Tensor z = matmul(x, w) + b;
  one_kernel(z * sigmoid(z));
  expect_near(z * sigmoid(z), ((p + b) * sigmoid(p + b)).to_vector<double>());
  const Tensor turned = matmul(transpose(w), transpose(x)) + 1;
  one_kernel(turned);
  expect_near(turned, (transpose(p) + 1).to_vector<double>());
}

TEST_F(Plans, convolutions_hand_their_elements_to_what_reads_them) {
  const Tensor x = (iota({2, 6, 7, 3}, DType::f32) * 0.1).eval();
  const Tensor w = (iota({4, 3, 2, 2}, DType::f32) * 0.02 - 0.3).eval();
  const Tensor b = (iota({4}, DType::f32) - 1).eval();
  const auto of = [&](Axes output) {
    return conv(x, w, {.input_permutation = Axes{0, 3, 1, 2}, .output_permutation = output});
  };
  for (const Axes& output : {Axes{0, 3, 1, 2}, Axes{0, 1, 2, 3}}) {
    const bool last = output[1] == 3;
    const Tensor bias = last ? b : reshape(b, {4, 1, 1});
    const Tensor stored = of(output).eval();
    const Tensor y = relu(of(output) + bias);
    const std::string plan = plan_text(std::array{y});
    EXPECT_NE(plan.find("pipeline of 1 kernels"), std::string::npos) << plan;
    EXPECT_EQ(count(plan, "  fused_conv "), 1U) << plan;
    expect_near(y, relu(stored + bias).to_vector<double>());
  }
  const Tensor both = of({0, 3, 1, 2});
  const std::string plan = plan_text(std::vector{both, both + 1});
  EXPECT_EQ(count(plan, "fused_conv"), 0U) << plan;
}

TEST_F(Plans, products_that_others_read_or_in_another_order_are_stored) {
  const Tensor x = (iota({4, 5}, DType::f32) * 0.1).eval();
  const Tensor w = (iota({5, 4}, DType::f32) * 0.2 - 1).eval();
  const auto stored = [&](const std::vector<Tensor>& results) {
    const std::string plan = plan_text(results);
    EXPECT_EQ(count(plan, "  matmul "), 1U) << plan;
    EXPECT_EQ(count(plan, "fused_matmul"), 0U) << plan;
  };
  const Tensor p = matmul(x, w);
  stored({p, p + 1});
  stored({p + transpose(p)});
  stored({p + 1, matmul(p, p).eval() + p});
  const Tensor q = matmul(x, w).eval();
  expect_near(p + transpose(p), (q + transpose(q)).to_vector<double>());
}

TEST_F(Plans, of_two_products_that_are_added_one_adds_the_other) {
  const Tensor x = (iota({3, 5}, DType::f32) * 0.1).eval();
  const Tensor w = (iota({5, 4}, DType::f32) * 0.2 - 1).eval();
  const Tensor y = tanh(matmul(x, w) + matmul(x * 2, w));
  const std::string plan = plan_text(std::array{y});
  EXPECT_EQ(count(plan, "  matmul "), 1U) << plan;
  EXPECT_EQ(count(plan, "  fused_matmul "), 1U) << plan;
  const Tensor p = matmul(x, w).eval();
  expect_near(y, tanh(p * 3).to_vector<double>());
}

TEST_F(Plans, a_kernel_goes_on_with_what_it_stores_for_others) {
  const Tensor x = (iota({30, 40}, DType::f32) * 0.01).eval();
  const Tensor h = x * 2 + 1;
  const Tensor rows = sum(h, {Axes{1}, true});
  const std::vector<Tensor> both{exp(h) - h, rows};
  const std::string plan = plan_text(both);
  EXPECT_EQ(count(plan, "  fused "), 1U) << plan;
  EXPECT_EQ(count(plan, "  reduce_sum "), 1U) << plan;
  const Tensor stored = (x * 2 + 1).eval();
  expect_near(both[0], (exp(stored) - stored).to_vector<double>());
  expect_near(both[1], sum(stored, {Axes{1}, true}).to_vector<double>(), 1e-5);
}

TEST_F(Plans, what_has_to_wait_for_something_else_is_a_kernel_of_its_own) {
  const Tensor x = (iota({30, 40}, DType::f32) * 0.01).eval();
  const Tensor h = x * 2 + 1;
  const Tensor y = exp(h) / sum(exp(h), {Axes{1}, true});
  const std::string plan = plan_text(std::array{y + h});
  EXPECT_EQ(count(plan, "  fused "), 2U) << plan;
  const Tensor e = exp((x * 2 + 1).eval()).eval();
  expect_near(y + h, (e / sum(e, {Axes{1}, true}) + x * 2 + 1).to_vector<double>(), 1e-5);
}

TEST_F(Plans, what_others_need_too_is_stored_before_it_is_reduced) {
  const Tensor x = ones({30, 40}).eval();
  const Tensor y = exp(x);
  EXPECT_EQ(count(plan_text(std::array{y, sum(y)}), "  fused_reduce_"), 0U) << "it is a result";
  EXPECT_EQ(count(plan_text(std::array{sum(y) + reduce_max(y)}), "  reduce_"), 2U);
  const std::string centred = plan_text(std::array{mean((y - mean(y)) * (y - mean(y)))});
  EXPECT_EQ(count(centred, "  reduce_mean "), 1U) << centred;
  EXPECT_EQ(count(centred, "  fused_reduce_mean "), 1U) << centred;
  EXPECT_EQ(count(plan_text(std::array{sum(x)}), "  reduce_sum "), 1U) << "it lies in memory";
}

TEST_F(Plans, a_loss_and_its_gradient_share_the_difference) {
  const Tensor x = ones({32, 8}).eval();
  const Tensor y = ones({32, 4}).eval();
  const Tensor w = ones({8, 4}).eval();
  const auto loss = [&](const Tensor& v) {
    const Tensor difference = matmul(x, v) - y;
    return mean(difference * difference);
  };
  const std::string forward = plan_text(std::array{loss(w)});
  EXPECT_EQ(count(forward, "pipeline of 2 kernels"), 1U) << forward;
  const auto [value, gradient] = value_and_grad(loss)(w);
  const std::string both = plan_text(std::array{value, gradient});
  EXPECT_EQ(count(both, "pipeline of 3 kernels"), 1U) << both;
  expect_near(value, {49});
  expect_near(gradient, std::vector<double>(32, 3.5));
}

TEST_F(Plans, values_between_kernels_share_memory) {
  const Tensor x = ones({64, 64}).eval();
  Tensor y = x;
  for (int i = 0; i < 6; ++i) y = matmul(y, x);
  const std::string plan = plan_text(std::array{y});
  EXPECT_NE(plan.find("arena of 32768 bytes (81920 without sharing)"), std::string::npos) << plan;
}

TEST_F(Plans, what_the_host_drives_stands_between_pipelines) {
  const auto f = jit([](const Tensor& x) {
    return for_loop(3, x + 1, [](const Tensor&, const Tensor& v) { return v * 2; }) - 1;
  });
  const std::string plan = f.plan(tensor({1.0, 2.0}));
  EXPECT_NE(plan.find("host scan b0 -> b1"), std::string::npos) << plan;
  EXPECT_EQ(count(plan, "pipeline of"), 2U) << plan;
}

// Small work ----------------------------------------------------------------------------------------

TEST_F(Plans, small_work_on_an_idle_cpu_is_neither_recorded_nor_handed_over) {
  const Device device = current_device();
  const auto recordings = [&] {
    return device.client()->scheduler().backend()->counters().recordings;
  };
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, Shape{16}}).add("relu", {"x"}, "a").add("exp", {"a"}, "y");
  pipeline.output("y");
  const Buffer x = device.buffer(DType::f32, Shape{16});
  const Buffer y = device.buffer(DType::f32, Shape{16});
  x.write(std::vector<float>(16, -1.0F)).get();
  const auto before = recordings();
  for (int i = 0; i < 3; ++i) pipeline.run({{"x", x}, {"y", y}}).get();
  EXPECT_EQ(recordings(), before);
  EXPECT_EQ(y.read<float>().get(), std::vector<float>(16, 1.0F));
}

}  // namespace
}  // namespace stoker
