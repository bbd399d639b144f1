// Steps of training, batch 32, cross-entropy, Adam: forward, backward and optimizer as one program, beside
// LibTorch in turns. Every 16th loss is waited for. Both take subnormal numbers for 0, which is what gradients
// and moments become of a batch that has been learnt by heart.
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/harness/torch_peer.hpp"

namespace stoker::bench {
namespace {

nn::Network perceptron(const std::vector<std::int64_t>& sizes) {
  nn::Node y = nn::input(Shape{sizes.front()});
  for (std::size_t i = 1; i < sizes.size(); ++i)
    y = nn::dense(y, sizes[i], {.activation = i + 1 < sizes.size() ? "relu" : "linear"});
  return nn::Network{y};
}

/// That of examples/digits.cpp.
nn::Network digits() {
  nn::Node y = nn::input({8, 8, 1});
  y = nn::conv(y, 16, {.kernel_size = 3, .padding = nn::same, .activation = nn::relu});
  y = nn::conv(y, 32, {.kernel_size = 3, .activation = nn::relu});
  y = nn::max_pool(y, {2});
  y = nn::dense(nn::dropout(nn::flatten(y), 0.25), 64, {.activation = nn::relu});
  return nn::Network{nn::dense(y, 10)};
}

/// `name`: of the peer's row, too.
void row(Context& context, const PeerProgram& torch, const std::string& name,
         const nn::Network& network, double aim) {
  nn::Model model{network, {.seed = 1}};
  const auto batches = [](const Shape& shape) {
    std::vector<std::int64_t> extents{32};
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
    return Shape::make(extents, "bench");
  };
  const Shape inputs = batches(network.inputs()[0].row.shape);
  const std::int64_t classes = network.outputs()[0].shape[0];
  const nn::Batch batch{{random::normal(random::key(1), inputs).values.eval()},
                        {random::randint(random::key(2), 0, classes, {32}).values.eval()},
                        32};
  const auto seconds = [&](int steps) {
    return seconds_of([&] {
             Tensor loss;
             for (int i = 1; i <= steps; ++i) {
               loss = model.train_step(batch);
               if (i % 16 == 0) loss.computed().get();
             }
             loss.computed().get();
           }) /
           steps;
  };
  seconds(32);
  const int steps = calls_to_fill(0.05, [&] { seconds(1); });
  Samples ours;
  Samples theirs;
  for (int turn = 0; turn < context.repeats(10) / 2 + 1; ++turn) {
    for (int i = 0; i < 4; ++i) ours.add(seconds(steps) * 1e6);
    if (!torch.why_absent().empty()) continue;
    const Samples run = torch.run("train " + name, 4);
    for (const double one : run.values()) theirs.add(one * 1e6);
  }
  Row made{"step of " + name + ", " + std::to_string(model.info().parameters) + " parameters", ours,
           "µs", Better::lower};
  const nn::StepMemory memory = model.step_memory(batch);
  made.note = std::to_string(memory.peak() / 1024) + " KiB a step";
  if (context.device.empty() || context.device == "cpu") made.note += "; subnormals flushed";
  if (theirs.size() > 0) made.against(torch.name(), theirs).aim_ratio(aim);
  context.report.add(std::move(made));
}

}  // namespace

void training(Context& context) {
  SystemOptions options;
  options.config.flush_subnormals = true;  // as peers/torch.cpp does
  const System system{std::move(options)};
  const DeviceScope scope{
      system.device(context.device.empty() ? std::string{"cpu"} : context.device)};
  const PeerProgram torch = find_torch();
  if (!torch.why_absent().empty()) context.report.skip(torch.name(), torch.why_absent());
  for (const auto& [sizes, aim] :
       std::vector<std::pair<std::vector<std::int64_t>, double>>{{{10, 64, 5}, 0.33},
                                                                 {{50, 128, 32}, 0.33},
                                                                 {{784, 128, 10}, 0.4},
                                                                 {{784, 1024, 256, 10}, 0.5}}) {
    std::string name;
    for (const std::int64_t size : sizes) name += (name.empty() ? "" : "-") + std::to_string(size);
    row(context, torch, name, perceptron(sizes), aim);
  }
  row(context, torch, "digits", digits(), 0.5);
}

}  // namespace stoker::bench
