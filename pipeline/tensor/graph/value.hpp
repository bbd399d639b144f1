// Lazy values: a graph of operations that are not computed yet.
//
//     Value ──▶ Node: operation, attributes, inputs (Values) ──▶ …  ──▶ leaves: constants, buffers
//
// A node becomes *known* when it is evaluated. It then holds the buffers of its outputs and releases
// its inputs, so that a loop does not keep its whole history. Nodes that depend on a tracked node (a
// traced function's parameter, a variable to differentiate by) keep their inputs.
//
// Threads: a Value is a shared handle; nodes may be used, evaluated and dropped from any thread.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/pipeline/tensor/graph/attributes.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::expr {

struct Op;
class Node;

/// One output of a node. An empty Value (default-constructed or moved-from) may only be assigned,
/// destroyed and tested; other functions throw invalid_argument.
class Value {
 public:
  Value() = default;
  explicit Value(std::shared_ptr<Node> node, std::uint32_t output = 0) noexcept
      : node_{std::move(node)}, output_{output} {}

  [[nodiscard]] const std::shared_ptr<Node>& node() const noexcept { return node_; }
  [[nodiscard]] std::uint32_t output() const noexcept { return output_; }
  [[nodiscard]] const TensorSpec& spec() const;
  [[nodiscard]] const Shape& shape() const { return spec().shape; }
  [[nodiscard]] DType dtype() const { return spec().dtype; }
  [[nodiscard]] bool is_known() const;
  /// The contents, if it is known; else an empty handle.
  [[nodiscard]] DeviceBuffer buffer() const;

  [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const Value&, const Value&) noexcept = default;

 private:
  std::shared_ptr<Node> node_;
  std::uint32_t output_ = 0;
};

/// Data of a node besides its attributes: traced functions, callbacks of the program. Immutable; any
/// thread.
struct Payload : std::enable_shared_from_this<Payload> {
  virtual ~Payload() = default;
  /// A key to compare programs by: payloads with equal keys have the same meaning.
  [[nodiscard]] virtual std::string key() const = 0;
};

/// Data that the creator of a node attaches to it for the node's lifetime, such as its line in a
/// script and the memory charged for it. It does not affect the computation.
struct Attachment {
  Attachment() = default;
  virtual ~Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
};

using Values = boost::container::small_vector<Value, 2>;
using Specs = boost::container::small_vector<TensorSpec, 1>;
using Buffers = boost::container::small_vector<DeviceBuffer, 1>;

class Node {
 public:
  Node(const Op& op, Attributes attributes, Values inputs, Specs specs, bool tracked,
       std::shared_ptr<const Payload> payload = nullptr) noexcept
      : op_{op},
        attributes_{std::move(attributes)},
        payload_{std::move(payload)},
        specs_{std::move(specs)},
        tracked_{tracked},
        serial_{next_serial()},
        inputs_{std::move(inputs)} {}
  /// Destroys long chains iteratively, not recursively.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] const Op& op() const noexcept { return op_; }
  [[nodiscard]] const Attributes& attributes() const noexcept { return attributes_; }
  [[nodiscard]] const std::shared_ptr<const Payload>& payload() const noexcept { return payload_; }
  [[nodiscard]] std::span<const TensorSpec> specs() const noexcept { return specs_; }
  /// Whether it depends on a parameter or a variable, and so keeps its inputs.
  [[nodiscard]] bool tracked() const noexcept { return tracked_; }

  /// The attachment, or null. Only the code that attached it may call this.
  [[nodiscard]] Attachment* attachment() const noexcept { return attachment_.get(); }
  /// Called at most once, by the creator of the node, before others have access to it.
  void attach(std::unique_ptr<Attachment> attachment) noexcept {
    attachment_ = std::move(attachment);
  }

  /// Higher than the serial number of every node made before.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  /// Returns a new serial number; nodes made from now on have higher ones.
  [[nodiscard]] static std::uint64_t next_serial() noexcept;

  struct State {
    Buffers buffers;  ///< of all outputs; empty until it is known
    Values inputs;    ///< empty once it is known, unless it is tracked
  };
  [[nodiscard]] State state() const;
  /// Once true, the buffers never change.
  [[nodiscard]] bool is_known() const noexcept { return known_.load(std::memory_order_acquire); }
  [[nodiscard]] const Buffers& buffers() const noexcept { return is_known() ? buffers_ : none(); }
  [[nodiscard]] Values inputs() const { return state().inputs; }
  /// Makes it known. Only the first call has an effect.
  void set_buffers(Buffers buffers);

 private:
  const Op& op_;
  const Attributes attributes_;
  const std::shared_ptr<const Payload> payload_;
  const Specs specs_;
  const bool tracked_;
  const std::uint64_t serial_;
  std::unique_ptr<Attachment> attachment_;
  [[nodiscard]] static const Buffers& none() noexcept;

  mutable std::mutex mutex_;  // of what follows, of `buffers_` until it is known
  Values inputs_;
  Buffers buffers_;
  std::atomic<bool> known_{false};
};

/// A value that is known from the start.
[[nodiscard]] Value from_buffer(DeviceBuffer buffer);

}  // namespace stoker::expr
