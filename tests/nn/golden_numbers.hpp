// Numbers that the NumPy scripts of tests/nn/golden computed: lists of f64 by name.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/tests/checkout/checkout.hpp"

namespace stoker::nn {

class GoldenNumbers {
 public:
  /// `file`: without folder and ".json".
  explicit GoldenNumbers(const std::string& file)
      : numbers_(nlohmann::json::parse(
            std::ifstream{checkout_folder() / "tests/nn/golden" / (file + ".json")})) {}
  [[nodiscard]] std::vector<double> operator[](const std::string& name) const {
    return numbers_.at(name).get<std::vector<double>>();
  }

 private:
  nlohmann::json numbers_;
};

}  // namespace stoker::nn
