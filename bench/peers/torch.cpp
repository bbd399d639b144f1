// LibTorch 1.13 at the rows of bench/tensors/*.cpp and at the models of bench/onnx/made_models.hpp: `bench_torch ROW
// SAMPLES` prints seconds a call, one sample a line. bench/harness/torch_peer.cpp starts it with the settings that make
// it fast on this kind of machine.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using Call = std::function<void()>;
constexpr std::int64_t chain_elements = std::int64_t{1} << 24;

/// Eight operations in place, on two inputs.
Call chain(const std::function<void(const torch::Tensor& out, const torch::Tensor& x,
                                    const torch::Tensor& y)>& after_sum) {
  const auto x = torch::rand({chain_elements});
  const auto y = torch::rand({chain_elements}) + 0.5;
  auto out = torch::empty({chain_elements});
  return [=]() mutable {
    torch::add_out(out, x, y);
    after_sum(out, x, y);
  };
}

Call plain_chain() {
  return chain([](const torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& y) {
    out.mul_(y).sub_(x).relu_().mul_(x).add_(y).abs_().mul_(y);
  });
}

Call curved_chain() {
  return chain([](const torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& y) {
    out.relu_().mul_(y).sigmoid_().sub_(x).tanh_().mul_(x).abs_();
  });
}

Call rows(const std::function<torch::Tensor(const torch::Tensor&)>& f) {
  const auto x = torch::rand({4096, 1024});
  return [=] { f(x); };
}

Call square(const std::function<torch::Tensor(const torch::Tensor&)>& f) {
  const auto x = torch::rand({4096, 4096});
  return [=] { f(x); };
}

Call add_new() {
  const auto a = torch::rand({16});
  const auto b = torch::rand({16});
  return [=] { torch::add(a, b); };
}

Call forward_backward() {
  const auto a = torch::rand({16}, torch::requires_grad());
  const auto b = torch::rand({16}, torch::requires_grad());
  return [=]() mutable {
    a.mutable_grad() = torch::Tensor{};
    b.mutable_grad() = torch::Tensor{};
    (a + b).sum().backward();
  };
}

/// A step of training: batch 32, cross-entropy, Adam.
Call train(torch::nn::Sequential net, const std::vector<std::int64_t>& row, std::int64_t classes) {
  const auto adam = std::make_shared<torch::optim::Adam>(net->parameters(), 1e-3);
  std::vector<std::int64_t> shape{32};
  shape.insert(shape.end(), row.begin(), row.end());
  const auto x = torch::randn(shape);
  const auto labels = torch::randint(0, classes, {32}, torch::kLong);
  return [=]() mutable {
    adam->zero_grad();
    torch::nn::functional::cross_entropy(net->forward(x), labels).backward();
    adam->step();
  };
}

/// ReLU between.
torch::nn::Sequential perceptron(const std::vector<std::int64_t>& sizes) {
  torch::nn::Sequential net;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    net->push_back(torch::nn::Linear(sizes[i - 1], sizes[i]));
    if (i + 1 < sizes.size()) net->push_back(torch::nn::ReLU());
  }
  return net;
}

Call train_perceptron(const std::vector<std::int64_t>& sizes) {
  return train(perceptron(sizes), {sizes.front()}, sizes.back());
}

Call predict(torch::nn::Sequential net, const std::vector<std::int64_t>& shape) {
  net->eval();
  const auto x = torch::randn(shape);
  return [=]() mutable {
    const torch::InferenceMode none_recorded;
    net->forward(x);
  };
}

Call predict_perceptron(std::int64_t batch) {
  return predict(perceptron({784, 256, 128, 10}), {batch, 784});
}

Call predict_convolutions(std::int64_t batch) {
  namespace nn = torch::nn;
  return predict(
      nn::Sequential{nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::ReLU(),
                     nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)),
                     nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(1568, 128), nn::ReLU(),
                     nn::Linear(128, 10)},
      {batch, 1, 28, 28});
}

/// A block of 256 features, 4 heads, 1024 hidden ones, 128 tokens.
Call predict_encoder(std::int64_t batch) {
  namespace nn = torch::nn;
  constexpr std::int64_t features = 256, heads = 4, tokens = 128;
  nn::Linear q{features, features}, k{features, features}, v{features, features},
      attention{features, features}, hidden{features, 4 * features},
      forward{4 * features, features};
  nn::LayerNorm norm1{nn::LayerNormOptions({features})}, norm2{nn::LayerNormOptions({features})};
  const auto x = torch::randn({batch, tokens, features});
  return [=]() mutable {
    const torch::InferenceMode none_recorded;
    const auto by_heads = [&](nn::Linear& project) {
      return project(x).view({batch, tokens, heads, features / heads}).transpose(1, 2);
    };
    const auto scores = by_heads(q).matmul(by_heads(k).transpose(2, 3)).div_(8);
    const auto mixed = scores.softmax(-1).matmul(by_heads(v));
    const auto joined = mixed.transpose(1, 2).reshape({batch, tokens, features});
    const auto first = norm1(x + attention(joined));
    norm2(first + forward(hidden(first).relu_()));
  };
}

/// That of examples/digits.cpp.
Call train_digits() {
  namespace nn = torch::nn;
  return train(
      nn::Sequential{nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::ReLU(),
                     nn::Conv2d(16, 32, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Dropout(0.25), nn::Linear(32 * 3 * 3, 64), nn::ReLU(), nn::Linear(64, 10)},
      {1, 8, 8}, 10);
}

double seconds(const Call& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<Call()>> all{
      {"plain chain", plain_chain},
      {"chain", curved_chain},
      {"softmax", [] { return rows([](const torch::Tensor& x) { return torch::softmax(x, 1); }); }},
      {"layer_norm",
       [] { return rows([](const torch::Tensor& x) { return torch::layer_norm(x, {1024}); }); }},
      {"sum axis 0", [] { return square([](const torch::Tensor& x) { return x.sum(0); }); }},
      {"sum axis 1", [] { return square([](const torch::Tensor& x) { return x.sum(1); }); }},
      {"add of 16", add_new},
      {"forward and backward", forward_backward},
      {"train 10-64-5",
       [] {
         return train_perceptron({10, 64, 5});
       }},
      {"train 50-128-32",
       [] {
         return train_perceptron({50, 128, 32});
       }},
      {"train 784-128-10",
       [] {
         return train_perceptron({784, 128, 10});
       }},
      {"train 784-1024-256-10",
       [] {
         return train_perceptron({784, 1024, 256, 10});
       }},
      {"train digits", train_digits},
      {"predict 1", [] { return predict_perceptron(1); }},
      {"predict 32", [] { return predict_perceptron(32); }},
      {"cnn 1", [] { return predict_convolutions(1); }},
      {"cnn 32", [] { return predict_convolutions(32); }},
      {"encoder 1", [] { return predict_encoder(1); }},
      {"encoder 8", [] { return predict_encoder(8); }},
  };
  if (argc != 3 || !all.count(argv[1])) return 2;
  torch::set_num_threads(2);
  at::globalContext().setFlushDenormal(true);  // a batch that has been learnt has such gradients
  const Call call = all.at(argv[1])();
  const int samples = std::stoi(argv[2]);
  call();
  int calls = 1;
  while (seconds(call, calls) * calls < 0.02) calls *= 4;
  for (int i = 0; i < samples; ++i) std::printf("%.9g\n", seconds(call, calls));
  return 0;
}
