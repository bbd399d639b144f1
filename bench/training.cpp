// Steps of training, batch 32, ReLU between, cross-entropy, Adam: forward, backward and optimizer as one
// program, beside LibTorch in turns. Every 16th loss is waited for.
#include "stoker/api/nn/model.hpp"
#include "stoker/bench/groups.hpp"
#include "stoker/bench/inputs.hpp"
#include "stoker/bench/torch_peer.hpp"

namespace stoker::bench {
namespace {

nn::Network perceptron(const std::vector<std::int64_t>& sizes) {
  nn::Node y = nn::input(Shape{sizes.front()});
  for (std::size_t i = 1; i < sizes.size(); ++i)
    y = nn::dense(y, sizes[i], {{"activation", i + 1 < sizes.size() ? "relu" : "linear"}});
  return nn::Network{y};
}

void row(Context& context, const PeerProgram& torch, const std::vector<std::int64_t>& sizes,
         double aim) {
  nn::Model model{perceptron(sizes), {.seed = 1}};
  const nn::Batch batch{{random::normal(random::key(1), {32, sizes.front()}).values.eval()},
                        {random::randint(random::key(2), 0, sizes.back(), {32}).values.eval()},
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
  std::string name;
  for (const std::int64_t size : sizes) name += (name.empty() ? "" : "-") + std::to_string(size);
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
  if (theirs.size() > 0) made.against(torch.name(), theirs).aim_ratio(aim);
  context.report.add(std::move(made));
}

}  // namespace

void training(Context& context) {
  const System system;
  const DeviceScope scope{
      system.device(context.device.empty() ? std::string{"cpu"} : context.device)};
  const PeerProgram torch = find_torch();
  if (!torch.why_absent().empty()) context.report.skip(torch.name(), torch.why_absent());
  row(context, torch, {10, 64, 5}, 0.33);
  row(context, torch, {50, 128, 32}, 0.33);
  row(context, torch, {784, 128, 10}, 0.4);
  row(context, torch, {784, 1024, 256, 10}, 0.5);
}

}  // namespace stoker::bench
