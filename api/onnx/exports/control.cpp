// Branches and loops: graphs within the graph, which read what is around them by its name.
#include <algorithm>

#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx::exports::control {
namespace {

std::vector<DType> result_dtypes(const ExportCall& call, std::size_t function) {
  std::vector<DType> made;
  for (std::size_t i = 0; i < call.results(function); ++i)
    made.push_back(call.result(function, i).dtype);
  return made;
}

Names rest(const Names& names, std::size_t from) {
  return {names.begin() + static_cast<std::ptrdiff_t>(from), names.end()};
}

Names cond(ExportCall& call) {
  const Names operands = call.operands();
  const auto branch = [&](std::size_t function) {
    call.graph().begin_graph();
    return call.graph().end_graph(call.inlined(function, rest(operands, 1)),
                                  result_dtypes(call, function));
  };
  const std::string condition = call.cast(operands[0], call.dtype(0), DType::boolean);
  const GraphPtr yes = branch(0);
  const GraphPtr no = branch(1);
  return call.graph().nodes("If", {condition}, {{"then_branch", yes}, {"else_branch", no}},
                            call.outputs());
}

/// The condition is asked of the states before the first round, and in each round of the next ones.
Names while_loop(ExportCall& call) {
  constexpr std::size_t condition = 0;
  constexpr std::size_t body = 1;
  const Names operands = call.operands();
  const auto states = static_cast<std::size_t>(call.integer("states"));
  const Names captures = rest(operands, states);
  GraphMaker& graph = call.graph();
  const auto goes_on = [&](const Names& arguments) {
    const std::string truth = call.inlined(condition, arguments)[0];
    return call.cast(truth, call.result(condition, 0).dtype, DType::boolean);
  };
  const std::string first = goes_on(operands);
  graph.begin_graph();
  static_cast<void>(graph.graph_input(DType::s64, {}));      // the round
  static_cast<void>(graph.graph_input(DType::boolean, {}));  // the condition, which is true
  Names arguments;
  for (std::size_t i = 0; i < states; ++i)
    arguments.push_back(graph.graph_input(call.dtype(i), call.shape(i)));
  arguments.insert(arguments.end(), captures.begin(), captures.end());
  Names next = call.inlined(body, arguments);
  Names after = next;
  after.insert(after.end(), captures.begin(), captures.end());
  next.insert(next.begin(), goes_on(after));
  std::vector<DType> dtypes = result_dtypes(call, body);
  dtypes.insert(dtypes.begin(), DType::boolean);
  const GraphPtr round = graph.end_graph(next, dtypes);
  const std::int64_t most = call.integer("most");
  Names inputs{most == 0 ? std::string{} : graph.scalar(static_cast<double>(most), DType::s64),
               first};
  inputs.insert(inputs.end(), operands.begin(),
                operands.begin() + static_cast<std::ptrdiff_t>(states));
  return graph.nodes("Loop", inputs, {{"body", round}}, states);
}

/// 0, 1, … as s32, one for each round.
std::string positions(const ExportCall& call, const Extent& length) {
  GraphMaker& graph = call.graph();
  const std::string limit = call.reshaped(graph.dims({length}), {{1, 0}}, {});
  const std::string numbers =
      call.node("Range", {graph.scalar(0, DType::s64), limit, graph.scalar(1, DType::s64)});
  return call.cast(numbers, DType::s64, DType::s32);
}

/// The body's parameters are the position, carries, elements and captures; ONNX's have no position, so it is one
/// more sequence where it is read, or where nothing else says how often.
Names scan(ExportCall& call) {
  const Names operands = call.operands();
  const auto carries = static_cast<std::size_t>(call.integer("carries"));
  const auto sequences = static_cast<std::size_t>(call.integer("sequences"));
  const bool counts = sequences == 0 || call.reads(0, 0);
  GraphMaker& graph = call.graph();
  Names inputs{operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(carries)};
  if (counts) inputs.push_back(positions(call, call.extent("length")));
  for (std::size_t i = 0; i < sequences; ++i) inputs.push_back(operands[carries + i]);

  graph.begin_graph();
  Names arguments{std::string{}};
  const auto add_parameter = [&](std::size_t i) {
    arguments.push_back(graph.graph_input(call.parameter_dtype(0, i), call.parameter_shape(0, i)));
  };
  for (std::size_t i = 0; i < carries; ++i) add_parameter(1 + i);
  if (counts) arguments[0] = graph.graph_input(DType::s32, {});
  for (std::size_t i = 0; i < sequences; ++i) add_parameter(1 + carries + i);
  const Names captures = rest(operands, carries + sequences);
  arguments.insert(arguments.end(), captures.begin(), captures.end());
  const GraphPtr body = graph.end_graph(call.inlined(0, arguments), result_dtypes(call, 0));

  const std::int64_t backwards = call.flag("reverse") ? 1 : 0;
  const std::size_t taken = sequences + (counts ? 1 : 0);
  return graph.nodes(
      "Scan", inputs,
      {{"body", body},
       {"num_scan_inputs", static_cast<std::int64_t>(taken)},
       {"scan_input_directions", std::vector<std::int64_t>(taken, backwards)},
       {"scan_output_directions", std::vector<std::int64_t>(call.outputs() - carries, backwards)}},
      call.outputs());
}

}  // namespace

void define(ExportTable& table) {
  table.add("cond", &cond);
  table.add("while_loop", &while_loop);
  table.add("scan", &scan);
}

}  // namespace stoker::onnx::exports::control
