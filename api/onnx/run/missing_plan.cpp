#include "stoker/api/onnx/run/missing_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoker::onnx {
namespace {

constexpr std::size_t most_shown = 8;
/// Of what no extent makes up for: another type, rank or kind.
constexpr double far = 1e6;

std::string text_of_elements(const Known& known) {
  std::string text;
  const std::vector<double> numbers = known.to_reals();
  for (std::size_t i = 0; i < std::min(numbers.size(), most_shown); ++i) {
    const auto whole = static_cast<std::int64_t>(numbers[i]);
    const bool is_whole = static_cast<double>(whole) == numbers[i];
    text += (i == 0 ? "" : " ") + (is_whole ? std::to_string(whole) : std::to_string(numbers[i]));
  }
  return text + (numbers.size() > most_shown ? " …" : "");
}

double apart(const Known& a, const Known& b) {
  const std::vector<double> one = a.to_reals(), other = b.to_reals();
  double sum = 0;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    sum += std::min(std::abs(one[i] - other[i]), far);
  return sum;
}

/// Extents count by their ratio: 100 is as far from 200 as 1 from 2.
double apart(const Value& a, const Value& b) {
  if (a.is_given() != b.is_given() || a.is_tensor() != b.is_tensor() ||
      a.is_texts() != b.is_texts())
    return far;
  if (!a.is_tensor() && !a.is_texts()) return a.to_string() == b.to_string() ? 0 : 1;
  if (a.type() != b.type() || a.shape().rank() != b.shape().rank()) return far;
  double sum = 0;
  for (std::size_t axis = 0; axis < a.shape().rank(); ++axis)
    sum += std::abs(std::log2((static_cast<double>(a.shape()[axis]) + 1) /
                              (static_cast<double>(b.shape()[axis]) + 1)));
  return a.is_known() && b.is_known() ? sum + apart(a.known(), b.known()) : sum;
}

Error missing(std::string came, std::string expected, std::size_t plans) {
  std::string reason = "there is no plan for " + came;
  if (!expected.empty()) reason += "; the nearest is for " + expected;
  if (plans == 0) reason += ", nor any other";
  return {"onnx.run",
          ErrorCode::not_found,
          reason + ". The model was loaded to refuse what was not warmed up",
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
    text += (text.empty() ? "" : ", ") + graph_.inputs[i].name + ' ' + inputs[i].to_string();
    if (inputs[i].is_known()) text += " = " + text_of_elements(inputs[i].known());
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
