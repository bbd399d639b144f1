#include "stoker/api/tensor/transforms/control_flow.hpp"

#include <numeric>

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
#include "stoker/pipeline/tensor/control/control.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::detail {
namespace {

/// With the names of `like`, as far as that goes; what is stacked on it has one axis more in front.
std::vector<Tensor> tensors_around(const std::vector<expr::Value>& values,
                                   std::span<const Tensor> like,
                                   std::span<const Tensor> stacked = {}) {
  std::vector<Tensor> tensors;
  for (const expr::Value& value : values) {
    const std::size_t k = tensors.size();
    if (k < like.size()) {
      tensors.emplace_back(value, like[k].names());
      continue;
    }
    const Tensor& element = stacked[k - like.size()];
    Axes axes(element.rank() + 1);
    std::iota(axes.begin(), axes.end(), -1);
    tensors.emplace_back(value, element.names().chosen(axes));
  }
  return tensors;
}

void check_count(const char* op, const char* what, std::size_t expected, std::size_t got) {
  if (expected != got)
    throw Error{op,
                ErrorCode::arity_mismatch,
                std::string{what} + ": expected " + std::to_string(expected) + " tensors, got " +
                    std::to_string(got),
                {{"expected", std::to_string(expected)}, {"got", std::to_string(got)}}};
}

[[noreturn]] void refuse(const char* op, const std::string& reason, const TensorSpec& expected,
                         const TensorSpec& got) {
  throw Error{op,
              expected.shape == got.shape ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
              reason + ": expected " + expected.to_string() + ", got " + got.to_string(),
              {{"expected", expected.to_string()}, {"got", got.to_string()}}};
}

}  // namespace

void check_states(const char* op, std::span<const Tensor> states, std::span<const Tensor> next) {
  check_count(op, "the next state", states.size(), next.size());
  for (std::size_t k = 0; k < states.size(); ++k)
    if (states[k].spec() != next[k].spec())
      refuse(op, "the next state is not like the state", states[k].spec(), next[k].spec());
}

std::int64_t loop_rounds(std::int64_t count, std::int64_t unroll) {
  if (count < 0)
    throw Error{"for_loop",
                ErrorCode::invalid_argument,
                "the number of rounds must not be negative",
                {{"count", std::to_string(count)}}};
  if (unroll < 1)
    throw Error{"for_loop",
                ErrorCode::invalid_argument,
                "unroll: expected 1 or more, got " + std::to_string(unroll),
                {{"unroll", std::to_string(unroll)}}};
  return unroll >= count && unroll > 1 ? 0 : count / unroll;
}

void check_stackable(const char* op, std::span<const Tensor> results) {
  for (const Tensor& result : results)
    if (result.rank() == Shape::max_rank)
      throw Error{op,
                  ErrorCode::shape_mismatch,
                  "the results cannot be stacked: " + result.spec().to_string() +
                      " has as many axes as there may be",
                  {{"got", result.spec().to_string()}}};
}

std::vector<Tensor> elements_at(std::span<const Tensor> sequences, std::int64_t at) {
  std::vector<Tensor> elements;
  for (const Tensor& sequence : sequences) elements.push_back(sequence[Index{at}]);
  return elements;
}

std::vector<Tensor> stacked(std::span<const std::vector<Tensor>> elements) {
  std::vector<Tensor> sequences;
  for (std::size_t k = 0; k < elements[0].size(); ++k) {
    std::vector<Tensor> one;
    for (const std::vector<Tensor>& each : elements) one.push_back(each[k]);
    sequences.push_back(stack(one));
  }
  return sequences;
}

std::uint64_t trace_mark() { return expr::Node::next_serial(); }

Tensor as_condition(const char* op, const Tensor& condition) {
  if (condition.size() != 1)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected a condition of one element, got " + condition.spec().to_string(),
                {{"got", condition.spec().to_string()}}};
  const expr::Value scalar = expr::reshape(condition.value(), Shape{});
  return Tensor{expr::scalar("not_equal", {scalar, expr::constant(0, scalar.dtype())})};
}

std::vector<Tensor> cond_of(const Tensor& condition, std::vector<Tensor> yes,
                            std::vector<Tensor> no, std::uint64_t mark) {
  check_count("cond", "the second branch", yes.size(), no.size());
  for (std::size_t k = 0; k < yes.size(); ++k) {
    if (yes[k].shape() != no[k].shape())
      refuse("cond", "the branches differ", yes[k].spec(), no[k].spec());
    const DType dtype = expr::merged(yes[k].dtype(), no[k].dtype());
    yes[k] = Tensor{expr::cast(yes[k].value(), dtype)};
    no[k] = Tensor{expr::cast(no[k].value(), dtype)};
  }
  return tensors_around(
      expr::cond(condition.value(), {{}, values_of(yes)}, {{}, values_of(no)}, mark), yes);
}

std::vector<Tensor> while_of(std::span<const Tensor> states, std::span<const Tensor> parameters,
                             const Tensor& condition, std::span<const Tensor> next,
                             std::int64_t most, std::uint64_t mark) {
  if (states.empty())
    throw Error{"while_loop", ErrorCode::invalid_argument, "the state has no tensors"};
  if (most < 0)
    throw Error{"while_loop",
                ErrorCode::invalid_argument,
                "max_iterations must not be negative, got " + std::to_string(most),
                {{"got", std::to_string(most)}}};
  check_states("while_loop", states, next);
  return tensors_around(
      expr::while_loop(values_of(states), {values_of(parameters), {condition.value()}},
                       {values_of(parameters), values_of(next)}, most, mark),
      states);
}

ScanParameters scan_parameters(const char* op, std::span<const Tensor> carries,
                               std::span<const Tensor> sequences, std::int64_t length) {
  ScanParameters made;
  made.mark = trace_mark();
  if (sequences.empty() && length < 0)
    throw Error{op, ErrorCode::invalid_argument,
                sequences.empty() && carries.empty() ? "there is nothing to go through"
                                                     : "the number of rounds must not be negative"};
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() == 0)
      throw Error{op, ErrorCode::shape_mismatch, "a scalar has no elements to go through"};
    if (length >= 0 && sequence.shape()[0] != length)
      throw Error{
          op,
          ErrorCode::shape_mismatch,
          "the sequences differ in length: " + std::to_string(length) + " and " +
              std::to_string(sequence.shape()[0]),
          {{"one", std::to_string(length)}, {"other", std::to_string(sequence.shape()[0])}}};
    length = sequence.shape()[0];
    made.elements.emplace_back(expr::parameter({sequence.dtype(), sequence.shape().without(0)}),
                               sequence.names().without(Axes{0}, sequence.rank()));
  }
  made.length = length;
  made.index = Tensor{expr::parameter({DType::s32, Shape{}})};
  made.carries = placeholders(carries);
  return made;
}

std::vector<Tensor> scan_of(const char* op, std::span<const Tensor> carries,
                            std::span<const Tensor> sequences, const ScanParameters& parameters,
                            std::span<const Tensor> next, std::span<const Tensor> results,
                            bool reverse) {
  check_states(op, carries, next);
  check_stackable(op, results);
  expr::Function body;
  body.parameters.push_back(parameters.index.value());
  for (const Tensor& carry : parameters.carries) body.parameters.push_back(carry.value());
  for (const Tensor& element : parameters.elements) body.parameters.push_back(element.value());
  body.results = values_of(next);
  for (const Tensor& result : results) body.results.push_back(result.value());
  return tensors_around(expr::scan(values_of(carries), values_of(sequences), body,
                                   parameters.length, reverse, parameters.mark),
                        carries, results);
}

}  // namespace stoker::detail
