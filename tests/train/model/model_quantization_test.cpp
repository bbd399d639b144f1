// Models whose weights take less memory: near the whole ones, smaller, saved and loaded.
#include <unistd.h>
#include <cmath>
#include <filesystem>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class ModelQuantization : public Tensors {
 protected:
  /// Four clouds of points, one for each class.
  static Dataset clouds() {
    const Shape rows{128};
    const Tensor label = iota(rows) % 4;
    const Tensor right = label % 2;
    const Tensor centre =
        stack({as_type(right, DType::f32), as_type((label - right) / 2, DType::f32)}, 1);
    return {centre + random::normal_split(random::key(3), {128, 2}, 0, 0.2), label};
  }
  static Model trained() {
    const Node h = dense(dense(input({2}), 32, {.activation = relu}), 32, {.activation = relu});
    Model model{Network{dense(h, 4)}, {.learning_rate = 0.02, .seed = 1}};
    fit(model, clouds(), {.epochs = 15});
    return model;
  }
  static double accuracy(const Model& model) {
    return model.evaluate(clouds(), std::vector<MetricName>{"accuracy"}).metrics.at("accuracy");
  }
};

TEST_F(ModelQuantization, names_a_kernel_that_8_bits_cannot_hold) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Model model = trained();
    model.merge_variables({{"dense_1.kernel", full({32, 32}, bad, DType::f32)}});
    const std::string before = model.summary();
    const Error error = error_of([&] { return model.quantize(DType::s8); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << bad;
    EXPECT_EQ(error.detail("variable"), "dense_1.kernel") << bad;
    EXPECT_EQ(model.summary(), before) << bad;
  }
}

TEST_F(ModelQuantization, shows_in_the_summary_what_is_stored_in_which_type) {
  const Model whole{Network{dense(input({2}), 4, {.name = "d"})}, {.seed = 1}};
  const auto shows = [](const Model& model, const std::string& row, const std::string& bytes) {
    const std::string text = model.summary();
    EXPECT_NE(text.find("12  " + row), std::string::npos) << text;
    EXPECT_NE(text.find("\nbytes: " + bytes + "\n"), std::string::npos) << text;
  };
  shows(whole, "f32 ", "48, f32: 48");
  shows(whole.quantize(DType::f16).model, "f16 ", "24, f16: 24");
  shows(whole.quantize(DType::bf16).model, "bf16 ", "24, bf16: 24");
  const Model in_8_bits = whole.quantize(DType::s8).model;
  const std::string text = in_8_bits.summary();
  // 8 values; a scale for each of 4 channels and 4 biases.
  EXPECT_NE(text.find("s8: 8"), std::string::npos) << text;
  EXPECT_NE(text.find("f32: 32"), std::string::npos) << text;
  EXPECT_NE(text.find("bytes: 40,"), std::string::npos) << text;
}

TEST_F(ModelQuantization, predicts_as_before_with_fewer_bytes) {
  const Model whole = trained();
  const double before = accuracy(whole);
  ASSERT_GT(before, 0.9);
  const Tensor x = tensor({{0.1, 0.9}, {0.8, 0.2}});
  for (const auto& [to, part] :
       {std::pair{DType::f16, 0.5}, {DType::bf16, 0.5}, {DType::s8, 0.45}}) {
    const QuantizedModel made = whole.quantize(to);
    EXPECT_NEAR(accuracy(made.model), before, 0.02) << to_string(to);
    EXPECT_LE(static_cast<double>(made.model.info().bytes),
              part * static_cast<double>(whole.info().bytes))
        << to_string(to);
    const auto scores = whole.predict(x).to_vector<double>();
    EXPECT_EQ(made.model.predict(x).dtype(), DType::f32);
    const auto near = made.model.predict(x).to_vector<double>();
    for (std::size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(near[i], scores[i], 0.3) << to_string(to);
    EXPECT_EQ(made.quantized, (std::vector<std::string>{"dense_0", "dense_1", "dense_2"}));
    EXPECT_TRUE(made.left.empty());
  }
  EXPECT_EQ(accuracy(whole), before) << "it stays as it is";
}

TEST_F(ModelQuantization, is_saved_and_loaded) {
  const auto folder = std::filesystem::path{testing::TempDir()};
  const auto name = [&](const std::string& what) {
    return folder / ("stoker_quantized_" + std::to_string(::getpid()) + what);
  };
  const Model whole = trained();
  whole.save(name("whole"));
  const Tensor x = tensor({{0.1, 0.9}, {0.8, 0.2}});
  for (const DType to : {DType::f16, DType::bf16, DType::s8}) {
    const Model made = whole.quantize(to).model;
    const auto file = name(std::string{to_string(to)});
    made.save(file);
    EXPECT_LT(std::filesystem::file_size(file), std::filesystem::file_size(name("whole")));
    const Model again = Model::load(file);
    EXPECT_EQ(again.predict(x).to_vector<float>(), made.predict(x).to_vector<float>())
        << to_string(to);
    for (const auto& [variable, tensor] : made.variables())
      EXPECT_EQ(again.variables().at(variable).to_bytes(), tensor.to_bytes()) << variable;
    std::filesystem::remove(file);
  }
  std::filesystem::remove(name("whole"));
}

TEST_F(ModelQuantization, says_which_layers_it_left) {
  const Node x = input({6, 6, 1});
  const Network network{
      dense(flatten(batch_norm(conv(x, 2, {.kernel_size = 3, .name = "c"}), {.name = "n"})), 2,
            {.name = "d"})};
  const Model model{network, {.seed = 1}};
  const QuantizedModel made = model.quantize(DType::s8);
  EXPECT_EQ(made.quantized, std::vector<std::string>{"d"});
  ASSERT_EQ(made.left.size(), 2U);
  EXPECT_EQ(made.left.at("c"), "layers of kind conv have no form in 8 bits");
  EXPECT_TRUE(made.left.contains("n"));
  EXPECT_EQ(made.model.network().layer("d").kind, "quantized_dense");
  EXPECT_EQ(made.model.variables().at("d.values").dtype(), DType::s8);
  EXPECT_EQ(made.model.variables().at("c.kernel").to_bytes(),
            model.variables().at("c.kernel").to_bytes());
  const Tensor image = ones({1, 6, 6, 1});
  expect_near(made.model.predict(image), model.predict(image).to_vector<double>(), 0.05);
}

TEST_F(ModelQuantization, keeps_options_of_layers_shared_ones_and_frozen_ones) {
  const Layer shared{layers::Dense{.units = 3, .use_bias = false, .activation = tanh, .name = "s"}};
  const Network network{
      dense(shared(input("a", {3})) + shared(input("b", {3})), 2, {.name = "out"})};
  Model model{network, {.seed = 1}};
  model.freeze({"s"});
  const QuantizedModel made = model.quantize(DType::s8);
  EXPECT_EQ(made.model.network().layer("s").applications, 2U);
  EXPECT_EQ(made.model.frozen(), (std::set<std::string>{"s"}));
  EXPECT_FALSE(made.model.variables().contains("s.bias"));
  const std::vector<Tensor> in{tensor({{1.0, -2.0, 0.5}}), tensor({{0.3, 0.0, 1.0}})};
  expect_near(made.model.predict(in)[0], model.predict(in)[0].to_vector<double>(), 0.05);
}

TEST_F(ModelQuantization, leaves_biases_to_be_trained_and_nothing_where_there_are_none) {
  Model made = trained().quantize(DType::s8).model;
  const auto values = made.variables().at("dense_0.values").to_bytes();
  const auto bias = made.variables().at("dense_0.bias").to_bytes();
  fit(made, clouds(), {.epochs = 1});
  EXPECT_EQ(made.variables().at("dense_0.values").to_bytes(), values);
  EXPECT_NE(made.variables().at("dense_0.bias").to_bytes(), bias);

  const Network bare{dense(input({2}), 2, {.use_bias = false})};
  Model fixed = Model{bare, {.seed = 1}}.quantize(DType::s8).model;
  EXPECT_EQ(fixed.predict(ones({3, 2})).shape(), (Shape{3, 2}));
  EXPECT_EQ(nn::code_of([&] { return fit(fixed, clouds(), {.epochs = 1}); }),
            ErrorCode::invalid_argument);
}

TEST_F(ModelQuantization, trains_in_half_precision_and_goes_back_to_whole) {
  Model made = trained().quantize(DType::bf16).model;
  EXPECT_EQ(made.variables().at("dense_0.kernel").dtype(), DType::bf16);
  fit(made, clouds(), {.epochs = 1});
  EXPECT_EQ(made.variables().at("dense_0.kernel").dtype(), DType::bf16);
  const Model whole = made.compile({});
  EXPECT_EQ(whole.variables().at("dense_0.kernel").dtype(), DType::f32);
  EXPECT_EQ(whole.variables().at("dense_0.kernel").to_vector<float>(),
            made.variables().at("dense_0.kernel").to_vector<float>());
}

TEST_F(ModelQuantization, is_refused_where_it_cannot_be_done) {
  const Model model{Network{dense(input({2}), 2, {.name = "d"})}, {.seed = 1}};
  const Error other = nn::error_of([&] { return model.quantize(DType::s32); });
  EXPECT_EQ(other.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(other.reason(), "expected f16, bf16 or s8, got s32");
  const Model no_dense{Network{conv(input({4, 1}), 2, {.kernel_size = 3})}, {.loss = "mse"}};
  EXPECT_EQ(nn::code_of([&] { return no_dense.quantize(DType::s8); }), ErrorCode::unsupported);
  Model large = model.clone();
  large.merge_variables({{"d.bias", tensor({1e6, 0.0})}});
  const Error range = nn::error_of([&] { return large.quantize(DType::f16); });
  EXPECT_EQ(range.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(range.detail("variable"), "d.bias");
  EXPECT_EQ(large.quantize(DType::bf16).quantized.size(), 1U);
}

}  // namespace
}  // namespace stoker::nn
