#include "stoker/pipeline/onnx/reading/tensor_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "stoker/pipeline/onnx/reading/entry_reader.hpp"

namespace stoker::onnx {
namespace {

/// The places where elements may stand; all but the last three are fields of their own.
enum class Store : std::uint8_t {
  none,
  raw,
  floats,
  int32s,
  strings,
  int64s,
  doubles,
  uint64s,
  external
};
constexpr std::array<std::string_view, 9> store_names{
    "nothing",    "raw_data",    "float_data",  "int32_data",   "string_data",
    "int64_data", "double_data", "uint64_data", "external_data"};

Store typed_store(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::c64: return Store::floats;
    case ElementType::f64:
    case ElementType::c128: return Store::doubles;
    case ElementType::s64: return Store::int64s;
    case ElementType::u32:
    case ElementType::u64: return Store::uint64s;
    case ElementType::string: return Store::strings;
    default: return Store::int32s;
  }
}

/// Bytes in one piece or several, which are joined.
class Pieces {
 public:
  void add(Wire::Bytes piece) {
    if (first_.empty()) {
      first_ = piece;
    } else if (!piece.empty()) {
      if (joined_.empty()) joined_.assign(first_.begin(), first_.end());
      joined_.insert(joined_.end(), piece.begin(), piece.end());
    }
  }
  [[nodiscard]] SharedBytes take(const Reading& reading) {
    return joined_.empty() ? reading.shared(first_) : SharedBytes::own(std::move(joined_));
  }

 private:
  Wire::Bytes first_;
  std::vector<std::byte> joined_;
};

struct Fields {
  std::uint64_t type = 0;
  std::vector<std::int64_t> dims;
  std::vector<Store> stores;  // those with something in them, once each
  Wire::Bytes raw;
  Pieces fixed;
  std::uint64_t integers = 0;  // how many; decoded when their type is known
  std::uint32_t integers_field = 0;
  std::vector<std::string> strings;
  bool is_segment = false;
  bool is_external = false;
  Metadata external;
  std::string name;

  void uses(Store store) {
    if (std::ranges::find(stores, store) == stores.end()) stores.push_back(store);
  }
};

Fields read_fields(Reading& reading, Wire::Bytes message) {
  Fields fields;
  const auto integers = [&](Wire& wire, Store store) {
    const std::uint64_t count = wire.count_integers();
    if (count == 0) return;
    fields.uses(store);
    fields.integers += count;
    fields.integers_field = wire.number();
  };
  const auto fixed = [&](Wire& wire, std::size_t width, Store store) {
    const Wire::Bytes piece = wire.fixed(width);
    if (!piece.empty()) fields.uses(store);
    fields.fixed.add(piece);
  };
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: wire.integers(fields.dims); break;
      case 2: fields.type = wire.varint(); break;
      case 3: fields.is_segment = true; break;
      case 4: fixed(wire, 4, Store::floats); break;
      case 5: integers(wire, Store::int32s); break;
      case 6:
        reading.count_item();
        fields.strings.emplace_back(wire.text());
        fields.uses(Store::strings);
        break;
      case 7: integers(wire, Store::int64s); break;
      case 8: fields.name = reading.name(wire); break;
      case 9:
        fields.raw = wire.bytes();
        if (!fields.raw.empty()) fields.uses(Store::raw);
        break;
      case 10: fixed(wire, 8, Store::doubles); break;
      case 11: integers(wire, Store::uint64s); break;
      case 13: fields.external.push_back(read_entry(reading, wire.bytes())); break;
      case 14: fields.is_external = wire.varint() == 1; break;
      default: break;
    }
  }
  if (fields.is_external) fields.uses(Store::external);
  return fields;
}

/// One tensor's reading: `refuse` says why there is none.
class TensorParts {
 public:
  TensorParts(Reading& reading, Wire::Bytes message)
      : reading_{reading}, message_{message}, fields_{read_fields(reading, message)} {}

  Initializer read() {
    if (!reading_.progress.stopped() && check_type() && check_store()) fill();
    tensor_.dims = std::move(fields_.dims);
    return {std::move(fields_.name), std::move(tensor_)};
  }

 private:
  bool refuse(std::string why) {
    reading_.findings.add("tensor " + in_quotes(fields_.name), std::move(why));
    return false;
  }

  bool check_type() {
    const auto type = element_type(fields_.type);
    if (!type) return refuse("no element type has number " + std::to_string(fields_.type));
    tensor_.type = *type;
    const Result<std::uint64_t> count = try_element_count(fields_.dims);
    if (!count) return refuse(std::string{count.error().reason()});
    elements_ = *count;
    if (fields_.is_segment) return refuse("one segment of a tensor is not read");
    return true;
  }

  bool check_store() {
    if (fields_.stores.size() > 1)
      return refuse("elements stand both in " + std::string{name_of(fields_.stores[0])} +
                    " and in " + std::string{name_of(fields_.stores[1])});
    store_ = fields_.stores.empty() ? Store::none : fields_.stores.front();
    const Store typed = typed_store(tensor_.type);
    const bool fits =
        store_ == Store::none || store_ == typed ||
        (typed != Store::strings && (store_ == Store::raw || store_ == Store::external));
    if (fits) return true;
    return refuse("elements of type " + std::string{to_string(tensor_.type)} + " stand in " +
                  std::string{name_of(store_)});
  }

  void fill() {
    if (tensor_.type == ElementType::string) {
      tensor_.strings = std::move(fields_.strings);
      expect(elements_, tensor_.strings.size(), " texts");
      return;
    }
    const std::uint64_t needed = byte_count(tensor_.type, elements_);
    switch (store_) {
      case Store::raw: tensor_.bytes = reading_.shared(fields_.raw); break;
      case Store::floats:
      case Store::doubles: tensor_.bytes = fields_.fixed.take(reading_); break;
      case Store::external: external(needed); return;
      default: decode(needed); return;
    }
    expect(needed, tensor_.bytes.view.size(), " bytes");
  }

  bool expect(std::uint64_t needed, std::uint64_t came, const char* what) {
    if (needed == came) return true;
    TensorData named{tensor_.type, fields_.dims, {}, {}};
    return refuse(named.to_string() + " needs " + std::to_string(needed) + what + ", has " +
                  std::to_string(came));
  }

  /// The low bytes of each integer: files hold those of 16-bit floats and of smaller types so. Straight to where they
  /// stay: as 64-bit numbers they would take up to eight times as much first.
  void decode(std::uint64_t needed) {
    const std::size_t width = std::max<std::size_t>(bits_of(tensor_.type) / 8, 1);
    if (!expect(needed, fields_.integers * width, " bytes")) return;
    std::vector<std::byte> bytes(needed);
    std::byte* next = bytes.data();
    for (Wire wire{message_, reading_.progress}; wire.next();)
      if (wire.number() == fields_.integers_field)
        wire.each_integer([&](std::uint64_t value) {
          if (next == bytes.data() + bytes.size()) return;  // a damaged one is not counted
          std::memcpy(next, &value, width);
          next += width;
        });
    tensor_.bytes = SharedBytes::own(std::move(bytes));
  }

  std::optional<std::uint64_t> number(std::string_view key, std::uint64_t fallback) {
    const auto found = std::ranges::find(fields_.external, key, &Metadata::value_type::first);
    if (found == fields_.external.end()) return fallback;
    const std::string& text = found->second;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    refuse("external data's " + std::string{key} + " is " + in_quotes(text) +
           ", expected a number");
    return std::nullopt;
  }

  void external(std::uint64_t needed) {
    const auto location =
        std::ranges::find(fields_.external, "location", &Metadata::value_type::first);
    if (location == fields_.external.end()) {
      refuse("external data without a location");
      return;
    }
    const auto offset = number("offset", 0);
    const auto length = number("length", needed);
    if (!offset || !length) return;
    if (!expect(needed, *length, " bytes")) return;
    Result<SharedBytes> bytes = reading_.external.bytes(location->second, *offset, needed);
    if (bytes)
      tensor_.bytes = std::move(*bytes);
    else
      refuse(std::string{bytes.error().reason()});
  }

  [[nodiscard]] static std::string_view name_of(Store store) {
    return store_names[static_cast<std::size_t>(store)];
  }

  Reading& reading_;
  const Wire::Bytes message_;
  Fields fields_;
  TensorData tensor_;
  std::uint64_t elements_ = 0;
  Store store_ = Store::none;
};

Error refused(std::string why) {
  return Error{"onnx", ErrorCode::invalid_argument, std::move(why)};
}

/// Where the values of a sparse tensor stand in the dense one, in elements; or why not.
Result<std::vector<std::uint64_t>> places_of(const TensorData& indices, std::size_t values,
                                             std::span<const std::int64_t> dims) {
  const auto count = static_cast<std::int64_t>(values);
  const bool linear = indices.dims == std::vector<std::int64_t>{count};
  const std::vector<std::int64_t> by_axis{count, static_cast<std::int64_t>(dims.size())};
  if (indices.type != ElementType::s64 || !(linear || indices.dims == by_axis))
    return refused("indices are " + indices.to_string() + ", expected int64[" +
                   std::to_string(values) + "] or with one for each axis");
  const std::vector<std::int64_t> flat{static_cast<std::int64_t>(*try_element_count(dims))};
  const std::span<const std::int64_t> extents = linear ? std::span{flat} : dims;
  std::vector<std::uint64_t> places(values);
  const std::byte* next = indices.bytes.view.data();
  for (std::size_t i = 0; i < values; ++i) {
    for (const std::int64_t extent : extents) {
      std::int64_t index = 0;
      std::memcpy(&index, next, sizeof index);
      next += sizeof index;
      if (index < 0 || index >= extent)
        return refused("index " + std::to_string(index) + " is not below " +
                       std::to_string(extent));
      places[i] =
          places[i] * static_cast<std::uint64_t>(extent) + static_cast<std::uint64_t>(index);
    }
    if (i > 0 && places[i] <= places[i - 1]) return refused("indices do not ascend");
  }
  return places;
}

Result<SharedBytes> made_dense(Reading& reading, const TensorData& values,
                               const TensorData& indices, std::span<const std::int64_t> dims) {
  STOKER_ASSIGN(const std::uint64_t elements, try_element_count(dims));
  const std::size_t width = bits_of(values.type) / 8;
  if (width == 0)
    return refused("a sparse tensor of " + std::string{to_string(values.type)} + " is not read");
  if (values.dims.size() != 1)
    return refused("values are " + values.to_string() + ", expected one axis");
  STOKER_ASSIGN(const std::vector<std::uint64_t> places,
                places_of(indices, values.elements(), dims));
  if (elements > reading.dense_left / width)
    return refused("sparse tensors give more than " + std::to_string(reading.limits.dense_bytes) +
                   " bytes when made dense");
  reading.dense_left -= elements * width;
  std::vector<std::byte> dense(elements * width);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(dense.data() + places[i] * width, values.bytes.view.data() + i * width, width);
  return SharedBytes::own(std::move(dense));
}

}  // namespace

Initializer read_tensor(Reading& reading, Wire::Bytes message) {
  reading.count_item();
  return TensorParts{reading, message}.read();
}

Initializer read_sparse_tensor(Reading& reading, Wire::Bytes message) {
  const std::size_t before = reading.findings.size();
  Initializer values;
  TensorData indices;
  std::vector<std::int64_t> dims;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: values = read_tensor(reading, wire.bytes()); break;
      case 2: indices = read_tensor(reading, wire.bytes()).tensor; break;
      case 3: wire.integers(dims); break;
      default: break;
    }
  }
  if (reading.progress.stopped() || reading.findings.size() > before) return values;
  Result<SharedBytes> dense = made_dense(reading, values.tensor, indices, dims);
  if (!dense)
    reading.findings.add("sparse tensor " + in_quotes(values.name),
                         std::string{dense.error().reason()});
  else
    values.tensor = {values.tensor.type, std::move(dims), std::move(*dense), {}};
  return values;
}

}  // namespace stoker::onnx
