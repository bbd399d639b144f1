// Scanned digits, 8×8 pixels of 0 to 16, told apart: a fifth is held out, the rest is learnt.
//
//     example_digits examples/data/digits.csv.gz [mlp|cnn] [PLOT.svg]
//
// Each line of the file holds the 64 pixels of a digit and, last, which one it is. Prints what every epoch
// came to and then "test accuracy: …"; the plot, digits.svg if no other is named, shows the loss and the
// confusion matrix.
#include <algorithm>
#include <fstream>
#include <iostream>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

nn::Network network(bool images) {
  const nn::Node pixels = nn::input({64});
  if (!images) {
    nn::Node y = nn::dense(pixels, 128, {.activation = nn::relu});
    y = nn::dense(nn::dropout(y, 0.2), 64, {.activation = nn::relu});
    return nn::Network{nn::dense(y, 10)};
  }
  nn::Node y = nn::reshape(pixels, {8, 8, 1});
  y = nn::conv(y, 16, {.kernel_size = 3, .padding = nn::same, .activation = nn::relu});
  y = nn::conv(y, 32, {.kernel_size = 3, .activation = nn::relu});
  y = nn::max_pool(y, {2});
  y = nn::dense(nn::dropout(nn::flatten(y), 0.25), 64, {.activation = nn::relu});
  return nn::Network{nn::dense(y, 10)};
}

using Confusion = std::vector<std::vector<int>>;  // of the digit, what it was taken for

Confusion confusion(const nn::Model& model, const nn::Dataset& data) {
  const nn::Batch all = nn::whole_batch(data);
  const auto digits = all.targets[0].to_vector<int>();
  const auto taken = stoker::argmax(model.predict(all.inputs[0]), {.axis = 1}).to_vector<int>();
  Confusion counts(10, std::vector<int>(10));
  for (std::size_t i = 0; i < digits.size(); ++i)
    ++counts[static_cast<std::size_t>(digits[i])][static_cast<std::size_t>(taken[i])];
  return counts;
}

void plot(const nn::History& history, const Confusion& counts, const char* path) {
  std::ofstream svg{path};
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='720' height='360' "
         "font-family='sans-serif' font-size='11'>\n<rect width='720' height='360' fill='white'/>\n"
         "<text x='20' y='20'>loss by epoch (blue: training, red: held out)</text>\n";
  double highest = 0;
  for (const nn::EpochMetrics& one : history)
    highest = std::max({highest, one.loss, one.validation_loss.value_or(0)});
  const auto line = [&](const char* colour, const auto& value) {
    svg << "<polyline fill='none' stroke='" << colour << "' stroke-width='2' points='";
    for (std::size_t i = 0; i < history.size(); ++i)
      svg << 20 + 300.0 * static_cast<double>(i) /
                      static_cast<double>(std::max<std::size_t>(history.size() - 1, 1))
          << ',' << 340 - 300 * value(history[i]) / highest << ' ';
    svg << "'/>\n";
  };
  line("steelblue", [](const nn::EpochMetrics& one) { return one.loss; });
  line("firebrick", [](const nn::EpochMetrics& one) { return one.validation_loss.value_or(0); });
  svg << "<text x='380' y='20'>held out: digit (row) and what it was taken for</text>\n";
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 10; ++j) {
      const double shade = std::min(1.0, counts[i][j] / 30.0);
      svg << "<rect x='" << 380 + 30 * j << "' y='" << 35 + 30 * i
          << "' width='29' height='29' fill='" << (i == j ? "steelblue" : "firebrick")
          << "' fill-opacity='" << shade << "'/><text x='" << 388 + 30 * j << "' y='" << 54 + 30 * i
          << "'>" << counts[i][j] << "</text>\n";
    }
  svg << "</svg>\n";
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::cerr << "usage: example_digits FILE.csv[.gz] [mlp|cnn] [PLOT.svg]\n";
    return 2;
  }
  const bool images = count > 2 && std::string_view{arguments[2]} == "cnn";
  const nn::CsvData digits = nn::load_csv(arguments[1], {.header = false,
                                                         .targets = {-1},
                                                         .target_dtype = stoker::DType::s32,
                                                         .scalar_targets = true,
                                                         .scale = 1 / 16.0});
  const nn::Split parts = nn::split(digits.data, {.val_split = 0.2, .seed = 1});

  nn::Model model{network(images),
                  {.optimizer = nn::optimizers::Adam{.learning_rate = 0.002}, .seed = 1}};
  std::cout << model.summary();
  const nn::History history = nn::fit(model, parts.train,
                                      {.epochs = images ? 15 : 30,
                                       .validation = parts.validation,
                                       .metrics = {nn::metrics::Accuracy{}},
                                       .log = &std::cout});
  const Confusion counts = confusion(model, parts.validation);
  plot(history, counts, count > 3 ? arguments[3] : "digits.svg");
  std::cout << "trained in " << history.back().total_milliseconds / 1000 << " s\n"
            << "test accuracy: " << history.back().validation_metrics.at("accuracy") << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
