#include "stoker/api/onnx/tabular/classes.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"

namespace stoker::onnx {

Classes::Classes(const Call& call, std::string_view integers) {
  const auto* texts = call.node().texts("classlabels_strings");
  const auto* numbers = call.node().integers(integers);
  const bool has_texts = texts && !texts->empty(), has_numbers = numbers && !numbers->empty();
  if (has_texts == has_numbers)
    call.refuse(ErrorCode::invalid_argument, "expected labels in one of classlabels_strings and " +
                                                 std::string{integers} + ", they are in " +
                                                 (has_texts ? "both" : "none"));
  if (has_texts)
    labels_ = *texts;
  else
    labels_ = *numbers;
}

std::int64_t Classes::count() const noexcept {
  return std::visit([](const auto& all) { return static_cast<std::int64_t>(all.size()); }, labels_);
}

Value Classes::all() const {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&labels_))
    return Texts{Shape{count()}, *texts};
  return Known::integers(std::get<std::vector<std::int64_t>>(labels_));
}

Value Classes::labels(const Tensor& classes) const {
  if (!are_texts()) return take(all().tensor(), classes);
  return Value::chosen_texts(std::get<std::vector<std::string>>(labels_), classes);
}

}  // namespace stoker::onnx
