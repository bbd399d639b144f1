// The definition of an operation on tensors: its shape rule, how it is computed and its gradient stand
// together, in one file of ops/ for each family. Adding one touches that file only.
//
// Operations here are primitive: the dtypes of their operands agree already (the user's functions in
// api/ promote), shapes of element-wise ones broadcast.
//
// Threads: definitions are immutable once the table is made, and live until the process ends.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/arity.hpp"
#include "stoker/kernels/params.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

/// What a shape rule sees.
struct OpCall {
  std::span<const TensorSpec> inputs;
  const Attributes& attributes;
  const Payload* payload = nullptr;
  [[nodiscard]] const TensorSpec& input(std::size_t i = 0) const noexcept { return inputs[i]; }
};

/// How a result is read out of its input: where axis k of the result has index i, axis axes[k] of the
/// input has start + steps[k]·i. An axis that repeats has none.
struct View {
  static constexpr int none = -1;
  std::array<int, Shape::max_rank> axes;  ///< of the result's axes: the input's, or none
  std::array<std::int64_t, Shape::max_rank> steps{};   ///< of the result's axes
  std::array<std::int64_t, Shape::max_rank> starts{};  ///< of the input's axes
  View() { axes.fill(none); }
};

/// One kernel call that computes an operation.
struct KernelUse {
  std::string kernel;
  Params params = {};
};

/// What a gradient rule sees. `gradients` has one entry for each output: what the final result's
/// gradient with respect to it is, or empty if the result does not depend on it.
struct Backward {
  std::span<const Value> inputs;
  std::span<const Value> outputs;
  std::span<const Value> gradients;
  const Attributes& attributes;
  const Payload* payload = nullptr;
  [[nodiscard]] const Value& x(std::size_t i = 0) const noexcept { return inputs[i]; }
  [[nodiscard]] const Value& y(std::size_t i = 0) const noexcept { return outputs[i]; }
  [[nodiscard]] const Value& g(std::size_t i = 0) const noexcept { return gradients[i]; }
};

/// What a batching rule sees: one call of the operation for each of `size` elements. Inputs that differ
/// from element to element are mapped and have the elements along a leading axis; the others are as the
/// operation knows them. Attributes and payload are those of one element's call.
struct Batch {
  const Op& op;
  std::span<const Value> inputs;
  std::span<const std::uint8_t> mapped;  ///< one for each input, 0 or 1; one of them is 1
  std::int64_t size;
  const Attributes& attributes;
  const std::shared_ptr<const Payload>& payload;
  [[nodiscard]] const Value& x(std::size_t i = 0) const noexcept { return inputs[i]; }
  [[nodiscard]] bool is_mapped(std::size_t i = 0) const noexcept { return mapped[i] != 0; }
};

enum class OpKind : std::uint8_t {
  known,           ///< a leaf that holds a buffer
  parameter,       ///< a leaf that is given a value later
  constant,        ///< a leaf: one number, repeated
  index,           ///< a leaf: positions along an axis
  scalar,          ///< a function of one element of each input; fuses with its neighbours
  view,            ///< its input read in another order; fuses into whoever reads it
  reshape,         ///< its input under another shape: the same elements in the same order
  computed_after,  ///< its first input, when the others are there; nothing is read through it
  kernel,          ///< a kernel call
  host,            ///< work that the host drives: loops, branches, calls of the program
};

class HostStep;  // host_step.hpp

/// Of inputs: without a limit.
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

struct Op {
  std::string name;
  OpKind kind = OpKind::kernel;
  Arity inputs = {};
  std::string computed_by = {};  ///< of a kernel call: the kernel's name
  std::string summary;
  /// The outputs, or why the inputs do not fit. Arity has been checked.
  std::function<Result<Specs>(const OpCall&)> infer;
  std::function<View(const OpCall&, const Shape& output)> view = {};  ///< of a view
  std::function<KernelUse(const OpCall&)> kernel = {};                ///< of a kernel call
  /// Of work that the host drives: made ready for one device, outside any lock.
  std::function<Result<std::shared_ptr<const HostStep>>(const OpCall&,
                                                        const std::shared_ptr<DeviceClient>&)>
      host = {};
  /// One gradient for each input; an empty one is zero. Without a rule, `zero_gradient` says
  /// whether the gradient is zero (a step function, an integer result) or an error.
  std::function<Values(const Backward&)> gradient = {};
  bool zero_gradient = false;
  /// The outputs of all elements' calls, along a leading axis. Without a rule the calls are made one by
  /// one; see batching.hpp.
  std::function<Values(const Batch&)> batch = {};
  /// What depends on it keeps its history.
  bool tracks = false;
};

/// Operations by name.
class OpTable {
 public:
  void add(Op op);
  [[nodiscard]] const Op* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<const Op*> list() const;

 private:
  std::map<std::string, Op, std::less<>> ops_;
};

/// All of them. Made at the first call.
[[nodiscard]] const OpTable& op_table();
/// One that exists; throws internal.
[[nodiscard]] const Op& find_op(std::string_view name);

/// The same, looked up once: `static constinit NamedOp sum{"sum"};`. Threads: any.
class NamedOp {
 public:
  constexpr explicit NamedOp(std::string_view name) noexcept : name_{name} {}
  NamedOp(const NamedOp&) = delete;
  NamedOp& operator=(const NamedOp&) = delete;

  [[nodiscard]] const Op& get() {
    const Op* op = op_.load(std::memory_order_acquire);
    if (!op) op_.store(op = &find_op(name_), std::memory_order_release);
    return *op;
  }
  operator const Op&() { return get(); }

 private:
  const std::string_view name_;
  std::atomic<const Op*> op_{nullptr};
};

/// Asks for an operation. Throws what its shape rule says, before anything is changed.
[[nodiscard]] Values apply(const Op& op, Values inputs, Attributes attributes = {},
                           std::shared_ptr<const Payload> payload = nullptr);
/// The same for operations with one output.
[[nodiscard]] Value apply_one(const Op& op, Values inputs, Attributes attributes = {});

}  // namespace stoker::expr
