// Every kernel × its sample cases × every backend, against the kernel's double-precision reference.
//
// A backend joins by its name in `backends` below. What a backend cannot do is listed in
// exclusions.cpp with the reason; an excluded case that passes is a failure, so the list stays true.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "exclusions.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/system.hpp"
#include "stoker/kernels/cases.hpp"

namespace stoker {
namespace {

/// Values of one input as they are after rounding to its dtype.
struct Filled {
  std::vector<std::byte> bytes;
  std::vector<double> values;
};

template <class T> double as_double(const T& element) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(static_cast<float>(element));
  else
    return static_cast<double>(element);
}

Filled fill(const TensorSpec& spec, const Fill& rule, std::mt19937& random) {
  Filled result;
  result.bytes.resize(spec.bytes());
  result.values.resize(spec.elements());
  visit_dtype(spec.dtype, [&]<class T>() {
    auto* out = reinterpret_cast<T*>(result.bytes.data());
    std::uniform_real_distribution<double> draw{rule.low, rule.high};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double specials[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity,
                                   0.0, -0.0};
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      double value = draw(random);
      if (rule.specials && is_float(spec.dtype) && random() % 2 == 0)
        value = specials[random() % std::size(specials)];
      if (!is_float(spec.dtype)) value = std::round(value);
      if (!is_signed(spec.dtype) && value < 0) value = -value;
      if (rule.avoid_zero && std::abs(value) < 0.25) value = is_float(spec.dtype) ? 0.75 : 1;
      if constexpr (std::is_same_v<T, bool>)
        out[i] = value > 0.5;
      else if constexpr (std::is_arithmetic_v<T>)
        out[i] = static_cast<T>(value);
      else
        out[i] = T{static_cast<float>(value)};
      result.values[i] = as_double(out[i]);
    }
  });
  return result;
}

std::vector<double> to_doubles(const TensorSpec& spec, const std::vector<std::byte>& bytes) {
  std::vector<double> values(spec.elements());
  visit_dtype(spec.dtype, [&]<class T>() {
    const auto* in = reinterpret_cast<const T*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = as_double(in[i]);
  });
  return values;
}

bool agrees(double got, double want, const ErrorBound& bound) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (got == want) return true;
  return std::abs(got - want) <= bound.absolute + bound.relative * std::abs(want);
}

std::string describe(const KernelCase& one) {
  std::string text = one.label;
  for (const TensorSpec& input : one.inputs) text += " " + input.to_string();
  return text;
}

/// Runs one case; the empty string, or what is wrong. `unsupported` is set if the device says so.
std::string run_case(const Device& device, const KernelSuite& suite, const KernelCase& one,
                     bool& unsupported) {
  std::mt19937 random{42};
  std::vector<Buffer> inputs;
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const Fill rule = one.fills.empty() ? Fill{} : one.fills[std::min(i, one.fills.size() - 1)];
    Filled filled = fill(one.inputs[i], rule, random);
    inputs.push_back(device.buffer(one.inputs[i], filled.bytes));
    values.push_back(std::move(filled.values));
  }
  const auto kernel = device.client()->kernels().find(suite.kernel).value();
  const ParamSet params = ParamSet::resolve(suite.kernel, kernel->params, one.params).value();
  const auto outputs = kernel->check(one.inputs, params);
  if (!outputs)
    return std::string{"the definition refuses its own case: "} + outputs.error().what();
  std::vector<Buffer> results;
  for (const TensorSpec& spec : *outputs) results.push_back(device.buffer(spec));
  try {
    device.submit(std::vector{KernelCallRequest{suite.kernel, inputs, results, one.params}});
  } catch (const Error& error) {
    unsupported =
        error.code() == ErrorCode::unsupported || error.code() == ErrorCode::limit_exceeded;
    return error.what();
  }
  const KernelCall call{one.inputs, params};
  const auto want = suite.reference(call, *outputs, values);
  const ErrorBound bound = suite.bound(call);
  for (std::size_t o = 0; o < results.size(); ++o) {
    const auto outcome = results[o].read_bytes().wait();
    if (!outcome) return outcome.error().what();
    const auto got = to_doubles((*outputs)[o], *outcome);
    if (got.size() != want[o].size()) return "the reference has another size";
    std::size_t wrong = 0;
    std::string first;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (agrees(got[i], want[o][i], bound)) continue;
      if (wrong++ == 0)
        first = "element " + std::to_string(i) + ": got " + std::to_string(got[i]) + ", want " +
                std::to_string(want[o][i]) + ", difference " +
                std::to_string(std::abs(got[i] - want[o][i]));
    }
    if (wrong)
      return std::to_string(wrong) + " of " + std::to_string(got.size()) + " elements differ; " +
             first;
  }
  return {};
}

/// The cases that a software GPU, which takes up to a second to compile each shader, runs in the quick run: no heavy
/// ones, and of the others all with the dtype that most of them have (f32 if several have as many). Of each other
/// dtype it runs two, and of the next dtype the two that follow, so that each kind of case meets several dtypes.
std::vector<KernelCase> quick_cases(const std::vector<KernelCase>& cases) {
  std::map<DType, std::vector<KernelCase>> by_dtype;
  for (const KernelCase& one : cases)
    if (!one.heavy) by_dtype[one.inputs.empty() ? DType::f32 : one.inputs[0].dtype].push_back(one);
  if (by_dtype.empty()) return {};
  const DType main = std::ranges::max_element(by_dtype, {}, [](const auto& one) {
                       return std::pair{one.second.size(), one.first == DType::f32};
                     })->first;
  constexpr std::size_t of_each = 2;
  std::vector<KernelCase> chosen;
  std::size_t next = 0;
  for (const auto& [dtype, those] : by_dtype) {
    if (dtype == main || those.size() <= of_each) {
      chosen.insert(chosen.end(), those.begin(), those.end());
      continue;
    }
    for (std::size_t i = 0; i < of_each; ++i) chosen.push_back(those[next++ % those.size()]);
  }
  return chosen;
}

class Conformance : public testing::Test {
 public:
  Conformance(std::string device, KernelSuite suite)
      : device_{std::move(device)}, suite_{std::move(suite)} {}

  void TestBody() override {
    const System system;
    const Device device = system.device(device_);
    const bool quick = device.info().type == DeviceType::software_gpu &&
                       std::getenv("STOKER_TEST_HEAVY") == nullptr;
    for (const KernelCase& one : quick ? quick_cases(suite_.cases) : suite_.cases) {
      const auto reason = excluded(device.info().backend, suite_.kernel, one);
      bool unsupported = false;
      const std::string failure = run_case(device, suite_, one, unsupported);
      if (reason) {
        EXPECT_FALSE(failure.empty())
            << suite_.kernel << " " << describe(one) << " passes but is excluded: " << *reason;
        continue;
      }
      EXPECT_TRUE(failure.empty()) << suite_.kernel << " " << describe(one) << ": " << failure;
    }
    EXPECT_EQ(device.stats().backend.validation_messages, 0U);
  }

 private:
  std::string device_;
  KernelSuite suite_;
};

}  // namespace

void register_conformance() {
  for (const char* device : {"cpu", "vulkan"})
    for (const KernelSuite& suite : all_kernel_suites())
      testing::RegisterTest((std::string{"Conformance_"} + device).c_str(), suite.kernel.c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [device = std::string{device}, suite]() -> testing::Test* {
                              return std::make_unique<Conformance>(device, suite).release();
                            });
}

TEST(Conformance_registry, every_kernel_has_a_suite_with_cases) {
  const auto suites = all_kernel_suites();
  for (const auto& kernel : KernelRegistry::builtin().list()) {
    const auto own = std::ranges::find(suites, kernel->name, &KernelSuite::kernel);
    ASSERT_NE(own, suites.end()) << kernel->name;
    EXPECT_FALSE(own->cases.empty()) << kernel->name;
    for (const DType dtype : kernel->dtypes)
      EXPECT_TRUE(std::ranges::any_of(own->cases,
                                      [&](const KernelCase& one) {
                                        return one.inputs.empty() || one.inputs[0].dtype == dtype;
                                      }))
          << kernel->name << " accepts " << to_string(dtype) << " and no case uses it";
  }
}

}  // namespace stoker

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  stoker::register_conformance();
  return RUN_ALL_TESTS();
}
