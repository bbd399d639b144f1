#include "stoker/api/train/model/invalid_row.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/api/data/row_order.hpp"
#include "stoker/api/tensor/core/creation.hpp"

namespace stoker::nn {
namespace {

/// Input or target, as errors call it.
struct Name {
  std::string text;  ///< "input 'pixels'"
  Detail detail;
};

/// The first number that `wrong` is true of.
template <class Wrong>
std::optional<InvalidRow> first_wrong(const HostArray& array,
                                      const std::vector<std::int64_t>& indices, const Name& name,
                                      const std::string& says, const Wrong& wrong,
                                      const std::string& then) {
  const auto values = tensor(std::span{array.bytes}, array.spec).to_vector<double>();
  const auto found = std::ranges::find_if(values, wrong);
  if (found == values.end()) return std::nullopt;
  const std::size_t each = values.size() / indices.size();
  const auto at = static_cast<std::size_t>(found - values.begin()) / each;
  const std::string row = std::to_string(indices[at]);
  // "-nan" would only raise questions.
  const std::string value = std::isnan(*found)   ? "nan"
                            : std::isinf(*found) ? (*found < 0 ? "-inf" : "inf")
                                                 : std::to_string(std::llround(*found));
  return InvalidRow{name.text + " of row " + row + says + value + then,
                    {{"row", row}, name.detail}};
}

std::optional<InvalidRow> not_finite(const HostArray& array,
                                     const std::vector<std::int64_t>& indices, const Name& name) {
  if (!is_float(array.spec.dtype)) return std::nullopt;
  return first_wrong(
      array, indices, name, " holds ", [](double x) { return !std::isfinite(x); }, "");
}

/// Of targets that are indices.
std::optional<InvalidRow> no_class(const HostArray& array, const std::vector<std::int64_t>& indices,
                                   const Name& name, const LossName& loss, const Shape& output) {
  const bool of_classes = loss.name == "cross_entropy" || loss.name == "categorical_cross_entropy";
  if (!of_classes || !is_integer(array.spec.dtype) || array.spec.shape.without(0) == output ||
      output.rank() == 0)
    return std::nullopt;
  const auto classes = static_cast<double>(output[output.rank() - 1]);
  return first_wrong(
      array, indices, name, " is ", [&](double x) { return x < 0 || x >= classes; },
      ", and there are " + std::to_string(output[output.rank() - 1]) + " classes, from 0 on");
}

std::optional<InvalidRow> among(const Model& model, const Dataset& data,
                                const std::vector<std::int64_t>& indices) {
  const DeviceScope scope{model.device()};
  const HostRows rows = data.rows(indices);
  const std::vector<std::size_t> places = model.network().places_of(rows.inputs.size());
  for (std::size_t i = 0; i < rows.inputs.size(); ++i) {
    const std::string& input = model.network().inputs()[places[i]].name;
    if (auto bad = not_finite(rows.inputs[i], indices, {"input '" + input + "'", {"input", input}}))
      return bad;
  }
  const ModelOptions& options = model.options();
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    const Name name{"target " + std::to_string(i), {"target", std::to_string(i)}};
    if (auto bad = not_finite(rows.targets[i], indices, name)) return bad;
    const LossName& loss = options.losses.empty() ? options.loss : options.losses[i];
    if (auto bad =
            no_class(rows.targets[i], indices, name, loss, model.network().outputs()[i].shape))
      return bad;
  }
  return std::nullopt;
}

}  // namespace

std::optional<InvalidRow> find_bad_row(const Model& model, const Dataset& data) {
  constexpr std::int64_t at_once = 1024;  // all need not fit into memory
  for (std::int64_t from = 0; from < data.size(); from += at_once) {
    std::vector<std::int64_t> part(static_cast<std::size_t>(std::min(at_once, data.size() - from)));
    std::iota(part.begin(), part.end(), from);
    if (auto bad = among(model, data, part)) return bad;
  }
  return std::nullopt;
}

std::optional<InvalidRow> find_bad_row(const Model& model, const Loader& loader, std::int64_t epoch,
                                       std::int64_t batch) {
  const std::int64_t rows = loader.data().size();
  const std::int64_t size = loader.options().batch_size;
  const std::vector<std::int64_t> order =
      loader.options().shuffle
          ? shuffled_rows(rows, loader.seed(), static_cast<std::uint64_t>(epoch))
          : rows_in_order(rows);
  const auto from = order.begin() + batch * size;
  return among(model, loader.data(), {from, from + std::min(size, rows - batch * size)});
}

}  // namespace stoker::nn
