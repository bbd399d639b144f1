// Memory-bound kernels on the CPU device, in the bytes they must move, against a triad over arrays
// of the same size with the same number of threads, measured in turns.
#include <algorithm>

#include "stoker/api/script.hpp"
#include "stoker/bench/harness/floors.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"

namespace stoker::bench {
namespace {

constexpr std::int64_t side = 4096;
constexpr std::size_t elements =
    static_cast<std::size_t>(side) * side;  // 64 MiB of float: no cache holds it

/// One kernel call and the bytes it must move for each of the `elements`.
struct MemoryCase {
  std::string name;
  std::string kernel;
  std::vector<Buffer> inputs;
  Buffer output;
  Params params;
  double bytes_per_element;
  bool has_aim;
};

void measure(Context& context, const Device& device, MemoryFloor& floor, const MemoryCase& one) {
  const auto call = [&] { return device.submit(one.kernel, one.inputs, one.output, one.params); };
  const int calls = calls_to_fill(0.04, [&] { call().get(); });
  const double bytes = one.bytes_per_element * static_cast<double>(elements);
  const Duel turns = duel(
      context.repeats(20), [&] { return bytes / seconds_per_command(calls, call) * 1e-9; },
      [&] { return floor.triad() * 1e-9; });
  Row row{one.name, turns.ours, "GB/s", Better::higher};
  row.against("triad", turns.peer);
  if (one.has_aim) row.aim_ratio(0.8);
  context.report.add(
      row.remark(std::to_string(bytes / turns.ours.median() * 1e-6).substr(0, 5) + " ms"));
}

/// Eight operations in a row, two inputs, one output. What must be moved is the inputs and the
/// output; what lies between would stay in registers if somebody fused it.
void elementwise_chain(Context& context, const System& system, const Device& device,
                       MemoryFloor& floor, const Buffer& x, const Buffer& y, const Buffer& out) {
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", x.spec()).input("y", y.spec());
  pipeline.add("add", {"x", "y"}, "a").add("relu", {"a"}, "b").add("multiply", {"b", "y"}, "c");
  pipeline.add("sigmoid", {"c"}, "d").add("subtract", {"d", "x"}, "e").add("tanh", {"e"}, "f");
  pipeline.add("multiply", {"f", "x"}, "g").add("abs", {"g"}, "out").output("out");
  const Bindings bindings{{"x", x}, {"y", y}, {"out", out}};
  pipeline.run(bindings).get();
  const double bytes = 12.0 * static_cast<double>(elements);
  const Duel turns = duel(
      context.repeats(10),
      [&] { return bytes / seconds_of([&] { pipeline.run(bindings).get(); }) * 1e-9; },
      [&] { return floor.triad() * 1e-9; });
  context.report.add(Row{"chain of 8 elementwise steps", turns.ours, "GB/s", Better::higher}
                         .against("triad", turns.peer)
                         .remark("12 bytes an element in all; a Pipeline fuses nothing"));
}

/// The text that a script prints.
class Printed final : public ScriptObserver {
 public:
  void on_print(std::string_view line) noexcept override { text += line; }
  std::string text;
};

/// Eight operations as a script writes them, which its compiler fuses. It times itself, so that making the
/// operands does not count.
void script_chain(Context& context, const System& system, const Device& device,
                  MemoryFloor& floor) {
  ScriptHost host = script_host(system, device);
  const auto seconds_in_script = [&] {
    ScriptOptions options;
    options.limits = {0, 0, 0};
    const auto printed = std::make_shared<Printed>();
    options.observer = printed;
    const std::string code =
        "local n = " + std::to_string(elements) +
        "\n"
        "local x = buffer(string.pack('<ffff', 0.3, -0.4, 0.7, -0.9):rep(n // 4))\n"
        "local y = buffer(string.pack('<ffff', 0.6, 1.4, 0.7, 0.9):rep(n // 4))\n"
        "local function chain()\n"
        "  return kernels.abs(tanh(sigmoid(relu(x + y) * y) - x) * x)\n"
        "end\n"
        "wait(chain())\n"
        "local begin = now()\n"
        "for i = 1, 3 do wait(chain()) end\n"
        "print((now() - begin) / 3)";
    host.start({"chain", code}, options).done.get();
    return std::stod(printed->text);
  };
  const double bytes = 12.0 * static_cast<double>(elements);
  const Duel turns = duel(
      context.repeats(10), [&] { return bytes / seconds_in_script() * 1e-9; },
      [&] { return floor.triad() * 1e-9; });
  context.report.add(
      Row{"chain of 8 elementwise steps, a script", turns.ours, "GB/s", Better::higher}
          .against("triad", turns.peer)
          .remark("12 bytes an element in all"));
}

}  // namespace

void cpu_memory(Context& context) {
  const System system;
  const Device device = system.device("cpu");
  MemoryFloor floor{elements, std::min(2U, usable_cores())};
  const Buffer x = noise_buffer(device, Shape{side, side});
  const Buffer y = noise_buffer(device, Shape{side, side}, 0.5F, 1.5F);
  const Buffer out = device.buffer(DType::f32, Shape{side, side});
  const Buffer half = device.buffer(DType::f16, Shape{side, side});
  const Buffer row = noise_buffer(device, Shape{side});
  const Buffer sums = device.buffer(DType::f32, Shape{side});
  const MemoryCase cases[] = {
      {"copy", "copy", {x}, out, {}, 8, true},
      {"fill", "fill", {}, out, {{"value", 1.5}, {"shape", {side, side}}}, 4, true},
      {"elementwise_add", "add", {x, y}, out, {}, 12, true},
      {"elementwise_div", "elementwise_div", {x, y}, out, {}, 12, true},
      {"elementwise_add, one row to all", "add", {x, row}, out, {}, 8, true},
      {"relu", "relu", {x}, out, {}, 8, true},
      {"exp", "exp", {x}, out, {}, 8, true},
      {"tanh", "tanh", {x}, out, {}, 8, true},
      {"cast to f16", "cast", {x}, half, {{"dtype", "f16"}}, 6, true},
      {"reduce_sum, axis 0", "reduce_sum", {x}, sums, {{"axes", {0}}}, 4, true},
      {"reduce_sum, axis 1", "reduce_sum", {x}, sums, {{"axes", {1}}}, 4, true},
      {"reduce_max, axis 1", "reduce_max", {x}, sums, {{"axes", {1}}}, 4, true},
      {"softmax, rows of 4096", "softmax", {x}, out, {}, 8, false},
      {"layer_norm, rows of 4096", "layer_norm", {x, row, row}, out, {}, 8, false},
      {"transpose", "transpose", {x}, out, {}, 8, false},
  };
  for (const MemoryCase& one : cases) {
    try {
      measure(context, device, floor, one);
    } catch (const Error& error) {
      context.report.skip(one.name, error.what());
    }
  }
  elementwise_chain(context, system, device, floor, x, y, out);
  script_chain(context, system, device, floor);
}

}  // namespace stoker::bench
