#include "stoker/api/onnx/run/shared_graphs.hpp"

#include "stoker/pipeline/onnx/graph/same_graph.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::onnx {
namespace {

/// A program may have changed what it read, and what holds functions was not read at all.
bool is_read_alike(const ModelFile& a, const ModelFile& b) {
  return &a == &b || (a.functions.empty() && b.functions.empty() && is_same(a.graph, b.graph));
}

}  // namespace

std::optional<std::string> SharedGraphs::name_of(const ModelFile& file,
                                                 std::span<const Pass* const> passes,
                                                 Precision precision) {
  if (file.files.empty()) return {};
  std::string name;
  for (const auto& source : file.files) {
    const std::string identity = source->identity();
    if (identity.empty()) return {};
    name += identity + '\n';
  }
  for (const Pass* const pass : passes) name += pass->name + ' ';
  return name + std::to_string(static_cast<int>(precision));
}

LoadedGraphPtr SharedGraphs::find(const std::string& name, const ModelFile& file) {
  LoadedGraphPtr kept;
  {
    const std::scoped_lock lock{mutex_};
    if (const auto found = graphs_.find(name); found != graphs_.end()) kept = found->second.lock();
  }
  return kept && is_read_alike(*kept->as_read, file) ? kept : nullptr;
}

LoadedGraphPtr SharedGraphs::keep(const std::string& name, const LoadedGraphPtr& made) {
  LoadedGraphPtr kept;
  {
    const std::scoped_lock lock{mutex_};
    std::erase_if(graphs_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<LoadedGraph>& entry = graphs_[name];
    kept = entry.lock();
    if (kept == nullptr) entry = made;
  }
  return kept && is_read_alike(*kept->as_read, *made->as_read) ? kept : made;
}

}  // namespace stoker::onnx
