// ONNX graphs of what passes look for, put together by the bytes: with all passes they are accepted where they are
// without any, and give the same numbers.
#include <algorithm>
#include <cmath>

#include "fuzz.hpp"
#include "stoker/api/onnx.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/onnx/passes/graph_text.hpp"
#include "stoker/tests/onnx/passes/random_graph.hpp"

namespace stoker::fuzz::onnx_passes {
namespace {

using namespace stoker::onnx;
using Graph = stoker::onnx::Graph;  // the other one is of tensor programs
using Numbers = std::vector<std::pair<std::string, std::vector<double>>>;

/// Nothing if it is refused.
std::optional<Numbers> numbers_of(Graph graph, Optimize optimize, const Tensor& x) {
  auto file = std::make_shared<ModelFile>();
  file->ir_version = 10;
  file->opsets = {{"", 21}};
  file->graph = std::move(graph);
  return accepted([&] {
    const Model model = load(std::move(file), {.device = device(), .optimize = optimize});
    Numbers numbers;
    for (const auto& [name, value] : model.run({{"x", x}}).get()) {
      numbers.emplace_back(name, value.tensor().to_vector<double>());
      for (const std::int64_t extent : value.shape())
        numbers.back().second.push_back(static_cast<double>(extent));
    }
    return numbers;
  });
}

double largest(const Numbers& all) {
  double most = 1;
  for (const auto& [name, numbers] : all)
    for (const double one : numbers)
      if (std::isfinite(one)) most = std::max(most, std::abs(one));
  return most;
}

bool is_near(double a, double b, double bound) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= bound;
}

}  // namespace

void run(Bytes bytes) {
  Decisions decisions{bytes};
  const DeviceScope scope{device()};
  const bool is_exact = decisions.below(4) != 0;
  const bool has_faults = decisions.below(8) == 0;
  const RandomGraph made{
      [&](int n) { return static_cast<int>(decisions.below(static_cast<std::size_t>(n))); },
      {.nodes = static_cast<int>(decisions.in(1, 16)),
       .type = is_exact ? "double" : "float",
       .batch = decisions.flag() ? "n" : "1",
       .has_faults = has_faults}};
  const Graph graph = GraphText::parse(made.text(), 21);
  std::vector<double> elements(32);
  for (double& one : elements) one = static_cast<double>(decisions.byte() % 64) / 16 - 2;
  const Tensor x =
      Known::reals(elements, Shape{1, 2, 4, 4}, is_exact ? ElementType::f64 : ElementType::f32)
          .tensor();

  const auto plain = numbers_of(graph, Optimize::none, x);
  const auto fast = numbers_of(graph, Optimize::all, x);
  // A pass may leave a node with a fault unread, which is then never computed.
  require(plain || has_faults, "such graphs are accepted\n" + made.text());
  require(fast || !plain, "all passes are refused\n" + made.text());
  if (!plain) return;
  require(plain->size() == fast->size(), "as many outputs");
  // Of all values: differences of large ones may be small. The numbers that patterns are known by have nine digits.
  Graph whole = graph;
  whole.outputs.clear();
  for (const std::string& name : made.values())
    if (name != "x") whole.outputs.push_back({.name = name, .type = {}, .doc = {}});
  const auto all = numbers_of(std::move(whole), Optimize::none, x);
  const double bound =
      (is_exact ? 1e-6 : 1e-2) * largest(all ? *all : *plain);  // unread values may be faults
  for (std::size_t i = 0; i < plain->size(); ++i) {
    const auto& [name, expected] = (*plain)[i];
    const auto& [other, got] = (*fast)[i];
    require(name == other && expected.size() == got.size(), "outputs of one shape\n" + made.text());
    for (std::size_t at = 0; at < got.size(); ++at)
      require(is_near(expected[at], got[at], bound),
              name + " at " + std::to_string(at) + ": " + std::to_string(expected[at]) +
                  " without passes, " + std::to_string(got[at]) + " with them\n" + made.text());
  }
}

}  // namespace stoker::fuzz::onnx_passes
