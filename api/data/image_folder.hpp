// Pictures in folders, one folder for each class:
//
//     flowers/daisy/1.png   flowers/daisy/2.jpg   flowers/rose/a.png …
//     ImageFolder flowers = image_folder("flowers");
//
// Classes are the folders in alphabetical order, from 0; pictures are the .png, .jpg and .jpeg
// files in each, in alphabetical order. Other files and deeper folders are ignored. A row's input
// is u8 [height, width, channels] as api/image.hpp decodes it, unless RowOptions change it; its
// target is the class, s32 []. A picture is decoded each time its row is read.
//
// All pictures must have the size and channels of the first one: nothing is resized. Reading one
// that differs throws an Error with its name.
//
// Threads: any; rows are read on any thread, on several at once. Throws not_found (folder),
// invalid_argument (no pictures), shape_mismatch (a picture of another size), and what load_image()
// reports (details file), and what row_options.hpp says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/api/data/row_options.hpp"

namespace stoker::nn {

struct ImageFolder {
  Dataset data;
  std::vector<std::string> classes;          ///< by index
  std::vector<std::filesystem::path> files;  ///< by row
};
[[nodiscard]] ImageFolder image_folder(const std::filesystem::path& root,
                                       const RowOptions& options = {});

}  // namespace stoker::nn
