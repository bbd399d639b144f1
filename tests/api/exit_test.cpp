// A process may end at any moment: from any thread, with work in flight, with handles that static
// objects hold.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/api/stoker.hpp"
#include "stoker/kernels/glsl/frontend.hpp"
#include "stoker/pipeline/image/image_io.hpp"
#include "stoker/runtime/base/sanitizers.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace {
/// A process that ends while its threads work leaves messages between them that nobody frees: there the
/// search for leaks would find what is none.
bool ends_on_purpose = false;
}  // namespace

#ifdef STOKER_ASAN
extern "C" int __lsan_is_turned_off() { return ends_on_purpose ? 1 : 0; }
#endif

namespace stoker {
namespace {

/// For a system that lives when its process ends.
SystemOptions leaving() {
  ends_on_purpose = true;
  return {};
}

struct Busy {
  System system;
  Device device;
  Buffer x;
  Pipeline pipeline;
  Command last;

  explicit Busy(const std::string& name)
      : system{leaving()},
        device{system.device(name)},
        x{device.buffer(std::vector<float>(1 << 20, -1.0F))},
        pipeline{system.pipeline(device)} {
    pipeline.add("sigmoid", {x}, "once");
    pipeline.add("tanh", {"once"}, x);
    for (int i = 0; i < 64; ++i) last = pipeline.run();
  }
};

class Exits : public testing::TestWithParam<const char*> {
 protected:
  // Each statement runs in a process of its own that starts afresh.
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_P(Exits, from_a_worker_thread_with_work_in_flight) {
  EXPECT_EXIT(
      {
        const Busy busy{GetParam()};
        std::jthread worker{[] { std::exit(0); }};
        worker.join();
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, from_a_continuation_on_the_systems_own_pool) {
  EXPECT_EXIT(
      {
        const Busy busy{GetParam()};
        static_cast<void>(
            busy.last.then(busy.system.executor(), [](const Result<void>&) { std::exit(0); }));
        const Promise<void> never;
        never.future().wait();
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, with_handles_in_static_objects) {
  EXPECT_EXIT(
      {
        static std::optional<Busy> busy;
        busy.emplace(GetParam());
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, at_once_after_the_first_use) {
  EXPECT_EXIT(
      {
        const System system{leaving()};
        static_cast<void>(system.device(GetParam()));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

/// Two threads do the work again and again, expecting no exception; the process ends when they have done
/// it so often.
[[noreturn]] void leave_during(const std::function<void()>& work, int times) {
  static std::atomic<int> done{0};
  for (int i = 0; i < 2; ++i)
    std::thread{[work] {
      for (;;) {
        work();
        done.fetch_add(1);
        done.notify_one();
      }
    }}.detach();
  for (int now = done.load(); now < times; now = done.load()) done.wait(now);
  std::exit(0);
}

/// Kernels that a library computes, with inputs for them.
class LibraryExits : public Exits {
 protected:
  static Buffer run(const Device& device, const std::string& kernel = GetParam()) {
    const auto ones = [&](const Shape& shape) {
      return device.buffer(std::vector<float>(shape.elements(), 1.0F), shape);
    };
    if (kernel == "conv") return device.run(kernel, {ones({1, 32, 64, 64}), ones({32, 32, 3, 3})});
    const Buffer square = ones({400, 400});
    return device.run(kernel, {square, square});
  }
  /// Two threads compute with a device that nobody stops.
  [[noreturn]] static void leave_after(int results) {
    static const System* const system = std::make_unique<System>(leaving()).release();
    leave_during(
        [device = system->device("cpu"), kernel = std::string{GetParam()}] {
          static_cast<void>(run(device, kernel).read<float>().get());
        },
        results);
  }
};

TEST_P(LibraryExits, while_the_library_is_used_for_the_first_time) {
  for (int i = 0; i < 5; ++i) EXPECT_EXIT(leave_after(0), testing::ExitedWithCode(0), "");
}

TEST_P(LibraryExits, with_work_of_the_library_in_flight) {
  for (int i = 1; i <= 5; ++i) EXPECT_EXIT(leave_after(i), testing::ExitedWithCode(0), "");
}

TEST_P(LibraryExits, from_a_kernel_of_the_programs_while_others_compute) {
  EXPECT_EXIT(
      {
        CppKernelSpec spec;
        spec.name = "leaves";
        spec.grain = 0;
        spec.run = [](const CppCall&, std::size_t, std::size_t) { std::exit(0); };
        static const System* const system = std::make_unique<System>(leaving()).release();
        system->add_kernel(std::move(spec));
        const Device device = system->device("cpu");
        std::vector<Buffer> products;
        for (int i = 0; i < 16; ++i) products.push_back(run(device));
        static_cast<void>(products.front().read<float>().get());
        device.submit("leaves", {device.buffer({1.0F})}, device.buffer({1.0F})).get();
      },
      testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, LibraryExits, testing::Values("matmul", "conv"),
                         [](const auto& info) { return std::string{info.param}; });

void compile_a_shader() {
  static_cast<void>(glsl::compile(
      {"test", "test.comp", "#version 460\nlayout(local_size_x = 64) in;\n",
       "layout(std430, binding = 0) buffer X { float x[]; };\n"
       "void main() { x[gl_GlobalInvocationID.x] = sin(x[gl_GlobalInvocationID.x + 1]); }\n"}));
}

void code_an_image(ImageFormat format) {
  const TensorSpec spec{DType::u8, Shape{64, 64, 3}};
  const std::vector<std::byte> pixels(spec.bytes());
  static_cast<void>(decode_image(encode_image(format, spec, pixels).value()));
}

struct OtherWork {
  std::string name;
  std::function<void()> work;
};

class OtherExits : public testing::TestWithParam<OtherWork> {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_P(OtherExits, at_any_moment) {
  ends_on_purpose = true;
  for (int i = 1; i <= 3; ++i)
    EXPECT_EXIT(leave_during(GetParam().work, i), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(
    Work, OtherExits,
    testing::Values(OtherWork{"shaders", compile_a_shader},
                    OtherWork{"png", [] { code_an_image(ImageFormat::png); }},
                    OtherWork{"jpeg", [] { code_an_image(ImageFormat::jpeg); }},
                    OtherWork{"log", [] { log_warn("the process is about to exit"); }}),
    [](const auto& info) { return info.param.name; });

using KernelExits = Exits;

TEST_P(KernelExits, without_waiting_for_a_kernel_of_the_programs) {
  EXPECT_EXIT(
      {
        static std::binary_semaphore running{0};
        CppKernelSpec spec;
        spec.name = "sleeps";
        spec.grain = 0;
        spec.run = [](const CppCall&, std::size_t, std::size_t) {
          running.release();
          std::binary_semaphore{0}.acquire();
        };
        static const System* const system = std::make_unique<System>(leaving()).release();
        system->add_kernel(std::move(spec));
        const Device device = system->device(GetParam());
        device.submit("sleeps", {device.buffer({1.0F})}, device.buffer({1.0F}));
        running.acquire();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Cpu, KernelExits, testing::Values("cpu"),
                         [](const auto& info) { return std::string{info.param}; });

INSTANTIATE_TEST_SUITE_P(Devices, Exits, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
