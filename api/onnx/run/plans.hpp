// The plans of a model: a tree of segments. The first segment is found by the signature of a run's
// inputs, each further one by the elements that were read at the cut before it.
//
//     signature ──▶ segment ──(elements)──▶ segment ──(elements)──▶ … ──▶ the last one, which has the outputs
//
// Threads: any. Segments are immutable and shared: a run goes on with one that was dropped meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"

namespace stoker::onnx {

/// One program, from the inputs or a cut to the next cut or the outputs.
struct Segment {
  /// A result of the program, or one of the tensors that it starts from.
  struct Source {
    bool is_result = false;
    std::size_t index = 0;
  };
  std::unique_ptr<const stoker::detail::TracedProgram> program;  ///< null if it computes nothing
  std::vector<Source> alive;                                     ///< what the next one starts from
  std::optional<Source> wanted;                                  ///< nothing in the last one
  Values outputs;                        ///< of the last one, with placeholders
  std::vector<Source> in_outputs;        ///< the tensors for each cell in `outputs`, in order
  std::vector<bool> is_fixed;            ///< cells that keep their tensor
  std::shared_ptr<DeviceClient> client;  ///< of the device, as it was open when it was traced

  /// Whether it can never run again: its device was lost, or its system has stopped.
  [[nodiscard]] bool is_over() const;
};
using SegmentPtr = std::shared_ptr<const Segment>;

struct PlanCounts {
  std::size_t segments = 0;   ///< that there are
  std::uint64_t traced = 0;   ///< made
  std::uint64_t found = 0;    ///< that a run found
  std::uint64_t dropped = 0;  ///< made room for others, or belonged to a lost device
  std::uint64_t cuts = 0;     ///< reads between two segments

  PlanCounts& operator+=(const PlanCounts& other) noexcept;
};

class Plans {
 public:
  /// A place in the tree: the keys from the root on.
  using Path = std::vector<std::string>;

  explicit Plans(std::size_t most) : most_{most} {}

  /// Null if it is not there, or its device was lost.
  [[nodiscard]] SegmentPtr find(const Path& path);
  /// What was not used for longest makes room. The segment that is kept there, which is another one
  /// if another run was faster.
  SegmentPtr keep(const Path& path, SegmentPtr segment);
  void count_cut();
  [[nodiscard]] PlanCounts counts() const;
  /// What runs of the segments need besides operands and results, added up.
  [[nodiscard]] std::uint64_t working_bytes() const;

 private:
  struct Entry {
    SegmentPtr segment;
    std::uint64_t used = 0;
    std::map<std::string, Entry, std::less<>> next = {};
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  [[nodiscard]] Entry* at(std::span<const std::string> path);
  bool drop_oldest(const Entry* except);
  static std::size_t size_of(const Entries& entries);
  static std::uint64_t working_bytes_of(const Entries& entries);

  const std::size_t most_;
  mutable std::mutex mutex_;
  Entries roots_;  // guarded by mutex_, as is what follows
  std::uint64_t clock_ = 0;
  PlanCounts counts_;
};

}  // namespace stoker::onnx
