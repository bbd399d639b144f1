// A small language model: a transformer that learns to write a text character by character.
//
//     example_char_transformer [TEXT, examples/data/stoker.txt if none is given]
//
// Two blocks of causal self-attention and a perceptron each, as in GPT. Prints what it writes
// before it has learnt anything, how the loss falls, what it writes afterwards, and how many of
// those words stand in the text. Ends with 1 unless nearly all of them do. The seed decides all of
// it.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

#include "stoker/api/train.hpp"

namespace nn = stoker::nn;

namespace {

constexpr std::int64_t context = 32;  // characters that it sees
constexpr std::int64_t features = 48;
constexpr std::uint64_t seed = 1;

/// A text as numbers: the place of each character in the alphabet of those that occur.
struct Text {
  std::string alphabet;
  std::vector<int> codes;

  explicit Text(std::string characters) {
    std::ranges::replace(characters, '\n', ' ');
    const std::set<char> different(characters.begin(), characters.end());
    alphabet.assign(different.begin(), different.end());
    for (const char one : characters) codes.push_back(code(one));
  }
  [[nodiscard]] int code(char one) const { return static_cast<int>(alphabet.find(one)); }
};

/// Each row: `context` characters from some place on, and for each of them the one that follows.
nn::Dataset windows(const Text& text) {
  const nn::RowSpecs specs{{{stoker::DType::s32, {context}}}, {{stoker::DType::s32, {context}}}};
  const auto fill = [codes = text.codes](std::int64_t row, const nn::RowsInto& into) {
    std::memcpy(into.inputs[0].data(), &codes[static_cast<std::size_t>(row)], context * 4);
    std::memcpy(into.targets[0].data(), &codes[static_cast<std::size_t>(row) + 1], context * 4);
  };
  return nn::dataset_from_function(std::ssize(text.codes) - context, specs, fill);
}

/// What is added to x by attention, and then by a perceptron of each place.
nn::Node block(nn::Node x) {
  const nn::Layer attention{nn::layers::MultiHeadAttention{.heads = 4, .causal = true}};
  x = x + attention(nn::layer_norm(x));
  const nn::Node wide = nn::dense(nn::layer_norm(x), 4 * features, {.activation = nn::gelu});
  return x + nn::dense(wide, features);
}

nn::Network transformer(std::int64_t letters) {
  const nn::Node codes = nn::input({context}, stoker::DType::s32);
  nn::Node x = nn::embedding(codes, letters, features);
  x = nn::Layer{nn::layers::PositionEmbedding{.length = context}}(x);
  x = block(block(x));
  return nn::Network{nn::dense(nn::layer_norm(x), letters, {.name = "scores"})};
}

/// Goes on from `begin` for so many characters: each is drawn by what the model says is likely.
std::string written(const nn::Model& model, const Text& text, std::string begin, int characters) {
  constexpr double temperature = 0.5;  // less: more careful
  const stoker::Tensor key = stoker::random::key(seed);
  for (int i = 0; i < characters; ++i) {
    const std::size_t seen = std::min<std::size_t>(begin.size(), context);
    std::vector<int> codes(context);  // what stands after the last is not looked at
    for (std::size_t k = 0; k < seen; ++k) codes[k] = text.code(begin[begin.size() - seen + k]);
    const stoker::Tensor scores = model.predict(stoker::tensor(codes, {1, context}));
    const stoker::Tensor last = scores[{0, static_cast<std::int64_t>(seen) - 1}];
    // The largest of scores plus Gumbel noise is a draw by their softmax.
    const stoker::Tensor noise = stoker::random::gumbel_split(
        stoker::random::fold_in(key, static_cast<std::uint32_t>(i)), last.shape());
    const auto drawn = stoker::argmax(last / temperature + noise).item<std::int64_t>();
    begin += text.alphabet[static_cast<std::size_t>(drawn)];
  }
  return begin;
}

std::vector<std::string> words(std::string text) {
  std::ranges::replace_if(
      text, [](char one) { return one < 'a' || one > 'z'; }, ' ');
  std::istringstream stream{text};
  return {std::istream_iterator<std::string>{stream}, {}};
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string path = count > 1 ? arguments[1] : "examples/data/stoker.txt";
  std::ifstream file{path};
  if (!file) throw std::runtime_error{"cannot read " + path};
  const std::string characters{std::istreambuf_iterator<char>{file}, {}};
  const Text text{characters};
  nn::Model model{
      transformer(std::ssize(text.alphabet)),
      {.schedule = nn::schedule(nn::schedules::CosineDecay{.value = 0.004, .decay_steps = 580}),
       .seed = seed}};
  std::cout << model.summary() << "\nbefore: " << written(model, text, "the ", 100) << "\n\n";

  const nn::History history =
      nn::fit(model, windows(text), {.epochs = 16, .batch_size = 32, .log = &std::cout});

  const std::string sample = written(model, text, "the ", 300);
  std::cout << "\nafter: " << sample << "\n\nloss from " << history.front().loss << " to "
            << history.back().loss << " in " << history.back().total_milliseconds / 1000 << " s\n";
  const std::vector<std::string> all = words(characters);
  const std::set<std::string> known(all.begin(), all.end());
  std::vector<std::string> wrote = words(sample);
  wrote.pop_back();  // it may have been cut
  const auto right = std::ranges::count_if(wrote, [&](auto& one) { return known.contains(one); });
  std::cout << "words that stand in the text: " << 100 * right / std::ssize(wrote) << "%\n";
  return 10 * right >= 9 * std::ssize(wrote) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
