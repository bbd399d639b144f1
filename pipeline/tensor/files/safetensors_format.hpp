// The header of a safetensors file: JSON that says which tensor lies where.
// https://huggingface.co/docs/safetensors (format), https://github.com/huggingface/safetensors
//
// Pure functions; any thread. Input is not trusted: a header is at most `most_json_bytes` long (the
// format's own limit), names and keys occur once, and the tensors must fill the data without gaps or
// overlaps, as the format demands. What they claim is checked before anything of that size is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::files {

inline constexpr std::uint64_t most_json_bytes = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  TensorSpec spec;
  std::uint64_t begin = 0;  ///< byte of the data, not of the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< by name
  std::map<std::string, std::string> metadata;

  /// Null if there is none of that name.
  [[nodiscard]] const SafetensorsEntry* find(std::string_view name) const noexcept;
};

/// `json` is the header's text, `data_bytes` what follows it in the file. Errors: io_error (damaged),
/// unsupported (a dtype that there is no DType for, named), what Shape::make refuses.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view json,
                                                                 std::uint64_t data_bytes,
                                                                 std::string_view op,
                                                                 std::string_view file);

/// Places the entries (wider dtypes first, so that all are aligned to their elements), leaves them in
/// that order, and gives what stands before the data, a multiple of 64 bytes. invalid_argument for names that
/// are not UTF-8 or occur twice, or that the format reserves.
[[nodiscard]] Result<std::string> place_safetensors(SafetensorsHeader& header, std::string_view op);

}  // namespace stoker::files
