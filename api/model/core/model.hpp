// A model of any kind that predicts: an ONNX file, a network of Stoker's, or a pipeline script.
//
//     const AnyModel faces = load_model("ultraface.onnx", {.device = gpu});
//     NamedValues out = faces.predict({{"input", photo}}).get();
//     const Tensor boxes = out.at("boxes").tensor();
//
// There `photo` is what the model wants. A picture as it was decoded becomes that:
//
//     faces.predict({{"input", faces.image_input("input", photo, {.mean = {127}, .std = {128}})}});
//
// What kind a file holds is found by its content, then by its name (model_kind.hpp). Programs that
// want more of one kind use onnx::Model or nn::Model; docs/onnx.md says how a script describes a
// model.
//
// Threads: an immutable, shared handle; any thread may predict, any number at once. Networks and
// ONNX models share their weights and compiled programs; each prediction of a script runs it anew,
// with a Lua state of its own. The last handle that goes away cancels nothing: predictions keep
// what they need. A system outlives its models, and at its end waits for the predictions of scripts
// that still run: limits or a token end those.
//
// Errors are thrown by the call, before anything runs: load_model() throws not_found, io_error,
// unsupported (no model, with what it looks like; what the kind does not have), and what
// onnx::load(), nn::ModelFile and a script throw. predict() throws not_found for a name that the
// model does not have (with the nearest), invalid_argument for an input that is missing or of
// another kind, dtype_mismatch, shape_mismatch. What fails later is in the future. input() throws
// not_found, image_input() that and what api/data/image_input.hpp says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/data/image_options.hpp"
#include "stoker/api/model/core/model_kind.hpp"
#include "stoker/api/onnx/run/model.hpp"
#include "stoker/pipeline/script/run/script_host.hpp"

namespace stoker {

class System;
using onnx::NamedValues;
/// Limits; a seed for random numbers; the outputs that are wanted.
using PredictOptions = onnx::RunOptions;

struct LoadModelOptions {
  /// Where weights lie and predictions run. None: the device of the DeviceScope.
  Device device = {};
  /// ONNX: programs that are kept, over all signatures.
  std::size_t max_plans = 64;
  /// ONNX: what these may take, and what a prediction does that finds none (onnx::LoadOptions). load_model() throws
  /// unsupported for `refuse` with a model of another kind.
  std::uint64_t max_plan_bytes = onnx::Plans::no_limit;
  onnx::NewShape on_new_shape = onnx::NewShape::trace;
  /// ONNX: null: the standard ones. Need not outlive the call.
  const onnx::OperatorTable* operators = nullptr;
  /// ONNX: how far the graph is rewritten, and passes that do not run. load_model() throws
  /// not_found for a name that no pass has.
  onnx::Optimize optimize = onnx::Optimize::all;
  std::vector<std::string> without = {};
  /// ONNX: in what f32 numbers are stored and computed (onnx::LoadOptions::precision). load_model() throws unsupported
  /// for another one than full with a model of another kind.
  onnx::Precision precision = onnx::Precision::full;
  /// Scripts: of each prediction, and of the run in which the model is described.
  ScriptLimits limits = {};
  /// Scripts: gets what they print, from any number of predictions at once. Null: print() writes to
  /// stdout.
  std::shared_ptr<ScriptObserver> observer = nullptr;
  /// Scripts: where they may read files, besides their own folder, and write pictures.
  std::vector<std::filesystem::path> allowed_directories = {};
};

struct AnyModelInfo {
  ModelKind kind = ModelKind::onnx;
  std::string producer = {};     ///< what wrote the file, as it says; may be empty
  std::string description = {};  ///< "opset 8, 12 nodes", "6 layers"; empty for a script
  std::string doc = {};          ///< what the file says of itself
  std::uint64_t parameters = 0;  ///< numbers that were learned; 0 for a script
  onnx::Metadata properties = {};
};

namespace models {

/// What a kind of model does. Immutable; any thread.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual const std::vector<onnx::ValueInfo>& inputs() const noexcept = 0;
  /// None but for a kind whose files give values to inputs.
  [[nodiscard]] virtual std::span<const onnx::ValueInfo> inputs_with_default() const noexcept {
    return {};
  }
  [[nodiscard]] virtual const std::vector<onnx::ValueInfo>& outputs() const noexcept = 0;
  /// Whether a prediction may do without that input.
  [[nodiscard]] virtual bool may_lack(const onnx::ValueInfo& input) const = 0;
  [[nodiscard]] virtual const Device& device() const noexcept = 0;
  [[nodiscard]] virtual AnyModelInfo info() const = 0;
  [[nodiscard]] virtual Future<NamedValues> predict(const NamedValues& inputs,
                                                    const PredictOptions& options) const = 0;
  /// predict() once, without refusing what that refuses to make. Waits for the outputs.
  virtual void warm_up(const NamedValues& inputs, const PredictOptions& options) const;
};

}  // namespace models

class AnyModel {
 public:
  /// An empty handle: only assignment and destruction are allowed.
  AnyModel() = default;
  explicit AnyModel(std::shared_ptr<const models::Backend> backend) noexcept
      : backend_{std::move(backend)} {}

  /// In the file's order. A dimension is a number, a symbol that stands for one number in all
  /// inputs, or open.
  [[nodiscard]] const std::vector<onnx::ValueInfo>& inputs() const noexcept {
    return backend_->inputs();
  }
  /// Inputs of an ONNX model that have a value in its file, which predict() takes in its place. Older files list all of
  /// their weights so. inputs() has none of them.
  [[nodiscard]] std::span<const onnx::ValueInfo> inputs_with_default() const noexcept {
    return backend_->inputs_with_default();
  }
  [[nodiscard]] const std::vector<onnx::ValueInfo>& outputs() const noexcept {
    return backend_->outputs();
  }
  /// The one of that name, with or without a value in the file.
  [[nodiscard]] const onnx::ValueInfo& input(const std::string& name) const;
  /// Whether a prediction may do without that input of inputs().
  [[nodiscard]] bool may_lack(const onnx::ValueInfo& input) const {
    return backend_->may_lack(input);
  }
  [[nodiscard]] const Device& device() const noexcept { return backend_->device(); }
  [[nodiscard]] AnyModelInfo info() const { return backend_->info(); }

  /// What input `name` takes, made of a picture [rows, columns, 1, 3 or 4 colours] of pixels 0 to 255: resized, scaled,
  /// cast and laid out as the options say and, where they say nothing, as the model declares. Lazy, on the device.
  [[nodiscard]] onnx::Value image_input(const std::string& name, const Tensor& picture,
                                        const ImageOptions& options = {}) const;
  /// Returns at once. The outputs by name; their tensors may be computed later, as tensors are.
  [[nodiscard]] Future<NamedValues> predict(const NamedValues& inputs,
                                            const PredictOptions& options = {}) const {
    return backend_->predict(inputs, options);
  }
  /// predict() with a completion token of Asio. Include api/model_async.hpp.
  template <class Token>
  auto async_predict(const NamedValues& inputs, Token&& token,
                     const PredictOptions& options = {}) const;
  /// Predicts once for such inputs and waits, so that later predictions find all that is compiled. An ONNX model that
  /// was loaded with `refuse` predicts only for what was warmed up: outputs that are wanted count, too. Blocks.
  void warm_up(const NamedValues& inputs, const PredictOptions& options = {}) const {
    backend_->warm_up(inputs, options);
  }

 private:
  std::shared_ptr<const models::Backend> backend_;
};

/// Blocks. An ONNX model's external data are looked for below the folder of the file.
[[nodiscard]] AnyModel load_model(const std::filesystem::path& path,
                                  const LoadModelOptions& options = {});
/// The same on the pool of System::run_blocking(), which throws as that does. Returns at once.
[[nodiscard]] Future<AnyModel> load_model(const System& system, std::filesystem::path path,
                                          const LoadModelOptions& options = {});

}  // namespace stoker
