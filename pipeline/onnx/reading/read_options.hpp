// How much of a stranger's file is believed.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace stoker::onnx {

class Findings;
struct ModelFile;

/// What passes one of them is refused: limit_exceeded.
struct ReadLimits {
  std::size_t nodes = std::size_t{1} << 20U;  ///< of all graphs, functions inlined
  /// Attributes, tensors, and names of inputs, outputs and values.
  std::size_t items = std::size_t{1} << 23U;
  std::uint64_t inlined_bytes = std::uint64_t{1}
                                << 30U;  ///< copied by calls of functions, all together
  std::size_t nesting = 64;  ///< graphs in graphs, calls in calls, types in types, values in values
  std::size_t name_bytes = 1U << 16;                     ///< of one name
  std::uint64_t dense_bytes = std::uint64_t{1} << 28U;   ///< of all sparse tensors, made dense
  std::uint64_t stream_bytes = std::uint64_t{1} << 31U;  ///< of a model that is no regular file
};

struct ReadOptions {
  /// Where external data lies; empty: beside the model's file. A model that is none has no external data then.
  std::filesystem::path folder = {};
  ReadLimits limits = {};
  /// What errors call bytes that the program has read: the path of their file.
  std::string name = "bytes in memory";
  /// Asked once a model turns out to be wrong, with the functions not inlined: adds what else is, so that one error
  /// lists all of it. Null: nothing.
  std::function<void(const ModelFile&, Findings&)> find_more = {};
};

}  // namespace stoker::onnx
