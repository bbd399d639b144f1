#include "stoker/api/model/core/model_kind.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::size_t beginning_bytes = 4096;

struct Beginning {
  std::vector<std::byte> bytes;
  std::uintmax_t size = 0;  ///< of the whole file
};

Error refused(ErrorCode code, const std::string& reason, const fs::path& path) {
  return {"load_model", code, reason, {{"path", path.string()}}};
}

Beginning read_beginning(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status)) throw refused(ErrorCode::not_found, "there is no such file", path);
  if (!fs::is_regular_file(status))
    throw refused(ErrorCode::io_error,
                  fs::is_directory(status) ? "this is a directory, not a model"
                                           : "a model is read from a regular file",
                  path);
  Beginning found;
  found.size = fs::file_size(path, failure);
  std::ifstream file{path, std::ios::binary};
  if (failure || !file) throw refused(ErrorCode::io_error, "the file cannot be read", path);
  found.bytes.resize(std::min<std::uintmax_t>(beginning_bytes, found.size));
  file.read(reinterpret_cast<char*>(found.bytes.data()),
            static_cast<std::streamsize>(found.bytes.size()));
  found.bytes.resize(static_cast<std::size_t>(file.gcount()));
  return found;
}

bool begins_with(std::span<const std::byte> bytes, std::string_view with, std::size_t at = 0) {
  return bytes.size() >= at + with.size() &&
         std::ranges::equal(bytes.subspan(at, with.size()), std::as_bytes(std::span{with}));
}

/// The length of a header of JSON, which begins after it.
bool is_safetensors(const Beginning& file) {
  std::uint64_t length = 0;
  if (file.bytes.size() <= sizeof length) return false;
  for (std::size_t i = sizeof length; i-- > 0;)
    length = length << 8U | std::to_integer<std::uint64_t>(file.bytes[i]);
  return length >= 2 && length <= file.size - sizeof length &&
         file.bytes[sizeof length] == std::byte{'{'};
}

std::optional<std::uint64_t> take_varint(std::span<const std::byte>& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(rest.front());
    rest = rest.subspan(1);
    value |= (byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

/// Whether the fields that begin here are those of a ModelProto, with a version or a graph among them.
/// https://onnx.ai/onnx/repo-docs/IR.html#models
bool is_onnx(const Beginning& file) {
  constexpr std::uint64_t ir_version = 1;
  constexpr std::uint64_t graph = 7;
  constexpr std::array<std::uint64_t, 2> integers{ir_version, 5};
  constexpr std::array<std::uint64_t, 10> messages{2, 3, 4, 6, graph, 8, 14, 20, 25, 26};
  std::span<const std::byte> rest = file.bytes;
  bool is_model = false;
  while (!rest.empty()) {
    const auto key = take_varint(rest);
    const auto value = take_varint(rest);  // or the length of what follows
    if (!key || !value) return is_model && file.size > file.bytes.size();
    const std::uint64_t number = *key >> 3U;
    const bool is_integer = (*key & 7U) == 0;
    const bool is_message = (*key & 7U) == 2;
    if (!(is_integer && std::ranges::find(integers, number) != integers.end()) &&
        !(is_message && std::ranges::find(messages, number) != messages.end()))
      return false;
    is_model |= number == ir_version || number == graph;
    if (is_integer) continue;
    const std::uint64_t at = file.bytes.size() - rest.size();
    if (*value > file.size - at) return false;
    if (*value >= rest.size()) return is_model;
    rest = rest.subspan(*value);
  }
  return is_model;
}

bool is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  });
}

struct Signature {
  std::string_view bytes;
  std::string_view meaning;
  std::size_t at = 0;
};
constexpr std::array signatures{
    Signature{"PK\3\4"sv, "a ZIP archive (PyTorch, Keras and NumPy's .npz write such files)"},
    Signature{"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (older versions of Keras write such)"},
    Signature{"GGUF"sv, "a GGUF file"},
    Signature{"TFL3"sv, "a TensorFlow Lite model", 4},
    Signature{"\x93NUMPY"sv, "a NumPy array"},
    Signature{"\x89PNG\r\n\x1a\n"sv, "a PNG picture"},
    Signature{"\xff\xd8\xff"sv, "a JPEG picture"},
    Signature{"\x1f\x8b"sv, "a gzip file; unpack it first"},
    Signature{"\x1bLua"sv, "compiled Lua; a script is its source"},
    Signature{"\x80\2"sv, "a pickle of Python's"},
    Signature{"\x80\3"sv, "a pickle of Python's"},
    Signature{"\x80\4"sv, "a pickle of Python's"},
    Signature{"\x7f"
              "ELF"sv,
              "a program"},
};

std::optional<ModelKind> kind_by_name(const fs::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (extension == ".onnx") return ModelKind::onnx;
  if (extension == ".safetensors") return ModelKind::network;
  if (extension == ".lua") return ModelKind::script;
  return {};
}

}  // namespace

std::string_view to_string(ModelKind kind) noexcept {
  switch (kind) {
    case ModelKind::onnx: return "ONNX model";
    case ModelKind::network: return "Stoker network";
    case ModelKind::script: break;
  }
  return "pipeline script";
}

std::string looks_of(std::span<const std::byte> beginning) {
  if (beginning.empty()) return "an empty file";
  for (const Signature& one : signatures)
    if (begins_with(beginning, one.bytes, one.at)) return std::string{one.meaning};
  const bool text = is_text(beginning);
  const auto first = beginning.first(std::min<std::size_t>(beginning.size(), text ? 24 : 8));
  std::string shown;
  for (const std::byte byte : first) shown += static_cast<char>(byte);
  std::string line;  // a reason is one; printable() keeps line ends and tabs
  for (const char c : printable(shown))
    if (c == '\n' || c == '\t')
      line.append(c == '\n' ? "\\n" : "\\t");
    else
      line += c;
  return (text ? "text that begins '" : "bytes that begin '") + line + "'";
}

ModelKind kind_of_model(const fs::path& path) {
  const Beginning file = read_beginning(path);
  if (is_safetensors(file)) return ModelKind::network;
  if (is_onnx(file)) return ModelKind::onnx;
  // What is damaged is told by the reader that the name asks for. A picture stays one.
  const auto named = kind_by_name(path);
  const bool has_signature = std::ranges::any_of(
      signatures, [&](const Signature& one) { return begins_with(file.bytes, one.bytes, one.at); });
  if (named && !has_signature && (is_text(file.bytes) || *named != ModelKind::script))
    return *named;
  throw refused(ErrorCode::unsupported,
                "this is no model: it looks like " + looks_of(file.bytes) +
                    "; a model is an ONNX file, a network that Stoker saved, or a script (.lua)",
                path);
}

}  // namespace stoker
