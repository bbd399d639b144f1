// Debian's libonnx in one process with ours: both have a schema of ONNX, and neither minds the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/tests/checkout/checkout.hpp"
#ifdef STOKER_LIBONNX
#define ONNX_NAMESPACE onnx
#define ONNX_ML 1
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#endif

namespace stoker {
namespace {

#ifdef STOKER_LIBONNX
/// The newest versions that libonnx 1.12 knows.
constexpr std::int64_t newest_format = 8, newest_opset = 17;

bool is_known_to(const ::onnx::ModelProto& model) {
  return model.ir_version() <= newest_format &&
         std::ranges::all_of(model.opset_import(), [](const auto& opset) {
           return opset.domain().empty() && opset.version() <= newest_opset;
         });
}

TEST(OnnxLibrary, reads_and_checks_the_models_that_we_read) {
  std::size_t checked = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator{build_folder() / "onnx_cases"}) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path());
    ::onnx::ModelProto theirs;
    std::ifstream file{entry.path(), std::ios::binary};
    ASSERT_TRUE(theirs.ParseFromIstream(&file));
    if (!is_known_to(theirs) || theirs.functions_size() > 0) continue;  // we put functions in place
    const Result<onnx::ModelFile> ours = onnx::read_model(entry.path());
    ASSERT_TRUE(ours) << ours.error().what();
    EXPECT_EQ(ours->graph.nodes.size(), static_cast<std::size_t>(theirs.graph().node_size()));
    EXPECT_NO_THROW(::onnx::checker::check_model(theirs));
    ++checked;
  }
  EXPECT_GT(checked, 50U);
}
#else
TEST(OnnxLibrary, reads_and_checks_the_models_that_we_read) {
  GTEST_SKIP() << "Debian's libonnx-dev and libprotobuf-dev were not installed when this was built";
}
#endif

}  // namespace
}  // namespace stoker
