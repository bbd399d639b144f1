// The examples of docs/training.md; see guides_test.cpp.
#include <gtest/gtest.h>

#include "stoker/api/nn/fit.hpp"
#include "stoker/api/system.hpp"

namespace nn = stoker::nn;

namespace {

class TrainingGuide : public testing::Test {
 protected:
  stoker::System system;
  stoker::DeviceScope scope{system.device("cpu")};
};

TEST_F(TrainingGuide, graphs) {
  const nn::Node x = nn::input({8, 8, 1});
  nn::Node y = nn::conv(x, 16, {{"kernel_size", 3}, {"padding", "same"}, {"activation", "relu"}});
  y = nn::max_pool(y, {2});
  y = nn::dense(nn::flatten(y), 10, {}, "scores");
  const nn::Network network{y};
  EXPECT_EQ(network.layer("scores").outputs[0].to_string(), "[batch, 10]");
}

TEST_F(TrainingGuide, training) {
  const nn::Node in = nn::input({2});
  nn::Model model{nn::Network{nn::dense(nn::dense(in, 8, {{"activation", "tanh"}}), 2)},
                  {.loss = "cross_entropy", .optimizer = "adam", .learning_rate = 0.05, .seed = 1}};
  const nn::Dataset data{stoker::tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}),
                         stoker::tensor({0, 1, 1, 0})};
  const nn::History history =
      nn::fit(model, data,
              {.epochs = 100, .batch_size = 4, .callbacks = {nn::callbacks::early_stopping(50)}});
  EXPECT_LT(history.back().loss, 0.1);
  const stoker::Tensor scores = model.predict(stoker::tensor({{1.0, 0.0}}));
  EXPECT_EQ(scores.shape(), (stoker::Shape{1, 2}));
}

}  // namespace
