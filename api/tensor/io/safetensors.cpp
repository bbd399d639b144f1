#include "stoker/api/tensor/io/safetensors.hpp"

#include <array>
#include <utility>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/pipeline/tensor/files/safetensors_format.hpp"
#include "stoker/pipeline/tensor/files/transfer.hpp"

namespace stoker {

struct SafetensorsFile::State {
  std::shared_ptr<const files::ByteSource> source;
  files::SafetensorsHeader header;
  std::uint64_t data = 0;  // where it begins

  [[nodiscard]] const files::SafetensorsEntry& at(std::string_view name,
                                                  std::string_view op) const {
    if (const auto* const found = header.find(name)) return *found;
    throw Error{std::string{op},
                ErrorCode::not_found,
                "there is no tensor of this name in the file",
                {{"name", std::string{name}}, {"file", source->name()}}};
  }

  [[nodiscard]] Tensor load(const files::SafetensorsEntry& entry) const {
    Buffer buffer{
        files::upload(*current_device().client(), entry.spec, source->from(data + entry.begin))
            .value()};
    source->forget(data + entry.begin, entry.spec.bytes());
    return Tensor{buffer};
  }

  [[nodiscard]] static Result<std::shared_ptr<const State>> read(
      std::shared_ptr<const files::ByteSource> source);
};

namespace {

constexpr std::string_view open_op = "open_safetensors";
constexpr std::uint64_t length_bytes = 8;

void write_all(const TensorMap& tensors, const TensorMetadata& metadata, const files::Push& push,
               std::string_view op) {
  files::SafetensorsHeader header;
  header.metadata = metadata;
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(tensor);
  detail::eval_all(all, op);
  for (const auto& [name, tensor] : tensors) header.entries.push_back({name, tensor.spec(), 0});
  const std::string before = files::place_safetensors(header, op).value();
  push(std::as_bytes(std::span{before})).value();
  for (const files::SafetensorsEntry& entry : header.entries)
    files::download(tensors.at(entry.name).buffer().handle(), push).value();
}

}  // namespace

Result<std::shared_ptr<const SafetensorsFile::State>> SafetensorsFile::State::read(
    std::shared_ptr<const files::ByteSource> source) {
  std::array<unsigned char, length_bytes> digits{};
  if (source->size() < length_bytes)
    return files::damaged(open_op, source->name(), "too short for a header");
  STOKER_TRY(source->read(0, std::as_writable_bytes(std::span{digits})));
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | digits[i];
  if (length > source->size() - length_bytes)
    return files::damaged(open_op, source->name(),
                          "the file ends in its header, or is no safetensors file");
  if (length > files::most_json_bytes)
    return Error{std::string{open_op},
                 ErrorCode::limit_exceeded,
                 "the header is too long",
                 {{"bytes", std::to_string(length)},
                  {"limit", std::to_string(files::most_json_bytes)},
                  {"file", source->name()}}};
  std::string json(length, '\0');
  STOKER_TRY(source->read(length_bytes, std::as_writable_bytes(std::span{json})));
  auto state = std::make_shared<State>();
  state->data = length_bytes + length;
  STOKER_ASSIGN(state->header, files::parse_safetensors_header(json, source->size() - state->data,
                                                               open_op, source->name()));
  state->source = std::move(source);
  return std::shared_ptr<const State>{std::move(state)};
}

std::size_t SafetensorsFile::size() const noexcept { return state_->header.entries.size(); }

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& entry : state_->header.entries) names.push_back(entry.name);
  return names;
}

bool SafetensorsFile::contains(std::string_view name) const noexcept {
  return state_->header.find(name) != nullptr;
}

const TensorSpec& SafetensorsFile::spec(std::string_view name) const {
  return state_->at(name, "safetensors.spec").spec;
}

const TensorMetadata& SafetensorsFile::metadata() const noexcept { return state_->header.metadata; }

Tensor SafetensorsFile::load(std::string_view name) const {
  return state_->load(state_->at(name, "safetensors.load"));
}

TensorMap SafetensorsFile::load_all() const {
  TensorMap tensors;
  for (const auto& entry : state_->header.entries) tensors.emplace(entry.name, state_->load(entry));
  return tensors;
}

std::vector<std::byte> SafetensorsFile::bytes_of(std::string_view name) const {
  const files::SafetensorsEntry& entry = state_->at(name, "safetensors.bytes_of");
  std::vector<std::byte> bytes(entry.spec.bytes());
  state_->source->read(state_->data + entry.begin, bytes).value();
  state_->source->forget(state_->data + entry.begin, bytes.size());
  return bytes;
}

SafetensorsFile open_safetensors(const std::filesystem::path& path,
                                 const SafetensorsOptions& options) {
  auto source = files::open_source(path, options.mapped, open_op).value();
  return SafetensorsFile{SafetensorsFile::State::read(std::move(source)).value()};
}

SafetensorsFile open_safetensors(std::span<const std::byte> bytes) {
  return SafetensorsFile{SafetensorsFile::State::read(files::memory_source(bytes)).value()};
}

TensorMap load_safetensors(const std::filesystem::path& path, const SafetensorsOptions& options) {
  return open_safetensors(path, options).load_all();
}

void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const TensorMetadata& metadata) {
  const auto file = files::FileWriter::open(path, "save_safetensors").value();
  write_all(
      tensors, metadata, [&](std::span<const std::byte> bytes) { return file->write(bytes); },
      "save_safetensors");
  file->commit().value();
}

std::vector<std::byte> safetensors_to_bytes(const TensorMap& tensors,
                                            const TensorMetadata& metadata) {
  std::vector<std::byte> all;
  write_all(
      tensors, metadata,
      [&](std::span<const std::byte> bytes) -> Result<void> {
        all.insert(all.end(), bytes.begin(), bytes.end());
        return {};
      },
      "safetensors_to_bytes");
  return all;
}

}  // namespace stoker
