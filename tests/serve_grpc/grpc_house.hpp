// Models behind a gRPC server, for tests.
//
//     line   y = 2 a + 3 b + 1 for rows of a and b; requests join
//     held   the same; a request waits until a second one comes, or until release()
#pragma once

#include <cstring>
#include <thread>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve.hpp"
#include "stoker/api/serve_grpc.hpp"
#include "stoker/tests/model/model_folder.hpp"
#include "stoker/tests/serve_grpc/grpc_client.hpp"

namespace stoker::testing_grpc {

inline std::string raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
inline std::vector<float> floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The input `rows`, without elements.
inline WireWriter rows_input(std::int64_t rows) {
  WireWriter input;
  return input.bytes(1, "rows").bytes(2, "FP32").packed(3, std::vector<std::int64_t>{rows, 2});
}
/// A parameter of type int64.
inline WireWriter parameter(std::string_view name, std::int64_t value) {
  WireWriter choice;
  choice.integer(2, value);
  WireWriter entry;
  return entry.bytes(1, name).message(2, choice);
}
/// A request for rows of a and b, in raw form.
inline WireWriter request(std::string_view model, const std::vector<float>& values,
                          std::string_view id = {}) {
  WireWriter message;
  message.bytes(1, model);
  if (!id.empty()) message.bytes(3, id);
  message.message(5, rows_input(static_cast<std::int64_t>(values.size() / 2)));
  return message.bytes(7, raw(values));
}

class GrpcHouse : public testing::Test {
 protected:
  GrpcHouse() {
    models->set("line", serve("line", {}));
    models->set("held", held);
  }

  [[nodiscard]] Serving serve(const std::string& name, ServingOptions options) const {
    options.name = name;
    return start_serving(system.supervisor(), line, options);
  }
  /// Waits until as many requests wait in "held".
  void await_held(std::size_t requests) const {
    while (held.status().get().queued != requests) std::this_thread::yield();
  }
  void release() const { held.with_timeout(std::chrono::nanoseconds{0}); }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
  AnyModel line = load_model(folder.save_line("line.safetensors", device), {.device = device});
  Serving held = serve("held", {.batch_size = 2,
                                .batch_timeout = std::chrono::hours{1},
                                .wait = BatchWait::full,
                                .max_requests = 8});
  std::shared_ptr<ServedModels> models = std::make_shared<ServedModels>();
  GrpcServer server{system, models, {.port = 0, .message_bytes = 1 << 20, .requests_ahead = 4}};
  GrpcClient client{server.port()};
};

}  // namespace stoker::testing_grpc
