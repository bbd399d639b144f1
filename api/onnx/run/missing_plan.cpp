#include "stoker/api/onnx/run/missing_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {
namespace {

constexpr std::size_t most_shown = 8;
constexpr std::size_t most_bytes_of_text = 40;
/// Of what no extent makes up for: another type, rank or kind.
constexpr double far = 1e6;

/// The first few of `count`.
template <class F> std::string list_of(std::size_t count, const char* between, F&& text_of_one) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, most_shown); ++i)
    text += (i == 0 ? "" : between) + text_of_one(i);
  return text + (count > most_shown ? " …" : "");
}

std::string text_of_elements(const Known& known) {
  if (known.holds_integers()) {
    const std::vector<std::int64_t> numbers = known.to_integers();
    return list_of(numbers.size(), " ", [&](std::size_t i) {
      return known.type() == ElementType::u64
                 ? std::to_string(static_cast<std::uint64_t>(numbers[i]))
                 : std::to_string(numbers[i]);
    });
  }
  const std::vector<double> numbers = known.to_reals();
  return list_of(numbers.size(), " ", [&](std::size_t i) {
    std::array<char, 32> digits{};
    return std::string{digits.data(),
                       std::to_chars(digits.data(), digits.data() + digits.size(), numbers[i]).ptr};
  });
}

/// With all that the signature has of it.
std::string text_of_value(const Value& value) {
  if (value.is_optional() && value.element())
    return "an optional " + text_of_value(*value.element());
  std::string text = value.to_string();
  if (value.is_known()) text += " = " + text_of_elements(value.known());
  if (value.is_texts()) {
    const std::vector<std::string>& strings = value.texts().strings;
    text += " = " + list_of(strings.size(), " ", [&](std::size_t i) {
              const bool is_long = strings[i].size() > most_bytes_of_text;
              return '\'' + printable(strings[i].substr(0, most_bytes_of_text)) +
                     (is_long ? "…'" : "'");
            });
  }
  if (value.is_sequence())
    text += " (" +
            list_of(value.elements().size(), ", ",
                    [&](std::size_t i) { return text_of_value(value.elements()[i]); }) +
            ')';
  if (value.is_map())
    text += " (" + text_of_value(value.keys()) + " to " + text_of_value(value.values()) + ')';
  return text;
}

double apart(const Known& a, const Known& b) {
  const std::vector<double> one = a.to_reals(), other = b.to_reals();
  double sum = 0;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    const double distance = std::abs(one[i] - other[i]);  // may be no number
    if (one[i] != other[i]) sum += distance < far ? distance : far;
  }
  return sum;
}

/// Extents count by their ratio: 100 is as far from 200 as 1 from 2.
double apart(const Value& a, const Value& b) {
  if (a.is_given() != b.is_given() || a.is_tensor() != b.is_tensor() ||
      a.is_texts() != b.is_texts() || a.is_sequence() != b.is_sequence() ||
      a.is_map() != b.is_map())
    return far;
  double sum = 0;
  if (a.is_sequence()) {
    const std::vector<Value>&one = a.elements(), &other = b.elements();
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i)
      sum += i < std::min(one.size(), other.size()) ? apart(one[i], other[i]) : 1;
    return sum;
  }
  if (a.is_map()) return apart(a.keys(), b.keys()) + apart(a.values(), b.values());
  if (a.is_optional() && b.is_optional() && a.element() && b.element())
    return apart(*a.element(), *b.element());
  if (!a.is_tensor() && !a.is_texts()) return a.to_string() == b.to_string() ? 0 : 1;
  if (a.type() != b.type() || a.shape().rank() != b.shape().rank()) return far;
  for (std::size_t axis = 0; axis < a.shape().rank(); ++axis)
    sum += std::abs(std::log2((static_cast<double>(a.shape()[axis]) + 1) /
                              (static_cast<double>(b.shape()[axis]) + 1)));
  if (a.is_texts())
    for (std::size_t i = 0; i < std::min(a.texts().strings.size(), b.texts().strings.size()); ++i)
      sum += a.texts().strings[i] == b.texts().strings[i] ? 0 : 1;
  return a.is_known() && b.is_known() ? sum + apart(a.known(), b.known()) : sum;
}

Error missing(std::string came, std::string expected, std::size_t plans) {
  std::string reason = "there is no plan for " + came;
  if (!expected.empty()) reason += "; the nearest is for " + expected;
  if (plans == 0) reason += ", nor any other";
  return {
      "onnx.run",
      ErrorCode::not_found,
      reason + ". The model makes plans in warm_up() only, and keeps those that its bounds hold",
      {{"expected", std::move(expected)},
       {"came", std::move(came)},
       {"plans", std::to_string(plans)}}};
}

}  // namespace

std::string MissingPlan::text_of(std::span<const Value> inputs,
                                 std::span<const std::size_t> outputs) const {
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_given()) continue;
    text += (text.empty() ? "" : ", ") + graph_.inputs[i].name + ' ' + text_of_value(inputs[i]);
  }
  if (outputs.size() == graph_.outputs.size()) return text;
  text += text.empty() ? "the outputs" : " and the outputs";
  for (const std::size_t output : outputs) text += ' ' + graph_.outputs[output].name;
  return text;
}

Error MissingPlan::for_inputs(std::span<const Value> inputs, std::span<const std::size_t> outputs,
                              Plans plans) const {
  SegmentPtr nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [key, plan] : plans) {
    double sum = std::ranges::equal(plan->wanted_outputs, outputs) ? 0 : 0.5;
    for (std::size_t i = 0; i < inputs.size(); ++i) sum += apart(inputs[i], plan->inputs[i]);
    if (sum >= least) continue;
    least = sum;
    nearest = plan;
  }
  return missing(text_of(inputs, outputs),
                 nearest ? text_of(nearest->inputs, nearest->wanted_outputs) : "", plans.size());
}

Error MissingPlan::for_elements(const std::string& key, const SegmentPtr& before,
                                Plans plans) const {
  if (before == nullptr || !before->read || key.size() < before->read->bytes())
    return missing("what a run came to", "", plans.size());
  const auto read = [&](const std::string& from) {
    const auto bytes = std::as_bytes(std::span{from}).last(before->read->bytes());
    return Known{
        element_type_of(before->read->dtype), before->read->shape, {bytes.begin(), bytes.end()}};
  };
  const Known came = read(key);
  std::string expected;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [other, plan] : plans) {
    // Rounds of a loop may follow, too.
    if (other.size() != key.size() || other.front() != key.front()) continue;
    if (apart(came, read(other)) >= least) continue;
    least = apart(came, read(other));
    expected = text_of_elements(read(other));
  }
  return missing("what " + before->reader + " reads: " + text_of_elements(came),
                 std::move(expected), plans.size());
}

Error MissingPlan::for_round(Plans plans) {
  return missing("the states that a round of a loop starts from", "", plans.size());
}

}  // namespace stoker::onnx
