// Bodies for tests of the protocol.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/infer_request.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/serve/declared_model.hpp"

namespace stoker::serve::protocol {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}
/// The elements as the binary form has them.
template <class T> std::string binary(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}
/// Strings in the binary form.
inline std::string binary(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const std::string& one : strings) {
    const auto length = static_cast<std::uint32_t>(one.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(one);
  }
  return bytes;
}

class ProtocolTest : public testing::Test {
 protected:
  [[nodiscard]] AnyModel model_of(std::vector<onnx::ValueInfo> inputs,
                                  std::vector<onnx::ValueInfo> outputs) const {
    return AnyModel{
        std::make_shared<const DeclaredModel>(device, std::move(inputs), std::move(outputs))};
  }
  /// Of one input and one output, both called x.
  [[nodiscard]] AnyModel one_tensor(ElementType type,
                                    std::optional<std::vector<std::int64_t>> dims) const {
    const std::vector infos{tensor_info("x", type, std::move(dims))};
    return model_of(infos, infos);
  }
  static InferRequest read(const AnyModel& model, const std::string& json,
                           const BodyLimits& limits = {}) {
    return read_infer_request(bytes_of(json), std::nullopt, model, limits);
  }
  static InferRequest read(const AnyModel& model, const std::string& json,
                           const std::string& tensors, const BodyLimits& limits = {}) {
    return read_infer_request(bytes_of(json + tensors), json.size(), model, limits);
  }
  template <class T>
  static std::vector<T> elements(const InferRequest& request, const std::string& name = "x") {
    return request.inputs.at(name).tensor().to_vector<T>();
  }
  /// A request with one input x of that datatype and shape; `rest` are further members of the input.
  static std::string request_of(const std::string& datatype, const std::string& shape,
                                const std::string& rest) {
    return R"({"inputs":[{"name":"x","datatype":")" + datatype + R"(","shape":)" + shape + "," +
           rest + "}]}";
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
};

/// "shape_mismatch: input 'x': …", or "accepted".
template <class F> std::string refusal(F&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return std::string{to_string(error.code())} + ": " + std::string{error.reason()};
  }
  return "accepted";
}

}  // namespace stoker::serve::protocol
