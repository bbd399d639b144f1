#include "stoker/api/tensor/core/transfer.hpp"

namespace stoker {
namespace detail {

void eval_all(std::span<const Tensor> tensors, std::string_view op, const CommandOptions& options) {
  for (const Tensor& tensor : tensors)
    if (!tensor.has_value())
      throw Error{std::string{op}, ErrorCode::invalid_argument, "a tensor has no value"};
  try {
    eval(tensors, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::wrong_device) throw;
    // No program has several devices. One of a tensor's own is thrown again.
    for (const Tensor& tensor : tensors) tensor.eval(options);
  }
}

std::vector<Tensor> all_to(std::vector<Tensor> tensors, const Device& device) {
  eval_all(tensors, "to_device");
  for (Tensor& tensor : tensors) tensor = tensor.to(device);
  return tensors;
}

}  // namespace detail

Future<> computed(std::span<const Tensor> tensors, const CommandOptions& options) {
  detail::eval_all(tensors, "computed", options);
  std::vector<Future<>> each;
  for (const Tensor& tensor : tensors) each.push_back(tensor.computed(options));
  return when_all(std::move(each));
}

Future<> computed(std::initializer_list<Tensor> tensors, const CommandOptions& options) {
  return computed(std::span<const Tensor>{tensors.begin(), tensors.size()}, options);
}

}  // namespace stoker
