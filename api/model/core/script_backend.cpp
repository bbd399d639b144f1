// Pipeline scripts as models that predict: each prediction is a run of the script, whose function gets the inputs.
#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/model/script/model_table.hpp"
#include "stoker/api/model/script/returned_model.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::models {
namespace {

namespace lua = stoker::script;

/// The extension of a run: it reads what the script returned and, unless it is for that only, calls `predict`.
class Described : public ScriptExtension {
 public:
  void open(lua_State* L) override { ModelTable{}.open(L); }
  void on_returned(lua_State* L, int first) override {
    lua_settop(L, first);
    returned = check_returned(L, first);
    call(L);
  }

  ReturnedModel returned;

 protected:
  /// `predict` is at the top of the stack.
  virtual void call(lua_State*) {}
};

class Prediction final : public Described {
 public:
  explicit Prediction(std::vector<std::pair<std::string, onnx::Value>> inputs)
      : inputs_{std::move(inputs)} {}

  /// After the script has ended well.
  [[nodiscard]] NamedValues outputs() const { return outputs_; }

 private:
  void call(lua_State* L) override {
    lua::Evaluator& evaluator = lua::script_of(L).evaluator();
    const Device device{evaluator.device()};
    const DeviceScope scope{device};
    lua_createtable(L, 0, static_cast<int>(inputs_.size()));
    for (const auto& [name, value] : inputs_) {
      const Buffer buffer = value.tensor().to(device).buffer();
      lua::push_text(L, name);
      lua::push_buffer(L, lua::value_or_raise(L, evaluator.take(buffer.handle())));
      lua_rawset(L, -3);
    }
    lua_call(L, 1, 1);
    const std::vector<expr::Value> values = check_outputs(L, -1, returned);
    lua::value_or_raise(L, evaluator.wait(values));
    // The script's own nodes end with it; what they hold may live on.
    for (std::size_t i = 0; i < values.size(); ++i)
      outputs_.emplace(returned.outputs[i].name, Tensor{Buffer{values[i].buffer()}});
  }

  const std::vector<std::pair<std::string, onnx::Value>> inputs_;
  NamedValues outputs_;
};

/// Shared with its predictions, since it has the host of their scripts.
class ScriptBackend final : public Backend, public std::enable_shared_from_this<ScriptBackend> {
 public:
  ScriptBackend(const std::filesystem::path& path, const LoadModelOptions& options)
      : device_{options.device},
        source_{ScriptSource::from_file(path)},
        host_{device_.client(), device_.client()->executor(), KernelRegistry::builtin().list()} {
    run_.limits = options.limits;
    run_.observer = options.observer;
    run_.directory = std::filesystem::absolute(path).parent_path();
    run_.allowed_directories = options.allowed_directories;
    run_.allowed_directories.push_back(run_.directory);
    const auto described = std::make_shared<Described>();
    run_.extension = described;
    static_cast<void>(host_.start(source_, run_).done.get());
    run_.extension = nullptr;
    returned_ = described->returned;
  }

  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return returned_.inputs; }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override {
    return returned_.outputs;
  }
  bool may_lack(const onnx::ValueInfo&) const override { return false; }
  const Device& device() const noexcept override { return device_; }
  AnyModelInfo info() const override { return {.kind = ModelKind::script}; }

  Future<NamedValues> predict(const NamedValues& given,
                              const PredictOptions& options) const override {
    if (!options.limits.waits.empty())
      throw Error{"predict", ErrorCode::unsupported, "a script waits for no points of timelines"};
    const onnx::Values values = onnx::checked_inputs(
        "predict", returned_.inputs, [](const onnx::ValueInfo&) { return false; }, given);
    check_outputs(returned_.outputs, options.outputs);
    std::vector<std::pair<std::string, onnx::Value>> inputs;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_tensor())
        throw Error{"predict",
                    ErrorCode::invalid_argument,
                    "input '" + returned_.inputs[i].name + "': a script takes tensors, came " +
                        values[i].to_string(),
                    {{"input", returned_.inputs[i].name}}};
      inputs.emplace_back(returned_.inputs[i].name, values[i]);
    }
    ScriptOptions run = run_;
    const auto prediction = std::make_shared<Prediction>(std::move(inputs));
    run.extension = prediction;
    Executor& executor = device_.client()->executor();
    if (options.limits.deadline) {
      run.time_limit = *options.limits.deadline - executor.clock().now();
      if (run.time_limit->count() <= 0) throw deadline_error("predict");
    }
    const ScriptRun started = host_.start(source_, std::move(run));
    auto watch = std::make_shared<CancelRegistration>(options.limits.cancel.on_cancel(
        [stop = started.stop](const Error& why) { static_cast<void>(stop.cancel(why)); }));
    return started.done.then(
        executor,
        [self = shared_from_this(), prediction, watch = std::move(watch),
         wanted = options.outputs](const Result<ScriptReport>& ended) -> NamedValues {
          static_cast<void>(ended.value());
          NamedValues outputs = prediction->outputs();
          keep_wanted(outputs, wanted);
          return outputs;
        });
  }

 private:
  const Device device_;
  const ScriptSource source_;
  ScriptOptions run_;  ///< of each run, without its extension
  ReturnedModel returned_;
  mutable ScriptHost host_;  // start() may be called from any thread
};

}  // namespace

BackendPtr load_script(const std::filesystem::path& path, const LoadModelOptions& options) {
  return std::make_shared<const ScriptBackend>(path, options);
}

}  // namespace stoker::models
