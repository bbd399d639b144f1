// A model's configuration as it was written, before anybody asks what its fields mean: config.json, or config.pbtxt in
// the text format of protocol buffers. Both become the same tree.
//
//     max_batch_size: 8                      {"max_batch_size": 8,
//     input { name: "x" dims: [2, 3] }        "input": [{"name": "x", "dims": [2, 3]}]}
//
// A field that has several values occurs several times; an empty list of JSON and null are no field. The text is not
// trusted.
//
// Pure functions; any thread. Errors are thrown: invalid_argument with line and column, or what JSON has and a
// configuration has not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::serve {

enum class ConfigForm : std::uint8_t { json, text };

struct ConfigField;

struct ConfigValue {
  enum class Kind : std::uint8_t {
    text,     ///< in quotes
    word,     ///< without: a number, true, TYPE_FP32
    message,  ///< fields
  };
  Kind kind = Kind::message;
  std::string text = {};
  std::vector<ConfigField> fields;  ///< in order
};

struct ConfigField {
  std::string name = {};
  ConfigValue value = {};
};

struct ConfigTree {
  ConfigForm form = ConfigForm::json;
  ConfigValue root = {};
};

[[nodiscard]] ConfigTree read_config(std::string_view text, ConfigForm form);

}  // namespace stoker::serve
