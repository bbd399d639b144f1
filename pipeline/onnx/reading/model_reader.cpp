#include "stoker/pipeline/onnx/reading/model_reader.hpp"

#include "stoker/pipeline/onnx/graph/file_bytes.hpp"
#include "stoker/pipeline/onnx/reading/entry_reader.hpp"
#include "stoker/pipeline/onnx/reading/function_inlining.hpp"
#include "stoker/pipeline/onnx/reading/graph_check.hpp"
#include "stoker/pipeline/onnx/reading/graph_reader.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {
namespace {

constexpr std::int64_t oldest_ir = 3;  // operators have versions since
constexpr std::int64_t newest_ir = 13;

std::int64_t ir_version(Reading& reading) {
  std::int64_t version = 0;
  for (Wire wire{reading.file.view, reading.progress}; wire.next();)
    if (wire.number() == 1) version = wire.integer();
  return version;
}

ModelFile read_fields(Reading& reading) {
  ModelFile model;
  model.opsets = read_opsets(reading, reading.file.view, 8);
  reading.opsets = model.opsets;
  std::vector<Wire::Bytes> functions;  // they import versions of their own
  bool has_graph = false;
  for (Wire wire{reading.file.view, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: model.ir_version = wire.integer(); break;
      case 2: model.producer_name = reading.name(wire); break;
      case 3: model.producer_version = reading.name(wire); break;
      case 4: model.domain = reading.name(wire); break;
      case 5: model.model_version = wire.integer(); break;
      case 6: model.doc = wire.text(); break;
      case 7:
        if (has_graph) reading.findings.add("the model", "has two graphs");
        has_graph = true;
        model.graph = read_graph(reading, wire.bytes());
        break;
      case 14: model.metadata.push_back(read_entry(reading, wire.bytes())); break;
      case 25: functions.push_back(wire.bytes()); break;
      default: break;
    }
  }
  for (const Wire::Bytes function : functions)
    model.functions.push_back(read_function(reading, function));
  if (!has_graph) reading.findings.add("the model", "has no graph");
  return model;
}

Result<ModelFile> read(Reading& reading, const ReadOptions& options) {
  const std::int64_t ir = ir_version(reading);
  if (reading.progress.stopped()) return *reading.progress.why();
  if (ir < oldest_ir || ir > newest_ir)
    return Error{"onnx",
                 ir < 1 ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                 ir < 1 ? "no ONNX model: it has no IR version"
                        : "IR version " + std::to_string(ir) + ", those from 3 to 13 are read",
                 {{"file", reading.progress.file()}}};
  ModelFile model = read_fields(reading);
  if (reading.progress.stopped()) return *reading.progress.why();
  check_graphs(model, reading.findings);
  if (reading.findings.size() > 0 && options.find_more) options.find_more(model, reading.findings);
  STOKER_TRY(reading.end());
  if (Result<void> inlined = inline_functions(model, reading.limits); !inlined)
    return inlined.error().with("file", reading.progress.file());
  model.files = reading.external.files();
  return model;
}

std::vector<std::filesystem::path> folders(const ReadOptions& options) {
  if (options.folder.empty()) return {};
  return {options.folder};
}

Result<ModelFile> read_source(std::shared_ptr<const files::ByteSource> source,
                              const ReadOptions& options,
                              std::vector<std::filesystem::path> folders) {
  Reading reading{bytes_of_file(source, source->view()), printable(source->name()), options.limits,
                  std::move(folders)};
  STOKER_ASSIGN(ModelFile model, read(reading, options));
  model.files.insert(model.files.begin(), std::move(source));
  return model;
}

}  // namespace

Result<ModelFile> read_model(const std::filesystem::path& path, const ReadOptions& options) {
  STOKER_ASSIGN(std::shared_ptr<const files::ByteSource> source,
                files::open_source(path, true, "onnx"));
  return read_source(std::move(source), options,
                     options.folder.empty() ? folders_of(path) : folders(options));
}

Result<ModelFile> read_model(std::span<const std::byte> bytes, const ReadOptions& options,
                             std::shared_ptr<const void> owner) {
  Reading reading{
      {bytes, std::move(owner)}, printable(options.name), options.limits, folders(options)};
  return read(reading, options);
}

Result<ModelFile> read_model(int descriptor, const ReadOptions& options) {
  STOKER_ASSIGN(std::shared_ptr<const files::ByteSource> source,
                files::open_source(descriptor, options.limits.stream_bytes, "onnx"));
  return read_source(std::move(source), options, folders(options));
}

}  // namespace stoker::onnx
