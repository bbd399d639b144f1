// What the readers of a file's parts share: its bytes, what was found wrong, and how much more may be read.
//
// Lifetime: one for the reading of one file. Threads: one at a time.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/reading/external_data.hpp"
#include "stoker/pipeline/onnx/reading/findings.hpp"
#include "stoker/pipeline/onnx/reading/read_options.hpp"
#include "stoker/pipeline/protobuf/wire.hpp"

namespace stoker::onnx {

using protobuf::Progress;
using protobuf::Wire;

/// Domains that models use without an import, with the newest version that Stoker has operators of. ONNX Runtime, which
/// brings these along, takes its newest one, too.
inline constexpr std::pair<std::string_view, std::int64_t> assumed_versions[] = {
    {"ai.onnx.ml", 5}, {"com.microsoft", 1}};

struct Reading {
  Reading(SharedBytes whole, std::string name, const ReadLimits& bounds,
          std::vector<std::filesystem::path> folders)
      : file{std::move(whole)},
        progress{file.view, std::move(name), "onnx"},
        limits{bounds},
        external{std::move(folders)},
        dense_left{bounds.dense_bytes} {}

  SharedBytes file;
  std::vector<OpsetImport> opsets;  ///< of what is being read: a model, a function
  Progress progress;
  Findings findings;
  const ReadLimits limits;
  ExternalData external;
  std::size_t nodes = 0;
  std::size_t items = 0;
  std::size_t depth = 0;  ///< of what is being read
  std::uint64_t dense_left;

  /// Bytes of the file.
  [[nodiscard]] SharedBytes shared(Wire::Bytes part) const { return {part, file.owner}; }
  /// The field as a name, which is counted.
  [[nodiscard]] std::string name(Wire& wire) {
    count(items, limits.items, "items");
    const std::string_view text = wire.text();
    if (text.size() > limits.name_bytes) progress.exceeded("bytes of a name", limits.name_bytes);
    return progress.stopped() ? std::string{} : std::string{text};
  }
  /// Of a domain that is not imported; 0: none is assumed. Logs it once.
  [[nodiscard]] std::int64_t assumed_version(std::string_view domain);
  void count_item() { count(items, limits.items, "items"); }
  void count_node() { count(nodes, limits.nodes, "nodes"); }
  /// The error of the reading, if there is anything wrong.
  [[nodiscard]] Result<void> end() const {
    if (progress.stopped()) return *progress.why();
    if (findings.size() > 0) return findings.error(progress.file());
    return {};
  }

 private:
  std::set<std::string_view> assumed_;

  void count(std::size_t& used, std::size_t most, std::string_view what) {
    if (++used > most) progress.exceeded(what, most);
  }
};

/// One level deeper, as long as it lives. Too deep stops the reading.
class Deeper {
 public:
  explicit Deeper(Reading& reading) : reading_{&reading} {
    if (++reading.depth > reading.limits.nesting)
      reading.progress.exceeded("levels within each other", reading.limits.nesting);
  }
  ~Deeper() { --reading_->depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Reading* reading_;
};

}  // namespace stoker::onnx
