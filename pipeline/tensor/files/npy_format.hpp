// The header of NumPy's .npy format, versions 1.0, 2.0 and 3.0.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Pure functions but for what `pull` does; any thread. Input is not trusted: a header is at most
// `most_header_bytes` long, and nothing of the size that it claims is allocated here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::files {

inline constexpr std::size_t most_header_bytes = std::size_t{1} << 20;

struct NpyHeader {
  TensorSpec spec;          ///< as the array is indexed
  bool fortran = false;     ///< the first axis is the densest
  bool swapped = false;     ///< the other byte order
  std::uint64_t bytes = 0;  ///< of the header with all that stands before it
};

/// Reads a header from the beginning of a file. Errors: io_error (damaged), unsupported (structured
/// dtypes, objects, text, times, complex numbers, long doubles, version 4 and up: named), and what
/// Shape::make refuses.
[[nodiscard]] Result<NpyHeader> read_npy_header(const Pull& pull, std::string_view op,
                                                std::string_view file);
/// The header of version 1.0 for a row-major array; a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(const TensorSpec& spec);

}  // namespace stoker::files
