#include "stoker/pipeline/tensor/graph/batching.hpp"

#include <algorithm>
#include <unordered_map>

#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/graph/walk.hpp"

namespace stoker::expr {

Shape with_leading(std::int64_t extent, const Shape& shape) {
  return Shape::make(prefixed(extent, shape.extents()), "vmap");
}

TensorSpec element_spec(const Batch& b, std::size_t i) {
  const TensorSpec& spec = b.x(i).spec();
  return b.is_mapped(i) ? TensorSpec{spec.dtype, spec.shape.without(0)} : spec;
}

namespace {

/// The same for each of `size` elements.
Value repeated(const Value& x, std::int64_t size) {
  return broadcast_axes(reshape(x, with_leading(1, x.shape())), with_leading(size, x.shape()),
                        all_axes(x.shape().rank() + 1));
}

}  // namespace

Value spread(const Batch& b, std::size_t i) {
  return b.is_mapped(i) ? b.x(i) : repeated(b.x(i), b.size);
}

Values spread_all(const Batch& b) {
  Values all;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) all.push_back(spread(b, i));
  return all;
}

std::int64_t shifted(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) + 1 : axis + 1;
}

std::vector<std::int64_t> shifted(std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<std::int64_t> moved;
  for (const std::int64_t axis : axes) moved.push_back(shifted(axis, rank));
  return moved;
}

std::vector<std::int64_t> prefixed(std::int64_t first, std::span<const std::int64_t> list) {
  std::vector<std::int64_t> longer{first};
  longer.insert(longer.end(), list.begin(), list.end());
  return longer;
}

Attributes with(const Attributes& attributes, std::initializer_list<Params::Entry> entries) {
  Params params = attributes.params();
  for (const Params::Entry& entry : entries) params.set(entry.name, entry.value);
  return Attributes{std::move(params)};
}

Value moved_to_front(const Value& x, std::size_t from) {
  std::vector<std::int64_t> order = all_axes(x.shape().rank());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(from),
              order.begin() + static_cast<std::ptrdiff_t>(from) + 1);
  return transpose(x, order);
}

Value behind_leading(const Value& numbers, const Value& like) {
  std::vector<std::int64_t> extents(like.shape().rank(), 1);
  extents[0] = numbers.shape()[0];
  return reshape(numbers, Shape::make(extents, "vmap"));
}

// --- rules ---------------------------------------------------------------------------------------

Values batch_elements(const Batch& b) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < b.inputs.size(); ++i)
    rank = std::max(rank, element_spec(b, i).shape.rank());
  Values aligned;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) {
    const Shape own = element_spec(b, i).shape;
    if (!b.is_mapped(i) || own.rank() == rank) {
      aligned.push_back(b.x(i));
      continue;
    }
    std::vector<std::int64_t> extents(1 + rank - own.rank(), 1);
    extents[0] = b.size;
    extents.insert(extents.end(), own.begin(), own.end());
    aligned.push_back(reshape(b.x(i), Shape::make(extents, "vmap")));
  }
  return apply(b.op, std::move(aligned), b.attributes, b.payload);
}

Values batch_leading(const Batch& b) { return apply(b.op, spread_all(b), b.attributes, b.payload); }

Values batch_axis(const Batch& b) {
  const std::int64_t axis = shifted(b.attributes.integer("axis"), element_spec(b).shape.rank());
  return apply(b.op, spread_all(b), with(b.attributes, {{"axis", axis}}), b.payload);
}

Values batch_one_by_one(const Batch& b) {
  boost::container::small_vector<TensorSpec, 4> specs;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) specs.push_back(element_spec(b, i));
  const Specs outputs = b.op.infer({specs, b.attributes, b.payload.get()}).value();
  Values all;
  if (b.size == 0) {
    for (const TensorSpec& spec : outputs)
      all.push_back(constant(0, spec.dtype, with_leading(0, spec.shape)));
    return all;
  }
  std::vector<std::vector<Value>> parts(outputs.size());
  for (std::int64_t element = 0; element < b.size; ++element) {
    Values inputs;
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      if (!b.is_mapped(i)) {
        inputs.push_back(b.x(i));
        continue;
      }
      const Shape& shape = b.x(i).shape();
      std::vector<std::int64_t> starts(shape.rank(), 0);
      std::vector<std::int64_t> lengths(shape.begin(), shape.end());
      starts[0] = element;
      lengths[0] = 1;
      const Value one = slice(b.x(i), starts, lengths, std::vector<std::int64_t>(shape.rank(), 1));
      inputs.push_back(reshape(one, shape.without(0)));
    }
    const Values made = apply(b.op, std::move(inputs), b.attributes, b.payload);
    for (std::size_t k = 0; k < made.size(); ++k)
      parts[k].push_back(reshape(made[k], with_leading(1, made[k].shape())));
  }
  for (const std::vector<Value>& part : parts) all.push_back(concatenate(part, 0));
  return all;
}

// --- functions -----------------------------------------------------------------------------------

namespace {

/// One node's outputs for all elements; the node's inputs are in `now`.
class Rewritten {
 public:
  explicit Rewritten(std::int64_t size) : size_{size} {}

  void put(const Value& from, const Value& to) { outputs_[from.node().get()] = {to}; }
  [[nodiscard]] bool knows(const Node* node) const { return outputs_.contains(node); }
  [[nodiscard]] const Value& now(const Value& value) const {
    return outputs_.at(value.node().get())[value.output()];
  }

  void rewrite(const std::shared_ptr<Node>& node, const Values& inputs) {
    Values given;
    boost::container::small_vector<std::uint8_t, 4> mapped;
    for (const Value& input : inputs) {
      const bool is_mapped = knows(input.node().get());
      mapped.push_back(is_mapped ? 1 : 0);
      given.push_back(is_mapped ? now(input) : input);
    }
    if (std::ranges::find(mapped, 1) == mapped.end()) return;
    const Op& op = node->op();
    const Batch batch{op, given, mapped, size_, node->attributes(), node->payload()};
    outputs_[node.get()] = op.batch ? op.batch(batch) : batch_one_by_one(batch);
  }

 private:
  const std::int64_t size_;
  std::unordered_map<const Node*, Values> outputs_;
};

}  // namespace

std::vector<Value> batched(const Function& function, std::span<const Value> arguments,
                           std::span<const std::uint8_t> mapped, std::int64_t size,
                           std::uint64_t begin) {
  // What is the same for all takes its parameter's place first, so that only the rest is mapped.
  Function rest;
  std::vector<Value> shared;
  bool any_shared = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (mapped[i]) rest.parameters.push_back(function.parameters[i]);
    any_shared |= mapped[i] == 0;
    shared.push_back(mapped[i] ? function.parameters[i] : arguments[i]);
  }
  rest.results = any_shared ? call(function, shared) : function.results;

  Rewritten rewritten{size};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (mapped[i]) rewritten.put(function.parameters[i], arguments[i]);
  // The keys of the map are nodes: whoever holds them must stay until the end.
  walk(
      rest.results, [&](const Node& node) { return node.serial() <= begin; },
      [&](const std::shared_ptr<Node>& node, const Values& inputs) {
        if (!rewritten.knows(node.get())) rewritten.rewrite(node, inputs);
      });
  std::vector<Value> made;
  for (const Value& result : rest.results)
    made.push_back(rewritten.knows(result.node().get()) ? rewritten.now(result)
                                                        : repeated(result, size));
  return made;
}

Function batched(const Function& function, std::span<const std::uint8_t> mapped,
                 std::int64_t size) {
  Function made;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const TensorSpec& spec = function.parameters[i].spec();
    made.parameters.push_back(
        parameter(mapped[i] ? TensorSpec{spec.dtype, with_leading(size, spec.shape)} : spec));
  }
  made.results = batched(function, made.parameters, mapped, size);
  return made;
}

}  // namespace stoker::expr
