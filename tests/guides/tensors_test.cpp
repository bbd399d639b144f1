// The examples of docs/tensors.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <iostream>

#include "stoker/api/eigen.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/tensor_async.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace {

class TensorGuide : public testing::Test {
 protected:
  stoker::System own;
  stoker::DeviceScope cpu{own.device("cpu")};
};

TEST_F(TensorGuide, begins) {
  const stoker::Tensor x = stoker::tensor({{1.0, 2.0}, {3.0, 4.0}});
  const stoker::Tensor y = stoker::sum(stoker::exp(x) / 2, {stoker::Axes{0}});  // nothing has run
  const std::vector<float> values = y.to_vector<float>();                       // now it has
  EXPECT_EQ(values.size(), 2U);
  EXPECT_EQ(to_string(x), "f32[2,2]\n[[1, 2],\n [3, 4]]");
}

TEST_F(TensorGuide, dtypes) {
  const stoker::Tensor bytes = stoker::zeros({4}, stoker::DType::u8);
  EXPECT_EQ((bytes + 255).dtype(), stoker::DType::u8);
  EXPECT_EQ((bytes + 256).dtype(), stoker::DType::u16);
  EXPECT_EQ((bytes / 2).dtype(), stoker::DType::f32);
}

TEST_F(TensorGuide, names) {
  const stoker::Tensor table = stoker::ones({2, 3}).named({"rows", "columns"});
  const stoker::Tensor totals = stoker::sum(table, {table.axes({"rows"})});
  EXPECT_EQ(totals.names()[0], "columns");
}

TEST(TensorGuides, devices) {
  const stoker::System system;
  const stoker::DeviceScope scope{system.device("cpu")};
  const stoker::Tensor here = stoker::ones({2, 3});
  const stoker::Tensor there = here.to(system.device("null"));
  EXPECT_EQ(there.shape(), here.shape());
}

TEST_F(TensorGuide, evaluation) {
  const stoker::Tensor a = stoker::sin(stoker::iota({1000}, stoker::DType::f32));
  const stoker::Tensor b = a * a;
  stoker::eval({a, b});  // both are queued as one program
  EXPECT_EQ(b.read<float>().get().size(), 1000U);
}

TEST_F(TensorGuide, memory) {
  const stoker::MemoryStats memory = stoker::current_device().stats().memory;
  EXPECT_LE(memory.in_use, memory.peak);
  EXPECT_LE(memory.peak, memory.budget);
}

TEST_F(TensorGuide, convolutions) {
  const stoker::Tensor images = stoker::ones({8, 28, 28, 3});  // channels last
  const stoker::Tensor kernel = stoker::ones({3, 3, 3, 16});
  const stoker::Tensor maps = stoker::conv(images, kernel,
                                           {.strides = stoker::Axes{2, 2},
                                            .padding = stoker::PadRule::same,
                                            .input_permutation = stoker::Axes{0, 3, 1, 2},
                                            .kernel_permutation = stoker::Axes{3, 2, 0, 1},
                                            .output_permutation = stoker::Axes{0, 3, 1, 2}});
  EXPECT_EQ(maps.shape(), (stoker::Shape{8, 14, 14, 16}));
}

TEST_F(TensorGuide, gradients) {
  const auto loss = [](const stoker::Tensor& w, const stoker::Tensor& x) {
    return stoker::sum(stoker::pow(stoker::matmul(x, w), 2));
  };
  const stoker::Tensor w = stoker::tensor({1.0, 2.0});
  const stoker::Tensor x = stoker::tensor({{1.0, 0.0}, {0.0, 1.0}});
  const auto [value, gradient] = stoker::value_and_grad(loss)(w, x);
  EXPECT_EQ(value.item<float>(), 5);
  EXPECT_EQ(gradient.to_vector<float>(), (std::vector{2.0F, 4.0F}));
}

TEST_F(TensorGuide, complex_numbers) {
  const stoker::Tensor z = stoker::complex(stoker::tensor({3.0, 0.0}), stoker::tensor({4.0, 1.0}));
  EXPECT_EQ(stoker::abs(z).to_vector<float>(), (std::vector{5.0F, 1.0F}));
  EXPECT_EQ((z * std::complex{0.0, 1.0}).to_vector<std::complex<float>>()[1],
            (std::complex<float>{-1, 0}));
}

TEST_F(TensorGuide, transforms) {
  const stoker::Tensor signal = stoker::tensor({1.0, 2.0, 3.0});
  EXPECT_EQ(stoker::fft(signal, {.length = stoker::power_of_two}).shape(), stoker::Shape{4});
  const stoker::Tensor back = stoker::irfft(stoker::rfft(signal), {.length = 3});
  EXPECT_NEAR(back.to_vector<float>()[2], 3, 1e-6);
}

TEST_F(TensorGuide, tracing) {
  const auto step =
      stoker::jit([](const stoker::Tensor& p, const stoker::Tensor& g) { return p - 0.1 * g; });
  stoker::Tensor p = stoker::tensor({1.0, 2.0});
  for (int i = 0; i < 3; ++i) p = step(p, stoker::ones({2}));  // traced once
  EXPECT_NEAR(p.to_vector<float>()[0], 0.7F, 1e-6F);
  const auto ready = step.compile(stoker::current_device(), stoker::zeros({2}), stoker::zeros({2}));
  EXPECT_EQ(ready(stoker::ones({2}), stoker::ones({2})).to_vector<float>(),
            (std::vector{0.9F, 0.9F}));
  EXPECT_THROW((void)ready(stoker::ones({3}), stoker::ones({3})), stoker::Error);
  const stoker::CancelSource request;
  const stoker::CommandOptions limits{.cancel = request.token()};
  const stoker::Tensor q = step.with(limits)(p, stoker::ones({2}));  // this call
  const auto values = (q * q).read<float>(limits);                   // computing and reading
  EXPECT_EQ(values.get().size(), 2U);
}

TEST_F(TensorGuide, branches_and_loops) {
  const stoker::Tensor v = stoker::tensor({1.0, 16.0});
  const stoker::Tensor r = stoker::cond(
      stoker::any(v > 10), [&] { return stoker::sqrt(v); }, [&] { return v; });
  const stoker::Tensor n = stoker::while_loop(
      v, [](const stoker::Tensor& s) { return stoker::all(s < 100); },
      [](const stoker::Tensor& s) { return s * 2; });
  EXPECT_EQ(r.to_vector<float>(), (std::vector{1.0F, 4.0F}));
  EXPECT_EQ(n.to_vector<float>(), (std::vector{8.0F, 128.0F}));
}

TEST_F(TensorGuide, host_calls) {
  const auto sorted = stoker::jit([](const stoker::Tensor& x) {
    return stoker::host_call(x.spec(),
                             [](const std::vector<stoker::Tensor>& in) {
                               auto numbers = in[0].to_vector<float>();
                               std::ranges::sort(numbers);
                               return stoker::tensor(numbers, in[0].shape());
                             },
                             {x});
  });
  EXPECT_EQ(sorted(stoker::tensor({3.0, 1.0, 2.0})).to_vector<float>(),
            (std::vector{1.0F, 2.0F, 3.0F}));
}

TEST_F(TensorGuide, random_numbers) {
  const stoker::Tensor key = stoker::random::key(42);
  const auto [noise, next] = stoker::random::normal(key, {3, 4});
  const auto [more, after] = stoker::random::uniform(next, {3});
  EXPECT_EQ(noise.shape(), (stoker::Shape{3, 4}));
  EXPECT_EQ(more.size() + after.size(), 5U);
}

/// Examples write files by short names: each test does so in a folder of its own.
class TensorFileGuide : public TensorGuide {
 protected:
  TensorFileGuide() {
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
  }
  ~TensorFileGuide() override {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("stoker-guide-" + std::to_string(::getpid()));
};

TEST_F(TensorFileGuide, numpy_files) {
  stoker::save_npy("x.npy", stoker::iota({2, 3}));
  const stoker::Tensor back = stoker::load_npy("x.npy");  // C or Fortran order, versions 1 to 3
  stoker::save_npz("all.npz", {{"x", back}, {"y", back * 2}}, {.compressed = true});
  const std::map<std::string, stoker::Tensor> all = stoker::load_npz("all.npz");
  EXPECT_EQ(all.at("y").to_vector<int>(), (std::vector{0, 2, 4, 6, 8, 10}));
}

TEST_F(TensorFileGuide, safetensors_files) {
  const stoker::Tensor weight = stoker::ones({2, 2});
  stoker::save_safetensors("model.safetensors", {{"weight", weight}}, {{"format", "pt"}});
  const stoker::SafetensorsFile file = stoker::open_safetensors("model.safetensors");
  for (const std::string& name : file.names())
    std::cout << name << ' ' << file.spec(name).to_string() << '\n';
  const stoker::Tensor loaded = file.load("weight");
  EXPECT_EQ(loaded.spec(), weight.spec());
}

TEST_F(TensorGuide, serialized_structures) {
  const stoker::Tensor weight = stoker::ones({2, 2});
  const stoker::Tensor bias = stoker::zeros({2});
  const stoker::Tensor step = stoker::tensor(7);
  const std::pair state{std::vector{weight, bias}, step};
  const std::vector<std::byte> stored = stoker::serialize(state);
  const auto restored =
      stoker::deserialize<std::pair<std::vector<stoker::Tensor>, stoker::Tensor>>(stored);
  EXPECT_EQ(restored.first.size(), 2U);
  EXPECT_EQ(restored.second.item<int>(), 7);
}

TEST_F(TensorGuide, eigen_matrices) {
  const Eigen::MatrixXf matrix = Eigen::MatrixXf::Identity(2, 2) * 3;  // any expression, any order
  const stoker::Tensor t = stoker::tensor_from(matrix);
  const auto doubled = stoker::to_eigen<Eigen::MatrixXf>(t * 2);
  const stoker::EigenView<float> view{t};  // the tensor's own memory, on the CPU device
  EXPECT_EQ(view.map().sum() * 2, doubled.sum());
}

TEST_F(TensorGuide, text_and_batches) {
  const stoker::Tensor rows = stoker::matrix_of("1 2 3\n4 5 Inf\n7 8 9");
  for (const stoker::Tensor& batch :
       stoker::to_batched(rows, 2))  // the last is filled from the first
    EXPECT_EQ(batch.shape(), (stoker::Shape{2, 3}));
}

boost::asio::awaitable<float> loss_of(stoker::Tensor x) {
  const stoker::Tensor y = stoker::sum(x * x);
  (co_await stoker::async_eval(y, boost::asio::use_awaitable)).value();  // computed
  co_return (co_await stoker::async_get(y.read<float>()))[0];
}

TEST_F(TensorGuide, coroutines) {
  boost::asio::io_context loop;
  auto loss = boost::asio::co_spawn(loop, loss_of(stoker::ones({3})), boost::asio::use_future);
  loop.run();
  EXPECT_EQ(loss.get(), 3);
}

TEST_F(TensorGuide, parts) {
  const stoker::Tensor m = stoker::reshape(stoker::iota({12}), {3, 4});
  EXPECT_EQ(m[-1].to_vector<int>(), (std::vector{8, 9, 10, 11}));
  EXPECT_EQ((m[{stoker::every, stoker::Range{1, 3}}].shape()), (stoker::Shape{3, 2}));
  EXPECT_EQ((m[{1, stoker::argmax(m[0])}].item<int>()), 7);
}

TEST_F(TensorGuide, own_gradients) {
  const auto clipped =
      stoker::custom_grad([](const stoker::Tensor& x) { return x * x; },
                          [](const stoker::Tensor& x, const stoker::Tensor&,
                             const stoker::Tensor& g) { return stoker::clip(g * 2 * x, -1, 1); });
  const auto loss = [&](const stoker::Tensor& x) {
    return stoker::sum(stoker::checkpoint(clipped)(x));
  };
  EXPECT_EQ(stoker::grad(loss)(stoker::tensor({0.25, 9.0})).to_vector<float>(),
            (std::vector{0.5F, 1.0F}));
}

TEST_F(TensorGuide, elements) {
  const auto error = [](const stoker::Tensor& w, const stoker::Tensor& x, const stoker::Tensor& y) {
    return stoker::pow(stoker::matmul(x, w) - y, 2);
  };
  const stoker::Tensor w = stoker::tensor({1.0, 2.0});
  const stoker::Tensor x = stoker::tensor({{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}});
  const stoker::Tensor y = stoker::tensor({0.0, 2.0, 1.0});
  const auto per_example = stoker::vmap(stoker::grad(error), {.in_axes = {std::nullopt, 0, 0}});
  EXPECT_EQ(per_example(w, x, y).to_vector<float>(),
            (std::vector{2.0F, 0.0F, 0.0F, 0.0F, 4.0F, 4.0F}));
}

TEST_F(TensorGuide, kernels) {
  const stoker::Tensor p = stoker::iota({64, 64}, stoker::DType::f32).eval();
  const stoker::Tensor q = stoker::ones({64, 64}).eval();
  const std::string plan = stoker::plan_text(std::array{stoker::sum(p * q, {stoker::Axes{1}})});
  EXPECT_NE(plan.find("pipeline of 1 kernels"), std::string::npos);
  EXPECT_NE(plan.find("fused_reduce_sum f32[64,64]:in0 f32[64,64]:in1 -> f32[64]"),
            std::string::npos);
  const std::string layer = stoker::plan_text(std::array{stoker::relu(stoker::matmul(p, q) + 0.5)});
  EXPECT_NE(layer.find("pipeline of 1 kernels"), std::string::npos);
  EXPECT_NE(layer.find("fused_matmul f32[64,64]:in0 f32[64,64]:in1 -> f32[64,64]"),
            std::string::npos);
}

}  // namespace
