// Loops of known length: a body for each position, states carried on, results collected.
#include "stoker/pipeline/tensor/control/control.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr {
namespace {

const Function& body_of(const Payload* payload) {
  return static_cast<const FunctionPayload*>(payload)->functions()[0];
}

ScanShape shape_of(const Attributes& attributes) {
  return {attributes.integer("length"), static_cast<std::size_t>(attributes.integer("carries")),
          static_cast<std::size_t>(attributes.integer("sequences")), attributes.flag("reverse")};
}

TensorSpec element_of(const TensorSpec& sequence) {
  const auto extents = sequence.shape.extents();
  return {sequence.dtype, Shape::make(extents.subspan(1), "scan")};
}

TensorSpec sequence_of(const TensorSpec& element, std::int64_t length) {
  std::vector<std::int64_t> extents{length};
  extents.insert(extents.end(), element.shape.begin(), element.shape.end());
  return {element.dtype, Shape::make(extents, "scan")};
}

std::vector<Value> parameters_of(std::span<const TensorSpec> specs) {
  std::vector<Value> made;
  for (const TensorSpec& spec : specs) made.push_back(parameter(spec));
  return made;
}

std::span<const Value> part(const std::vector<Value>& values, std::size_t from, std::size_t count) {
  return std::span{values}.subspan(from, count);
}

void append(std::vector<Value>& to, std::span<const Value> more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The scan backwards: it carries the gradients by the carries and by the captures, and gives those by
/// the elements. What the carries were in each round is computed once more, in a scan of its own, so
/// the gradient costs as much again as the loop and memory for the carries of all rounds.
class ScanGradient {
 public:
  explicit ScanGradient(const Backward& b)
      : b_{b},
        body_{body_of(b.payload)},
        shape_{shape_of(b.attributes)},
        begin_{Node::next_serial()} {
    const std::vector<Value> inputs(b.inputs.begin(), b.inputs.end());
    append(carries_, part(inputs, 0, shape_.carries));
    append(sequences_, part(inputs, shape_.carries, shape_.sequences));
    const std::size_t before = shape_.carries + shape_.sequences;
    append(captures_, part(inputs, before, inputs.size() - before));
  }

  Values run() {
    const std::vector<Value> saved = carries_before();
    // What goes through the loop: by the carries, then sums by the captures; floats only.
    std::vector<Value> carried;
    for (std::size_t k = 0; k < carries_.size(); ++k)
      if (is_inexact(carries_[k].dtype()))
        carried.push_back(b_.gradients[k] ? b_.gradients[k] : zeros_like(carries_[k]));
    for (const Value& capture : captures_)
      if (is_inexact(capture.dtype())) carried.push_back(zeros_like(capture));
    std::vector<Value> sequences = saved;
    append(sequences, sequences_);
    std::vector<std::size_t> seeded;
    for (std::size_t k = shape_.carries; k < b_.outputs.size(); ++k)
      if (b_.gradients[k]) {
        seeded.push_back(k);
        sequences.push_back(b_.gradients[k]);
      }
    const Function back = backward_body(carried, sequences, seeded);
    return placed(scan(carried, sequences, back, shape_.length, !shape_.reverse, begin_));
  }

 private:
  /// The carries that each round started from.
  std::vector<Value> carries_before() {
    if (carries_.empty()) return {};
    Function body;
    body.parameters = fresh({&index, 1}, carries_, sequences_);
    std::vector<Value> arguments = body.parameters;
    append(arguments, captures_);
    const std::vector<Value> results = call(body_, arguments);
    body.results.assign(results.begin(),
                        results.begin() + static_cast<std::ptrdiff_t>(shape_.carries));
    append(body.results, part(body.parameters, 1, shape_.carries));
    const std::vector<Value> made =
        scan(carries_, sequences_, body, shape_.length, shape_.reverse, begin_);
    return {made.begin() + static_cast<std::ptrdiff_t>(shape_.carries), made.end()};
  }

  /// Parameters for a body: of the specs given, of states, of elements.
  static std::vector<Value> fresh(std::span<const TensorSpec> first,
                                  const std::vector<Value>& states,
                                  const std::vector<Value>& sequences) {
    std::vector<TensorSpec> specs(first.begin(), first.end());
    for (const Value& state : states) specs.push_back(state.spec());
    for (const Value& sequence : sequences) specs.push_back(element_of(sequence.spec()));
    return parameters_of(specs);
  }

  Function backward_body(const std::vector<Value>& carried, const std::vector<Value>& sequences,
                         const std::vector<std::size_t>& seeded) {
    Function back;
    back.parameters = fresh({&index, 1}, carried, sequences);
    const std::size_t states = carries_.size();
    const std::size_t from = 1 + carried.size();
    std::vector<Value> arguments{back.parameters[0]};
    append(arguments, part(back.parameters, from, states + sequences_.size()));
    append(arguments, captures_);
    for (std::size_t i = 1; i < arguments.size(); ++i) arguments[i] = variable(arguments[i]);
    const std::vector<Value> results = call(body_, arguments);

    std::vector<Value> outputs;
    std::vector<Value> seeds;
    std::size_t next = 1;
    for (std::size_t k = 0; k < states; ++k)
      if (is_inexact(carries_[k].dtype())) {
        outputs.push_back(results[k]);
        seeds.push_back(back.parameters[next++]);
      }
    const std::size_t sums = next;
    for (std::size_t i = 0; i < seeded.size(); ++i) {
      outputs.push_back(results[seeded[i]]);
      seeds.push_back(back.parameters[from + states + sequences_.size() + i]);
    }
    std::vector<Value> by;
    const auto floats = [&](std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i)
        if (is_inexact(arguments[i].dtype())) by.push_back(arguments[i]);
      return by.size();
    };
    const std::size_t after_states = floats(1, states);
    const std::size_t after_captures = floats(1 + states + sequences_.size(), captures_.size());
    floats(1 + states, sequences_.size());
    back.results = gradients(outputs, seeds, by);
    for (std::size_t k = after_states; k < after_captures; ++k)
      back.results[k] = back.results[k] + back.parameters[sums + k - after_states];
    return back;
  }

  /// What the backward scan gave, at the inputs that it is for.
  Values placed(const std::vector<Value>& made) const {
    Values gradients(b_.inputs.size());
    std::size_t next = 0;
    const auto take = [&](const std::vector<Value>& values, std::size_t first) {
      for (std::size_t k = 0; k < values.size(); ++k)
        if (is_inexact(values[k].dtype())) gradients[first + k] = made[next++];
    };
    take(carries_, 0);
    take(captures_, carries_.size() + sequences_.size());
    take(sequences_, carries_.size());
    return gradients;
  }

  static inline const TensorSpec index{DType::s32, Shape{}};
  const Backward& b_;
  const Function& body_;
  const ScanShape shape_;
  const std::uint64_t begin_;
  std::vector<Value> carries_;
  std::vector<Value> sequences_;
  std::vector<Value> captures_;
};

/// The same rounds for all elements: carries and results have all of them, and sequences come by rounds.
Values batch_scan(const Batch& b) {
  const ScanShape shape = shape_of(b.attributes);
  std::vector<std::uint8_t> mapped{0};  // the position
  Values inputs;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) {
    const bool is_carry = i < shape.carries;
    const bool is_sequence = !is_carry && i < shape.carries + shape.sequences;
    mapped.push_back(is_carry || b.is_mapped(i) ? 1 : 0);
    inputs.push_back(is_carry                        ? spread(b, i)
                     : is_sequence && b.is_mapped(i) ? moved_to_front(b.x(i), 1)
                                                     : b.x(i));
  }
  const Function body = batched(body_of(b.payload.get()), mapped, b.size);
  Values made = apply(b.op, std::move(inputs), b.attributes,
                      std::make_shared<FunctionPayload>(std::vector{body}));
  for (std::size_t k = shape.carries; k < made.size(); ++k) made[k] = moved_to_front(made[k], 1);
  return made;
}

}  // namespace

std::vector<Value> scan(std::span<const Value> carries, std::span<const Value> sequences,
                        const Function& body, std::int64_t length, bool reverse,
                        std::uint64_t begin) {
  static constinit NamedOp op{"scan"};
  std::vector<Value> captures;
  std::vector<Function> closed = close({&body, 1}, captures, begin);
  Values inputs(carries.begin(), carries.end());
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const Values made = apply(op, std::move(inputs),
                            {{"length", length},
                             {"carries", static_cast<std::int64_t>(carries.size())},
                             {"sequences", static_cast<std::int64_t>(sequences.size())},
                             {"reverse", reverse}},
                            std::make_shared<FunctionPayload>(std::move(closed)));
  return {made.begin(), made.end()};
}

namespace ops::scan {

void define(OpTable& table) {
  Op op;
  op.name = "scan";
  op.kind = OpKind::host;
  op.inputs = {0, any_number};
  op.summary =
      "a function called for each position in turn; states pass from one call to the next, and "
      "results are collected";
  op.infer = [](const OpCall& call) -> Result<Specs> {
    const ScanShape shape = shape_of(call.attributes);
    Specs specs;
    for (const Value& result : body_of(call.payload).results)
      specs.push_back(specs.size() < shape.carries ? result.spec()
                                                   : sequence_of(result.spec(), shape.length));
    return specs;
  };
  op.host = [](const OpCall& call, const std::shared_ptr<DeviceClient>& device) {
    return scan_step(body_of(call.payload), shape_of(call.attributes), device);
  };
  op.gradient = [](const Backward& b) { return ScanGradient{b}.run(); };
  op.batch = &batch_scan;
  table.add(std::move(op));
}

}  // namespace ops::scan
}  // namespace stoker::expr
