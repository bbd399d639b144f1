// Random programs of loops and branches, as a graph and as plain code that computes the same. Every value is
// int64[2] with elements in [0, 97).
//
// Threads: one.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class RandomLoops {
 public:
  using Pair = std::array<std::int64_t, 2>;
  using Values = std::map<std::string, Pair>;

  /// `below(n)` chooses a number from 0 to n - 1.
  explicit RandomLoops(std::function<int(int n)> below) : below_{std::move(below)} {
    names_ = {"x", "y"};
    builder_.input("x", {2}, ElementType::s64).input("y", {2}, ElementType::s64);
    for (const int number : {0, 1, 2, 3, 5, 40, 97})
      builder_.constant(constant(number), scalar(number));
    builder_.constant("zeros", integers({0, 0})).constant("axis", integers({0}));
    builder_.constant("yes", condition());
    code_ = statements(builder_, 3 + this->below(3), 0);
    for (const std::string& name : names_)
      if (name != "x" && name != "y") outputs_.push_back(name);
    for (const std::string& name : outputs_) builder_.output(name);
  }
  [[nodiscard]] const GraphBuilder& builder() const noexcept { return builder_; }
  [[nodiscard]] const std::vector<std::string>& outputs() const noexcept { return outputs_; }
  [[nodiscard]] Values computed(Values values) const {
    code_(values);
    return values;
  }

 private:
  /// Computes what it names of what is there.
  using Code = std::function<void(Values& values)>;
  using Condition = std::function<bool(const Values& values)>;
  static constexpr std::int64_t modulus = 97;

  int below(int n) { return below_(n); }
  std::string name() { return "v" + std::to_string(count_++); }
  const std::string& some() {
    return names_[static_cast<std::size_t>(below(static_cast<int>(names_.size())))];
  }
  static std::string constant(int number) { return "k" + std::to_string(number); }
  static TensorData scalar(std::int64_t number) {
    TensorData made = integers({number});
    made.dims = {};
    return made;
  }
  static TensorData condition() {
    return {.type = ElementType::boolean,
            .dims = {},
            .bytes = SharedBytes::own({std::byte{1}}),
            .strings = {}};
  }
  static std::int64_t wrapped(std::int64_t n) { return ((n % modulus) + modulus) % modulus; }

  Code statements(GraphBuilder& graph, int count, int depth) {
    std::vector<Code> all;
    for (int i = 0; i < count; ++i) all.push_back(statement(graph, depth));
    return [all](Values& values) {
      for (const Code& one : all) one(values);
    };
  }
  Code statement(GraphBuilder& graph, int depth) {
    const int kind = below(depth < 2 ? 8 : 5);
    if (kind < 3) return sum(graph);
    if (kind == 3) return chosen(graph);
    if (kind == 4) return branch(graph, depth);
    return loop(graph, depth);
  }
  /// a + 2 b, or a − 3 b.
  Code sum(GraphBuilder& graph) {
    const std::string a = some();
    const std::string b = some();
    const bool adds = below(2) == 0;
    const std::string made = name();
    graph.node("Mul", {b, constant(adds ? 2 : 3)}, {made + "_p"})
        .node(adds ? "Add" : "Sub", {a, made + "_p"}, {made + "_s"})
        .node("Mod", {made + "_s", constant(97)}, {made});
    names_.push_back(made);
    return [=](Values& values) {
      for (std::size_t i = 0; i < 2; ++i)
        values[made][i] = wrapped(values.at(a)[i] + (adds ? 2 : -3) * values.at(b)[i]);
    };
  }
  /// a + the sum of those elements of b that are above 40: a cut for their number.
  Code chosen(GraphBuilder& graph) {
    const std::string a = some();
    const std::string b = some();
    const std::string made = name();
    graph.node("Greater", {b, constant(40)}, {made + "_g"})
        .node("Compress", {b, made + "_g"}, {made + "_c"}, {named("axis", std::int64_t{0})})
        .node("ReduceSum", {made + "_c"}, {made + "_r"}, {named("keepdims", std::int64_t{0})})
        .node("Add", {a, made + "_r"}, {made + "_s"})
        .node("Mod", {made + "_s", constant(97)}, {made});
    names_.push_back(made);
    return [=](Values& values) {
      std::int64_t sum = 0;
      for (const std::int64_t element : values.at(b)) sum += element > 40 ? element : 0;
      for (std::size_t i = 0; i < 2; ++i) values[made][i] = wrapped(values.at(a)[i] + sum);
    };
  }
  /// Whether the sum of a value, modulo `by`, is not 1.
  Condition asked(GraphBuilder& graph, const std::string& of, int by, const std::string& made) {
    graph.node("ReduceSum", {of}, {made + "_t"}, {named("keepdims", std::int64_t{0})})
        .node("Mod", {made + "_t", constant(by)}, {made + "_m"})
        .node("Equal", {made + "_m", constant(1)}, {made + "_e"})
        .node("Not", {made + "_e"}, {made});
    return [=](const Values& values) { return (values.at(of)[0] + values.at(of)[1]) % by != 1; };
  }
  Code branch(GraphBuilder& graph, int depth) {
    const std::string made = name();
    const Condition goes = asked(graph, some(), 2, made + "_if");
    std::vector<Attribute> branches;
    std::vector<std::pair<Code, std::string>> codes;
    for (const char* const which : {"then_branch", "else_branch"}) {
      const std::vector<std::string> around = names_;
      GraphBuilder body;
      Code code = statements(body, 1, depth + 1);
      codes.emplace_back(std::move(code), names_.back());
      body.output(names_.back());
      branches.push_back(body.as(which));
      names_ = around;
    }
    graph.node("If", {made + "_if"}, {made}, std::move(branches));
    names_.push_back(made);
    return [=](Values& values) {
      const auto& [code, result] = codes[goes(values) ? 0 : 1];
      Values within = values;
      code(within);
      values[made] = within.at(result);
    };
  }
  Code loop(GraphBuilder& graph, int depth);

  std::function<int(int)> below_;
  GraphBuilder builder_;
  Code code_;
  std::vector<std::string> names_;  // that are there
  std::vector<std::string> outputs_;
  int count_ = 0;
};

/// A counter that the host knows, up to three states, up to two results of each round that are stacked.
inline RandomLoops::Code RandomLoops::loop(GraphBuilder& graph, int depth) {
  const std::string made = name();
  const std::vector<std::string> around = names_;
  const auto state = [made](std::size_t i) { return made + "_state" + std::to_string(i); };
  const int trip = below(9);  // 7: computed; 8: so many that they are parted
  const std::int64_t many = depth == 0 ? 43 : 3;
  const std::string trip_of = some();
  const bool asks = below(4) != 0;
  const bool starts_unknown = below(3) == 0;
  const std::string start_of = some();
  const bool counts = below(2) == 0;
  const std::size_t states = 1 + static_cast<std::size_t>(below(3));
  const std::size_t scans = static_cast<std::size_t>(below(3));

  std::string most = constant(trip == 4 || trip > 5 ? 5 : trip);
  if (trip == 8) {
    most = made + "_many";
    builder_.constant(most, scalar(many));
  }
  if (trip == 7) {
    graph.node("ReduceSum", {trip_of}, {made + "_ts"}, {named("keepdims", std::int64_t{0})})
        .node("Mod", {made + "_ts", constant(5)}, {made + "_most"});
    most = made + "_most";
  }
  std::string start = asks ? "yes" : "";
  Condition starts = [](const Values&) { return true; };
  if (asks && starts_unknown) {
    start = made + "_start";
    starts = asked(graph, start_of, 3, start);
  }
  std::vector<std::string> operands{most, start, "zeros"};
  std::vector<std::string> initial{"zeros"};
  GraphBuilder body;
  body.input(made + "_round", {}, ElementType::s64).input(made + "_c", {}, ElementType::boolean);
  body.input(state(0), {2}, ElementType::s64);
  names_.push_back(state(0));
  for (std::size_t i = 1; i <= states; ++i) {
    initial.push_back(around[static_cast<std::size_t>(below(static_cast<int>(around.size())))]);
    operands.push_back(initial.back());
    body.input(state(i), {2}, ElementType::s64);
    names_.push_back(state(i));
  }
  if (counts) {
    body.node("Add", {state(1), made + "_round"}, {made + "_added"})
        .node("Mod", {made + "_added", constant(97)}, {made + "_counted"});
    names_.push_back(made + "_counted");
  }
  const Code code = statements(body, 1 + below(2), depth + 1);
  // What nobody reads makes a body large enough for few rounds to be many nodes.
  for (int i = 0; trip == 8 && depth == 0 && i < 100; ++i)
    body.node("Identity", {state(0)}, {made + "_unread" + std::to_string(i)});
  body.node("Add", {state(0), constant(1)}, {made + "_next0"});
  const Condition goes = asks ? asked(body, names_.back(), 5, made + "_goes")
                              : Condition{[](const Values&) { return true; }};
  body.output(asks ? made + "_goes" : made + "_c").output(made + "_next0");
  std::vector<std::string> next{made + "_next0"};
  std::vector<std::string> given;
  // Also a value from around the loop, as it is.
  for (std::size_t i = 1; i <= states; ++i) {
    next.push_back(i == 1 ? names_.back() : some());
    body.node("Identity", {next.back()}, {state(i) + "_next"}).output(state(i) + "_next");
  }
  for (std::size_t i = 0; i < scans; ++i) {
    given.push_back(some());
    const std::string scan = made + "_scan" + std::to_string(i);
    body.node("Identity", {given.back()}, {scan}).output(scan);
    body.graph.outputs.back().type = body.graph.inputs[2].type;
  }
  names_ = around;
  std::vector<std::string> results;
  for (std::size_t i = 0; i <= states; ++i) results.push_back(made + "_" + std::to_string(i));
  for (std::size_t i = 0; i < scans; ++i) results.push_back(made + "_all" + std::to_string(i));
  graph.node("Loop", operands, results, {body.as("body")});
  for (std::size_t i = 1; i <= states; ++i) names_.push_back(results[i]);
  // Of each result that is stacked the sum, in which early rounds weigh more.
  for (std::size_t i = 0; i < scans; ++i) {
    const std::string one = results[states + 1 + i];
    graph.node("CumSum", {one, constant(0)}, {one + "_cum"})
        .node("ReduceSum", {one + "_cum", "axis"}, {one + "_sum"},
              {named("keepdims", std::int64_t{0})})
        .node("Mod", {one + "_sum", constant(97)}, {one + "_mod"});
    names_.push_back(one + "_mod");
  }
  const std::int64_t fixed = trip == 8 ? many : trip == 4 || trip > 5 ? 5 : trip;
  return [=](Values& values) {
    const std::int64_t rounds =
        trip == 7 ? (values.at(trip_of)[0] + values.at(trip_of)[1]) % 5 : fixed;
    std::vector<Pair> now{{0, 0}};
    for (std::size_t i = 1; i <= states; ++i)
      now.push_back(initial[i] == "zeros" ? Pair{0, 0} : values.at(initial[i]));
    std::vector<std::vector<Pair>> all(scans);
    bool goes_on = !asks || starts(values);
    for (std::int64_t round = 0; round < rounds && goes_on; ++round) {
      Values within = values;
      for (std::size_t i = 0; i <= states; ++i) within[state(i)] = now[i];
      if (counts)
        for (std::size_t i = 0; i < 2; ++i)
          within[made + "_counted"][i] = wrapped(now[1][i] + round);
      code(within);
      within[made + "_next0"] = {now[0][0] + 1, now[0][1] + 1};
      goes_on = goes(within);
      for (std::size_t i = 0; i <= states; ++i) now[i] = within.at(next[i]);
      for (std::size_t i = 0; i < scans; ++i) all[i].push_back(within.at(given[i]));
    }
    for (std::size_t i = 1; i <= states; ++i) values[results[i]] = now[i];
    for (std::size_t k = 0; k < scans; ++k) {
      Pair sum{0, 0};
      for (std::size_t r = 0; r < all[k].size(); ++r)
        for (std::size_t i = 0; i < 2; ++i)
          sum[i] += static_cast<std::int64_t>(all[k].size() - r) * all[k][r][i];
      values[results[states + 1 + k] + "_mod"] = {wrapped(sum[0]), wrapped(sum[1])};
    }
  };
}

}  // namespace stoker::onnx
