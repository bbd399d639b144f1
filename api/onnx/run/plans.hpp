// The plans of a model: a tree of segments. The first segment is found by the signature of a run's
// inputs, each further one by the elements that were read at the cut before it.
//
//     signature ──▶ segment ──(elements)──▶ segment ──(elements)──▶ … ──▶ the last one, which has the outputs
//
// After a round of a loop comes the segment for the place where the next round starts. It is found by the path that
// led to the loop, as the first round was. So rounds that start from equal places share their segments, however many
// rounds there are.
//
//     signature ──▶ first round ──▶ …
//               ├─(place)──▶ a later round ──▶ …
//               └─(place, ended)──▶ what follows
//
// Threads: any. Segments are immutable and shared: a run may finish with a segment that was dropped
// meanwhile.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/api/onnx/loops/loop_place.hpp"
#include "stoker/api/onnx/times/planned_kernels.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"

namespace stoker::onnx {

class Constants;

/// One program, from the inputs or a cut to the next cut or the outputs.
struct Segment {
  /// A result of the program, one of the tensors that it starts from, or a fixed tensor.
  struct Source {
    bool is_result = false;
    std::size_t index = 0;
    Tensor fixed = {};
  };
  /// Set if the segment ends with a round of a loop: see RoundEnd.
  struct LoopEnd {
    LoopId loop;
    std::int64_t most = 0;
    LoopPlacePtr place;
    std::string key;       ///< of the place
    bool goes_on = false;  ///< whether the loop continues, if no element has to be read
    std::size_t rounds = 0;
    std::vector<Source> given = {};  ///< see RoundEnd
  };
  std::unique_ptr<const stoker::detail::TracedProgram> program;  ///< null if it computes nothing
  /// The tensors that the next segment starts from.
  std::vector<Source> alive;
  /// The tensor that is read at its end.
  std::optional<Source> wanted;
  std::optional<LoopEnd> loop_end;
  Values outputs;                        ///< of the last segment, with placeholders
  std::vector<Source> in_outputs;        ///< the tensors for each cell in `outputs`, in order
  std::size_t nodes = 0;                 ///< visited when it was traced, in each round of a body
  std::shared_ptr<DeviceClient> client;  ///< of the device, as it was open when it was traced
  /// Of the program, to sum up their times; null if nobody asks.
  std::shared_ptr<const PlannedKernels> kernels;
  bool may_choose_layouts = true;  ///< for its program: see expr::prepare()
  /// For a first segment: the inputs that it was traced for, with placeholders for tensors, and the positions of
  /// the requested outputs.
  Values inputs = {};
  std::vector<std::size_t> wanted_outputs = {};
  /// For errors: the node that reads the elements at its end, and their type and shape.
  std::string reader = {};
  std::optional<TensorSpec> read = {};

  /// Whether it is the last segment, which has the outputs.
  [[nodiscard]] bool is_last() const noexcept { return !wanted && !loop_end; }

  /// Whether it can never run again: its device was lost, or its system has stopped.
  [[nodiscard]] bool is_over() const;
};
using SegmentPtr = std::shared_ptr<const Segment>;

struct PlanCounts {
  std::size_t segments = 0;   ///< number of segments now
  std::uint64_t traced = 0;   ///< number of traces
  std::uint64_t found = 0;    ///< number of segments that a run found
  std::uint64_t dropped = 0;  ///< dropped to make room, or because their device was lost
  std::uint64_t cuts = 0;     ///< reads between two segments

  PlanCounts& operator+=(const PlanCounts& other) noexcept;
};

class Plans {
 public:
  /// Where a segment stands in the tree: the keys from the root on.
  using Path = std::vector<std::string>;
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  /// `constants`: must outlive it; a plan is not charged for them. Null: there are none.
  explicit Plans(std::size_t most, std::uint64_t most_bytes = no_limit,
                 const Constants* constants = nullptr)
      : most_{most}, most_bytes_{most_bytes}, constants_{constants} {}

  /// Null if it is not there, or its device was lost.
  [[nodiscard]] SegmentPtr find(const Path& path);
  /// Drops the least recently used segments to make room, but none that was used after `since`: otherwise a
  /// run with more segments than may be kept would find none of them the next time. Returns the segment that
  /// is kept at `path`, which may be that of another run that was faster. Returns `segment` without keeping
  /// it if there is no room, or if it takes too many bytes together with those before it.
  SegmentPtr keep(const Path& path, SegmentPtr segment, std::uint64_t since);
  /// A time before all uses from now on.
  [[nodiscard]] std::uint64_t now() const;
  void count_cut();
  [[nodiscard]] PlanCounts counts() const;
  /// The working memory of the segments besides operands and results, added up, and the constants that only
  /// segments hold, each counted once.
  [[nodiscard]] std::uint64_t bytes() const;
  /// The segments that may follow the path, with their keys; for an empty path, the first segments.
  [[nodiscard]] std::vector<std::pair<std::string, SegmentPtr>> after(
      std::span<const std::string> path) const;

 private:
  /// The memory of a segment.
  struct Taken {
    std::uint64_t working = 0;
    std::vector<std::pair<const void*, std::uint64_t>> held = {};  ///< buffers with their bytes
  };
  struct Entry {
    SegmentPtr segment;
    Taken taken = {};
    std::uint64_t used = 0;
    std::map<std::string, Entry, std::less<>> next = {};
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  [[nodiscard]] Entry* at(std::span<const std::string> path);
  [[nodiscard]] Taken taken_by(const Segment& segment) const;
  /// With each buffer once.
  [[nodiscard]] static std::uint64_t all_of(std::span<const Taken* const> together);
  void add(const Taken& taken);
  void remove(const Taken& taken);
  /// For entries that leave the tree.
  void remove_all(const Entries& entries);
  bool drop_oldest(std::uint64_t since);

  const std::size_t most_;
  const std::uint64_t most_bytes_;
  const Constants* const constants_;
  mutable std::mutex mutex_;
  Entries roots_;  // guarded by mutex_, as is what follows
  std::uint64_t clock_ = 0;
  PlanCounts counts_;
  std::uint64_t bytes_ = 0;
  std::unordered_map<const void*, std::size_t> holders_;  ///< how many segments hold a buffer
};

}  // namespace stoker::onnx
