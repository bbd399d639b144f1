// Kernels that are in no registry, run on a device as pipelines run them.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "cpu_run.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/system.hpp"
#include "stoker/kernels/fused/program.hpp"
#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker {

/// The parameter names the device; without it the tests are skipped.
class KernelsOnDevices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      device_ = system_.device(GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  [[nodiscard]] bool on_gpu() const { return std::string_view{GetParam()} == "vulkan"; }

  std::vector<Bytes> run_all(const std::shared_ptr<const Kernel>& kernel,
                             const std::vector<TensorSpec>& specs, const std::vector<Bytes>& inputs,
                             const Params& params = {}) {
    const ParamSet resolved = ParamSet::resolve(kernel->name, kernel->params, params).value();
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < specs.size(); ++i)
      buffers.push_back(device_.buffer(specs[i], inputs[i]));
    for (const TensorSpec& spec : kernel->check(specs, resolved).value())
      buffers.push_back(device_.buffer(spec));
    std::vector<const DeviceBuffer*> all;
    for (const Buffer& buffer : buffers) all.push_back(&buffer.handle());
    const std::span<const DeviceBuffer* const> list{all};
    const auto sent = device_.client()->submit(
        {kernel, list.first(specs.size()), list.subspan(specs.size()), &params});
    sent.value()->observe();
    std::vector<Bytes> results;
    for (std::size_t i = specs.size(); i < buffers.size(); ++i)
      results.push_back(buffers[i].read_bytes().get());
    return results;
  }
  Bytes run(const std::shared_ptr<const Kernel>& kernel, const std::vector<TensorSpec>& specs,
            const std::vector<Bytes>& inputs, const Params& params = {}) {
    return run_all(kernel, specs, inputs, params).at(0);
  }

  System system_;
  Device device_;
  GlslCompiler compiler_;
  ShaderCompiler compile_ = [this](const Shader& shader, const ShaderVariant& variant) {
    return compiler_.try_compile(shader, variant);
  };
};

}  // namespace stoker
