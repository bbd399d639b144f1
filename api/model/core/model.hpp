// A model of any kind that predicts: an ONNX file, a network of Stoker's, or a pipeline script.
//
//     const AnyModel faces = load_model("ultraface.onnx", {.device = gpu});
//     NamedValues out = faces.predict({{"input", photo}}).get();
//     const Tensor boxes = out.at("boxes").tensor();
//
// Here `photo` is already in the form that the model takes. image_input() converts a decoded
// picture:
//
//     faces.predict({{"input", faces.image_input("input", photo, {.mean = {127}, .std = {128}})}});
//
// The kind of a file is determined by its content, then by its name (model_kind.hpp). Programs that
// need more than predictions use onnx::Model or nn::Model. docs/models.md says how a script
// describes a model.
//
// Threads: an immutable, shared handle; any thread may predict, any number at once. Networks and
// ONNX models share their weights and compiled programs; each prediction of a script runs the
// script again, with a Lua state of its own. Destroying the last handle cancels nothing:
// predictions keep what they need. A system must outlive its models. Its destructor waits for
// predictions of scripts that still run; limits or a token can end them.
//
// Errors are thrown by the call, before anything runs: load_model() throws not_found, io_error,
// unsupported (the file is not a model, with what it looks like; an option that the kind does not
// have), and every error of onnx::load(), nn::ModelFile and scripts. predict() throws not_found for
// a name that the model does not have (with the nearest name), invalid_argument for an input that
// is missing or of another kind, dtype_mismatch, shape_mismatch. Later failures are in the future.
// input() throws not_found; image_input() also throws invalid_argument for a picture or options
// that do not suit the input.
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
/// Limits, a seed for random numbers, and the outputs to compute.
using PredictOptions = onnx::RunOptions;

struct LoadModelOptions {
  /// Where weights are stored and predictions run. None: the device of the DeviceScope.
  Device device = {};
  /// ONNX: the number of programs that are kept, over all signatures.
  std::size_t max_plans = 64;
  /// ONNX: the memory limit for plans, and what a prediction does if there is no plan for it (onnx::LoadOptions).
  /// load_model() throws unsupported for `refuse` if the model is not ONNX.
  std::uint64_t max_plan_bytes = onnx::Plans::no_limit;
  onnx::NewShape on_new_shape = onnx::NewShape::trace;
  /// ONNX: the operators; null: the standard ones. The table need not outlive the call.
  const onnx::OperatorTable* operators = nullptr;
  /// ONNX: how far the graph is rewritten, and the names of passes that do not run. load_model()
  /// throws not_found for a name that no pass has.
  onnx::Optimize optimize = onnx::Optimize::all;
  std::vector<std::string> without = {};
  /// ONNX: the type in which f32 numbers are stored and computed (onnx::LoadOptions::precision). load_model() throws
  /// unsupported for any precision but full if the model is not ONNX.
  onnx::Precision precision = onnx::Precision::full;
  /// Scripts: the limits of each prediction, and of the run that describes the model.
  ScriptLimits limits = {};
  /// Scripts: receives the text that they print; several predictions may call it at once. Null:
  /// print() writes to stdout.
  std::shared_ptr<ScriptObserver> observer = nullptr;
  /// Scripts: the folders in which they may read files and write pictures. They may also read their
  /// own folder.
  std::vector<std::filesystem::path> allowed_directories = {};
};

struct AnyModelInfo {
  ModelKind kind = ModelKind::onnx;
  /// The program that wrote the file, as the file names it; may be empty.
  std::string producer = {};
  std::string description = {};  ///< "opset 8, 12 nodes", "6 layers"; empty for a script
  std::string doc = {};          ///< the file's own description
  std::uint64_t parameters = 0;  ///< number of learned parameters; 0 for a script
  onnx::Metadata properties = {};
};

namespace models {

/// The operations of a kind of model. Immutable; any thread.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual const std::vector<onnx::ValueInfo>& inputs() const noexcept = 0;
  /// Empty except for a kind whose files give values to inputs.
  [[nodiscard]] virtual std::span<const onnx::ValueInfo> inputs_with_default() const noexcept {
    return {};
  }
  [[nodiscard]] virtual const std::vector<onnx::ValueInfo>& outputs() const noexcept = 0;
  /// Whether a prediction may omit that input.
  [[nodiscard]] virtual bool may_lack(const onnx::ValueInfo& input) const = 0;
  [[nodiscard]] virtual const Device& device() const noexcept = 0;
  [[nodiscard]] virtual AnyModelInfo info() const = 0;
  [[nodiscard]] virtual Future<NamedValues> predict(const NamedValues& inputs,
                                                    const PredictOptions& options) const = 0;
  /// How often predictions have read elements on their way, which cuts the plan of an ONNX model; 0 for other kinds.
  [[nodiscard]] virtual std::uint64_t cuts() const { return 0; }
  /// How many plans were made, which takes longer than a prediction; 0 for other kinds than ONNX.
  [[nodiscard]] virtual std::uint64_t plans_made() const { return 0; }
  /// Runs predict() once and waits for the outputs. Makes plans that predict() would refuse to
  /// make.
  virtual void warm_up(const NamedValues& inputs, const PredictOptions& options) const;
};

}  // namespace models

class AnyModel {
 public:
  /// An empty handle: only assignment and destruction are allowed.
  AnyModel() = default;
  explicit AnyModel(std::shared_ptr<const models::Backend> backend) noexcept
      : backend_{std::move(backend)} {}

  /// The inputs in the file's order. A dimension is a number, a symbol that stands for the same
  /// number in all inputs, or open.
  [[nodiscard]] const std::vector<onnx::ValueInfo>& inputs() const noexcept {
    return backend_->inputs();
  }
  /// Inputs of an ONNX model that have a value in its file; predict() accepts other values for them. Older files list
  /// all of their weights as such inputs. inputs() does not contain them.
  [[nodiscard]] std::span<const onnx::ValueInfo> inputs_with_default() const noexcept {
    return backend_->inputs_with_default();
  }
  [[nodiscard]] const std::vector<onnx::ValueInfo>& outputs() const noexcept {
    return backend_->outputs();
  }
  /// The input of that name, with or without a value in the file.
  [[nodiscard]] const onnx::ValueInfo& input(const std::string& name) const;
  /// Whether a prediction may omit that input of inputs().
  [[nodiscard]] bool may_lack(const onnx::ValueInfo& input) const {
    return backend_->may_lack(input);
  }
  [[nodiscard]] const Device& device() const noexcept { return backend_->device(); }
  [[nodiscard]] AnyModelInfo info() const { return backend_->info(); }
  /// How often predictions of an ONNX model have waited for elements that decide about shapes (docs/onnx.md); 0 for
  /// models of other kinds.
  [[nodiscard]] std::uint64_t cuts() const { return backend_->cuts(); }
  /// How many plans an ONNX model has made; 0 for models of other kinds.
  [[nodiscard]] std::uint64_t plans_made() const { return backend_->plans_made(); }

  /// Converts a picture [rows, columns, 1, 3 or 4 colours] of pixels 0 to 255 to the form that input `name` takes. It
  /// is resized, scaled, cast and laid out as the options say; options that are not given follow the model's
  /// declaration. Lazy, on the device.
  [[nodiscard]] onnx::Value image_input(const std::string& name, const Tensor& picture,
                                        const ImageOptions& options = {}) const;
  /// Returns at once. The future holds the outputs by name; their tensors are lazy and may be
  /// computed later.
  [[nodiscard]] Future<NamedValues> predict(const NamedValues& inputs,
                                            const PredictOptions& options = {}) const {
    return backend_->predict(inputs, options);
  }
  /// predict() with a completion token of Asio. Include api/model_async.hpp.
  template <class Token>
  auto async_predict(const NamedValues& inputs, Token&& token,
                     const PredictOptions& options = {}) const;
  /// Predicts once for such inputs and waits, so that later predictions find everything compiled. An ONNX model that
  /// was loaded with `refuse` predicts only for the inputs and requested outputs that were warmed up. Blocks.
  void warm_up(const NamedValues& inputs, const PredictOptions& options = {}) const {
    backend_->warm_up(inputs, options);
  }

 private:
  std::shared_ptr<const models::Backend> backend_;
};

/// Blocks. External data of an ONNX model must be below the folder of the file.
[[nodiscard]] AnyModel load_model(const std::filesystem::path& path,
                                  const LoadModelOptions& options = {});
/// The same on the pool of System::run_blocking(), with the errors of that function. Returns at
/// once.
[[nodiscard]] Future<AnyModel> load_model(const System& system, std::filesystem::path path,
                                          const LoadModelOptions& options = {});

}  // namespace stoker
