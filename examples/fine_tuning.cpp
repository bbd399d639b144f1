// Fine-tuning: what was learnt for one task is the beginning of another.
//
//     example_fine_tuning examples/data/digits.csv.gz
//
// A network learns ten digits from most of the data. Its body is frozen and gets a new head, and
// that learns another question, is the digit odd?, from 40 of the images that were left. Prints how
// well this does beside a network that knows nothing but those 40, and whether the frozen numbers
// are what they were, to the bit.
#include <iostream>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

const std::vector<std::string> body{"edges", "shapes"};

/// The layers of the body have names of their own: both networks have them. The head scores
/// classes.
nn::Network network(const std::string& head, int classes) {
  nn::Node y = nn::reshape(nn::input({64}), {8, 8, 1});
  y = nn::conv(y, 24, {.kernel_size = 3, .activation = nn::relu, .name = "edges"});
  y = nn::flatten(nn::max_pool(y, {2}));
  y = nn::dense(y, 16, {.activation = nn::tanh, .name = "shapes"});
  return nn::Network{nn::dense(y, classes, {.name = head})};
}

/// A model with the body's numbers of another, and a head that has learnt nothing.
nn::Model with_body_of(const nn::Model& known, const std::string& head, int classes) {
  nn::Model made{network(head, classes), {.learning_rate = 0.01, .seed = 2}};
  nn::Variables variables = made.variables();
  for (const auto& [name, tensor] : known.variables())  // "edges.kernel", …
    if (variables.contains(name)) variables[name] = tensor;
  made.update_variables(variables);
  return made;
}

/// Whether every number of the body is the same in both.
bool same_body(const nn::Model& a, const nn::Model& b) {
  const nn::Variables its = b.variables();
  for (const auto& [name, tensor] : a.variables())
    if (its.contains(name) && tensor.to_vector<float>() != its.at(name).to_vector<float>())
      return false;
  return true;
}

double accuracy(const nn::Model& model, const nn::Dataset& data) {
  return model.evaluate(data, {nn::metrics::Accuracy{}}).metrics.at("accuracy");
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::cerr << "usage: example_fine_tuning FILE.csv[.gz]\n";
    return 2;
  }
  const nn::CsvData file = nn::load_csv(arguments[1], {.header = false,
                                                       .targets = {-1},
                                                       .target_dtype = stoker::DType::s32,
                                                       .scalar_targets = true,
                                                       .scale = 1 / 16.0});
  const nn::Batch all = nn::whole_batch(file.data);
  const stoker::Tensor pixels = all.inputs[0];
  const stoker::Tensor digit = all.targets[0];

  // The same seed splits both alike: no image of the second task was seen in the first.
  const nn::SplitOptions fifth{.val_split = 0.2, .seed = 1};
  const nn::Split digits = nn::split({pixels, digit}, fifth);
  const nn::Dataset unseen = nn::split({pixels, stoker::remainder(digit, 2)}, fifth).validation;
  const nn::Split odd = nn::split(unseen, {.val_split = 1 - 40.0 / 359, .seed = 1});

  nn::Model first{network("digit", 10), {.learning_rate = 0.002, .seed = 1}};
  nn::fit(first, digits.train, {.epochs = 15});
  std::cout << "which digit: accuracy " << accuracy(first, digits.validation) << '\n';

  const nn::FitOptions options{.epochs = 40, .batch_size = 10};
  nn::Model second = with_body_of(first, "odd", 2);
  second.freeze(body);
  std::cout << second.summary();
  nn::fit(second, odd.train, options);
  const double tuned = accuracy(second, odd.validation);
  const bool kept = same_body(first, second);

  nn::Model alone{network("odd", 2), {.learning_rate = 0.003, .seed = 2}};
  nn::fit(alone, odd.train, options);
  const double untaught = accuracy(alone, odd.validation);
  std::cout << "odd or even, from " << odd.train.size() << " images: accuracy " << tuned
            << ", without what was learnt before " << untaught << '\n'
            << "the frozen numbers are " << (kept ? "unchanged to the bit" : "NOT what they were")
            << '\n';

  // Now that the head is good the body may learn on, too, slowly.
  second.unfreeze(body);
  second.set_learning_rate_scale(0.1);
  nn::fit(second, odd.train, options);
  std::cout << "unfrozen, and trained on: accuracy " << accuracy(second, odd.validation)
            << (same_body(first, second) ? "; the body is still the same" : "; the body has moved")
            << '\n';
  return kept && tuned > untaught ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
