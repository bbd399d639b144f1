// The words of `stoker predict`, apart from models: the stoker command lists and completes them without linking them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script_words.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/data/image_options.hpp"

namespace stoker::command_line {

/// How a picture becomes an input: 240x320,mean=127,std=128,layout=nchw. Throws a CLI::ValidationError for what is no
/// such text.
[[nodiscard]] ImageOptions parse_picture(const std::string& text);

struct PredictWords {
  std::string model;
  std::vector<std::string> inputs;  ///< NAME=VALUE
  std::vector<std::string> images;  ///< NAME=…
  ScriptWords script;  ///< the device, --allow and the limits of a model that is a script
  std::string output;
  std::string format = "npy";
  std::string labels;
  std::string precision = "full";
  std::uint64_t repeat = 1;
  std::uint64_t top = 0;
  std::optional<std::uint64_t> seed;
  bool json = false;
};

/// Adds the options that fill `words`, which outlives the parser.
void add_predict_words(CLI::App& verb, PredictWords& words);
/// NAME and the rest of "NAME=…". Throws a CLI::ValidationError where there is no name; `option` is named in it.
[[nodiscard]] std::pair<std::string, std::string> named(const std::string& option,
                                                        const std::string& word);
/// The extents of "zeros:1x3x240x320"; nothing for other text.
[[nodiscard]] std::optional<std::vector<std::int64_t>> extents_of_zeros(std::string_view value);
/// Whether it is such text, or the name of a .npy or .pb file.
[[nodiscard]] bool is_value(const std::string& value);

}  // namespace stoker::command_line
