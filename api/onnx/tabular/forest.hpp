// Decision trees of ai.onnx.ml, evaluated for all rows and all trees at once.
//
//     branches 0 … b-1, then leaves b … b+l-1, which lead to themselves
//
// A node's rule makes a Forest from its attributes, whatever format they have, and computes with it. Tables of the
// nodes are made once for all plans (Walker::prepared), so one node may have one Forest.
//
// Threads: as Call. Errors are thrown.
#pragma once

#include <optional>
#include <vector>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// How x is compared with a split, in the order in which TreeEnsemble numbers them.
enum class Comparison : std::uint8_t {
  less_equal,
  less,
  greater_equal,
  greater,
  equal,
  not_equal,
  member,  ///< x is in the branch's set
};

/// How the votes for a target are combined, in the order in which TreeEnsemble numbers them.
enum class Aggregate : std::uint8_t { average, sum, min, max };

struct Branch {
  std::int64_t feature = 0;
  Comparison comparison = Comparison::less_equal;
  double split = 0;
  std::vector<double> members = {};
  bool missing_is_true = false;  ///< NaN takes the true side, whatever the comparison gives
  std::int64_t on_true = 0, on_false = 0;  ///< nodes
};

struct Vote {
  std::int64_t leaf = 0;  ///< from 0
  std::int64_t target = 0;
  double weight = 0;
};

/// The votes of all trees for each target.
struct Verdict {
  Tensor scores;  ///< [rows, targets]; 0 where no tree votes
  /// u8 [rows, targets]: whether any tree votes. Empty if there is a vote everywhere.
  std::optional<Tensor> voted;
};

class Forest {
 public:
  /// Throws invalid_argument for nodes and targets that do not exist, for a branch that is below itself, and if
  /// there is no root; limit_exceeded for tables of more than 2^26 numbers.
  Forest(const Call& call, std::vector<Branch> branches, std::vector<std::int64_t> roots,
         std::int64_t leaves, std::vector<Vote> votes, std::int64_t targets);

  [[nodiscard]] const std::vector<Vote>& votes() const noexcept { return votes_; }
  /// The leaf of each row of `x` [rows, features], f32 or f64, in each tree: s32 [rows, trees].
  /// Throws shape_mismatch if a branch uses a feature that x does not have.
  [[nodiscard]] Tensor leaves_of(const Tensor& x) const;
  /// Scores of `dtype`, f32 or f64.
  [[nodiscard]] Verdict verdict(const Tensor& leaves, Aggregate how, DType dtype) const;

 private:
  struct Nodes;
  [[nodiscard]] Nodes tables(DType dtype) const;
  [[nodiscard]] Tensor goes_true(const Nodes& nodes, const Tensor& x, const Tensor& at) const;
  /// A table of on(branch) for each branch, followed by `leaf` for each leaf.
  template <class F> [[nodiscard]] Tensor table(std::size_t part, std::int64_t leaf, F&& on) const;
  [[nodiscard]] Tensor table(std::size_t part, const std::vector<std::int64_t>& numbers) const;
  [[nodiscard]] Tensor table(std::size_t part, const std::vector<double>& numbers,
                             const Shape& shape, DType dtype) const;
  [[nodiscard]] std::int64_t branches() const {
    return static_cast<std::int64_t>(branches_.size());
  }
  [[nodiscard]] std::int64_t depth_of_all() const;
  [[nodiscard]] bool votes_everywhere() const;

  const Call& call_;
  std::vector<Branch> branches_;
  std::vector<std::int64_t> roots_;
  std::int64_t leaves_;
  std::vector<Vote> votes_;
  std::int64_t targets_;
  std::int64_t depth_ = 0;
};

}  // namespace stoker::onnx
