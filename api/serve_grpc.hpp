// Models over gRPC. Component Stoker::serve_grpc, where gRPC was there when Stoker was built.
//
//     auto models = std::make_shared<ServedModels>();
//     models->set("faces", start_serving(system.supervisor(), model));
//     const GrpcServer server{system, models, {.port = 8001}};
#pragma once

#include "stoker/api/serve/grpc/grpc_server.hpp"  // IWYU pragma: export
