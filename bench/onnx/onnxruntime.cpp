#include "stoker/bench/onnx/onnxruntime.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::bench {
namespace {

// Objects of the runtime, known by pointers only.
struct OrtEnv;
struct OrtMemoryInfo;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtValue;

struct OrtApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version)();
};

/// An entry of OrtApi: its place, and its type.
template <std::size_t place_of_it, class F> struct Entry;
template <std::size_t place_of_it, class R, class... Args> struct Entry<place_of_it, R(Args...)> {
  static constexpr std::size_t place = place_of_it;
  using Function = R (*)(Args...);
};

using GetErrorMessage = Entry<2, const char*(const OrtStatus*)>;
using CreateEnv = Entry<3, OrtStatus*(int severity, const char* name, OrtEnv** made)>;
using CreateSession = Entry<7, OrtStatus*(const OrtEnv*, const char* path, const OrtSessionOptions*,
                                          OrtSession** made)>;
using RunSession =
    Entry<9, OrtStatus*(OrtSession*, const void* options, const char* const* input_names,
                        const OrtValue* const* inputs, std::size_t input_count,
                        const char* const* output_names, std::size_t output_count,
                        OrtValue** outputs)>;
using CreateSessionOptions = Entry<10, OrtStatus*(OrtSessionOptions** made)>;
using SetIntraOpNumThreads = Entry<24, OrtStatus*(OrtSessionOptions*, int threads)>;
using CreateTensorWithData =
    Entry<49, OrtStatus*(const OrtMemoryInfo*, void* data, std::size_t bytes,
                         const std::int64_t* dims, std::size_t rank, int type, OrtValue** made)>;
using CreateCpuMemoryInfo = Entry<69, OrtStatus*(int allocator, int kind, OrtMemoryInfo** made)>;
using ReleaseEnv = Entry<92, void(OrtEnv*)>;
using ReleaseStatus = Entry<93, void(OrtStatus*)>;
using ReleaseMemoryInfo = Entry<94, void(OrtMemoryInfo*)>;
using ReleaseSession = Entry<95, void(OrtSession*)>;
using ReleaseValue = Entry<96, void(OrtValue*)>;
using ReleaseSessionOptions = Entry<100, void(OrtSessionOptions*)>;

constexpr std::uint32_t api_version = 1;
constexpr int severity_error = 3;
constexpr int arena_allocator = 1;
constexpr int default_memory = 0;

/// The runtime's table of entries.
class Api {
 public:
  explicit Api(const void* const* table) : table_{table} {}

  template <class E> [[nodiscard]] typename E::Function at() const {
    return reinterpret_cast<typename E::Function>(const_cast<void*>(table_[E::place]));
  }
  /// Calls an entry that may refuse.
  template <class E, class... Args> void call(Args... args) const {
    OrtStatus* const status = at<E>()(args...);
    if (status == nullptr) return;
    const std::string words = at<GetErrorMessage>()(status);
    at<ReleaseStatus>()(status);
    throw std::runtime_error{words};
  }

 private:
  const void* const* table_;
};

void* open_library() {
  const char* const chosen =
      std::getenv("STOKER_BENCH_ONNXRUNTIME");  // NOLINT(concurrency-mt-unsafe)
  std::vector<const char*> names{"libonnxruntime.so.1", "libonnxruntime.so"};
  if (chosen != nullptr && *chosen != '\0') names = {chosen};
  std::string why;
  for (const char* const name : names) {
    if (void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return opened;
    why = dlerror();  // NOLINT(concurrency-mt-unsafe)
  }
  throw std::runtime_error{why};
}

}  // namespace

struct OnnxRuntime::State {
  State() {
    using GetBase = const OrtApiBase* (*)();
    const auto get_base = reinterpret_cast<GetBase>(dlsym(open_library(), "OrtGetApiBase"));
    if (get_base == nullptr) throw std::runtime_error{"the library has no OrtGetApiBase"};
    base = get_base();
    const void* const* const table = base->get_api(api_version);
    if (table == nullptr) throw std::runtime_error{"the library has no such version of OrtApi"};
    api = Api{table};
    api.call<CreateEnv>(severity_error, "stoker_bench", &env);
    api.call<CreateCpuMemoryInfo>(arena_allocator, default_memory, &memory);
  }
  ~State() {
    if (memory) api.at<ReleaseMemoryInfo>()(memory);
    if (env) api.at<ReleaseEnv>()(env);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const OrtApiBase* base = nullptr;
  Api api{nullptr};
  OrtEnv* env = nullptr;
  OrtMemoryInfo* memory = nullptr;
};

OnnxRuntime::OnnxRuntime() : state_{std::make_unique<State>()} {}
OnnxRuntime::~OnnxRuntime() = default;

std::string OnnxRuntime::version() const { return state_->base->get_version(); }

struct OnnxRuntime::Session::State {
  explicit State(const Api& of_runtime) : api{of_runtime} {}
  ~State() {
    for (OrtValue* const value : values) api.at<ReleaseValue>()(value);
    if (session) api.at<ReleaseSession>()(session);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Api api;
  OrtSession* session = nullptr;
  std::vector<std::string> inputs, outputs;
  std::vector<const char*> input_names, output_names;
  std::vector<std::vector<std::byte>> data;  // which the values read
  std::vector<OrtValue*> values;
};

OnnxRuntime::Session::Session(const OnnxRuntime& runtime, const ModelCase& model, int threads)
    : state_{std::make_unique<State>(runtime.state_->api)} {
  const Api& api = state_->api;
  OrtSessionOptions* options = nullptr;
  api.call<CreateSessionOptions>(&options);
  const std::unique_ptr<OrtSessionOptions, ReleaseSessionOptions::Function> kept{
      options, api.at<ReleaseSessionOptions>()};
  api.call<SetIntraOpNumThreads>(options, threads);
  api.call<CreateSession>(runtime.state_->env, model.model().c_str(), options, &state_->session);

  // Names and inputs by our own reader, which knows the layout of the files anyway.
  const onnx::ModelFile file = onnx::read_model(model.model()).value();
  for (const auto& [name, tensor] : read_inputs(model, file)) {
    const auto bytes = tensor.bytes.view;
    state_->inputs.push_back(name);
    state_->data.emplace_back(bytes.begin(), bytes.end());
    OrtValue* value = nullptr;
    // The runtime numbers element types as files do.
    api.call<CreateTensorWithData>(runtime.state_->memory, state_->data.back().data(), bytes.size(),
                                   tensor.dims.data(), tensor.dims.size(),
                                   static_cast<int>(tensor.type), &value);
    state_->values.push_back(value);
  }
  for (const onnx::ValueInfo& output : file.graph.outputs) state_->outputs.push_back(output.name);
  for (const std::string& name : state_->inputs) state_->input_names.push_back(name.c_str());
  for (const std::string& name : state_->outputs) state_->output_names.push_back(name.c_str());
}

OnnxRuntime::Session::~Session() = default;

void OnnxRuntime::Session::run() const {
  const State& state = *state_;
  std::vector<OrtValue*> outputs(state.outputs.size(), nullptr);
  state.api.call<RunSession>(state.session, nullptr, state.input_names.data(), state.values.data(),
                             state.values.size(), state.output_names.data(), outputs.size(),
                             outputs.data());
  for (OrtValue* const output : outputs) state.api.at<ReleaseValue>()(output);
}

}  // namespace stoker::bench
