// The words of `stoker onnx`, apart from models: the stoker command lists and completes them without linking them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/command_line/named_shape.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

/// Which passes rewrite the graph of a model that is loaded.
struct OnnxPassWords {
  std::string optimize = "all";
  std::vector<std::string> without;  ///< names of passes
  std::string precision = "full";
};

struct OnnxTestWords {
  std::vector<std::string> folders;
  std::string device;
  bool json = false;
  bool table = false;
  bool quiet = false;
  OnnxPassWords passes;
  std::optional<double> atol;
  std::optional<double> rtol;
};

/// What stands for the values of inputs, by name (is_value() in predict_words.hpp).
using InputWords = std::map<std::string, std::string, std::less<>>;

struct OnnxInfoWords {
  std::string model;
  std::vector<NamedShape> shapes;
  InputWords inputs;
  std::string device;
  OnnxPassWords passes;
  bool json = false;
  bool plan = false;
  bool batching = false;
  bool dot = false;
};

struct OnnxBenchWords {
  std::string model;
  std::vector<NamedShape> shapes;
  InputWords inputs;
  std::vector<std::int64_t> batches;
  unsigned threads = 0;  ///< 0: as the environment says
  std::string device;
  OnnxPassWords passes;
  double seconds = 2;      ///< of each batch
  std::uint64_t runs = 0;  ///< instead of a time; 0: none are given
  bool profile = false;
  bool json = false;
};

struct OnnxExportWords {
  std::string model;
  std::string output;
  int opset = 17;
  std::optional<std::int64_t> batch;  ///< none: open
  std::string device;
  bool json = false;
};

/// `--precision`, as all verbs that load ONNX models have it; `precision` outlives the parser.
void add_precision_word(CLI::App& verb, std::string& precision);
/// Each adds a subcommand that fills `words`, which outlives the parser.
CLI::App* add_onnx_test_words(CLI::App& verb, OnnxTestWords& words);
CLI::App* add_onnx_info_words(CLI::App& verb, OnnxInfoWords& words);
CLI::App* add_onnx_bench_words(CLI::App& verb, OnnxBenchWords& words);
CLI::App* add_onnx_export_words(CLI::App& verb, OnnxExportWords& words);

}  // namespace stoker::command_line
