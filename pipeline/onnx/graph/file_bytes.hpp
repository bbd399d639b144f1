// Bytes of a tensor that lie in a file, so that whoever has copied them can let the file's pages go: weights that were
// copied to a device would otherwise be resident twice.
//
// Threads: any. Forgotten bytes stay readable; they come from the page cache, or the disk, again.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "stoker/pipeline/onnx/graph/tensor_data.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::onnx {

/// What releases bytes of a file: by it an owner of any bytes is known to be a file.
struct FileOwner {
  std::shared_ptr<const files::ByteSource> file;
  void operator()(const void*) const noexcept {}
};

/// `part` of what the file's view() shows.
[[nodiscard]] inline SharedBytes bytes_of_file(std::shared_ptr<const files::ByteSource> file,
                                               std::span<const std::byte> part) {
  const void* const address = file.get();
  return {part, std::shared_ptr<const void>{address, FileOwner{std::move(file)}}};
}

/// The file that the bytes lie in, or null.
[[nodiscard]] inline const files::ByteSource* file_of(const SharedBytes& bytes) noexcept {
  const auto* const owner = std::get_deleter<FileOwner>(bytes.owner);
  return owner ? owner->file.get() : nullptr;
}

/// Copies all of the bytes, and forgets pages of `file`, which they lie in, behind it.
inline void copy_and_forget(const SharedBytes& bytes, const files::ByteSource& file,
                            std::span<std::byte> target) noexcept {
  constexpr std::size_t piece = std::size_t{4} << 20;
  const auto begin = static_cast<std::uint64_t>(bytes.view.data() - file.view().data());
  for (std::size_t at = 0; at < target.size(); at += piece) {
    const std::size_t size = std::min(piece, target.size() - at);
    std::memcpy(target.data() + at, bytes.view.data() + at, size);
    file.forget(begin + at, size);
  }
}

}  // namespace stoker::onnx
