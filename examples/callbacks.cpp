// Callbacks of training: whoever is called after each epoch may look, save, change the rate, or
// stop.
//
//     example_callbacks [FOLDER]
//
// Learns which of three rings a point lies in: with a log of its own, a rate that rises at first
// and falls where nothing gets better, early stopping and checkpoints. Then does half of such a
// training, goes on from a checkpoint, and compares: the numbers are the same to the bit.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <numbers>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;
namespace callbacks = stoker::nn::callbacks;

namespace {

/// Points around 0 in three rings, a third each: x and y, and the ring. Some lie between two.
nn::Dataset rings(std::int64_t points) {
  const auto [uniform, next] = stoker::random::uniform(stoker::random::key(3), {points});
  const auto [error, unused] = stoker::random::normal(next, {points}, 0, 0.15);
  const stoker::Tensor ring = stoker::remainder(stoker::iota({points}), 3);
  const stoker::Tensor radius = 0.5 + 0.5 * ring + error;
  const stoker::Tensor angle = 2 * std::numbers::pi * uniform;
  return {stoker::stack({radius * cos(angle), radius * sin(angle)}, 1), ring};
}

nn::Model fresh() {
  const nn::Node x = nn::input({2});
  const nn::Node hidden = nn::dense(nn::dropout(nn::dense(x, 32, {.activation = nn::relu}), 0.1),
                                    16, {.activation = nn::relu});
  return nn::Model{nn::Network{nn::dense(hidden, 3)}, {.learning_rate = 0.01, .seed = 1}};
}

/// A callback is a function: this one prints a line.
void print(const nn::EpochMetrics& epoch, nn::Training& training) {
  std::cout << "epoch " << std::setw(2) << epoch.epoch << "  loss " << epoch.loss << "  held out "
            << *epoch.validation_loss << "  accuracy " << epoch.validation_metrics.at("accuracy")
            << "  rate ×" << training.model().learning_rate_scale() << '\n';
}

bool same(const nn::Model& a, const nn::Model& b) {
  for (const auto& [name, tensor] : a.variables())
    if (tensor.to_vector<float>() != b.variables().at(name).to_vector<float>()) return false;
  return true;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::filesystem::path folder = count > 1 ? arguments[1] : "checkpoints";
  const nn::Split parts = nn::split(rings(900), {.val_split = 0.25, .seed = 2});
  std::cout << std::fixed << std::setprecision(4);

  // Callbacks are called in their order. What they hold, as the best loss so far, belongs to one
  // training.
  nn::Model model = fresh();
  const nn::History history =
      nn::fit(model, parts.train,
              {.epochs = 60,
               .validation = parts.validation,
               .metrics = {nn::metrics::Accuracy{}},
               .callbacks = {callbacks::warmup({.epochs = 3, .start = 0.1}), print,
                             callbacks::reduce_on_plateau({.patience = 3}),
                             callbacks::early_stopping({.patience = 8, .min_delta = 1e-3}),
                             callbacks::checkpoint(2, folder)}});
  // fit() returns what print() was shown: one entry for each epoch.
  const auto best = std::ranges::min_element(
      history, {}, [](const nn::EpochMetrics& one) { return *one.validation_loss; });
  std::cout << "stopped after epoch " << history.back().epoch << " of 60; the best was epoch "
            << best->epoch << ", its loss " << *best->validation_loss << "\n";

  // Eight epochs at once, and the last four from the file that the first four left.
  nn::Model whole = fresh();
  nn::fit(whole, parts.train, {.epochs = 8, .callbacks = {callbacks::checkpoint(4, folder)}});
  nn::Model resumed = nn::Model::load(folder / "checkpoint_epoch_4.safetensors");
  nn::fit(resumed, parts.train, {.epochs = 8, .first_epoch = 5});
  std::cout << "training that went on from epoch 4 is "
            << (same(whole, resumed) ? "the same to the bit" : "NOT the same") << '\n';
  return same(whole, resumed) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
