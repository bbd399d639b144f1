#include "stoker/api/serve/protocol/json_elements.hpp"

#include <algorithm>
#include <array>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/json_number.hpp"

namespace stoker::serve::protocol {
namespace {

/// Walks through the lists of one tensor.
class Elements {
 public:
  Elements(JsonReader& reader, const ExpectedTensor& tensor) noexcept
      : reader_{reader}, tensor_{tensor} {}

  /// Calls `read_one(i)` for each element in order; the reader stands before it. Before that, `read_many(i, count)` may
  /// read the first of the next `count` elements, and leaves the reader before the next element of them, if there is
  /// one. Returns how many it has read.
  template <class ReadOne, class ReadMany> void each(ReadOne&& read_one, ReadMany&& read_many) {
    const Shape& shape = tensor_.shape;
    if (reader_.next() != '[') {
      if (shape.rank() > 0)
        refuse_tensor(ErrorCode::shape_mismatch, "shape " + shape.to_string() +
                                                     " needs a list, came " +
                                                     std::string{reader_.kind_of_next()});
      return read_one(0);
    }
    is_nested_ = shape.rank() > 1 && begins_with_list();
    if (is_nested_) return nested(read_one, read_many);
    reader_.check_nesting(1);
    row(0, static_cast<std::size_t>(shape.elements()), read_one, read_many);
  }

  template <class T> void number(T& value) {
    static_cast<void>(reader_.next());
    const char* at = reader_.at();
    const NumberRead read = read_number(at, reader_.end(), value);
    if (read != NumberRead::done) [[unlikely]]
      refuse_number(read, at);
    reader_.move_to(at);
  }

  void boolean(std::uint8_t& value) {
    const char first = reader_.next();
    if (first == 't' || first == 'f') {
      value = reader_.boolean() ? 1 : 0;
      return;
    }
    const char* const start = reader_.at();
    number(value);
    if (value < 2) return;
    const char* const behind = reader_.at();
    reader_.move_to(start);
    refuse_number(NumberRead::out_of_range, behind);
  }

  [[noreturn]] void refuse_type() {
    const std::string_view came = reader_.kind_of_next();
    if (came == "a list")
      refuse_tensor(ErrorCode::shape_mismatch,
                    "data is nested deeper than shape " + tensor_.shape.to_string());
    refuse_tensor(ErrorCode::dtype_mismatch,
                  "expected " + std::string{datatype_of(tensor_.type)} + ", came " +
                      std::string{came} +
                      (came == "null" ? "; NaN and infinities come in binary" : ""));
  }

 private:
  [[nodiscard]] bool begins_with_list() {
    const char* const first = reader_.at();
    reader_.move_to(first + 1);
    const bool is_list = reader_.next() == '[';
    reader_.move_to(first);
    return is_list;
  }

  template <class ReadOne, class ReadMany> void nested(ReadOne& read_one, ReadMany& read_many) {
    const Shape& shape = tensor_.shape;
    // Rows are the innermost lists, or the first ones that are empty.
    const auto empty = static_cast<std::size_t>(std::ranges::find(shape, 0) - shape.begin());
    const std::size_t rows_axis = std::min(empty, shape.rank() - 1);
    const auto length = static_cast<std::size_t>(shape[rows_axis]);
    reader_.check_nesting(rows_axis + 1);
    std::array<std::int64_t, Shape::max_rank>
        closed{};  // lists and rows, in the open list of each axis
    std::size_t axis = 0;
    for (std::size_t first = 0;; first += length) {
      for (; axis < rows_axis; ++axis) open();
      row(first, length, read_one, read_many);
      while (axis > 0 && ++closed[axis - 1] == shape[axis - 1]) {
        --axis;
        close(shape[axis]);
        closed[axis] = 0;
      }
      if (axis == 0) return;
      comma(closed[axis - 1], shape[axis - 1]);
    }
  }

  template <class ReadOne, class ReadMany>
  void row(std::size_t first, std::size_t length, ReadOne& read_one, ReadMany& read_many) {
    open();
    const std::size_t many = read_many(first, length);
    for (std::size_t i = many; i < length; ++i) {
      if (i > many) comma(static_cast<std::int64_t>(i), static_cast<std::int64_t>(length));
      if (i == 0 && reader_.next() == ']') refuse_count("none", static_cast<std::int64_t>(length));
      read_one(first + i);
    }
    close(static_cast<std::int64_t>(length));
  }

  void open() {
    if (!reader_.take('[')) {
      static_cast<void>(reader_.kind_of_next());
      refuse_tensor(ErrorCode::shape_mismatch,
                    "data is nested otherwise than shape " + tensor_.shape.to_string());
    }
  }
  void comma(std::int64_t came, std::int64_t due) {
    if (reader_.take(',')) return;
    if (reader_.next() == ']') refuse_count(std::to_string(came), due);
    reader_.refuse_malformed(reader_.at(), "expected ',' or ']'");
  }
  void close(std::int64_t due) {
    if (reader_.take(']')) return;
    if (due == 0) static_cast<void>(reader_.kind_of_next());
    if (due == 0 || reader_.next() == ',') refuse_count("more", due);
    reader_.refuse_malformed(reader_.at(), "expected ',' or ']'");
  }

  [[noreturn]] void refuse_number(NumberRead read, const char* behind) {
    if (reader_.kind_of_next() != "a number") refuse_type();
    const std::string number = in_quotes({reader_.at(), behind});
    const std::string type{datatype_of(tensor_.type)};
    if (read == NumberRead::out_of_range)
      refuse_tensor(ErrorCode::invalid_argument, number + " is out of range for " + type);
    if (read == NumberRead::not_integer)
      refuse_tensor(ErrorCode::dtype_mismatch,
                    "expected " + type + ", came " + number + ", which is not an integer");
    reader_.move_to(behind);
    reader_.refuse_number();
  }

  [[noreturn]] void refuse_count(const std::string& came, std::int64_t due) {
    refuse_tensor(ErrorCode::shape_mismatch, "shape " + tensor_.shape.to_string() + " needs " +
                                                 (is_nested_ ? "lists of " + std::to_string(due)
                                                             : std::to_string(due) + " elements") +
                                                 ", came " + came);
  }
  [[noreturn]] void refuse_tensor(ErrorCode code, const std::string& why) {
    refuse(code, "input " + in_quotes(tensor_.name) + ": " + why + reader_.place(reader_.at()));
  }

  JsonReader& reader_;
  const ExpectedTensor& tensor_;
  bool is_nested_ = false;
};

/// Reads numbers and commas until something else comes, which is then for Elements to read or refuse.
template <class T>
std::size_t read_many(JsonReader& reader, T* numbers, std::size_t count) noexcept {
  const char* const end = reader.end();
  const char* at = reader.at();
  const auto skip_space = [end](const char*& place) {
    while (place != end && (*place == ' ' || *place == '\n' || *place == '\r' || *place == '\t'))
      ++place;
  };
  std::size_t read = 0;
  while (read < count) {
    const char* next = at;
    skip_space(next);
    if (read_number(next, end, numbers[read]) != NumberRead::done) break;
    skip_space(next);
    const bool is_last = read + 1 == count;
    if (!is_last && (next == end || *next != ',')) break;
    at = is_last ? next : next + 1;
    ++read;
  }
  reader.move_to(at);
  return read;
}

template <class T>
void read_numbers(JsonReader& reader, Elements elements, std::span<std::byte> into) {
  T* const numbers = reinterpret_cast<T*>(into.data());
  elements.each([&](std::size_t i) { elements.number(numbers[i]); },
                [&](std::size_t first, std::size_t count) {
                  return read_many(reader, numbers + first, count);
                });
}

constexpr auto one_by_one = [](std::size_t, std::size_t) { return std::size_t{0}; };

void read_booleans(Elements elements, std::span<std::byte> into) {
  auto* const values = reinterpret_cast<std::uint8_t*>(into.data());
  elements.each([&](std::size_t i) { elements.boolean(values[i]); }, one_by_one);
}

}  // namespace

void check_text_for(const JsonReader& reader, const ExpectedTensor& tensor) {
  // An element takes at least a digit, or two quotes, and a comma but for the last one.
  const std::uint64_t each = tensor.type == onnx::ElementType::string ? 3 : 2;
  const auto text = static_cast<std::uint64_t>(reader.end() - reader.at());
  const auto elements = static_cast<std::uint64_t>(tensor.shape.elements());
  if (elements <= (text + 1) / each) return;
  refuse(ErrorCode::shape_mismatch, "input " + in_quotes(tensor.name) + ": shape " +
                                        tensor.shape.to_string() +
                                        " needs more elements than the body has");
}

void read_elements(JsonReader& reader, const ExpectedTensor& tensor, std::span<std::byte> into) {
  const Elements elements{reader, tensor};
  switch (tensor.type) {
    case onnx::ElementType::boolean: return read_booleans(elements, into);
    case onnx::ElementType::u8: return read_numbers<std::uint8_t>(reader, elements, into);
    case onnx::ElementType::u16: return read_numbers<std::uint16_t>(reader, elements, into);
    case onnx::ElementType::u32: return read_numbers<std::uint32_t>(reader, elements, into);
    case onnx::ElementType::u64: return read_numbers<std::uint64_t>(reader, elements, into);
    case onnx::ElementType::s8: return read_numbers<std::int8_t>(reader, elements, into);
    case onnx::ElementType::s16: return read_numbers<std::int16_t>(reader, elements, into);
    case onnx::ElementType::s32: return read_numbers<std::int32_t>(reader, elements, into);
    case onnx::ElementType::s64: return read_numbers<std::int64_t>(reader, elements, into);
    case onnx::ElementType::f64: return read_numbers<double>(reader, elements, into);
    default: return read_numbers<float>(reader, elements, into);
  }
}

std::vector<std::string> read_strings(JsonReader& reader, const ExpectedTensor& tensor,
                                      std::uint64_t most_bytes) {
  std::vector<std::string> strings(static_cast<std::size_t>(tensor.shape.elements()));
  Elements elements{reader, tensor};
  const auto read_one = [&](std::size_t i) {
    if (reader.next() != '"') elements.refuse_type();
    reader.string(strings[i]);
    if (strings[i].size() > most_bytes)
      refuse(ErrorCode::limit_exceeded,
             "input " + in_quotes(tensor.name) +
                 ": the tensors of a request may not have so many bytes");
    most_bytes -= strings[i].size();
  };
  elements.each(read_one, one_by_one);
  return strings;
}

}  // namespace stoker::serve::protocol
