// What is learnt, from fixed seeds: every optimizer and loss gets where it should, and each family
// of layers learns a task that it is there for.
#include <numbers>

#include "stoker/api/data/split.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using Convergence = Tensors;

Tensor uniform(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  return random::uniform(random::key(seed), shape, low, high).values;
}
Tensor integers(const Shape& shape, std::uint64_t seed, std::int64_t below) {
  return random::randint(random::key(seed), 0, below, shape).values;
}
/// One of the columns of [rows, columns].
Tensor column(const Tensor& x, std::int64_t which) {
  return squeeze(slice_along_axis(x, which, 1, 1), Axes{1});
}
/// 1 at the index of `size`, f32.
Tensor hot(const Tensor& index, std::int64_t size) {
  return as_type(equal(new_axis(index, -1), iota({size})), DType::f32);
}
double accuracy(const Model& model, const Dataset& data) {
  return model.evaluate(data, {"accuracy"}).metrics.at("accuracy");
}
/// Trains with four fifths; the accuracy of the last.
double learnt(const Node& scores, const Dataset& data, const FitOptions& how, double rate = 0.01) {
  const Split parts = split(data, {.val_split = 0.2, .seed = 1});
  Model model{Network{scores}, {.learning_rate = rate, .seed = 1}};
  fit(model, parts.train, how);
  return accuracy(model, parts.validation);
}

// Optimizers --------------------------------------------------------------------------------------

TEST_F(Convergence, of_every_optimizer_finds_a_line_among_inputs_of_different_widths) {
  const Tensor x = uniform({64, 2}, 1) * tensor({2.0, 0.5});
  const Tensor y = matmul(x, tensor({{2.0}, {-1.0}})) + 0.5;
  for (const char* text :
       {"sgd(learning_rate=0.1)", "sgd(learning_rate=0.03, momentum=0.9)",
        "sgd(learning_rate=0.03, momentum=0.9, nesterov=true)", "adam(learning_rate=0.05)",
        "adamw(learning_rate=0.05)", "adabelief(learning_rate=0.05)", "adagrad(learning_rate=0.5)",
        "lamb(learning_rate=0.05)", "noisy_sgd(learning_rate=0.1, eta=0.01)",
        "radam(learning_rate=0.1)", "rmsprop(learning_rate=0.02)",
        "rmsprop(learning_rate=0.02, centered=true)", "yogi(learning_rate=0.05)"}) {
    Model model{Network{dense(input({2}), 1, {.name = "line"})},
                {.loss = "mse", .optimizer = text, .seed = 2}};
    const History history = fit(model, Dataset{x, y}, {.epochs = 60, .batch_size = 16});
    EXPECT_LT(history.back().loss, 0.01 * history.front().loss) << text;
    const Variables found = model.variables();
    const auto kernel = found.at("line.kernel").to_vector<double>();
    EXPECT_NEAR(kernel[0], 2, 0.1) << text;
    EXPECT_NEAR(kernel[1], -1, 0.2) << text;
    EXPECT_NEAR(found.at("line.bias").item<double>(), 0.5, 0.1) << text;
  }
}

TEST_F(Convergence, of_gathered_gradients_is_that_of_larger_batches) {
  const Dataset data{uniform({32, 3}, 3), remainder(iota({32}), 2)};
  const auto train = [&](std::int64_t batch, std::int64_t gather) {
    Model model{
        Network{dense(dense(input({3}), 8, {.activation = tanh}), 2, {.name = "out"})},
        {.optimizer = "sgd", .learning_rate = 0.1, .accumulate_gradients = gather, .seed = 4}};
    fit(model, data, {.epochs = 10, .batch_size = batch, .shuffle = false});
    return model.variables().at("out.kernel").to_vector<double>();
  };
  const std::vector<double> gathered = train(8, 2);
  const std::vector<double> whole = train(16, 1);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(gathered[i], whole[i], 1e-5);
}

TEST_F(Convergence, with_decay_of_weights_ends_with_smaller_ones) {
  const Tensor x = uniform({64, 4}, 5);
  const Tensor y = matmul(x, ones({4, 1}));
  const auto size = [&](double decay) {
    Model model{Network{dense(input({4}), 1, {.use_bias = false, .name = "d"})},
                {.loss = "mse",
                 .optimizer = "sgd",
                 .learning_rate = 0.1,
                 .weight_decay = decay,
                 .seed = 6}};
    fit(model, Dataset{x, y}, {.epochs = 100});
    return sum(abs(model.variables().at("d.kernel"))).item<double>();
  };
  EXPECT_NEAR(size(0), 4, 0.05);
  EXPECT_LT(size(0.2), 3.5);
  EXPECT_LT(size(1), size(0.2));
}

// Losses ------------------------------------------------------------------------------------------

TEST_F(Convergence, by_every_loss_of_numbers_comes_near_them) {
  const Tensor x = uniform({32, 2}, 5);
  const Tensor y = matmul(x, tensor({{0.5, -0.3}, {0.2, 0.4}})) + 0.1;
  for (const char* text : {"mse", "mae", "huber", "huber(delta=0.1)", "log_cosh",
                           "mean_squared_error(reduction=sum)"}) {
    Model model{Network{dense(input({2}), 2)},
                {.loss = text, .optimizer = "adam", .learning_rate = 0.02, .seed = 6}};
    fit(model, Dataset{x, y}, {.epochs = 100, .batch_size = 8});
    EXPECT_LT(mean(abs(model.predict(x) - y)).item<double>(), 0.03) << text;
  }
}

TEST_F(Convergence, by_every_loss_of_classes_tells_them_apart) {
  // Which of two numbers is the larger one.
  const Tensor x = uniform({64, 2}, 7);
  const Tensor index = as_type(less(column(x, 0), column(x, 1)), DType::s32);
  const Tensor rows = hot(index, 2);
  const Tensor signs = 2 * rows - 1;
  struct Case {
    const char* loss;
    const char* activation;
    Tensor target;
  };
  for (const Case& one :
       {Case{"cross_entropy", "linear", index}, Case{"cross_entropy", "linear", rows},
        Case{"cross_entropy(label_smoothing=0.1)", "linear", index},
        Case{"categorical_cross_entropy", "softmax", index},
        Case{"binary_cross_entropy", "sigmoid", rows},
        Case{"binary_cross_entropy(from_logits=true)", "linear", rows},
        Case{"binary_cross_entropy(positive_weight=2)", "sigmoid", rows},
        Case{"categorical_hinge", "linear", rows}, Case{"hinge", "linear", signs},
        Case{"soft_margin", "linear", signs}, Case{"kl_divergence", "softmax", rows}}) {
    Model model{Network{dense(input({2}), 2, {.activation = one.activation})},
                {.loss = one.loss, .learning_rate = 0.05, .seed = 8}};
    fit(model, Dataset{x, one.target}, {.epochs = 60, .batch_size = 16});
    const Tensor share = metric("accuracy").of(index, model.predict(x));
    EXPECT_GE(share.item<double>(), 0.95) << one.loss << ", " << one.activation;
  }
}

TEST_F(Convergence, by_poisson_finds_rates) {
  const Tensor x = uniform({256, 1}, 9);
  const Tensor rate = exp(1 + x);
  Model model{Network{dense(input({1}), 1, {.activation = exp, .name = "d"})},
              {.loss = "poisson", .learning_rate = 0.05, .seed = 10}};
  fit(model, Dataset{x, rate}, {.epochs = 40});
  expect_near(model.variables().at("d.kernel"), {1}, 0.02);
  expect_near(model.variables().at("d.bias"), {1}, 0.02);
}

TEST_F(Convergence, by_pairs_puts_them_in_order) {
  // Scores of two items by one shared layer; the item with more of the first feature goes first.
  const Layer score{layers::Dense{.units = 1}};
  const Node first = input("first", {3});
  const Node second = input("second", {3});
  const Tensor a = uniform({64, 3}, 11);
  const Tensor b = uniform({64, 3}, 12);
  const Tensor order = sign(column(a, 0) - column(b, 0));
  Model model{Network{concatenate({score(first), score(second)})},
              {.loss = "margin_ranking(margin=0.1)", .learning_rate = 0.02, .seed = 13}};
  const Dataset data{std::vector<Tensor>{a, b}, std::vector<Tensor>{order}};
  fit(model, data, {.epochs = 60});
  const Tensor scores = model.predict(std::vector<Tensor>{a, b})[0];
  const Tensor right = greater(order * (column(scores, 0) - column(scores, 1)), 0.0);
  EXPECT_GE(mean(as_type(right, DType::f32)).item<double>(), 0.95);
}

TEST_F(Convergence, by_sequences_spells_what_frames_show) {
  // Three frames in a row show a digit from 1 on, then one nothing; labels come without their
  // places.
  constexpr std::int64_t rows = 64;
  const Tensor labels = integers({rows, 2}, 14, 3) + 1;
  const Tensor frames = tensor({0, 0, 0, -1, 1, 1, 1, -1});
  const Tensor shown = select(greater_equal(frames, 0), take(labels, max(frames, 0), 1), 0);
  const Tensor x = hot(shown, 4) + 0.1 * uniform({rows, 8, 4}, 15);
  Model model{Network{dense(input({8, 4}), 4)},
              {.loss = "connectionist_temporal_classification(from_logits=true)",
               .learning_rate = 0.05,
               .seed = 16}};
  const History history = fit(model, Dataset{x, labels}, {.epochs = 60, .batch_size = 16});
  EXPECT_LT(history.back().loss, 0.1);
  const Tensor read = argmax(model.predict(x), {.axis = 2});  // some of them are nothing, 0
  const Tensor right = logical_or(equal(read, 0), equal(read, as_type(shown, read.dtype())));
  EXPECT_EQ(reduce_min(as_type(right, DType::s32)).item<int>(), 1)
      << "a frame that reads another digit";
}

// Layers ------------------------------------------------------------------------------------------

TEST_F(Convergence, of_a_perceptron_follows_a_curve) {
  const Tensor x = uniform({256, 1}, 17, -3, 3);
  Model model{Network{dense(
                  dense(dense(input({1}), 32, {.activation = tanh}), 32, {.activation = tanh}), 1)},
              {.loss = "mse", .learning_rate = 0.01, .seed = 18}};
  fit(model, Dataset{x, sin(2 * x)}, {.epochs = 120});
  const Tensor between = reshape(iota({50}, DType::f32) / 9 - 2.7, {50, 1});
  EXPECT_LT(mean(abs(model.predict(between) - sin(2 * between))).item<double>(), 0.05);
}

TEST_F(Convergence, of_a_perceptron_divides_two_spirals) {
  const Tensor t = sqrt(uniform({600}, 19, 0.02, 1));
  const Tensor arm = remainder(iota({600}), 2);
  const Tensor angle = 3 * std::numbers::pi * t + std::numbers::pi * arm;
  const Dataset data{stack({t * cos(angle), t * sin(angle)}, 1), arm};
  Node y = dense(input({2}), 48, {.activation = relu});
  y = dense(dense(y, 48, {.activation = relu}), 2);
  EXPECT_GE(learnt(y, data, {.epochs = 120}), 0.97);
}

TEST_F(Convergence, of_normalized_layers_does_not_mind_the_inputs_scale) {
  const Tensor x = uniform({400, 4}, 20) * tensor({1000.0, 1.0, 50.0, 0.01}) + 300;
  const Tensor target = as_type(greater(column(x, 0), 300.0), DType::s32);
  Node y = batch_norm(input({4}));
  y = dense(layer_norm(dense(y, 16, {.activation = relu})), 2);
  EXPECT_GE(learnt(y, {x, target}, {.epochs = 60, .batch_size = 64}), 0.95);
}

TEST_F(Convergence, of_convolutions_sees_which_way_a_line_runs) {
  // A row or a column of an image is bright, wherever it is; there is noise.
  constexpr std::int64_t count = 300;
  const Tensor place = reshape(integers({count}, 21, 8), {count, 1, 1});
  const Tensor upright = integers({count}, 22, 2);
  const Tensor along =
      select(reshape(upright, {count, 1, 1}), iota_along({1, 1, 8}, 2), iota_along({1, 8, 1}, 1));
  const Tensor x = as_type(equal(along, place), DType::f32) + 0.3 * uniform({count, 8, 8}, 23);
  Node y = reshape(input({8, 8}), {8, 8, 1});
  y = conv(y, 8, {.kernel_size = 3, .activation = relu});
  y = dense(Layer{layers::GlobalMaxPool{}}(y), 2);
  EXPECT_GE(learnt(y, {x, upright}, {.epochs = 30}), 0.97);
}

TEST_F(Convergence, of_recurrent_layers_remembers_how_a_sequence_began) {
  constexpr std::int64_t steps = 10;
  const Tensor x = integers({400, steps}, 24, 4);
  for (const char* kind : {"lstm", "gru"}) {
    const Node seen = embedding(input({steps}, DType::s32), 4, 8);
    const Node last = Layer{Named{kind, {{"units", 24}}}}.outputs({seen}).back();
    EXPECT_GE(learnt(dense(last, 4), {x, column(x, 0)}, {.epochs = 40}, 0.02), 0.95) << kind;
  }
}

TEST_F(Convergence, of_attention_finds_what_is_marked) {
  // One of eight places holds the mark; what stands beside the mark is the answer.
  constexpr std::int64_t rows = 600;
  const Tensor mark = hot(integers({rows}, 25, 8), 8);
  const Tensor symbols = integers({rows, 8}, 26, 4);
  const Tensor answer = sum(symbols * as_type(mark, DType::s32), {Axes{1}});
  const Tensor x = stoker::concatenate({hot(symbols, 4), new_axis(mark, -1)}, -1);
  Node y = dense(input({8, 5}), 16);
  y = y + Layer{layers::MultiHeadAttention{.heads = 2}}(layer_norm(y));
  y = dense(Layer{layers::GlobalAvgPool{}}(y), 4);
  EXPECT_GE(learnt(y, {x, as_type(answer, DType::s32)}, {.epochs = 40}), 0.97);
}

TEST_F(Convergence, of_a_narrow_layer_finds_a_code) {
  const Tensor x = hot(iota({8}), 8);
  Node code = dense(input({8}), 3, {.activation = tanh, .name = "code"});
  Model model{Network{dense(code, 8)}, {.learning_rate = 0.05, .seed = 27}};
  fit(model, Dataset{x, iota({8})}, {.epochs = 400, .batch_size = 8});
  EXPECT_EQ(argmax(model.predict(x), {.axis = 1}).to_vector<int>(),
            (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Convergence, of_an_embedding_finds_what_words_are_worth) {
  // The sum of hidden values of five words.
  const Tensor worth = tensor({2.0, -1.0, 0.5, 3.0, -2.0, 0.0});
  const Tensor words = integers({300, 5}, 28, 6);
  const Tensor y = sum(take(worth, words), {Axes{1}, true});
  const Node values = embedding(input({5}, DType::s32), 6, 1, {.name = "worth"});
  const Node total =
      function({values}, [](std::span<const Tensor> v) { return sum(v[0], {Axes{1}}); });
  Model model{Network{total}, {.loss = "mse", .learning_rate = 0.05, .seed = 29}};
  fit(model, Dataset{words, y}, {.epochs = 60});
  expect_near(model.variables().at("worth.kernel"), worth.to_vector<double>(), 0.02);
}

}  // namespace
}  // namespace stoker::nn
