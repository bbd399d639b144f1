#include "stoker/api/train/model/parameter_files.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/pipeline/tensor/files/file_writer.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

constexpr const char* format = "stoker.params/1";

[[noreturn]] void refuse(const char* op, const std::string& file, const std::string& why) {
  throw Error{op,
              ErrorCode::invalid_argument,
              file + " holds no parameters of this model: " + why,
              {{"file", file}}};
}

// --- numbers as JSON -----------------------------------------------------------------------------

/// JSON has no NaN and no infinities: they are words.
json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T> json number_json(T value) { return value; }

/// Row-major values as lists of lists, one level for each axis.
template <class T>
json nested(const Shape& shape, std::size_t axis, const std::vector<T>& values, std::size_t& at) {
  if (axis == shape.rank()) return number_json(values[at++]);
  json list = json::array();
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    list.push_back(nested(shape, axis + 1, values, at));
  return list;
}

std::string key_json(const std::string& name) {
  try {
    return write_json(json(name));
  } catch (const json::exception&) {
    throw Error{"export_params",
                ErrorCode::invalid_argument,
                "expected names of layers in UTF-8, got '" + name + "'",
                {{"variable", name}}};
  }
}

json tensor_json(const std::string& name, const Tensor& tensor) {
  const auto data = [&]<class T>() {
    std::size_t at = 0;
    return nested(tensor.shape(), 0, tensor.to_vector<T>(), at);
  };
  json text{{"type", std::string{to_string(tensor.dtype())}},
            {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())}};
  if (is_complex(tensor.dtype()))
    throw Error{
        "export_params",
        ErrorCode::unsupported,
        "'" + name + "' is " + tensor.spec().to_string() + ": JSON files hold no complex numbers",
        {{"variable", name}}};
  if (is_float(tensor.dtype()))
    text["data"] = data.template operator()<double>();
  else if (tensor.dtype() == DType::u64)
    text["data"] = data.template operator()<std::uint64_t>();
  else
    text["data"] = data.template operator()<std::int64_t>();
  return text;
}

// --- and back ------------------------------------------------------------------------------------

/// One tensor out of a file, which is refused where it is not as the model wants it.
class TensorReader {
 public:
  TensorReader(std::string file, std::string name, const TensorSpec& wanted)
      : file_{std::move(file)}, name_{std::move(name)}, wanted_{wanted} {}

  [[nodiscard]] Tensor read(const json& text) const {
    if (!text.is_object() || !text.contains("type") || !text.contains("shape") ||
        !text.contains("data"))
      fail("expected an object with type, shape and data");
    const auto shape =
        text["shape"].is_array() &&
                std::ranges::all_of(text["shape"],
                                    [](const json& one) { return one.is_number_integer(); })
            ? text["shape"].get<std::vector<std::int64_t>>()
            : std::vector<std::int64_t>{-1};
    if (text["type"] != std::string{to_string(wanted_.dtype)} ||
        !std::ranges::equal(shape, wanted_.shape))
      fail("expected " + wanted_.to_string() + ", got " + write_json(text["type"]) + " " +
           write_json(text["shape"]));
    std::vector<std::byte> bytes(wanted_.bytes());
    visit_dtype(wanted_.dtype, [&]<class S>() {
      auto* to = reinterpret_cast<S*>(bytes.data());
      fill(text["data"], 0, to);
    });
    return tensor(bytes, wanted_);
  }

 private:
  template <class S> void fill(const json& text, std::size_t axis, S*& to) const {
    if (axis == wanted_.shape.rank()) {
      *to++ = number<S>(text);
      return;
    }
    const auto extent = static_cast<std::size_t>(wanted_.shape[axis]);
    if (!text.is_array() || text.size() != extent)
      fail("expected a list of " + std::to_string(extent) + " along axis " + std::to_string(axis));
    for (const json& one : text) fill(one, axis + 1, to);
  }

  template <class S> [[nodiscard]] S number(const json& text) const {
    if constexpr (std::is_same_v<S, bool> || std::is_integral_v<S>) {
      if (text.is_number_unsigned()) {
        const auto value = text.get<std::uint64_t>();
        if (value <= static_cast<std::uint64_t>(std::numeric_limits<S>::max()))
          return static_cast<S>(value);
      } else if (text.is_number_integer()) {
        const auto value = text.get<std::int64_t>();
        if (std::is_signed_v<S> &&
            value >= static_cast<std::int64_t>(std::numeric_limits<S>::min()))
          return static_cast<S>(value);
      }
      fail("expected an integer of " + wanted_.to_string() + ", got " + write_json(text));
    } else {
      double value = 0;
      if (text.is_number())
        value = text.get<double>();
      else if (text == "nan")
        value = std::numeric_limits<double>::quiet_NaN();
      else if (text == "inf")
        value = std::numeric_limits<double>::infinity();
      else if (text == "-inf")
        value = -std::numeric_limits<double>::infinity();
      else
        fail("expected a number, got " + write_json(text));
      if constexpr (std::is_same_v<S, double>)
        return value;
      else
        return S{static_cast<float>(value)};
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    refuse("import_params", file_, "'" + name_ + "': " + why);
  }

  const std::string file_;
  const std::string name_;
  const TensorSpec wanted_;
};

json parsed(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw Error{"import_params",
                std::filesystem::exists(path) ? ErrorCode::io_error : ErrorCode::not_found,
                path.string() + " cannot be opened",
                {{"file", path.string()}}};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad())
    throw Error{"import_params",
                ErrorCode::io_error,
                path.string() + " cannot be read",
                {{"file", path.string()}}};
  json made = parse_json(text);
  if (made.is_discarded())
    refuse("import_params", path.string(), "expected JSON, and it is torn or something else");
  if (!made.is_object() || made.value("format", json{}) != format)
    refuse("import_params", path.string(),
           "expected an object with \"format\": \"" + std::string{format} + "\"");
  if (!made.contains("params") || !made["params"].is_object())
    refuse("import_params", path.string(), "expected an object \"params\"");
  return made;
}

}  // namespace

void export_params(const Variables& all, const std::filesystem::path& path) {
  std::vector<Tensor> started;
  for (const auto& [name, tensor] : all) started.push_back(tensor);
  eval(started);
  const auto writer = files::FileWriter::open(path, "export_params").value();
  // One tensor at a time: as text they are many times as large as they are.
  writer->write(std::string{"{\"format\":\""} + format + "\",\"params\":{").value();
  const char* before = "\n";
  for (const auto& [name, tensor] : all) {
    writer->write(before + key_json(name) + ":" + write_json(tensor_json(name, tensor))).value();
    before = ",\n";
  }
  writer->write("\n}}\n").value();
  writer->commit().value();
}

Variables import_params(Variables like, const std::filesystem::path& path) {
  const json text = parsed(path);
  for (const auto& [name, one] : text["params"].items())
    if (!like.contains(name))
      refuse("import_params", path.string(), "it has '" + name + "', which the model has not");
  for (auto& [name, tensor] : like) {
    if (!text["params"].contains(name))
      refuse("import_params", path.string(),
             "expected '" + name + "' " + tensor.spec().to_string() + ", which is missing");
    tensor = TensorReader{path.string(), name, tensor.spec()}.read(text["params"][name]);
  }
  return like;
}

std::vector<std::byte> serialize_params(const Variables& all) {
  return safetensors_to_bytes({all.begin(), all.end()}, {{"format", format}});
}

Variables deserialize_params(Variables like, std::span<const std::byte> bytes) {
  constexpr const char* op = "deserialize_params";
  const SafetensorsFile file = open_safetensors(bytes);
  const auto said = file.metadata().find("format");
  if (said == file.metadata().end() || said->second != format)
    refuse(op, "what was given", "expected the format '" + std::string{format} + "'");
  for (const std::string& name : file.names())
    if (!like.contains(name))
      refuse(op, "what was given", "it has '" + name + "', which the model has not");
  for (auto& [name, tensor] : like) {
    if (!file.contains(name) || file.spec(name) != tensor.spec())
      refuse(op, "what was given",
             "expected '" + name + "' " + tensor.spec().to_string() +
                 (file.contains(name) ? ", got " + file.spec(name).to_string()
                                      : ", which is missing"));
    tensor = file.load(name);
  }
  return like;
}

}  // namespace stoker::nn
