#include "stoker/api/onnx/exporting/save.hpp"

#include <algorithm>
#include <set>

#include "stoker/api/onnx/exporting/program_export.hpp"
#include "stoker/api/onnx/optimize/optimize.hpp"
#include "stoker/api/onnx/run/node_evaluation.hpp"
#include "stoker/api/version.hpp"
#include "stoker/pipeline/onnx/writing/model_writer.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::onnx {
namespace {

constexpr const char* op = "onnx.save";
/// Of the open extent while a function is traced: large enough that no other extent is one of them by chance. The
/// first two differ by a prime, so that the rounded quotient or the rest of a division does not look like an extent.
constexpr BatchSizes traced_sizes{1009, 2042, 4091};
/// What protobuf reads; the graph beside the weights has the rest.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 31U;
constexpr std::uint64_t bytes_of_graph = std::uint64_t{16} << 20U;

using NameSet = std::set<std::string, std::less<>>;

[[noreturn]] void refuse(std::string reason) {
  throw Error{op, ErrorCode::invalid_argument, std::move(reason)};
}

void add_name(NameSet& names, const std::string& name, const char* what) {
  if (name.empty()) refuse(std::string{what} + " has no name");
  if (!names.insert(name).second) refuse("the name '" + name + "' stands twice");
}

/// The name of the open extent; empty: all are numbers.
std::string open_extent(const std::vector<SaveInput>& inputs) {
  std::string found;
  for (const SaveInput& input : inputs)
    for (const auto& dim : input.dims)
      if (const auto* const name = std::get_if<std::string>(&dim)) {
        if (name->empty()) refuse("an open extent of the input '" + input.name + "' has no name");
        if (!found.empty() && found != *name)
          refuse("one extent may be open, there are '" + found + "' and '" + *name + "'");
        found = *name;
      }
  return found;
}

TensorSpec spec_of(const SaveInput& input, std::int64_t batch) {
  std::vector<std::int64_t> extents;
  for (const auto& dim : input.dims) {
    const auto* const number = std::get_if<std::int64_t>(&dim);
    extents.push_back(number ? *number : batch);
  }
  return {input.dtype, Shape::make(extents, op)};
}

/// The function called with placeholders.
struct Trace {
  std::vector<expr::Value> parameters;
  std::vector<expr::Value> results;

  Trace(const SavedFunction& function, const std::vector<SaveInput>& inputs, std::int64_t batch) {
    std::vector<Tensor> arguments;
    for (const SaveInput& input : inputs) {
      parameters.push_back(expr::parameter(spec_of(input, batch)));
      arguments.emplace_back(parameters.back());
    }
    for (const Tensor& made : function(arguments)) {
      if (!made.has_value()) refuse("an output of the function is an empty tensor");
      results.push_back(made.value());
    }
    if (results.empty()) refuse("the function has no output");
  }
};

std::vector<std::string> output_names(const SaveOptions& options, std::size_t count) {
  std::vector<std::string> names = options.outputs;
  if (names.empty())
    for (std::size_t i = 0; i < count; ++i) names.push_back("output_" + std::to_string(i));
  if (names.size() != count)
    throw Error{op, ErrorCode::arity_mismatch,
                "there are " + std::to_string(count) + " outputs and " +
                    std::to_string(names.size()) + " names for them"};
  return names;
}

/// An extent in no proportion to the batch is open, too. Precondition: the ranks are one.
ExtentList declared(const Traced<TensorSpec>& specs, const BatchSizes& sizes) {
  ExtentList made;
  for (std::size_t axis = 0; axis < specs[0].shape.rank(); ++axis)
    made.push_back(
        extent_of({specs[0].shape[axis], specs[1].shape[axis], specs[2].shape[axis]}, sizes)
            .value_or(Extent{0, -1}));
  return made;
}

/// https://onnxruntime.ai/docs/reference/compatibility.html#onnx-opset-support
std::int64_t ir_version_of(int opset) {
  if (opset < 15) return 7;
  if (opset < 19) return 8;
  return opset < 21 ? 9 : 10;
}

ProgramExport::Given names_of(const std::map<std::string, Tensor, std::less<>>& weights) {
  ProgramExport::Given names;
  for (const auto& [name, tensor] : weights)
    if (tensor.has_value()) names.emplace(tensor.value().node().get(), name);
  return names;
}

}  // namespace

ModelFile exported(const SavedFunction& function, const std::vector<SaveInput>& inputs,
                   const SaveOptions& options) {
  if (options.opset < least_saved_opset || options.opset > most_saved_opset)
    refuse("opset " + std::to_string(options.opset) + " is not written: " +
           std::to_string(least_saved_opset) + " to " + std::to_string(most_saved_opset) + " are");
  const std::string symbol = options.batch ? std::string{} : open_extent(inputs);
  NameSet names;
  for (const SaveInput& input : inputs) add_name(names, input.name, "an input");
  const std::int64_t number = options.batch.value_or(1);
  const BatchSizes sizes = symbol.empty() ? BatchSizes{number, number, number} : traced_sizes;

  const Device device = options.device ? options.device : current_device();
  const DeviceScope scope{device};
  const Trace first{function, inputs, sizes[0]};
  const std::vector<std::string> outputs = output_names(options, first.results.size());
  for (const std::string& output : outputs) add_name(names, output, "an output");
  const bool is_open = !symbol.empty();
  const Traced<Trace> traces{first, is_open ? Trace{function, inputs, sizes[1]} : first,
                             is_open ? Trace{function, inputs, sizes[2]} : first};
  for (const Trace& trace : traces)
    if (trace.results.size() != first.results.size())
      refuse("the function has another number of outputs for another batch");

  GraphMaker graph{options.opset, names, symbol};
  ProgramExport::Given parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters.emplace(first.parameters[i].node().get(), inputs[i].name);
    const ExtentList dims =
        declared({traces[0].parameters[i].spec(), traces[1].parameters[i].spec(),
                  traces[2].parameters[i].spec()},
                 sizes);
    graph.add_input(value_info(inputs[i].name, inputs[i].dtype, dims, symbol));
  }
  const ProgramExport::Given weights = names_of(options.weights);
  ProgramExport program{graph, ExportTable::standard(), sizes, weights};
  const Names results =
      program.add({traces[0].results, traces[1].results, traces[2].results}, parameters);
  program.check();

  std::vector<ValueInfo> infos;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ExtentList dims = declared(
        {traces[0].results[i].spec(), traces[1].results[i].spec(), traces[2].results[i].spec()},
        sizes);
    infos.push_back(value_info(outputs[i], first.results[i].dtype(), dims, symbol));
  }
  auto file = std::make_shared<ModelFile>();
  file->ir_version = ir_version_of(options.opset);
  file->opsets = {{.domain = {}, .version = options.opset}};
  file->producer_name = "Stoker";
  file->producer_version = std::string{version};
  file->doc = options.doc;
  file->metadata = options.metadata;
  file->graph = std::move(graph).finish(results, std::move(infos));
  file->graph.name = "main";
  const OperatorTable& operators = OperatorTable::standard();
  return *optimized(std::move(file), chosen_passes(Optimize::basic, {}), operators,
                    node_evaluation(operators, device));
}

void save(const SavedFunction& function, const std::vector<SaveInput>& inputs,
          const std::filesystem::path& path, const SaveOptions& options) {
  const ModelFile file = exported(function, inputs, options);
  std::uint64_t bytes = 0;
  for (const Initializer& one : file.graph.initializers) bytes += one.tensor.bytes.view.size();
  if (bytes > most_bytes - bytes_of_graph)
    throw Error{op,
                ErrorCode::limit_exceeded,
                "a file has 2 GiB at most, the weights have " + std::to_string(bytes) + " bytes",
                {{"bytes", std::to_string(bytes)}}};
  const auto writer = files::FileWriter::open(path, op).value();
  writer->write(write_model(file).written()).value();
  writer->commit().value();
}

}  // namespace stoker::onnx
