#include "stoker/runtime/base/kept_statics.hpp"

#include <dlfcn.h>
#include <dnnl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace stoker {
namespace {

void of_the_program() {}

TEST(KeepStatics, refuses_what_is_no_shared_library) {
  EXPECT_FALSE(keep_statics_of(reinterpret_cast<const void*>(&of_the_program)));
  EXPECT_FALSE(keep_statics_of(nullptr));
}

#if defined(__x86_64__) || defined(__aarch64__)

/// A library whose static object ends the process with 1 when it is destroyed, by how it was linked.
class KeptStatics : public ::testing::TestWithParam<const char*> {
 protected:
  // Each statement runs in a process of its own that starts afresh.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  using Make = void (*)();
  static Make open(int binding) {
    const std::string path = std::string{STOKER_STATIC_LIBRARIES} + GetParam() + ".so";
    void* const library = dlopen(path.c_str(), binding);
    return library ? reinterpret_cast<Make>(dlsym(library, "make_static")) : nullptr;
  }
};

TEST_P(KeptStatics, outlive_the_exit_of_the_process) {
  for (const int binding : {RTLD_LAZY, RTLD_NOW}) {
    EXPECT_EXIT(
        {
          const Make make = open(binding);
          const bool kept = keep_statics_of(reinterpret_cast<const void*>(make)) &&
                            keep_statics_of(reinterpret_cast<const void*>(make));  // once more
          make();
          std::exit(kept ? 0 : 2);
        },
        ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
          open(binding)();
          std::exit(0);
        },
        ::testing::ExitedWithCode(1), "")
        << "the library does not do what the test needs";
  }
}

// Found when the call is made; found when the library is loaded, into a table that is sealed then; and
// without a table of calls, in the table of data, which is sealed.
INSTANTIATE_TEST_SUITE_P(Linked, KeptStatics, ::testing::Values("lazy", "now", "no_plt"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(KeepStatics, finds_what_oneDNN_calls) {
  EXPECT_TRUE(keep_statics_of(reinterpret_cast<const void*>(&dnnl_sgemm)));
}

#endif

}  // namespace
}  // namespace stoker
