#include "stoker/pipeline/tensor/files/safetensors_format.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::files {
namespace {

using Json = nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view dtype_key = "dtype";
constexpr std::string_view shape_key = "shape";
constexpr std::string_view offsets_key = "data_offsets";

struct Named {
  std::string_view name;
  DType dtype;
};
// C128 is ours: other readers refuse a file with it.
constexpr std::array names{
    Named{"F32", DType::f32},      Named{"F64", DType::f64}, Named{"F16", DType::f16},
    Named{"BF16", DType::bf16},    Named{"I8", DType::s8},   Named{"I16", DType::s16},
    Named{"I32", DType::s32},      Named{"I64", DType::s64}, Named{"U8", DType::u8},
    Named{"U16", DType::u16},      Named{"U32", DType::u32}, Named{"U64", DType::u64},
    Named{"BOOL", DType::boolean}, Named{"C64", DType::c64}, Named{"C128", DType::c128}};

/// Parses, and refuses keys that occur twice, of which a parser would quietly take one.
Result<Json> parse_strictly(std::string_view text, std::string_view op, std::string_view file) {
  std::optional<std::string> twice;
  // The root, a tensor, its lists: nothing lies deeper.
  Json json = parse_json(text, 3, twice);
  if (twice) return damaged(op, file, "a key occurs twice in the header").with("key", *twice);
  if (json.is_discarded() || !json.is_object())
    return damaged(op, file, "the header is no JSON object of tensors");
  return json;
}

std::optional<std::uint64_t> number(const Json& json) {
  if (!json.is_number_unsigned()) return std::nullopt;
  return json.get<std::uint64_t>();
}

struct Placed {
  SafetensorsEntry entry;
  std::uint64_t end = 0;
};

Result<Placed> parse_entry(const std::string& name, const Json& json, std::string_view op,
                           std::string_view file) {
  const auto wrong = [&](std::string reason) {
    return damaged(op, file, std::move(reason)).with("tensor", name);
  };
  if (!json.is_object() || json.size() != 3 || !json.contains(dtype_key) ||
      !json.contains(shape_key) || !json.contains(offsets_key))
    return wrong("a tensor has a dtype, a shape and data_offsets");
  const Json& dtype = json[dtype_key];
  const Json& shape = json[shape_key];
  const Json& offsets = json[offsets_key];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    return wrong("a tensor's dtype, shape or data_offsets is of another type");
  const auto dtype_name = dtype.get<std::string>();
  const auto* const known = std::ranges::find(names, std::string_view{dtype_name}, &Named::name);
  if (known == names.end())
    return Error{std::string{op},
                 ErrorCode::unsupported,
                 "there is no such dtype here",
                 {{"dtype", dtype_name}, {"tensor", name}, {"file", std::string{file}}}};
  std::vector<std::int64_t> extents;
  for (const Json& one : shape) {
    const auto extent = number(one);
    if (!extent || *extent >> 62 != 0) return wrong("an extent is no number of elements");
    extents.push_back(static_cast<std::int64_t>(*extent));
  }
  Placed placed;
  const auto made = Shape::try_make(extents, op);
  if (!made && extents.size() <= Shape::max_rank) return wrong("no memory holds a tensor's shape");
  if (!made) return made.error();
  placed.entry = {name, {known->dtype, *made}, 0};
  const auto begin = number(offsets[0]);
  const auto end = number(offsets[1]);
  if (!begin || !end || *begin > *end) return wrong("data_offsets are no range");
  // Compared in elements: the product with their size may be beyond 64 bits.
  const std::uint64_t size = size_of(known->dtype);
  if ((*end - *begin) % size != 0 || (*end - *begin) / size != placed.entry.spec.elements())
    return wrong("data_offsets and shape differ in size");
  placed.entry.begin = *begin;
  placed.end = *end;
  return placed;
}

}  // namespace

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(entries, name, {}, &SafetensorsEntry::name);
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json_text,
                                                   std::uint64_t data_bytes, std::string_view op,
                                                   std::string_view file) {
  STOKER_ASSIGN(const Json json, parse_strictly(json_text, op, file));
  SafetensorsHeader header;
  std::vector<Placed> placed;
  for (const auto& [name, value] : json.items()) {
    if (name == metadata_key) {
      if (!value.is_object()) return damaged(op, file, "the metadata is no object");
      for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) return damaged(op, file, "metadata is text").with("key", key);
        header.metadata.emplace(key, text.get<std::string>());
      }
      continue;
    }
    STOKER_ASSIGN(Placed one, parse_entry(name, value, op, file));
    placed.push_back(std::move(one));
  }
  std::ranges::sort(placed, {}, [](const Placed& one) {
    return std::pair{one.entry.begin, one.end};
  });
  std::uint64_t filled = 0;
  for (const Placed& one : placed) {
    if (one.entry.begin != filled)
      return damaged(op, file, "tensors overlap or leave a gap").with("tensor", one.entry.name);
    filled = one.end;
  }
  if (filled != data_bytes)
    return damaged(op, file, "the tensors do not fill the file")
        .with("expected_bytes", std::to_string(filled))
        .with("got_bytes", std::to_string(data_bytes));
  for (Placed& one : placed) header.entries.push_back(std::move(one.entry));
  std::ranges::sort(header.entries, {}, &SafetensorsEntry::name);
  return header;
}

Result<std::string> place_safetensors(SafetensorsHeader& header, std::string_view op) {
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& one) {
    return std::pair{-static_cast<int>(size_of(one.spec.dtype)), std::string_view{one.name}};
  });
  Json json = Json::object();
  if (!header.metadata.empty()) json[std::string{metadata_key}] = header.metadata;
  std::uint64_t end = 0;
  for (SafetensorsEntry& one : header.entries) {
    if (json.contains(one.name) || one.name == metadata_key)
      return Error{std::string{op},
                   ErrorCode::invalid_argument,
                   "a tensor's name occurs twice or is reserved",
                   {{"name", one.name}}};
    one.begin = end;
    end += one.spec.bytes();
    const auto* const named = std::ranges::find(names, one.spec.dtype, &Named::dtype);
    const auto extents = one.spec.shape.extents();
    json[one.name] = {{dtype_key, named->name},
                      {shape_key, std::vector<std::int64_t>(extents.begin(), extents.end())},
                      {offsets_key, {one.begin, end}}};
  }
  std::string text;
  try {
    text = write_json(json);
  } catch (const Json::exception&) {
    return Error{std::string{op}, ErrorCode::invalid_argument, "names and metadata are UTF-8"};
  }
  text.resize((8 + text.size() + 63) / 64 * 64 - 8, ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
  return length + text;
}

}  // namespace stoker::files
