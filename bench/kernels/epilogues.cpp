// relu(x · w + b) as one kernel, and of a convolution, beside a program that stores the product first:
// what it saves that a product hands its elements on while they are in the cache or in registers.
#include <algorithm>

#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"

namespace stoker::bench {
namespace {

Tensor noise_of(const Shape& shape) {
  return tensor(noise(static_cast<std::size_t>(shape.elements())), shape).eval();
}

/// Of each of some calls in a row, the last of which is waited for.
double microseconds(int calls, const std::function<Tensor()>& call) {
  Tensor last;
  return seconds_of([&] {
           for (int i = 0; i < calls; ++i) last = call().eval();
           last.computed().get();
         }) /
         calls * 1e6;
}

using Product = std::function<Tensor(const Tensor& x, const Tensor& w)>;

/// relu(product + b) as one kernel, beside one that stores the product.
void row(Context& context, const std::string& name, const Product& product, const Tensor& x,
         const Tensor& w, const Tensor& b) {
  const auto one = jit([&](const Tensor& in, const Tensor& weights, const Tensor& bias) {
    return relu(product(in, weights) + bias);
  });
  // A result is stored.
  const auto two = jit([&](const Tensor& in, const Tensor& weights, const Tensor& bias) {
    const Tensor stored = product(in, weights);
    return std::pair{relu(stored + bias), stored};
  });
  const auto in_one = [&] { return one(x, w, b); };
  const auto in_two = [&] { return two(x, w, b).first; };
  const int calls = std::min(calls_to_fill(0.03, [&] { in_two().computed().get(); }), 2000);
  const Duel both = duel(
      context.repeats(20), [&] { return microseconds(calls, in_one); },
      [&] { return microseconds(calls, in_two); });
  context.report.add(Row{name, both.ours, "µs", Better::lower}.against("stored first", both.peer));
}

void matmul_row(Context& context, std::int64_t m, std::int64_t k, std::int64_t n) {
  const std::string name = "relu(x·w + b), [" + std::to_string(m) + "," + std::to_string(k) +
                           "]·[" + std::to_string(k) + "," + std::to_string(n) + "]";
  row(
      context, name, [](const Tensor& x, const Tensor& w) { return matmul(x, w); },
      noise_of({m, k}), noise_of({k, n}), noise_of({n}));
}

/// Channels last, as layers have them.
void convolution_row(Context& context, std::int64_t channels, std::int64_t units, std::int64_t side,
                     std::int64_t size) {
  const ConvOptions how{.padding = PadRule::same,
                        .input_permutation = Axes{0, 3, 1, 2},
                        .output_permutation = Axes{0, 3, 1, 2}};
  const std::string name = "relu(conv + b), 8 of " + std::to_string(side) + "², " +
                           std::to_string(channels) + " to " + std::to_string(units) + ", " +
                           std::to_string(size) + "×" + std::to_string(size);
  row(
      context, name, [how](const Tensor& x, const Tensor& w) { return conv(x, w, how); },
      noise_of({8, side, side, channels}), noise_of({units, channels, size, size}),
      noise_of({units}));
}

}  // namespace

void epilogues(Context& context) {
  const System system;
  const Device device = system.device(context.device.empty() ? "cpu" : context.device);
  const DeviceScope scope{device};
  matmul_row(context, 1, 256, 128);
  matmul_row(context, 32, 784, 128);
  matmul_row(context, 256, 1024, 1024);
  matmul_row(context, 4096, 64, 2048);
  matmul_row(context, 1024, 1024, 1024);
  if (device.info().type == DeviceType::discrete_gpu) matmul_row(context, 4096, 4096, 4096);
  convolution_row(context, 64, 64, 56, 3);
  convolution_row(context, 128, 128, 28, 3);
  convolution_row(context, 256, 256, 14, 1);
}

}  // namespace stoker::bench
