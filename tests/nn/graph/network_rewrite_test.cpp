// Graphs with other layers in the place of some: names, sharing and numbers stay.
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class NetworkRewriting : public Tensors {
 protected:
  static Layer same(const Layer& layer, const LayerInfo&) { return layer; }
};

TEST_F(NetworkRewriting, without_changes_gives_the_same_network) {
  const Node a = input("a", {3});
  const Layer shared{layers::Dense{.units = 3}};
  const Node h = shared(shared(a));
  const Network network{{dropout(dense(h, 2), 0.5), h + a}};
  const Network again = network.with_layers(same);
  EXPECT_EQ(again.to_json(), network.to_json());
  const Variables variables = network.initialize(random::key(1));
  const std::vector<Tensor> x{ones({4, 3})};
  for (const Mode mode : {Mode::inference, Mode::training}) {
    const auto one = network.forward(variables, x, mode, random::key(2));
    const auto other = again.forward(variables, x, mode, random::key(2));
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(one.outputs[i].to_vector<float>(), other.outputs[i].to_vector<float>());
  }
}

TEST_F(NetworkRewriting, puts_layers_in_the_place_of_others_under_their_names) {
  const Network network{dense(activation(dense(input({2}), 3), relu), 1)};
  std::vector<std::string> asked;
  const Network changed = network.with_layers([&](const Layer& layer, const LayerInfo& info) {
    asked.push_back(info.name);
    if (layer.kind() != "activation") return layer;
    return Layer{layers::Activation{.function = tanh}};
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"dense_0", "activation_0", "dense_1"}));
  EXPECT_EQ(changed.layers()[1].name, "activation_0");
  const Variables variables{{"dense_0.kernel", ones({2, 3})},
                            {"dense_0.bias", zeros({3})},
                            {"dense_1.kernel", ones({3, 1})},
                            {"dense_1.bias", zeros({1})}};
  expect_near(changed.forward(variables, std::vector{tensor({{0.1, 0.2}})}).outputs[0],
              {3 * std::tanh(0.3)});
}

TEST_F(NetworkRewriting, puts_something_behind_outputs) {
  const Network network{dense(input({2}), 3, {.name = "d"})};
  const Network changed =
      network.with_layers(same, [](const Node& y) { return activation(y, softmax); });
  const Tensor y =
      changed.forward(network.initialize(random::key(1)), std::vector{ones({4, 2})}).outputs[0];
  expect_near(sum(y, {Axes{1}}), {1, 1, 1, 1});
}

TEST_F(NetworkRewriting, refuses_what_does_not_fit) {
  const Network network{dense(dense(input({2}), 3, {.name = "first"}), 1, {.name = "second"})};
  const Error shape = nn::error_of([&] {
    return network.with_layers([](const Layer& layer, const LayerInfo& info) {
      return info.name == "first" ? Layer{layers::MaxPool{.kernel_size = 2}} : layer;
    });
  });
  EXPECT_EQ(shape.detail("layer"), "first");
  const Network last{
      dense(Layer{layers::Lstm{.units = 3, .name = "memory"}}.outputs({input({4, 2})}).at(1), 1)};
  const Error outputs = nn::error_of([&] {
    return last.with_layers([](const Layer& layer, const LayerInfo& info) {
      return info.name == "memory" ? Layer{layers::Dense{.units = 3}} : layer;
    });
  });
  EXPECT_EQ(outputs.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(outputs.detail("layer"), "memory");
}

}  // namespace
}  // namespace stoker::nn
