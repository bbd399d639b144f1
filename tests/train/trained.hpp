// A small training that tests interrupt: ten rows make three batches of an epoch.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {

class Trained : public Tensors {
 protected:
  using Values = std::map<std::string, std::vector<float>>;

  void TearDown() override { std::filesystem::remove_all(folder); }

  /// With dropout, so that the order of random numbers counts; always the same one.
  [[nodiscard]] static Model fresh(std::optional<Device> device = {}) {
    const Node x = input({2});
    return Model{Network{dense(dropout(dense(x, 8, {.activation = tanh}), 0.2), 1)},
                 {.loss = "mse", .learning_rate = 0.05, .device = std::move(device), .seed = 7}};
  }
  /// Row i is (i/size, 1 - i/size), its target their product. `before` sees i on the reader's thread.
  [[nodiscard]] static Dataset rows(std::int64_t size,
                                    std::function<void(std::int64_t)> before = {}) {
    return dataset_from_function(size, {{{DType::f32, {2}}}, {{DType::f32, {1}}}},
                                 [before, size](std::int64_t row, const RowsInto& into) {
                                   if (before) before(row);
                                   const float part =
                                       static_cast<float>(row) / static_cast<float>(size);
                                   const float values[] = {part, 1 - part};
                                   const float target = part * (1 - part);
                                   std::memcpy(into.inputs[0].data(), values, sizeof values);
                                   std::memcpy(into.targets[0].data(), &target, sizeof target);
                                 });
  }
  [[nodiscard]] static FitOptions with(std::int64_t epochs, std::vector<Callback> callbacks = {}) {
    return {.epochs = epochs, .batch_size = 4, .callbacks = std::move(callbacks)};
  }
  [[nodiscard]] static FitOptions with_batches(std::int64_t epochs, BatchCallback on_batch) {
    return {.epochs = epochs, .batch_size = 4, .on_batch = {std::move(on_batch)}};
  }

  [[nodiscard]] static Values values(const Model& model) {
    Values all;
    for (const auto& [name, tensor] : model.variables())
      all.emplace(name, tensor.to_vector<float>());
    return all;
  }
  /// What so many epochs make of a fresh one.
  [[nodiscard]] static Values trained_by_fit(std::int64_t epochs) {
    Model model = fresh();
    if (epochs > 0) fit(model, rows(10), with(epochs));
    return values(model);
  }

  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} /
      ("stoker_training_" + std::to_string(::getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace stoker::nn
