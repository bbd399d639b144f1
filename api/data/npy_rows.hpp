// Rows from NumPy files.
//
//     Dataset data = npy_dataset({"x.npy"}, {"y.npy"});       // read row by row, by memory map
//     Dataset small = npz_dataset("data.npz", {"x"}, {"y"});  // read at once, kept in memory
//
// .npy files are memory-mapped: only pages with requested rows are loaded, so a dataset may be
// larger than memory.
//
// Threads: any; rows are read on any thread, on several at once. The files must not be truncated
// while the dataset lives: access to a truncated mapping kills the process. Throws not_found,
// io_error (damaged files), unsupported (Fortran order, whose rows are scattered, and what npy.hpp
// refuses), shape_mismatch (scalars, different numbers of rows), and what row_options.hpp says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/api/data/row_options.hpp"

namespace stoker::nn {

[[nodiscard]] Dataset npy_dataset(const std::vector<std::filesystem::path>& inputs,
                                  const std::vector<std::filesystem::path>& targets,
                                  const RowOptions& options = {});
/// Selects arrays by their names in the archive.
[[nodiscard]] Dataset npz_dataset(const std::filesystem::path& path,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& targets,
                                  const RowOptions& options = {});

}  // namespace stoker::nn
