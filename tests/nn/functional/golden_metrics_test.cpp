// Every metric against what NumPy counted (golden/metrics.py): of all rows, and over batches.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stoker/tests/nn/golden_run.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

const json& golden() {
  static const json read = golden_file("metrics");
  return read;
}

Tensor tensor_of(const json& rows, const std::string& what) {
  const auto extents = rows[what + "_shape"].get<std::vector<std::int64_t>>();
  const bool integers = rows[what][0].is_number_integer();
  return golden_tensor(rows[what], Shape::make(extents, "golden"),
                       integers ? DType::s32 : DType::f32);
}

struct Rows {
  Tensor target;
  Tensor prediction;
};
Rows rows_of(const json& one) {
  const json& rows = golden()["rows"][one["rows"].get<std::string>()];
  return {tensor_of(rows, "target"), tensor_of(rows, "prediction")};
}

/// What it comes to when the batches of the script are added up.
double over_batches(const Metric& of, const Rows& rows) {
  MetricTotal total{of};
  const auto size = golden()["batch"].get<std::int64_t>();
  const std::int64_t all = rows.target.shape()[0];
  for (std::int64_t from = 0; from < all; from += size) {
    const std::int64_t count = std::min(size, all - from);
    std::vector<double> counts;
    for (const Tensor& one : of.counts(slice_along_axis(rows.target, from, count),
                                       slice_along_axis(rows.prediction, from, count)))
      counts.push_back(one.item<double>());
    total.add(counts);
  }
  return total.value();
}

std::string where(const json& one) {
  return one["metric"].get<std::string>() + " of " + one["rows"].get<std::string>();
}

void expect_close(double got, const json& want, const std::string& what) {
  EXPECT_NEAR(got, want.get<double>(), 2e-6 * std::max(1.0, want.get<double>())) << what;
}

using GoldenMetrics = Tensors;
class GoldenMetricsOnDevices : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, GoldenMetricsOnDevices, every_device(), device_name);

TEST_F(GoldenMetrics, are_there_for_every_name) {
  for (const NamedKind& kind : metric_kinds())
    EXPECT_TRUE(std::ranges::any_of(golden()["cases"], [&](const json& one) {
      const auto text = one["metric"].get<std::string>();
      return text.substr(0, text.find('(')) == kind.name;
    })) << kind.name;
}

TEST_P(GoldenMetricsOnDevices, of_all_rows_are_what_numpy_counted) {
  for (const json& one : golden()["cases"]) {
    const Rows rows = rows_of(one);
    const Metric of = metric(one["metric"].get<std::string>());
    expect_close(of.of(rows.target, rows.prediction).item<double>(), one["value"], where(one));
  }
}

TEST_F(GoldenMetrics, over_batches_are_those_of_all_rows_or_means_or_sums) {
  for (const json& one : golden()["cases"]) {
    const Rows rows = rows_of(one);
    const Metric of = metric(one["metric"].get<std::string>());
    expect_close(over_batches(of, rows), one["value"], where(one) + ", exact");
    expect_close(over_batches(running_average(of), rows), one["mean"], where(one) + ", mean");
    expect_close(over_batches(running_sum(of), rows), one["sum"], where(one) + ", sum");
  }
}

}  // namespace
}  // namespace stoker::nn
