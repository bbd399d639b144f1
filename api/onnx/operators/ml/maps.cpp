// The domain ai.onnx.ml: maps from classes to scores, and vectors of features that were maps.
// https://onnx.ai/onnx/operators/index.html#ai-onnx-ml
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/tabular/classes.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::ml::maps {
namespace {

/// A map for each row of scores. A vector counts as a batch of one.
Values zip(Call& call) {
  const Classes classes{call, "classlabels_int64s"};
  const std::size_t rank = call.shape().rank();
  if ((rank != 1 && rank != 2) || call.shape()[rank - 1] != classes.count())
    call.refuse(ErrorCode::shape_mismatch, "expected [batch, " + std::to_string(classes.count()) +
                                               "], came " + call.input(0).to_string());
  const Value rows = rank == 2 ? call.input(0) : call.like(new_axis(call.x(), 0));
  return {Value::maps_of_rows(classes.all(), rows)};
}

const Value& map_of(const Call& call) {
  if (!call.input(0).is_map())
    call.refuse(ErrorCode::invalid_argument, "expected a map, came " + call.input(0).to_string());
  return call.input(0);
}

/// The number that a text begins with, behind blanks: as std::stof and std::stoll read it.
template <class T> T number_in(const Call& call, const std::string& text) {
  const char* first = text.data();
  const char* const last = first + text.size();
  while (first != last && std::isspace(static_cast<unsigned char>(*first)) != 0) ++first;
  if (last - first > 1 && *first == '+' && first[1] != '-') ++first;
  T number{};
  if (std::from_chars(first, last, number).ec != std::errc{})
    call.refuse(ErrorCode::invalid_argument, "'" + text + "' is no number");
  return number;
}

std::int64_t whole_of(const Call& call, double number) {
  if (!(std::abs(number) < 0x1p63))
    call.refuse(ErrorCode::invalid_argument,
                std::to_string(number) + " is beyond what an integer holds");
  return static_cast<std::int64_t>(number);
}

/// Numbers or texts of a vector, as what cast_to says; an element for each place that `place_of` gives,
/// ONNX Runtime's padding where it gives none.
template <class F>
Value cast_row(const Call& call, const Value& values, std::int64_t width, F&& place_of) {
  const std::string to = call.node().text("cast_to", "TO_FLOAT");
  const std::vector<double> numbers =
      values.is_texts() ? std::vector<double>{} : values.known().to_reals();
  const auto all = [&](auto none, auto&& made_of) {
    std::vector<decltype(none)> row;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::optional<std::size_t> place = place_of(i);
      row.push_back(place ? made_of(*place) : none);
    }
    return row;
  };
  const auto& texts = [&](std::size_t i) -> const std::string& {
    return values.texts().strings[i];
  };
  const Shape shape{1, width};
  if (to == "TO_STRING")
    return Texts{shape, all(std::string{"0.f"}, [&](std::size_t i) {
                   return values.is_texts() ? texts(i)
                                            : std::to_string(static_cast<float>(numbers[i]));
                 })};
  if (to == "TO_INT64")
    return Known::integers(all(std::int64_t{0},
                               [&](std::size_t i) {
                                 return values.is_texts() ? number_in<std::int64_t>(call, texts(i))
                                                          : whole_of(call, numbers[i]);
                               }),
                           shape);
  if (to != "TO_FLOAT")
    call.refuse(ErrorCode::invalid_parameter, "there is no cast_to '" + to + "'");
  return Known::reals(all(0.0,
                          [&](std::size_t i) {
                            return values.is_texts() ? number_in<float>(call, texts(i))
                                                     : numbers[i];
                          }),
                      shape);
}

/// Where each key stands, in the order of the keys.
template <class K> std::map<K, std::size_t> places(std::span<const K> keys) {
  std::map<K, std::size_t> found;
  for (std::size_t i = 0; i < keys.size(); ++i) found.emplace(keys[i], i);
  return found;
}

/// The values in the order of their keys (DENSE), or each at the place that its key says (SPARSE).
Values cast(Call& call) {
  const Value& map = map_of(call);
  if (map.keys().is_texts()) call.refuse(ErrorCode::dtype_mismatch, "expected integers as keys");
  const std::vector<std::int64_t> keys = map.keys().known().to_integers();
  const auto found = places(std::span{keys});
  const std::string form = call.node().text("map_form", "DENSE");
  if (form == "DENSE") {
    std::vector<std::size_t> order;
    order.reserve(found.size());
    for (const auto& [key, place] : found) order.push_back(place);
    return {cast_row(
        call, map.values(), static_cast<std::int64_t>(order.size()),
        [&](std::int64_t i) { return std::optional{order[static_cast<std::size_t>(i)]}; })};
  }
  if (form != "SPARSE")
    call.refuse(ErrorCode::invalid_parameter, "there is no map_form '" + form + "'");
  const std::int64_t width = call.node().integer("max_map", 1);
  if (width < 1) call.refuse(ErrorCode::invalid_parameter, "expected max_map from 1 on");
  check_host_count(call, width);
  if (!found.empty() && found.begin()->first < 0)
    call.refuse(ErrorCode::invalid_argument, "a key below 0");
  return {cast_row(call, map.values(), width, [&](std::int64_t i) {
    const auto at = found.find(i);
    return at == found.end() ? std::optional<std::size_t>{} : std::optional{at->second};
  })};
}

/// The value of each word of the vocabulary, or nothing of its kind.
Values vectorize(Call& call) {
  const Value& map = map_of(call);
  const auto* texts = call.node().texts("string_vocabulary");
  const auto* integers = call.node().integers("int64_vocabulary");
  if ((texts == nullptr) == (integers == nullptr) || (texts != nullptr) != map.keys().is_texts())
    call.refuse(ErrorCode::invalid_argument,
                "expected one vocabulary, of the type of the keys of " + map.to_string());
  std::vector<std::optional<std::size_t>> at;
  const auto look_up = [&](const auto& words, const auto& keys) {
    const auto found = places(std::span{keys});
    for (const auto& word : words) {
      const auto place = found.find(word);
      at.push_back(place == found.end() ? std::optional<std::size_t>{}
                                        : std::optional{place->second});
    }
  };
  if (texts)
    look_up(*texts, map.keys().texts().strings);
  else
    look_up(*integers, map.keys().known().to_integers());
  const Shape shape{1, static_cast<std::int64_t>(at.size())};
  const Value& values = map.values();
  if (values.is_texts()) {
    Texts made{.shape = shape, .strings = {}};
    for (const auto& place : at)
      made.strings.push_back(place ? values.texts().strings[*place] : std::string{});
    return {Value{std::move(made)}};
  }
  const Known& known = values.known();
  const std::size_t each = size_of(known.spec().dtype);
  std::vector<std::byte> bytes(at.size() * each);
  for (std::size_t i = 0; i < at.size(); ++i)
    if (at[i])
      std::ranges::copy(known.bytes().subspan(*at[i] * each, each),
                        bytes.begin() + static_cast<std::ptrdiff_t>(i * each));
  return {Value{Known{known.type(), shape, std::move(bytes)}}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "ZipMap",
             .domain = "ai.onnx.ml",
             .attributes = {"classlabels_int64s", "classlabels_strings"},
             .lower = &zip});
  table.add({.name = "CastMap",
             .domain = "ai.onnx.ml",
             .attributes = {"cast_to", "map_form", "max_map"},
             .lower = &cast});
  table.add({.name = "DictVectorizer",
             .domain = "ai.onnx.ml",
             .attributes = {"int64_vocabulary", "string_vocabulary"},
             .lower = &vectorize});
}

}  // namespace stoker::onnx::operators::ml::maps
