// Statistics over axes, and what is computed along one.
#include <charconv>
#include <cmath>

#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/linear_algebra.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/statistics.hpp"
#include "stoker/api/tensor/math/windows.hpp"

namespace stoker::script {
namespace {

using Call = FunctionCall;

ParamSpec ddof_option() {
  return integer_option("ddof", 0, "subtracted from the number of elements that divides", 0);
}

/// low and high of each axis, as PadRule's other form has them.
Window window_of(const Call& call) {
  Window window{.dimensions = call.integers("window"),
                .strides = call.some("strides"),
                .dilations = call.some("window_dilations")};
  const Axes &low = call.integers("padding_low"), &high = call.integers("padding_high");
  if (low.empty() && high.empty()) return window;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding(std::max(low.size(), high.size()));
  for (std::size_t i = 0; i < padding.size(); ++i)
    padding[i] = {i < low.size() ? low[i] : 0, i < high.size() ? high[i] : 0};
  window.padding = std::move(padding);
  return window;
}

/// Text, because an option of a script has one type, and some orders have names. A script may also write a number,
/// which comes here as its text.
linalg::NormOrder order_of(const Call& call) {
  const std::string& text = call.text("ord");
  if (text.empty()) return {};
  if (text == "fro") return linalg::MatrixNorm::fro;
  if (text == "nuc") return linalg::MatrixNorm::nuc;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed == std::errc{} && stop == end && !std::isnan(number)) return number;
  const std::string expected = "a number, inf, -inf, fro or nuc";
  throw Error{"norm",
              ErrorCode::invalid_parameter,
              "parameter 'ord' is \"" + text + "\", expected " + expected,
              {{"parameter", "ord"}, {"expected", expected}, {"got", text}}};
}

void define_statistics(FunctionTable& table) {
  table.add("variance", {1, 1}, reduced_axes({ddof_option()}),
            "the mean of squared distances from the mean",
            [](const Call& c) { return variance(c.x(), c.over(), c.integer("ddof")); });
  table.add("standard_deviation", {1, 1}, reduced_axes({ddof_option()}), "√ variance",
            [](const Call& c) { return standard_deviation(c.x(), c.over(), c.integer("ddof")); });
  table.add("weighted_mean", {2, 2}, reduced_axes(),
            "the mean of the first input, weighted by the second; NaN where the weights add up to "
            "0",
            [](const Call& c) { return weighted_mean(c.x(0), c.x(1), c.over()); });
  table.add("reduce_median", {1, 1}, axis_or_all(),
            "the median; of an even number of elements the mean of the two middle ones",
            [](const Call& c) { return median(c.x(), c.axis_or_all(), c.flag("keepdims")); });
  table.add("mode", {1, 1}, axis_or_all(),
            "the most frequent value; the smallest one if several are",
            [](const Call& c) { return mode(c.x(), c.axis_or_all(), c.flag("keepdims")); });
  table.add("covariance", {1, 2}, {ddof_option()},
            "the covariances [.., n, n] of the columns of x [.., samples, n]; the second input "
            "gives means [.., n] instead of the columns' own",
            [](const Call& c) {
              return c.count() == 1 ? covariance(c.x(), c.integer("ddof"))
                                    : covariance(c.x(0), c.x(1), c.integer("ddof"));
            });
  table.add("norm", {1, 1},
            reduced_axes({choice_option("ord", "", {},
                                        "\"\": the root of the sum of squares; of matrices and "
                                        "vectors 1, -1, 2, -2, math.huge, -math.huge, or these "
                                        "as text: \"2\", \"-inf\"; of matrices \"fro\", \"nuc\"; "
                                        "of vectors 0 and any number")}),
            "the norm of vectors (one axis) or of matrices (two axes)",
            [](const Call& c) { return linalg::norm(c.x(), order_of(c), c.over()); });
  table.add(
      "all_close", {2, 2},
      {real_option("rtol", 1e-5, "relative tolerance", 0),
       real_option("atol", 1e-8, "absolute tolerance", 0),
       flag_option("equal_nan", false, "NaN is close to NaN")},
      "u8: 1 if |a - b| ≤ atol + rtol·|b| everywhere, else 0", [](const Call& c) {
        return all_close(c.x(0), c.x(1), {c.real("rtol"), c.real("atol"), c.flag("equal_nan")});
      });
}

void define_along_axes(FunctionTable& table) {
  table.add("logsumexp", {1, 2}, reduced_axes(),
            "log Σ e^x over axes, without overflow; with a second input log Σ scale·e^x",
            [](const Call& c) {
              return c.count() == 1 ? logsumexp(c.x(), c.over())
                                    : logsumexp(c.x(0), c.x(1), c.over());
            });
  table.add("log_softmax", {1, 1}, {axis_option(-1, "the axis of the sums")}, "log(softmax(x))",
            [](const Call& c) { return log_softmax(c.x(), c.integer("axis")); });
  table.add("diff", {1, 1},
            {integer_option("order", 1, "how many times differences are taken", 0),
             axis_option(-1, "the axis of the neighbours")},
            "differences between neighbours along an axis",
            [](const Call& c) { return diff(c.x(), c.integer("order"), c.integer("axis")); });
  table.add("window_mean", {1, 1},
            {integers_option("window", "extents of the window, one for each axis", 1, true),
             integers_option("strides",
                             "elements from one window to the next along each axis; empty: 1", 1),
             integers_option("padding_low", "zeros added before each axis; empty: 0", 0),
             integers_option("padding_high", "zeros added after each axis; empty: 0", 0),
             integers_option("window_dilations",
                             "elements from one tap of a window to the next along each axis; "
                             "empty: 1",
                             1)},
            "the mean of each window; padding counts as 0",
            [](const Call& c) { return window_mean(c.x(), window_of(c)); });
}

}  // namespace

void define_reductions(FunctionTable& table) {
  define_statistics(table);
  define_along_axes(table);
}

}  // namespace stoker::script
