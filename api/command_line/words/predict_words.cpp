#include "predict_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string_view>

#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/words/onnx_words.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::command_line {
namespace {

constexpr std::string_view zeros_word = "zeros:";

[[noreturn]] void refuse(const std::string& reason) {
  throw CLI::ValidationError{"--image", reason};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class T> std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::vector<float> numbers(const std::string& text, bool may_be_zero) {
  std::vector<float> found;
  for (const std::string& part : split(text, ':')) {
    const auto value = number<float>(part);  // which pixels are then, too
    if (!value || !std::isfinite(*value) || (!may_be_zero && *value == 0))
      refuse("'" + text + "' is no number, nor numbers for each colour apart by ':'");
    found.push_back(*value);
  }
  return found;
}

std::pair<std::int64_t, std::int64_t> size_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() == 2) {
    const auto rows = number<std::int64_t>(parts[0]);
    const auto columns = number<std::int64_t>(parts[1]);
    if (rows && columns && *rows > 0 && *columns > 0 && *rows <= ImageOptions::most_extent &&
        *columns <= ImageOptions::most_extent)
      return {*rows, *columns};
  }
  refuse("'" + text +
         "' is no size in rows and columns, like 240x320, nor mean=, std=, layout= or colours=");
}

template <class T, std::size_t Size>
T one_of(const std::string& text, const std::array<std::pair<std::string_view, T>, Size>& words) {
  std::string list;
  for (const auto& [word, meant] : words) {
    if (word == text) return meant;
    list.append(list.empty() ? "" : ", ").append(word);
  }
  refuse("'" + text + "' is none of " + list);
}

constexpr const char* footer = R"(
Examples:
  stoker predict mnist.onnx --input Input3=three.png --top 3
  stoker predict faces.onnx --input input=photo.jpg --image input=240x320,mean=127,std=128,layout=nchw
  stoker predict digits.safetensors --input input=rows.npy --output results --json
  stoker predict model.onnx --input x=zeros:1x3x224x224 --repeat 100

MODEL is an ONNX file, a network that Stoker saved, or a script that returns a model. A value is a file (.npy, .pb,
.png, .jpg) or zeros:AxBxC; zeros: is a number. Pixels are 0 to 255; (pixel - mean) / std is given to the model,
each for all colours, or for each colour with ':' between. Size, layout and colours are those that the model declares,
where it does. An input that has a value in the file may be left out. Exit code 0: done; 1: the prediction failed, or
an input does not fit; 2: the command line is wrong; 3: no such file, device or input, or no model; 4: a model that is
a script used up its limits.)";

}  // namespace

std::pair<std::string, std::string> named(const std::string& option, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError{option, "'" + word + "' is not written NAME=…"};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::optional<std::vector<std::int64_t>> extents_of_zeros(std::string_view value) {
  if (!value.starts_with(zeros_word)) return {};
  value.remove_prefix(zeros_word.size());
  std::vector<std::int64_t> extents;
  if (value.empty()) return extents;
  for (const std::string& part : split(value, 'x')) {
    const auto extent = number<std::int64_t>(part);
    if (!extent || *extent < 0) return {};
    extents.push_back(*extent);
  }
  if (extents.size() > Shape::max_rank) return {};
  return extents;
}

bool is_value(const std::string& value) {
  if (value.starts_with(zeros_word)) return extents_of_zeros(value).has_value();
  const std::filesystem::path extension = std::filesystem::path{value}.extension();
  return extension == ".npy" || extension == ".pb";
}

ImageOptions parse_picture(const std::string& text) {
  ImageOptions words;
  std::set<std::string> seen;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::string what = equals == std::string::npos ? "the size" : name;
    if (!seen.insert(what).second) refuse("'" + text + "' has " + what + " twice");
    if (equals == std::string::npos) {
      words.size = size_of(part);
      continue;
    }
    const std::string value = part.substr(equals + 1);
    if (name == "mean")
      words.mean = numbers(value, true);
    else if (name == "std")
      words.std = numbers(value, false);
    else if (name == "layout")
      words.layout = one_of(value, image_layouts);
    else if (name == "colours")
      words.colours = one_of(value, image_colours);
    else
      refuse("'" + name + "' is none of mean, std, layout, colours");
  }
  return words;
}

void add_predict_words(CLI::App& verb, PredictWords& words) {
  verb.footer(footer);
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* type,
                        const char* summary) {
    verb.add_option(name, into, summary)
        ->type_name(type)
        ->expected(1)
        ->allow_extra_args(false)
        ->take_all();
  };
  verb.add_option("MODEL", words.model, "FILE.onnx, FILE.safetensors or FILE.lua")->required();
  list("--input", words.inputs, "NAME=VALUE",
       "An input: a file or zeros:1x3x240x320; may be repeated");
  list("--image", words.images, "NAME=240x320,…",
       "How a picture is resized and scaled: size, mean=, std=, layout=, colours=");
  auto* const output =
      verb.add_option("--output", words.output, "Write each output to a file in this folder")
          ->type_name("DIR");
  verb.add_option("--format", words.format, "Of these files: npy (what NumPy lacks is .pb) or pb")
      ->check(CLI::IsMember({"npy", "pb"}))
      ->needs(output);
  constexpr std::uint64_t most_runs = 1'000'000'000;
  add_whole(
      verb, "--repeat", {1, most_runs}, [&words](std::uint64_t n) { words.repeat = n; },
      "Predict so often and say how long it took");
  add_whole(
      verb, "--top", {1, most_runs}, [&words](std::uint64_t n) { words.top = n; },
      "Show the largest numbers of each row of an output, with their places");
  add_whole(
      verb, "--seed", {0, std::numeric_limits<std::uint64_t>::max()},
      [&words](std::uint64_t n) { words.seed = n; },
      "Of random operators of an ONNX model: the same numbers each time; none: drawn anew");
  verb.add_option("--labels", words.labels, "A file with the name of each place, one a line")
      ->type_name("FILE");
  words.script.add_device(verb);
  add_precision_word(verb, words.precision);
  list("--allow", words.script.allow, "DIR",
       "A further directory whose files a model that is a script may use");
  words.script.add_bounds(verb);
  verb.add_flag("--json", words.json, "The model, the outputs and the times as JSON");
}

void describe_predict(CLI::App& verb) {
  const auto words = std::make_shared<PredictWords>();
  add_predict_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
