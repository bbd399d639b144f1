// What tests of tensors share: devices of their own, and comparisons of whole tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker {

/// Tests of what no device changes.
class Tensors : public testing::Test {
 protected:
  System system;
  DeviceScope scope{system.device("cpu")};
};

/// Tests that run on every device: INSTANTIATE_TEST_SUITE_P(Devices, Name, every_device(), device_name).
class TensorsOnDevices : public testing::TestWithParam<const char*> {
 protected:
  System system;
  DeviceScope scope{system.device(GetParam())};
};
inline auto every_device() { return testing::Values("cpu", "vulkan"); }
inline std::string device_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

template <class T>
void expect_values(const Tensor& tensor, const Shape& shape, const std::vector<T>& values) {
  EXPECT_EQ(tensor.shape(), shape);
  EXPECT_EQ(tensor.to_vector<T>(), values) << tensor;
}

inline void expect_near(const Tensor& tensor, const std::vector<double>& values,
                        double tolerance = 1e-6) {
  const auto got = tensor.to_vector<double>();
  ASSERT_EQ(got.size(), values.size()) << tensor;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(std::isfinite(values[i])) << "everything would be near";
    EXPECT_NEAR(got[i], values[i], tolerance * std::max(1.0, std::abs(values[i])))
        << "element " << i << " of " << tensor;
  }
}

/// The Error that a call throws; an internal one if it throws none.
template <class F> [[nodiscard]] Error error_of(F&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error;
  }
  return Error{};
}
template <class F> [[nodiscard]] ErrorCode code_of(F&& call) {
  return error_of(std::forward<F>(call)).code();
}

}  // namespace stoker
