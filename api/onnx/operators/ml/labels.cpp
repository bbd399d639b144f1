// The domain ai.onnx.ml: labels exchanged for others.
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::onnx::operators::ml::labels {
namespace {

/// Labels of one kind: texts, integers or floats, which the attributes of LabelEncoder list.
struct List {
  std::optional<Texts> texts;
  std::optional<Known> numbers;

  [[nodiscard]] bool is_given() const { return texts || numbers; }
};

List list_of(const Call& call, const std::string& name) {
  const Node& node = call.node();
  List list;
  if (const auto* all = node.texts(name + "_strings"))
    list.texts = Texts{Shape{static_cast<std::int64_t>(all->size())}, *all};
  if (const auto* all = node.integers(name + "_int64s")) list.numbers = Known::integers(*all);
  if (const auto* all = node.reals(name + "_floats")) {
    const std::vector<double> reals{all->begin(), all->end()};
    list.numbers = Known::reals(reals, Shape{static_cast<std::int64_t>(reals.size())});
  }
  if (node.has(name + "_tensor")) {
    const Value value = call.walker().constant(node.tensor(name + "_tensor"));
    if (value.is_texts())
      list.texts = value.texts();
    else
      list.numbers = value.known();
  }
  if (!list.is_given()) call.refuse(ErrorCode::invalid_argument, "it has no " + name);
  return list;
}

/// A label as a key. NaN is equal to any other NaN here.
std::vector<std::string> keys_of(const List& list) {
  if (list.texts) return list.texts->strings;
  std::vector<std::string> keys;
  if (list.numbers->holds_integers()) {
    for (const std::int64_t one : list.numbers->to_integers()) keys.push_back(std::to_string(one));
  } else {
    for (const double one : list.numbers->to_reals())  // −0 is 0
      keys.push_back(std::isnan(one) ? "nan"
                                     : std::to_string(std::bit_cast<std::uint64_t>(one + 0.0)));
  }
  return keys;
}

/// What stands for a label that is not in the list.
List fallback_of(const Call& call, const List& values) {
  const Node& node = call.node();
  List fallback;
  if (node.has("default_tensor")) {
    const Value value = call.walker().constant(node.tensor("default_tensor"));
    if (value.is_texts())
      fallback.texts = value.texts();
    else
      fallback.numbers = value.known();
  } else if (values.texts) {
    fallback.texts = Texts{Shape{1}, {node.text("default_string", "_Unused")}};
  } else if (values.numbers->holds_integers()) {
    const std::int64_t number = node.integer("default_int64", -1);
    fallback.numbers = Known::integers({&number, 1}, Shape{1}, values.numbers->type());
  } else {
    const double number = node.real("default_float", -0.0F);
    fallback.numbers = Known::reals({&number, 1}, Shape{1}, values.numbers->type());
  }
  return fallback;
}

/// The value for each element of operand 0 that is a key, else the fallback.
Values exchanged(Call& call, const List& from, const List& values, const List& fallback) {
  const std::vector<std::string> keys = keys_of(from);
  const std::size_t count =
      values.texts ? values.texts->strings.size() : values.numbers->elements();
  if (count != keys.size())
    call.refuse(ErrorCode::invalid_argument,
                std::to_string(keys.size()) + " keys and " + std::to_string(count) + " values");
  const bool fits = values.texts ? fallback.texts && fallback.texts->strings.size() == 1
                                 : fallback.numbers && fallback.numbers->elements() == 1 &&
                                       fallback.numbers->type() == values.numbers->type();
  if (!fits)
    call.refuse(ErrorCode::invalid_argument, "its default is not one label of the values' type");
  std::map<std::string, std::int64_t, std::less<>> places;
  for (std::size_t i = 0; i < keys.size(); ++i)
    places.emplace(keys[i], static_cast<std::int64_t>(i));
  List given;
  if (call.input(0).is_texts())
    given.texts = call.input(0).texts();
  else
    given.numbers = call.known(0);
  if (given.texts.has_value() != from.texts.has_value() ||
      (given.numbers && given.numbers->holds_integers() != from.numbers->holds_integers()))
    call.refuse(ErrorCode::dtype_mismatch, std::string{"expected "} +
                                               (from.texts                       ? "texts"
                                                : from.numbers->holds_integers() ? "integers"
                                                                                 : "floats") +
                                               ", as its keys are; came " +
                                               call.input(0).to_string());
  const Shape shape = call.shape();
  std::vector<std::int64_t> chosen;
  const auto none = static_cast<std::int64_t>(keys.size());
  for (const std::string& key : keys_of(given)) {
    const auto found = places.find(key);
    chosen.push_back(found == places.end() ? none : found->second);
  }
  if (values.texts) {
    Texts made{.shape = shape, .strings = {}};
    for (const std::int64_t at : chosen)
      made.strings.push_back(at == none ? fallback.texts->strings.at(0)
                                        : values.texts->strings.at(static_cast<std::size_t>(at)));
    return {Value{std::move(made)}};
  }
  std::vector<std::byte> all{values.numbers->bytes().begin(), values.numbers->bytes().end()};
  all.insert(all.end(), fallback.numbers->bytes().begin(), fallback.numbers->bytes().end());
  const Known joined{values.numbers->type(), Shape{none + 1}, std::move(all)};
  return {joined.taken(chosen, shape)};
}

/// Texts become integers, and integers texts.
Values exchanged_both_ways(Call& call, const List& texts, const List& integers) {
  const bool has_texts = call.input(0).is_texts();
  const List& from = has_texts ? texts : integers;
  const List& to = has_texts ? integers : texts;
  return exchanged(call, from, to, fallback_of(call, to));
}

Values encode(Call& call) {
  if (call.version() > 1) {
    const List values = list_of(call, "values");
    return exchanged(call, list_of(call, "keys"), values, fallback_of(call, values));
  }
  // Texts and their places in the list.
  const List texts = list_of(call, "classes");
  std::vector<std::int64_t> places(texts.texts ? texts.texts->strings.size() : 0);
  std::iota(places.begin(), places.end(), 0);
  return exchanged_both_ways(call, texts, {.texts = {}, .numbers = Known::integers(places)});
}

Values map_categories(Call& call) {
  const auto* texts = call.node().texts("cats_strings");
  const auto* integers = call.node().integers("cats_int64s");
  if (texts == nullptr || integers == nullptr)
    call.refuse(ErrorCode::invalid_argument, "it has no cats_strings or no cats_int64s");
  return exchanged_both_ways(
      call,
      {.texts = Texts{Shape{static_cast<std::int64_t>(texts->size())}, *texts}, .numbers = {}},
      {.texts = {}, .numbers = Known::integers(*integers)});
}

}  // namespace

void define(OperatorTable& table) {
  table.add(
      {.name = "LabelEncoder",
       .domain = "ai.onnx.ml",
       .since = {1, 2, 4},
       .types = {.operands = {number_types | ElementType::string}},
       .attributes = {"classes_strings", "default_float", "default_int64", "default_string",
                      "default_tensor", "keys_floats", "keys_int64s", "keys_strings", "keys_tensor",
                      "values_floats", "values_int64s", "values_strings", "values_tensor"},
       .decides = {0},
       .lower = &encode});
  table.add({.name = "CategoryMapper",
             .domain = "ai.onnx.ml",
             .types = {.operands = {index_types | ElementType::string}},
             .attributes = {"cats_int64s", "cats_strings", "default_int64", "default_string"},
             .decides = {0},
             .lower = &map_categories});
}

}  // namespace stoker::onnx::operators::ml::labels
