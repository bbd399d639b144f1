#include "stoker/pipeline/tensor/graph/value.hpp"

#include <atomic>
#include <utility>

#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {

namespace {

const Node& existing(const std::shared_ptr<Node>& node) {
  if (node) return *node;
  throw Error{
      "tensor", ErrorCode::invalid_argument,
      "expected a tensor that has a value, got one that was made by Tensor{} or moved from"};
}

}  // namespace

const TensorSpec& Value::spec() const { return existing(node_).specs()[output_]; }

bool Value::is_known() const { return existing(node_).is_known(); }

DeviceBuffer Value::buffer() const {
  const Buffers& buffers = existing(node_).buffers();
  return buffers.empty() ? DeviceBuffer{} : buffers[output_];
}

std::uint64_t Node::next_serial() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  // Those that go wait in a list without memory of its own: each has the next one in the place of its last
  // input, which is looked at before.
  std::shared_ptr<Node> going;
  const auto drop = [&](Value value) {
    // Two threads may both have left a node to the other: then it goes at the end of this round.
    while (value && value.node().use_count() == 1 && !value.node()->inputs_.empty()) {
      std::shared_ptr<Node> node = value.node();
      value = std::exchange(node->inputs_.back(), Value{std::move(going)});
      going = std::move(node);
    }
  };
  const auto drop_all = [&](Values& inputs) {
    for (Value& input : inputs) drop(std::move(input));
    inputs.clear();
  };
  drop_all(inputs_);
  while (going) {
    const std::shared_ptr<Node> node = std::move(going);
    going = node->inputs_.back().node();
    node->inputs_.pop_back();
    drop_all(node->inputs_);
  }
}

namespace {
const Buffers no_buffers;
}  // namespace

const Buffers& Node::none() noexcept { return no_buffers; }

Node::State Node::state() const {
  const std::scoped_lock lock{mutex_};
  return {buffers_, inputs_};
}

void Node::set_buffers(Buffers buffers) {
  Values released;  // outside the lock
  const std::scoped_lock lock{mutex_};
  if (!buffers_.empty()) return;
  buffers_ = std::move(buffers);
  known_.store(!buffers_.empty(), std::memory_order_release);
  if (!tracked_) released.swap(inputs_);
}

Value from_buffer(DeviceBuffer buffer) {
  static constinit NamedOp known{"known"};
  const TensorSpec spec = buffer.spec();
  auto node = std::make_shared<Node>(known, Attributes{}, Values{}, Specs{spec}, false);
  node->set_buffers({std::move(buffer)});
  return Value{std::move(node)};
}

}  // namespace stoker::expr
