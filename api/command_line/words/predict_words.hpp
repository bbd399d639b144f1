// The words of `stoker predict`, apart from models: the stoker command lists and completes them without linking them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script_words.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

/// How a picture becomes an input: --image NAME=240x320,mean=127,std=128,layout=nchw.
struct PictureWords {
  std::optional<std::pair<std::int64_t, std::int64_t>> size;  ///< rows and columns
  std::vector<float> mean;  ///< one for all colours or one for each; empty: 0
  std::vector<float> std;   ///< as `mean`; empty: 1; none is 0
  std::string layout;       ///< nchw, nhwc, chw, hwc or hw; empty: as the model says
  std::string colours;      ///< rgb, bgr or grey; empty: as the model says
};
/// Throws a CLI::ValidationError for what is no such text.
[[nodiscard]] PictureWords parse_picture(const std::string& text);

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

}  // namespace stoker::command_line
