// Predictions of a perceptron 784-256-128-10, each waited for and read: traced once (Model::predict), and with
// the graph built at each call (Model::apply), in turns; the former beside LibTorch; and by two threads at once.
#include <thread>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/torch_peer.hpp"

namespace stoker::bench {
namespace {

nn::Model perceptron() {
  nn::Node y = nn::input({784});
  for (const std::int64_t units : {256, 128}) y = nn::dense(y, units, {.activation = nn::relu});
  return nn::Model{nn::Network{nn::dense(y, 10)}, {.seed = 1}};
}

/// Microseconds for one call of `predict`, of many by each of so many threads at once.
template <class Predict> double microseconds(int threads, int calls, const Predict& predict) {
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> others;
    const auto work = [&] {
      for (int i = 0; i < calls; ++i) keep(predict());
    };
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  });
  return seconds / (calls * threads) * 1e6;
}

void row(Context& context, const PeerProgram& torch, const nn::Model& model, std::int64_t batch,
         int threads) {
  const Tensor x = random::normal(random::key(1), {batch, 784}).values.eval();
  const nn::Variables variables = model.variables();
  const auto traced = [&] { return model.predict(x).to_vector<float>()[0]; };
  const auto built = [&] { return model.apply(variables, x).to_vector<float>()[0]; };
  const int calls = calls_to_fill(0.05, traced);
  const Duel turns = duel(
      context.repeats(30), [&] { return microseconds(threads, calls, traced); },
      [&] { return microseconds(threads, calls, built); });
  const std::string name = "predict " + std::to_string(batch) + (batch == 1 ? " row" : " rows") +
                           (threads > 1 ? ", " + std::to_string(threads) + " threads" : "");
  Row before{name, turns.ours, "µs", Better::lower};
  before.against("graph built at each call", turns.peer).aim_ratio(1);
  context.report.add(std::move(before));
  if (threads > 1 || !torch.why_absent().empty()) return;
  Samples theirs;
  const Samples run = torch.run("predict " + std::to_string(batch), 10);
  for (const double one : run.values()) theirs.add(one * 1e6);
  Row beside{name, turns.ours, "µs", Better::lower};
  beside.against(torch.name(), theirs);
  context.report.add(std::move(beside));
}

}  // namespace

void predictions(Context& context) {
  const System system;
  const DeviceScope scope{
      system.device(context.device.empty() ? std::string{"cpu"} : context.device)};
  const PeerProgram torch = find_torch();
  if (!torch.why_absent().empty()) context.report.skip(torch.name(), torch.why_absent());
  const nn::Model model = perceptron();
  for (const std::int64_t batch : {1, 32}) row(context, torch, model, batch, 1);
  for (const int threads : {2, 8}) row(context, torch, model, 1, threads);
}

}  // namespace stoker::bench
