#include "stoker/runtime/kept_statics.hpp"

#include <dnnl.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

void of_the_program() {}

TEST(KeptStatics, are_those_of_a_shared_library_and_not_of_the_program) {
  EXPECT_TRUE(keep_statics_of(reinterpret_cast<const void*>(&dnnl_sgemm)));
  EXPECT_TRUE(keep_statics_of(reinterpret_cast<const void*>(&dnnl_sgemm))) << "the second time";
  EXPECT_FALSE(keep_statics_of(reinterpret_cast<const void*>(&of_the_program)));
  EXPECT_FALSE(keep_statics_of(nullptr));
}

}  // namespace
}  // namespace stoker
