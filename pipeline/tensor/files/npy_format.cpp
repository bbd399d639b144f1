#include "stoker/pipeline/tensor/files/npy_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <vector>

namespace stoker::files {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
static_assert(std::endian::native == std::endian::little);

/// NumPy's name of a dtype without the byte order. It has no bf16: ml_dtypes, which adds one, is saved
/// as two opaque bytes.
struct Named {
  std::string_view name;
  DType dtype;
};
constexpr std::array names{
    Named{"f4", DType::f32},     Named{"f8", DType::f64}, Named{"f2", DType::f16},
    Named{"V2", DType::bf16},    Named{"i1", DType::s8},  Named{"i2", DType::s16},
    Named{"i4", DType::s32},     Named{"i8", DType::s64}, Named{"u1", DType::u8},
    Named{"u2", DType::u16},     Named{"u4", DType::u32}, Named{"u8", DType::u64},
    Named{"b1", DType::boolean}, Named{"c8", DType::c64}, Named{"c16", DType::c128}};

/// What NumPy calls the kinds that are not read.
std::string_view kind_of(char code) {
  switch (code) {
    case 'O': return "objects, which are pickled";
    case 'S':
    case 'a':
    case 'U': return "text";
    case 'M':
    case 'm': return "times";
    case 'c': return "complex numbers";
    case 'f': return "floats of this size";
    case 'V': return "opaque bytes";
    default: return "this dtype";
  }
}

/// The dictionary of a header: a Python literal of which three keys and few kinds of value may occur.
class Literal {
 public:
  Literal(std::string_view text, std::string_view op, std::string_view file)
      : text_{text}, op_{op}, file_{file} {}

  [[nodiscard]] Result<NpyHeader> parse() {
    STOKER_TRY(expect('{'));
    while (!next_is('}')) {
      STOKER_ASSIGN(const std::string_view key, string());
      STOKER_TRY(expect(':'));
      STOKER_TRY(value(key));
      if (!next_is(',') && !peek_is('}')) return wrong("expected , or }");
    }
    skip_space();
    if (at_ != text_.size()) return wrong("something follows the dictionary");
    if (!dtype_ || !order_ || !shape_) return wrong("descr, fortran_order or shape is missing");
    NpyHeader header;
    header.spec = {*dtype_, *shape_};
    header.fortran = *order_;
    header.swapped = swapped_;
    return header;
  }

 private:
  [[nodiscard]] Result<void> value(std::string_view key) {
    if (key == "descr" && !dtype_) return description();
    if (key == "fortran_order" && !order_) return truth();
    if (key == "shape" && !shape_) return extents();
    return wrong("an unknown or repeated key: " + std::string{key.substr(0, 32)});
  }

  [[nodiscard]] Result<void> description() {
    if (peek_is('[') || peek_is('('))
      return Error{std::string{op_},
                   ErrorCode::unsupported,
                   "structured dtypes are not read: save the fields one by one",
                   {{"file", std::string{file_}}}};
    STOKER_ASSIGN(const std::string_view text, string());
    std::string_view name = text;
    char order = '<';
    if (!name.empty() && std::string_view{"<>|="}.find(name[0]) != std::string_view::npos) {
      order = name[0];
      name.remove_prefix(1);
    }
    const auto* const known = std::ranges::find(names, name, &Named::name);
    if (known == names.end())
      return Error{std::string{op_},
                   ErrorCode::unsupported,
                   std::string{kind_of(name.empty() ? '?' : name[0])} + " cannot be read",
                   {{"dtype", std::string{text.substr(0, 32)}}, {"file", std::string{file_}}}};
    dtype_ = known->dtype;
    swapped_ = order == '>' && size_of(known->dtype) > 1;
    return {};
  }

  [[nodiscard]] Result<void> truth() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      order_ = value;
      return {};
    }
    return wrong("fortran_order is neither True nor False");
  }

  [[nodiscard]] Result<void> extents() {
    STOKER_TRY(expect('('));
    std::vector<std::int64_t> extents;
    while (!next_is(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [end, failure] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (failure != std::errc{}) return wrong("an extent is no number");
      if (extent < 0) return wrong("an extent is negative: " + std::to_string(extent));
      at_ = static_cast<std::size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long integer of Python 2
      extents.push_back(extent);
      if (extents.size() > Shape::max_rank) break;  // refused below
      if (!next_is(',') && !peek_is(')')) return wrong("expected , or )");
    }
    const auto made = Shape::try_make(extents, op_);
    if (!made && extents.size() <= Shape::max_rank) return wrong("no memory holds this shape");
    if (!made) return made.error();
    shape_ = *made;
    return {};
  }

  [[nodiscard]] Result<std::string_view> string() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return wrong("expected a string");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return wrong("a string does not end");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view{" \t\n\r"}.find(text_[at_]) != std::string::npos)
      ++at_;
  }
  [[nodiscard]] bool peek_is(char wanted) {
    skip_space();
    return at_ < text_.size() && text_[at_] == wanted;
  }
  [[nodiscard]] bool next_is(char wanted) {
    if (!peek_is(wanted)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] Result<void> expect(char wanted) {
    if (next_is(wanted)) return {};
    return wrong(std::string{"expected "} + wanted);
  }
  [[nodiscard]] Error wrong(std::string reason) const {
    return damaged(op_, file_, "the header is damaged: " + std::move(reason))
        .with("at", std::to_string(at_));
  }

  const std::string_view text_;
  const std::string_view op_;
  const std::string_view file_;
  std::size_t at_ = 0;
  std::optional<DType> dtype_;
  std::optional<bool> order_;
  std::optional<Shape> shape_;
  bool swapped_ = false;
};

}  // namespace

Result<NpyHeader> read_npy_header(const Pull& pull, std::string_view op, std::string_view file) {
  std::array<char, 8> start{};
  STOKER_TRY(pull(std::as_writable_bytes(std::span{start})));
  if (std::string_view{start.data(), magic.size()} != magic)
    return damaged(op, file, "not a .npy file: it begins with something else");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    return Error{std::string{op},
                 ErrorCode::unsupported,
                 "versions 1, 2 and 3 of the format are read",
                 {{"version", std::to_string(version)}, {"file", std::string{file}}}};
  std::array<unsigned char, 4> length{};  // little-endian; two bytes in version 1
  const std::size_t width = version == 1 ? 2 : 4;
  STOKER_TRY(pull(std::as_writable_bytes(std::span{length}.first(width))));
  std::size_t bytes = 0;
  for (std::size_t i = width; i-- > 0;) bytes = bytes << 8 | length[i];
  if (bytes > most_header_bytes)
    return Error{std::string{op},
                 ErrorCode::limit_exceeded,
                 "the header is too long",
                 {{"bytes", std::to_string(bytes)},
                  {"limit", std::to_string(most_header_bytes)},
                  {"file", std::string{file}}}};
  std::string text(bytes, '\0');
  STOKER_TRY(pull(std::as_writable_bytes(std::span{text})));
  STOKER_ASSIGN(NpyHeader header, (Literal{text, op, file}.parse()));
  header.bytes = start.size() + width + bytes;
  return header;
}

std::string npy_header(const TensorSpec& spec) {
  const auto* const named = std::ranges::find(names, spec.dtype, &Named::dtype);
  const bool one_byte = size_of(spec.dtype) == 1;
  std::string text = "{'descr': '";
  text += one_byte ? '|' : '<';
  text += std::string{named->name} + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : spec.shape.extents()) text += std::to_string(extent) + ", ";
  // (3,) keeps its comma, (3, 4) needs none.
  if (spec.shape.rank() > 0) text.resize(text.size() - (spec.shape.rank() == 1 ? 1 : 2));
  text += "), }";
  const std::size_t before = magic.size() + 4;
  const std::size_t whole = (before + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string header{magic};
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace stoker::files
