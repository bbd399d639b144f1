// The example of gRPC in docs/serving.md; see guides_test.cpp.
#include <gtest/gtest.h>

#include <iostream>

#include "stoker/api/serve_grpc.hpp"
#include "stoker/api/system.hpp"

namespace {

TEST(GrpcGuide, serves_models_over_grpc) {
  const stoker::System system;
  const auto models = std::make_shared<stoker::ServedModels>();
  const stoker::GrpcServer server{system, models, {.port = 0}};
  std::cout << "gRPC at port " << server.port() << "\n";
  EXPECT_NE(server.port(), 0);
}

}  // namespace
