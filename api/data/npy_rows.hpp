// Rows from NumPy's files.
//
//     Dataset data = npy_dataset({"x.npy"}, {"y.npy"});       // read row by row, by memory map
//     Dataset small = npz_dataset("data.npz", {"x"}, {"y"});  // read at once, kept in memory
//
// Of .npy files only the pages are in memory whose rows are asked for, so a set may be larger
// than it.
//
// Threads: any; rows are read on any thread, on several at once. The files must not be shortened
// while the set lives: that ends a process which maps them. Errors are thrown: not_found, io_error
// (damaged files), unsupported (Fortran order, whose rows are scattered, and what npy.hpp refuses),
// shape_mismatch (scalars, different numbers of rows).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

[[nodiscard]] Dataset npy_dataset(const std::vector<std::filesystem::path>& inputs,
                                  const std::vector<std::filesystem::path>& targets);
/// Arrays by their names in the archive.
[[nodiscard]] Dataset npz_dataset(const std::filesystem::path& path,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& targets);

}  // namespace stoker::nn
