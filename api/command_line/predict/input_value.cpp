#include "input_value.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>

#include "stoker/api/command_line/words/predict_words.hpp"
#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"

namespace stoker::command_line {
namespace {

namespace fs = std::filesystem;
constexpr const char* reading = "inputs";

onnx::Value typed(const Tensor& x, const onnx::ValueInfo& input) {
  // A file does not say that its bytes are truths or parts of numbers; the model does.
  if (onnx::carrier_of(input.type.element) == x.dtype()) return {x, input.type.element};
  return x;
}

onnx::Value value_in(const fs::path& path, const onnx::ValueInfo& input) {
  std::error_code failure;
  std::ifstream file{path, std::ios::binary};
  if (!fs::is_regular_file(path, failure) || !file)
    throw Error{reading, ErrorCode::not_found, "there is no such file", {{"path", path.string()}}};
  const auto bytes = std::make_shared<const std::string>(std::istreambuf_iterator<char>{file},
                                                         std::istreambuf_iterator<char>{});
  return onnx::value_of(onnx::read_value(std::as_bytes(std::span{*bytes}), input.type.kind,
                                         {.name = path.string()}, bytes)
                            .value());
}

}  // namespace

onnx::Value value_for(const onnx::ValueInfo& input, const std::string& word) {
  if (const auto extents = extents_of_zeros(word)) {
    const DType dtype = onnx::carrier_of(input.type.element).value_or(DType::f32);
    return typed(zeros(Shape::make(*extents, reading), dtype), input);
  }
  if (fs::path{word}.extension() == ".pb") return value_in(word, input);
  return typed(load_npy(word), input);
}

}  // namespace stoker::command_line
