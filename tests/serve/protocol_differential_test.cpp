// Thousands of made bodies, whole and damaged, read twice: by the protocol's reader, and by a plain one from nlohmann's
// document. Both find the same elements, or both refuse.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "protocol_bodies.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/json_writer.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::serve::protocol {
namespace {

using nlohmann::json;

/// Of the model's inputs; a body has some of them.
constexpr std::array names{"optional a", "optional b", "optional c"};

/// A body is refused.
struct Refused {};

// --- the plain reader -----------------------------------------------------------------------------------------------

struct PlainTensor {
  ElementType type = ElementType::undefined;
  std::vector<std::int64_t> shape;
  std::vector<json> elements;  // from JSON
  std::string bytes;           // or from binary
  bool is_binary = false;
};
using PlainTensors = std::map<std::string, PlainTensor>;

void demand(bool holds) {
  if (!holds) throw Refused{};
}

void gather(const json& data, const std::vector<std::int64_t>& shape, std::size_t axis,
            std::vector<json>& elements) {
  if (axis == shape.size()) {
    demand(!data.is_array());
    elements.push_back(data);
    return;
  }
  demand(data.is_array() && data.size() == static_cast<std::size_t>(shape[axis]));
  for (const json& one : data) gather(one, shape, axis + 1, elements);
}

std::vector<json> elements_in(const json& data, const std::vector<std::int64_t>& shape) {
  std::vector<json> elements;
  const bool is_nested = data.is_array() && shape.size() > 1 && !data.empty() && data[0].is_array();
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  if (is_nested)
    gather(data, shape, 0, elements);
  else if (shape.empty() && !data.is_array())
    elements.push_back(data);
  else
    gather(data, {count}, 0, elements);
  return elements;
}

template <class T> void demand_integer(const json& element) {
  demand(element.is_number_integer());
  if (element.is_number_unsigned())
    demand(element.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
  else
    demand(element.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min()));
}

void demand_type(const json& element, ElementType type) {
  switch (type) {
    case ElementType::boolean:
      return demand(
          element.is_boolean() ||
          (element.is_number_integer() && (element.get<std::int64_t>() & ~std::int64_t{1}) == 0));
    case ElementType::u8: return demand_integer<std::uint8_t>(element);
    case ElementType::s64: return demand_integer<std::int64_t>(element);
    case ElementType::u64: return demand_integer<std::uint64_t>(element);
    case ElementType::f32:
      return demand(element.is_number() &&
                    std::isfinite(static_cast<float>(element.get<double>())));
    case ElementType::f64: return demand(element.is_number());
    case ElementType::string: return demand(element.is_string());
    default: throw Refused{};
  }
}

void demand_binary(const PlainTensor& tensor, std::int64_t count) {
  if (tensor.type != ElementType::string) {
    demand(tensor.bytes.size() ==
           static_cast<std::size_t>(count) * (onnx::bits_of(tensor.type) / 8));
    if (tensor.type == ElementType::boolean)
      for (const char c : tensor.bytes) demand(c == 0 || c == 1);
    return;
  }
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t length = 0;
    demand(at + 4 <= tensor.bytes.size());
    std::memcpy(&length, tensor.bytes.data() + at, 4);
    at += 4;
    demand(length <= tensor.bytes.size() - at);
    at += length;
  }
  demand(at == tensor.bytes.size());
}

PlainTensors plain_read(const json& document, std::string_view binary_part, bool has_header) {
  demand(document.is_object() && document.contains("inputs"));
  if (document.contains("id")) demand(document["id"].is_string() || document["id"].is_null());
  PlainTensors tensors;
  demand(document["inputs"].is_array());
  for (const json& input : document["inputs"]) {
    demand(input.is_object());
    for (const char* key : {"name", "datatype", "shape"}) demand(input.contains(key));
    demand(input["name"].is_string() && input["datatype"].is_string() && input["shape"].is_array());
    PlainTensor tensor;
    const auto type = parse_datatype(input["datatype"].get<std::string>());
    demand(type.has_value());
    tensor.type = *type;
    std::int64_t count = 1;
    for (const json& extent : input["shape"]) {
      demand(extent.is_number_unsigned());
      demand(extent.get<std::uint64_t>() < 100'000);  // no body has more here
      tensor.shape.push_back(extent.get<std::int64_t>());
      count *= tensor.shape.back();
      demand(tensor.shape.size() <= 8 && count < 100'000);
    }
    const std::string name = input["name"];
    demand(std::ranges::find(names, name) != names.end() && !tensors.contains(name));
    std::optional<std::uint64_t> size;
    if (input.contains("parameters") && !input["parameters"].is_null()) {
      const json& parameters = input["parameters"];
      demand(parameters.is_object() && !parameters.contains("shared_memory_region"));
      if (parameters.contains("binary_data_size")) {
        const json& given = parameters["binary_data_size"];
        demand(given.is_number_unsigned() || (given.is_number_integer() && given == 0));
        size = given.get<std::uint64_t>();
      }
    }
    demand(size.has_value() != input.contains("data"));
    if (size) {
      demand(has_header && *size <= binary_part.size());
      tensor.is_binary = true;
      tensor.bytes = binary_part.substr(0, *size);
      binary_part.remove_prefix(*size);
      demand_binary(tensor, count);
    } else {
      demand(has_json(tensor.type));
      tensor.elements = elements_in(input["data"], tensor.shape);
      for (const json& element : tensor.elements) demand_type(element, tensor.type);
    }
    tensors.emplace(name, std::move(tensor));
  }
  demand(binary_part.empty());
  return tensors;
}

// --- bodies ---------------------------------------------------------------------------------------------------------

struct Body {
  std::string bytes;
  std::optional<std::uint64_t> json_bytes;
};

class BodyMaker {
 public:
  explicit BodyMaker(std::uint64_t seed) : random_{seed} {}

  Body whole() {
    std::vector<std::string> inputs;
    for (const char* name : names)
      if (below(3) > 0) inputs.push_back(input(name));
    std::vector<std::string> members{R"("inputs")" + space() + ":" + list(inputs)};
    if (below(3) == 0) members.push_back(R"("id":)" + string());
    if (below(3) == 0) members.push_back(R"("unknown":)" + anything(0));
    std::ranges::shuffle(members, random_);
    std::string text = object(members) + space();
    Body body{text + binary_, std::nullopt};
    if (has_binary_ || below(8) == 0) body.json_bytes = text.size();
    return body;
  }

  void damage(Body& body) {
    static constexpr std::string_view signs{R"({}[]",:\0123456789.eE+-truefalsn )"};
    for (std::uint64_t left = 1 + below(3); left > 0 && !body.bytes.empty(); --left) {
      std::string& bytes = body.bytes;
      const std::size_t at = below(bytes.size());
      switch (below(6)) {
        case 0: bytes[at] = static_cast<char>(random_()); break;
        case 1: bytes[at] = signs[below(signs.size())]; break;
        case 2: bytes.insert(at, 1, signs[below(signs.size())]); break;
        case 3: bytes.erase(at, 1 + below(4)); break;
        case 4: bytes.insert(at, bytes.substr(below(bytes.size()), below(12))); break;
        default: bytes.resize(at); break;
      }
    }
    if (body.json_bytes && below(4) == 0) *body.json_bytes += below(5);
    if (below(40) == 0) body.json_bytes = below(bytes_or_1(body));
  }

 private:
  static std::size_t bytes_or_1(const Body& body) {
    return std::max<std::size_t>(body.bytes.size(), 1);
  }
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  std::string space() {
    static constexpr std::array spaces{"", "", "", " ", "\n", "\t ", "\r\n"};
    return spaces[below(spaces.size())];
  }
  std::string list(const std::vector<std::string>& items) { return joined(items, '[', ']'); }
  std::string object(const std::vector<std::string>& items) { return joined(items, '{', '}'); }
  std::string joined(const std::vector<std::string>& items, char open, char close) {
    std::string text = space() + open;
    for (const std::string& one : items)
      text += (&one == items.data() ? "" : ",") + space() + one + space();
    return text + close;
  }

  std::string string() {
    static constexpr std::array pieces{
        "a",   "bc", "é",         "𝄞", "\\n", "\\\"", "\\u00e9", "\\u0000", "\\ud834\\udd1e",
        "\\/", " ",  "0123456789"};
    std::string text = "\"";
    for (std::uint64_t left = below(6); left > 0; --left) text += pieces[below(pieces.size())];
    return text + "\"";
  }
  std::string integer(ElementType type) {
    std::string text;
    if (type == ElementType::u8) return std::to_string(below(256));
    if (type == ElementType::u64)
      append_json_number(text, random_() >> below(64));
    else
      append_json_number(text, static_cast<std::int64_t>(random_()) >> below(64));
    return text;
  }
  std::string real(bool is_double) {
    std::string text;
    const double number = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random_())),
                                     static_cast<int>(below(80)) - 110);
    if (is_double)
      append_json_number(text, number);
    else
      append_json_number(text, static_cast<float>(number));
    return below(4) == 0 ? std::to_string(below(1000)) : text;
  }
  std::string element(ElementType type) {
    switch (type) {
      case ElementType::boolean: return std::array{"true", "false", "0", "1"}[below(4)];
      case ElementType::f32:
      case ElementType::f64: return real(type == ElementType::f64);
      case ElementType::string: return string();
      default: return integer(type);
    }
  }
  std::string nested(ElementType type, const std::vector<std::int64_t>& shape, std::size_t axis) {
    if (axis == shape.size()) return element(type);
    std::vector<std::string> items;
    for (std::int64_t i = 0; i < shape[axis]; ++i) items.push_back(nested(type, shape, axis + 1));
    return list(items);
  }
  std::string anything(int depth) {
    switch (below(depth < 4 ? 7 : 5)) {
      case 0: return "null";
      case 1: return "true";
      case 2: return real(true);
      case 3: return integer(ElementType::s64);
      case 4: return string();
      case 5: return list(std::vector<std::string>(below(3), anything(depth + 1)));
      default: return object({R"("k":)" + anything(depth + 1)});
    }
  }

  std::string input(const std::string& name) {
    static constexpr std::array types{ElementType::boolean, ElementType::u8,  ElementType::s64,
                                      ElementType::u64,     ElementType::f32, ElementType::f64,
                                      ElementType::string,  ElementType::f16};
    const ElementType type = types[below(types.size())];
    std::vector<std::int64_t> shape(below(4));
    std::int64_t count = 1;
    for (std::int64_t& extent : shape)
      count *= extent = static_cast<std::int64_t>(below(8) == 0 ? 0 : 1 + below(4));
    std::vector<std::string> extents;
    extents.reserve(shape.size());
    for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
    std::vector<std::string> members{R"("name":")" + name + "\"",
                                     R"("datatype":")" + std::string{datatype_of(type)} + "\"",
                                     R"("shape":)" + list(extents)};
    if (below(4) == 0 || type == ElementType::f16) {
      std::string bytes;
      for (std::int64_t i = 0; i < count; ++i)
        if (type == ElementType::string)
          bytes += binary(std::vector<std::string>{std::string(below(5), 'x')});
        else if (type == ElementType::boolean)
          bytes += static_cast<char>(below(2));
        else
          bytes += std::string(onnx::bits_of(type) / 8, static_cast<char>(random_()));
      members.push_back(R"("parameters":{"binary_data_size":)" + std::to_string(bytes.size()) +
                        "}");
      binary_ += bytes;
      has_binary_ = true;
    } else {
      members.push_back(R"("data":)" +
                        (below(2) == 0 ? nested(type, shape, 0) : nested(type, {count}, 0)));
    }
    if (below(4) == 0) members.push_back(R"("note":)" + anything(0));
    if (below(2) == 0) std::ranges::shuffle(members, random_);
    return object(members);
  }

  std::mt19937_64 random_;
  std::string binary_;
  bool has_binary_ = false;
};

// --- both -----------------------------------------------------------------------------------------------------------

template <class T> bool same_numbers(const Tensor& ours, const std::vector<json>& plain) {
  const std::vector<T> elements = ours.to_vector<T>();
  return std::ranges::equal(elements, plain, [](T one, const json& other) {
    if constexpr (std::is_same_v<T, float>) {
      // nlohmann rounds to double first, which may cost the last bit.
      const auto nearest = static_cast<float>(other.get<double>());
      return one == nearest || one == std::nextafter(nearest, HUGE_VALF) ||
             one == std::nextafter(nearest, -HUGE_VALF);
    } else {
      return other.is_boolean() ? one == static_cast<T>(other.get<bool>()) : one == other.get<T>();
    }
  });
}

bool same(const onnx::Value& ours, const PlainTensor& plain) {
  if (ours.type() != plain.type || !std::ranges::equal(ours.shape(), plain.shape)) return false;
  if (ours.is_texts()) {
    const std::vector<std::string>& strings = ours.texts().strings;
    if (plain.is_binary) return binary(strings) == plain.bytes;
    return std::ranges::equal(
        strings, plain.elements,
        [](const std::string& one, const json& other) { return one == other.get<std::string>(); });
  }
  const Tensor tensor = ours.tensor();
  if (plain.is_binary) {
    const HostView view = tensor.buffer().host_view();
    return std::ranges::equal(view.bytes, bytes_of(plain.bytes));
  }
  switch (plain.type) {
    case ElementType::boolean:
    case ElementType::u8: return same_numbers<std::uint8_t>(tensor, plain.elements);
    case ElementType::s64: return same_numbers<std::int64_t>(tensor, plain.elements);
    case ElementType::u64: return same_numbers<std::uint64_t>(tensor, plain.elements);
    case ElementType::f32: return same_numbers<float>(tensor, plain.elements);
    default: return same_numbers<double>(tensor, plain.elements);
  }
}

class Bodies : public ProtocolTest {
 protected:
  /// Nothing: the two may differ, for a key occurs twice, or an exponent is one that nlohmann refuses everywhere.
  std::optional<bool> check(const Body& body) {
    const std::string_view json_part =
        std::string_view{body.bytes}.substr(0, body.json_bytes.value_or(body.bytes.size()));
    if (json_part.starts_with("\xef")) return {};  // nlohmann skips a byte order mark
    std::optional<std::string> repeated;
    const json document = parse_json(json_part, 64, repeated);
    if (repeated) return {};
    std::optional<PlainTensors> plain;
    try {
      demand(!document.is_discarded() && body.json_bytes.value_or(0) <= body.bytes.size());
      plain = plain_read(document, std::string_view{body.bytes}.substr(json_part.size()),
                         body.json_bytes.has_value());
    } catch (const Refused&) {
    }
    std::optional<InferRequest> request;
    std::string why;
    try {
      request = read_infer_request(bytes_of(body.bytes), body.json_bytes, model_);
    } catch (const Error& error) {
      why = error.what();
    }
    if (document.is_discarded() && request && json_part.find_first_of("eE") != json_part.npos)
      return {};
    EXPECT_EQ(request.has_value(), plain.has_value()) << why << '\n' << body.bytes;
    if (!request || !plain) return false;
    EXPECT_EQ(request->inputs.size(), plain->size()) << body.bytes;
    for (const auto& [name, value] : request->inputs)
      EXPECT_TRUE(plain->contains(name) && same(value, plain->at(name))) << name << '\n'
                                                                         << body.bytes;
    return true;
  }

  const AnyModel model_ = model_of({any(names[0]), any(names[1]), any(names[2])}, {});

 private:
  static onnx::ValueInfo any(const std::string& name) {
    return tensor_info(name, ElementType::undefined, std::nullopt);
  }
};

TEST_F(Bodies, have_the_same_elements_for_both_readers) {
  for (std::uint64_t seed = 0; seed < 4'000; ++seed)
    ASSERT_EQ(check(BodyMaker{seed}.whole()), true) << seed;
}

TEST_F(Bodies, that_are_damaged_are_refused_by_both_readers_or_by_none) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000 && !HasFailure(); ++seed) {
    BodyMaker maker{seed};
    Body body = maker.whole();
    maker.damage(body);
    const std::optional<bool> outcome = check(body);
    accepted += outcome == true;
    refused += outcome == false;
  }
  EXPECT_GT(accepted, 400U);
  EXPECT_GT(refused, 10'000U);
}

}  // namespace
}  // namespace stoker::serve::protocol
