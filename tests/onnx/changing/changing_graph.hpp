// Graphs put together at random whose shapes depend on inputs and on what runs compute: NonZero, Compress, Unique,
// NonMaxSuppression, Range, places in sequences, slices of computed extents, branches of unlike shapes, loops
// whose states grow.
//
// Every graph is in order for all inputs of its types whose extents are at least `least_extent()`: each value is kept
// with what is known about its extents, and operators get only operands that fit. Numbers stay small integers, so that
// results are exact in every type. Inputs: x int64[n], y int64[n,m], z float[m], k int64.
//
// Threads: one. The same seed gives the same graph.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class ChangingGraph {
 public:
  /// Elements of inputs, and k, are at most this far from 0.
  static constexpr std::int64_t most_number = 4;
  static constexpr std::int64_t most_extent = 5;  ///< of n and m

  explicit ChangingGraph(unsigned seed);

  [[nodiscard]] const GraphBuilder& builder() const { return builders_.front(); }
  /// What n and m are at least.
  [[nodiscard]] std::int64_t least_extent() const { return least_extent_; }
  /// A line for each constant and node; graphs within are indented.
  [[nodiscard]] static std::string print(const Graph& graph, const std::string& indent = {});

 private:
  static constexpr auto number_type = ElementType::s64;
  static constexpr auto truth_type = ElementType::boolean;
  /// f32 counts this far, with some to spare for one more sum.
  static constexpr std::int64_t most_bound = std::int64_t{1} << 22;
  static constexpr std::int64_t most_in_array = 400;

  [[nodiscard]] static Attribute with_axis(std::int64_t axis) { return named("axis", axis); }

  /// An extent: a number, or the place of one that changes, in `extents_`.
  struct Extent {
    std::int64_t number = 0;
    std::optional<std::size_t> place = {};
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  struct Bounds {
    std::int64_t least = 0, most = 0;
  };
  struct Item {
    std::string name;
    ElementType type = ElementType::s64;
    std::vector<Extent> shape = {};
    std::int64_t bound = 0;  ///< no number is further from 0
  };
  using Items = std::vector<Item>;
  using Maybe = std::optional<Item>;
  using Attributes = std::vector<Attribute>;
  /// Adds nodes, and gives what they come to; nothing if there are no operands for it.
  using Step = Maybe (ChangingGraph::*)();

  // Choices.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  Maybe some(const std::function<bool(const Item&)>& fits);
  Maybe some_of_rank(std::size_t least, std::size_t most);
  Maybe some_vector();
  std::size_t axis_of(const Item& item) {
    return static_cast<std::size_t>(below(static_cast<std::int64_t>(item.shape.size())));
  }

  // What is known about extents.
  [[nodiscard]] std::int64_t least(const Extent& extent) const;
  [[nodiscard]] std::int64_t most(const Extent& extent) const;
  [[nodiscard]] Extent changing(std::int64_t least, std::int64_t most);
  [[nodiscard]] Extent product(const std::vector<Extent>& shape);
  [[nodiscard]] std::int64_t most_elements(const std::vector<Extent>& shape) const;
  [[nodiscard]] bool is_never_empty(const Item& item) const;
  /// Nothing if they do not fit for sure.
  [[nodiscard]] std::optional<std::vector<Extent>> joined(const Item& a, const Item& b) const;

  // Nodes.
  std::string name() { return "v" + std::to_string(names_++); }
  Item constant(const std::vector<std::int64_t>& numbers);
  Item scalar(std::int64_t number, ElementType type = ElementType::s64);
  Item node(const std::string& op, const std::vector<std::string>& inputs, Item made,
            Attributes attributes = {});
  /// Clips it if its numbers have grown.
  Item kept_small(const Item& item);
  Item cast(const Item& item, ElementType type);
  Item flat(const Item& item);
  /// A number that only the run knows, or a known one, in 0 … most, as int64[].
  Item small_number(std::int64_t most);
  Item truth();  ///< bool[]
  Item first_of(const Item& item, std::size_t axis, const Item& count, std::int64_t most);

  // Steps: changing_steps.cpp, from non_zero() on changing_selections.cpp.
  Maybe unary();
  Maybe arithmetic();
  Maybe comparison();
  Maybe logic();
  Maybe choice();
  Maybe conversion();
  Maybe reduction();
  Maybe position();
  Maybe running_sum();
  Maybe matrix_product();
  Maybe transposed();
  Maybe concatenated();
  Maybe sliced();
  Maybe sliced_to_number();
  Maybe gathered();
  Maybe reshaped();
  Maybe squeezed();
  Maybe expanded();
  Maybe tiled();
  Maybe padded();
  Maybe range();
  Maybe filled();
  Maybe extents_of();
  Maybe of_equal_length();
  Maybe non_zero();
  Maybe compressed();
  Maybe unique();
  Maybe suppressed();
  Maybe top();
  Maybe sequenced();

  // Graphs within graphs: changing_graph.cpp.
  Maybe branches();
  Maybe loop();
  void add_some(int steps);
  /// What a branch gives, as an output of its graph.
  Item branch_output(const Item& like);
  Item next_state(const Item& state, bool grows);
  /// Adds outputs for what was made.
  void finish();

  std::mt19937 random_;
  std::int64_t least_extent_ = 1;
  std::vector<Bounds> extents_;
  std::vector<GraphBuilder> builders_{1};  ///< the outermost graph first
  Items items_;                            ///< that can be read here
  int names_ = 0;
};

}  // namespace stoker::onnx
