// Tensors on the CPU device against LibTorch 1.13, tuned, and against a triad over as much memory. Each
// row's peers are measured in the same run, in turns.
#include <algorithm>

#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/floors.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/harness/torch_peer.hpp"

namespace stoker::bench {
namespace {

constexpr std::int64_t chain_elements = std::int64_t{1} << 24;
constexpr int turns = 5;

Tensor noise_tensor(const Shape& shape, float low = -1, float high = 1) {
  return tensor(noise(static_cast<std::size_t>(shape.elements()), low, high), shape).eval();
}

/// Eight operations, two inputs, one output: as fast as the memory.
Tensor chain(const Tensor& x, const Tensor& y) {
  return abs(max((x + y) * y - x, 0.0) * x + y) * y;
}

/// Eight operations, two of them the kind that takes longer than its memory.
Tensor curved_chain(const Tensor& x, const Tensor& y) {
  return abs(tanh(sigmoid(relu(x + y) * y) - x) * x);
}

/// Seconds a call, the last of which is waited for.
double seconds_a_call(int calls, const std::function<Tensor()>& call) {
  Tensor last;
  const double all = seconds_of([&] {
    for (int i = 0; i < calls; ++i) last = call().eval();
    last.computed().get();
  });
  return all / calls;
}

class Rows {
 public:
  Rows(Context& context, const PeerProgram& torch) : context_{context}, torch_{torch} {}

  /// `aim`: ours to theirs in time, at most.
  void against_torch(const std::string& name, const std::string& row, double factor,
                     const std::string& unit, double aim, const std::function<Tensor()>& call) {
    const int calls = calls_to_fill(0.04, [&] { call().computed().get(); });
    Samples ours;
    Samples theirs;
    for (int turn = 0; turn < context_.repeats(turns * 2) / 2 + 1; ++turn) {
      for (int i = 0; i < 4; ++i) ours.add(seconds_a_call(calls, call) * factor);
      if (!torch_.why_absent().empty()) continue;
      const Samples run = torch_.run(row, 4);
      for (const double seconds : run.values()) theirs.add(seconds * factor);
    }
    Row made{name, ours, unit, Better::lower};
    if (theirs.size() > 0) made.against(torch_.name(), theirs).aim_ratio(aim);
    context_.report.add(std::move(made));
  }

  void against_triad(const std::string& name, MemoryFloor& floor, double bytes, double aim,
                     const std::function<Tensor()>& call) {
    const int calls = calls_to_fill(0.04, [&] { call().computed().get(); });
    const Duel both = duel(
        context_.repeats(20), [&] { return bytes / seconds_a_call(calls, call) * 1e-9; },
        [&] { return floor.triad() * 1e-9; });
    context_.report.add(
        Row{name, both.ours, "GB/s", Better::higher}.against("triad", both.peer).aim_ratio(aim));
  }

 private:
  Context& context_;
  const PeerProgram& torch_;
};

/// What one small operation costs.
void small(Context& context, Rows& rows) {
  const Tensor a = noise_tensor({16});
  const Tensor b = noise_tensor({16});
  rows.against_torch("add of 16, one by one", "add of 16", 1e9, "ns", 2000.0 / 450,
                     [&] { return a + b; });
  constexpr int adds = 1000;
  const auto many = jit([](const Tensor& x, const Tensor& y) {
    Tensor sum = x;
    for (int i = 0; i < adds; ++i) sum = sum + y;
    return sum;
  });
  many(a, b).computed().get();
  const int calls = calls_to_fill(0.02, [&] { many(a, b).computed().get(); });
  const Samples inside = sample(context.repeats(20), [&] {
    return seconds_a_call(calls, [&] { return many(a, b); }) / adds * 1e9;
  });
  context.report.add(
      Row{"add of 16, inside of a traced function", inside, "ns", Better::lower}.aim(100).remark(
          "of 1000 in one call"));
  const auto both = jit([](const Tensor& x, const Tensor& y) {
    return value_and_grad([](const std::pair<Tensor, Tensor>& in) {
      return sum(in.first + in.second);
    })(std::pair{x, y});
  });
  rows.against_torch("forward + backward of sum(a + b), 16 elements", "forward and backward", 1e9,
                     "ns", 2000.0 / 7500, [&] { return both(a, b).first; });
}

}  // namespace

void tensors(Context& context) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  const PeerProgram torch = find_torch();
  if (!torch.why_absent().empty()) context.report.skip(torch.name(), torch.why_absent());
  Rows rows{context, torch};
  small(context, rows);

  const auto traced_chain = jit(chain);
  const auto traced_curve = jit(curved_chain);
  {
    MemoryFloor floor{static_cast<std::size_t>(chain_elements), std::min(2U, usable_cores())};
    const Tensor x = noise_tensor({chain_elements});
    const Tensor y = noise_tensor({chain_elements}, 0.5F, 1.5F);
    const auto call = [&] { return traced_chain(x, y); };
    rows.against_triad("chain of 8, 16M elements", floor, 12.0 * chain_elements, 0.8, call);
    rows.against_torch("chain of 8, 16M elements, time", "plain chain", 1e3, "ms", 1.0 / 7, call);
    rows.against_torch("the same with a sigmoid and a tanh", "chain", 1e3, "ms", 1.0 / 7,
                       [&] { return traced_curve(x, y); });
  }
  const Tensor x = noise_tensor({4096, 1024});
  rows.against_torch("softmax [4096,1024]", "softmax", 1e3, "ms", 1 / 2.5,
                     [&] { return softmax(x); });
  const Tensor ones_row = ones({1024}).eval();
  const Tensor zeros_row = zeros({1024}).eval();
  rows.against_torch("layer_norm [4096,1024]", "layer_norm", 1e3, "ms", 1 / 1.5,
                     [&] { return layer_norm(x, ones_row, zeros_row); });
  const Tensor square = noise_tensor({4096, 4096});
  rows.against_torch("sum [4096,4096], axis 0", "sum axis 0", 1e3, "ms", 1 / 2.5,
                     [&] { return sum(square, {Axes{0}}); });
  rows.against_torch("sum [4096,4096], axis 1", "sum axis 1", 1e3, "ms", 1,
                     [&] { return sum(square, {Axes{1}}); });
}

namespace {

/// Milliseconds until the first result of a fused kernel that nobody has compiled before.
double first_call_ms(const std::string& device, const std::filesystem::path& cache, double seed) {
  SystemOptions options;
  options.config.cache_dir = cache;
  const System system{options};
  const DeviceScope scope{system.device(device)};
  const Tensor x = noise_tensor({1024});
  (x * 2).computed().get();  // the device is awake
  return seconds_of([&] {
           const Tensor y = tanh(exp(x * seed) + x) * sigmoid(x - seed);
           y.computed().get();
         }) *
         1e3;
}

}  // namespace

void tensors_first_call(Context& context) {
  const System system;
  for (const std::string device : {"cpu", "vulkan"}) {
    const auto folder = temporary_folder();
    double seed = 0.5;
    try {
      const Samples cold =
          sample(context.repeats(10), [&] { return first_call_ms(device, folder, seed += 0.01); });
      context.report.add(
          Row{"first call of a fused kernel, " + device, cold, "ms", Better::lower}.aim(
              device == "cpu" ? 50 : 100));
      const Samples warm =
          sample(context.repeats(10), [&] { return first_call_ms(device, folder, seed); });
      context.report.add(Row{"the same in a new system, from the disk cache, " + device, warm, "ms",
                             Better::lower});
    } catch (const Error& error) {
      context.report.skip("first call, " + device, error.what());
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace stoker::bench
