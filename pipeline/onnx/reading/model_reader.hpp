// ONNX models from files: read, checked, and with their functions inlined.
//
// Threads: any; a call reads the whole file's structure, so not on a host's event loop. Weights stay in the mapped
// file. Errors, with nothing half read: not_found; io_error (the file is damaged: at which byte); unsupported (an IR
// version that is not 3 to 13); limit_exceeded; invalid_argument with a detail for each thing that is wrong, from its
// place in the graph to what is wrong there: external data that are missing, too short or elsewhere, too.
// https://onnx.ai/onnx/repo-docs/IR.html, https://onnx.ai/onnx/repo-docs/ExternalData.html
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/reading/read_options.hpp"

namespace stoker::onnx {

/// The file stays mapped while a tensor of the model lives, and should not be written meanwhile.
[[nodiscard]] Result<ModelFile> read_model(const std::filesystem::path& path,
                                           const ReadOptions& options = {});
/// From memory, which `owner` keeps alive, or, without one, the caller while a tensor of the model lives.
[[nodiscard]] Result<ModelFile> read_model(std::span<const std::byte> bytes,
                                           const ReadOptions& options = {},
                                           std::shared_ptr<const void> owner = {});
/// What a descriptor reads: a regular file from its start, a pipe to its end. The caller closes it.
[[nodiscard]] Result<ModelFile> read_model(int descriptor, const ReadOptions& options = {});

}  // namespace stoker::onnx
