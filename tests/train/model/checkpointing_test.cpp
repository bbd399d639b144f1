// Forward passes in pieces that gradients compute again: the same numbers, less memory.
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Checkpointing : public Tensors {
 protected:
  /// Sixteen layers, a way around, a state, numbers drawn, a layer applied twice.
  static Network winding() {
    const Node x = input({6});
    Node y = dense(x, 6, {.activation = tanh});
    const Layer shared{layers::BatchNorm{.name = "shared"}};
    y = shared(y);
    const Node around = y;
    for (int i = 0; i < 4; ++i) y = dropout(dense(y, 6, {.activation = gelu}), 0.2);
    y = shared(y + around);
    for (int i = 0; i < 3; ++i) y = dense(y, 6, {.activation = sigmoid});
    return Network{dense(y, 3)};
  }
  static Network deep() {
    Node y = input({32});
    for (int i = 0; i < 16; ++i) y = dense(y, 32, {.activation = tanh});
    return Network{dense(y, 2)};
  }
  static Batch batch(std::int64_t rows, std::int64_t width, int classes) {
    const Tensor x = sin(reshape(iota({rows * width}, DType::f32) * 1.7, {rows, width}));
    return {{x}, {iota({rows}) % classes}, rows};
  }
};

TEST_F(Checkpointing, changes_no_number) {
  const Network network = winding();
  const Variables variables = network.initialize(random::key(1));
  const Tensor x = batch(8, 6, 3).inputs[0];
  const auto plain = network.forward(variables, std::vector{x}, Mode::training, random::key(2));
  for (const std::size_t pieces : {1U, 2U, 4U, 5U, 100U}) {
    const auto made = network.forward_in_pieces(pieces, {}, variables, std::vector{x},
                                                Mode::training, random::key(2));
    expect_near(made.outputs[0], plain.outputs[0].to_vector<double>(), 1e-6);
    ASSERT_EQ(made.states.size(), plain.states.size());
    for (const auto& [name, state] : plain.states)
      expect_near(made.states.at(name), state.to_vector<double>(), 1e-6);
  }
}

TEST_F(Checkpointing, changes_no_gradient_and_no_training) {
  const Batch rows = batch(8, 6, 3);
  Model plain{winding(), {.learning_rate = 0.01, .seed = 3}};
  const auto expected = plain.compute_gradients(rows);
  for (int i = 0; i < 3; ++i) plain.train_step(rows);
  for (const std::int64_t pieces : {1, 4, 100}) {
    Model model{winding(), {.learning_rate = 0.01, .checkpoints = pieces, .seed = 3}};
    const auto got = model.compute_gradients(rows);
    EXPECT_NEAR(got.loss.item<double>(), expected.loss.item<double>(), 1e-6);
    for (const auto& [name, gradient] : expected.gradients)
      expect_near(got.gradients.at(name), gradient.to_vector<double>(), 1e-5);
    for (int i = 0; i < 3; ++i) model.train_step(rows);
    for (const auto& [name, tensor] : plain.variables(Part::states))
      expect_near(model.variables().at(name), tensor.to_vector<double>(), 1e-4);
  }
}

TEST_F(Checkpointing, is_for_integers_and_loops_and_frozen_layers_too) {
  const Node words = embedding(stoker::nn::input({5}, DType::s32), 7, 4, {.name = "words"});
  const std::vector<Node> memory =
      Layer{layers::Lstm{.units = 6, .name = "memory"}}.outputs({words});
  const Network network{dense(dense(memory.at(1), 4, {.activation = relu, .name = "mid"}), 2)};
  const Batch rows{{iota({6, 5}) % 7}, {iota({6}) % 2}, 6};
  const auto train = [&](std::int64_t pieces, const std::vector<std::string>& frozen) {
    Model model{network, {.learning_rate = 0.01, .checkpoints = pieces, .seed = 3}};
    if (!frozen.empty()) model.freeze(frozen);
    for (int i = 0; i < 3; ++i) model.train_step(rows);
    return model.variables();
  };
  for (const std::vector<std::string>& frozen :
       {std::vector<std::string>{}, {"mid"}, {"words", "memory"}}) {
    const Variables plain = train(0, frozen);
    for (const std::int64_t pieces : {2, 4}) {
      const Variables got = train(pieces, frozen);
      for (const auto& [name, tensor] : plain)
        expect_near(got.at(name), tensor.to_vector<double>(), 1e-4);
    }
  }
}

TEST_F(Checkpointing, takes_less_memory_for_a_step) {
  const Batch rows = batch(512, 32, 2);
  const auto working = [&](std::int64_t pieces) {
    const Model model{deep(), {.checkpoints = pieces, .seed = 3}};
    const StepMemory memory = model.step_memory(rows);
    RecordProperty("working_" + std::to_string(pieces), static_cast<int>(memory.working));
    return memory.working;
  };
  const std::uint64_t kept = working(0);
  EXPECT_GE(kept, 16U * 512 * 32 * 4) << "every activation";
  EXPECT_LT(working(4), kept * 3 / 5);
  EXPECT_LT(working(100), kept * 3 / 5) << "gradients of activations are not kept either";
}

TEST_F(Checkpointing, says_what_a_step_takes) {
  const Model model{deep(), {.optimizer = "adam", .seed = 3}};
  const Batch rows = batch(64, 32, 2);
  const StepMemory memory = model.step_memory(rows);
  EXPECT_EQ(memory.batch, 64U * 32 * 4 + 64 * 4);
  EXPECT_EQ(memory.variables, model.info().bytes);
  EXPECT_EQ(memory.optimizer, model.info().optimizer_bytes);
  EXPECT_GE(memory.optimizer, 2 * memory.variables) << "two moments for each parameter";
  EXPECT_EQ(memory.peak(),
            memory.working + memory.batch + 2 * (memory.variables + memory.optimizer));
  EXPECT_EQ(model.profile_step(rows, 1).memory.working, memory.working);
  EXPECT_GT(model.step_memory(batch(512, 32, 2)).working, memory.working);
}

TEST_F(Checkpointing, of_fewer_than_no_pieces_is_refused) {
  EXPECT_EQ(nn::code_of([] {
              return Model{deep(), {.checkpoints = -1}};
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(Checkpointing, shows_what_a_step_comes_to) {
  const Model model{Network{dense(input({2}), 2)}, {.optimizer = "sgd"}};
  const std::string text = model.trace_step(batch(4, 2, 2));
  EXPECT_NE(text.find("matmul"), std::string::npos) << text;
  EXPECT_NE(text.find("pipeline of"), std::string::npos) << text;
}

}  // namespace
}  // namespace stoker::nn
