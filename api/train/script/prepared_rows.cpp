#include "stoker/api/train/script/prepared_rows.hpp"

#include <cstring>

#include "stoker/api/data/loader.hpp"

namespace stoker::nn::script {
namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace

Dataset with_one_hot_targets(const Dataset& data, std::int64_t classes) {
  RowSpecs specs = data.specs();
  for (TensorSpec& target : specs.targets) {
    if (!is_integer(target.dtype) || target.shape.rank() != 0)
      throw Error{"one_hot",
                  ErrorCode::dtype_mismatch,
                  "expected class indices, the targets are rows of " + target.to_string(),
                  {{"got", target.to_string()}}};
    target = {DType::f32, Shape{classes}};
  }
  return dataset_from_function(
      data.size(), std::move(specs), [data, classes](std::int64_t row, const RowsInto& into) {
        const std::int64_t one[] = {row};
        const HostRows read = data.rows(one);
        for (std::size_t i = 0; i < into.inputs.size(); ++i)
          copy(read.inputs[i].bytes, into.inputs[i]);
        for (std::size_t i = 0; i < into.targets.size(); ++i) {
          const auto label = stoker::detail::converted<std::int64_t>(read.targets[i].bytes,
                                                                     read.targets[i].spec)[0];
          if (label < 0 || label >= classes)
            throw Error{"one_hot",
                        ErrorCode::invalid_argument,
                        "class " + std::to_string(label) + " of " + std::to_string(classes) +
                            " classes in row " + std::to_string(row),
                        {{"row", std::to_string(row)}}};
          std::vector<float> vector(static_cast<std::size_t>(classes));
          vector[static_cast<std::size_t>(label)] = 1;
          copy(std::as_bytes(std::span{vector}), into.targets[i]);
        }
      });
}

Dataset normalized(const Dataset& data, const Dataset& like, const NormalizeOptions& options) {
  Batch rows = whole_batch(data);
  if (options.method == NormalizeMethod::l2) {
    for (Tensor& input : rows.inputs) input = normalize(input, options);
    return {rows.inputs, rows.targets};
  }
  const Batch measured = whole_batch(like);
  if (measured.inputs.size() != rows.inputs.size())
    throw Error{"normalize", ErrorCode::arity_mismatch,
                "the data has " + std::to_string(rows.inputs.size()) + " inputs, what it is " +
                    "measured on " + std::to_string(measured.inputs.size())};
  for (std::size_t i = 0; i < rows.inputs.size(); ++i)
    rows.inputs[i] =
        normalize_with_stats(rows.inputs[i], normalize_stats(measured.inputs[i], options));
  return {rows.inputs, rows.targets};
}

}  // namespace stoker::nn::script
