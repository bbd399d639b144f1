// Pictures as inputs of models of every kind.
#include "stoker/api/model/core/backends.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker {

ImageTarget models::image_target(const onnx::ValueInfo& input) {
  const onnx::ValueType& type = input.type;
  ImageTarget target{.name = input.name, .type = type.to_string(), .dtype = {}, .dims = {}};
  if (type.kind != onnx::ValueKind::tensor && type.kind != onnx::ValueKind::unknown) return target;
  if (type.element == onnx::ElementType::undefined)
    target.dtype = DType::f32;
  else if (const auto carrier = onnx::carrier_of(type.element);
           carrier && onnx::element_type_of(*carrier) == type.element)
    target.dtype = carrier;  // others are carried as bits, as float8 is, or have too few numbers
  if (type.dims) {
    target.dims.emplace();
    for (const onnx::Dimension& one : *type.dims) target.dims->push_back(one.extent);
  }
  return target;
}

const onnx::ValueInfo& AnyModel::input(const std::string& name) const {
  std::vector<std::string_view> known;
  for (const std::span<const onnx::ValueInfo> infos : {std::span{inputs()}, inputs_with_default()})
    for (const onnx::ValueInfo& one : infos) {
      if (one.name == name) return one;
      known.push_back(one.name);
    }
  std::string list;
  for (const onnx::ValueInfo& one : inputs())
    list += (list.empty() ? "" : ", ") + one.name + " " + one.type.to_string();
  throw Error{"predict",
              ErrorCode::not_found,
              "the model has no input '" + name + "'" + did_you_mean(name, known),
              {{"input", name}, {"inputs", list}}};
}

onnx::Value AnyModel::image_input(const std::string& name, const Tensor& picture,
                                  const ImageOptions& options) const {
  const onnx::ValueInfo& info = input(name);
  const DeviceScope scope{device()};
  const Tensor x = stoker::image_input(picture, models::image_target(info), options);
  if (info.type.element == onnx::ElementType::undefined) return x;
  return {x, info.type.element};
}

}  // namespace stoker
