// Tensor programs in the ways in which they may be computed: each operation by itself, all lazily and
// fused, traced, traced and called again, for many elements at once. All ways give the same values.
#include <array>
#include <bit>
#include <cmath>

#include "graph.hpp"

namespace stoker::fuzz::graph {
namespace {

/// Integers in an exact program may be -0 or 0; other programs agree to the bit, but for NaN's.
bool same(double a, double b, bool exact) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return exact ? a == b : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void compare(const Graph& graph, const std::string& way, std::size_t place, const Tensor& got,
             const Tensor& wanted) {
  const std::string at = way + ", value " + std::to_string(place) + ": ";
  const auto told = [&] { return " in\n" + graph.text(); };
  if (got.spec() != wanted.spec())
    throw Broken{at + got.spec().to_string() + " instead of " + wanted.spec().to_string() + told()};
  const auto values = got.to_vector<double>();
  const auto expected = wanted.to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!same(values[i], expected[i], graph.exact()))
      throw Broken{at + std::to_string(values[i]) + " instead of " + std::to_string(expected[i]) +
                   " at " + std::to_string(i) + told()};
}

void compare(const Graph& graph, const std::string& way, const std::vector<Tensor>& got,
             const std::vector<Tensor>& wanted) {
  require(got.size() == wanted.size(), way + ": as many values");
  for (std::size_t i = 0; i < got.size(); ++i) compare(graph, way, i, got[i], wanted[i]);
}

std::vector<Tensor> one_by_one(const Graph& graph, const std::vector<Tensor>& leaves) {
  return graph.apply(leaves, [](const Tensor& made) { made.eval(); });
}

/// Some of the values, so that the others may vanish into kernels.
void compare_some(const Graph& graph, std::uint8_t seed, const std::vector<Tensor>& wanted) {
  std::vector<Tensor> lazy = graph.apply(graph.leaves());
  require(lazy.size() == wanted.size(), "lazily: as many values");
  std::vector<Tensor> some;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lazy.size(); ++i)
    if (i + 1 == lazy.size() || (seed + i * 7) % 5 == 0) {
      some.push_back(lazy[i]);
      places.push_back(i);
    }
  lazy.clear();
  eval(some);
  for (std::size_t i = 0; i < some.size(); ++i)
    compare(graph, "lazily", places[i], some[i], wanted[places[i]]);
}

/// Two elements, one of each variant.
void compare_mapped(const Graph& graph, const std::array<std::vector<Tensor>, 2>& wanted) {
  const std::array leaves{graph.leaves(0), graph.leaves(1)};
  std::vector<Tensor> stacked;
  for (std::size_t i = 0; i < leaves[0].size(); ++i)
    stacked.push_back(stack({leaves[0][i], leaves[1][i]}));
  const auto mapped = vmap([&](const std::vector<Tensor>& in) { return graph.apply(in); })(stacked);
  for (std::size_t element = 0; element < wanted.size(); ++element) {
    std::vector<Tensor> got;
    for (const Tensor& one : mapped) got.push_back(one[static_cast<std::int64_t>(element)]);
    eval(got);
    compare(graph, "mapped, element " + std::to_string(element), got, wanted[element]);
  }
}

}  // namespace

void run(Bytes bytes) {
  if (bytes.size() < 4) return;
  const DeviceScope scope{device()};
  const Graph graph{bytes};
  const std::array wanted{one_by_one(graph, graph.leaves(0)), one_by_one(graph, graph.leaves(1))};
  if (wanted[0].empty()) return;
  compare_some(graph, std::to_integer<std::uint8_t>(bytes[1]), wanted[0]);
  const auto traced = jit([&](const std::vector<Tensor>& in) { return graph.apply(in); });
  compare(graph, "traced", traced(graph.leaves(0)), wanted[0]);
  compare(graph, "traced, called again", traced(graph.leaves(1)), wanted[1]);
  compare_mapped(graph, wanted);
}

}  // namespace stoker::fuzz::graph
