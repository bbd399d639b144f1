// A network with its variables, and what is needed to train it.
//
//     Model model{Network{y}, {.optimizer = optimizers::Adam{.learning_rate = 0.002}, .seed = 1}};
//     History history = fit(model, {x, labels}, {.epochs = 5});        // fit.hpp
//     Tensor logits = model.predict(x);
//     model.save("digits.safetensors");
//
// Variables live on one device, chosen by the options; inputs are copied there if needed. All
// randomness follows from the seed: on one device, training the same model on the same data gives
// bit-identical results.
//
// Threads: any, concurrently; calls are atomic with respect to each other. Each step starts from
// the state that the one before has left, so two threads that train one model wait for each other.
// Only functions that say so block on the device. Errors are thrown; a call that throws has changed
// nothing.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

#include "stoker/api/data/loader.hpp"
#include "stoker/api/train/model/evaluation.hpp"
#include "stoker/api/train/model/model_info.hpp"
#include "stoker/api/train/model/model_options.hpp"
#include "stoker/api/train/model/parts.hpp"
#include "stoker/api/train/model/step_costs.hpp"

namespace stoker::nn {

struct QuantizedModel;

class Model {
 public:
  explicit Model(Network network, ModelOptions options = {});
  /// Copies are handles to the same model; clone() makes an independent one.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;

  [[nodiscard]] const Network& network() const noexcept;
  [[nodiscard]] const ModelOptions& options() const noexcept;
  [[nodiscard]] Device device() const;

  /// Starts the network in inference mode and returns its outputs: for one input and one output, or
  /// for all. It runs as one program, which is reused for inputs of the same shapes and dtypes even
  /// after the variables have changed (inference.hpp). `limits` apply to the run.
  ///
  /// Inside jit(), grad() and vmap() it becomes part of the traced function, with the variables'
  /// values at the time of tracing. Use apply() to pass variables as arguments.
  [[nodiscard]] Tensor predict(const Tensor& x, const CommandOptions& limits = {}) const;
  [[nodiscard]] std::vector<Tensor> predict(const std::vector<Tensor>& inputs,
                                            const CommandOptions& limits = {}) const;
  /// The same by name: Network::in_order() and output_names(). Optional inputs may be omitted;
  /// missing outputs are not in the result.
  [[nodiscard]] Variables predict_by_name(const Variables& inputs,
                                          const CommandOptions& limits = {}) const;
  /// As predict(), but with these variables instead of the model's. Pure; the result is not
  /// computed yet.
  [[nodiscard]] Tensor apply(const Variables& variables, const Tensor& x) const;
  [[nodiscard]] std::vector<Tensor> apply(const Variables& variables,
                                          const std::vector<Tensor>& inputs) const;

  /// The weighted sum of the losses, as in a step. Needs one prediction and one target for each
  /// output.
  [[nodiscard]] Tensor compute_loss(const std::vector<Tensor>& predictions,
                                    const std::vector<Tensor>& targets) const;

  /// Starts one step and returns its loss. A step that fails or that `limits` end leaves the model
  /// without valid variables: save state() before, and restore() it.
  Tensor train_step(const Batch& batch, const CommandOptions& limits = {});
  /// The gradients and loss of a step, without taking it.
  [[nodiscard]] TrainingStep::Gradients compute_gradients(const Batch& batch) const;
  /// Blocks. The mean loss over all rows, in inference mode, `batch_size` rows at a time. Throws
  /// the cause if `limits` end it.
  [[nodiscard]] double evaluate(const Dataset& data, std::int64_t batch_size = 256,
                                const CommandOptions& limits = {}) const;
  /// The same, with the exact metrics of the first output over all rows.
  [[nodiscard]] Evaluation evaluate(const Dataset& data, const std::vector<MetricName>& metrics,
                                    std::int64_t batch_size = 256,
                                    const CommandOptions& limits = {}) const;
  /// Blocks. Measures the parts of a step separately; does not change the model.
  [[nodiscard]] StepProfile profile_step(const Batch& batch, int runs = 10) const;
  /// The device memory of a step on such a batch; runs nothing.
  [[nodiscard]] StepMemory step_memory(const Batch& batch) const;
  /// Text with the operations of such a step and their kernels; runs nothing.
  [[nodiscard]] std::string trace_step(const Batch& batch) const;
  /// Blocks. Measures the time of predict().
  [[nodiscard]] Timing benchmark(const std::vector<Tensor>& inputs, int warmup = 3,
                                 int runs = 10) const;

  /// All variables by "layer.variable", or those of one part.
  [[nodiscard]] Variables variables() const;
  [[nodiscard]] Variables variables(Part part) const;
  /// Replaces all variables or some of them, with the errors of Network::check(). Resets the
  /// optimizer, and after a lost device also the random numbers.
  void update_variables(Variables variables);
  void merge_variables(const Variables& some);

  /// Excludes layers, by name, from training. Throws not_found with the nearest name. The optimizer
  /// keeps its state for the other layers.
  void freeze(const std::vector<std::string>& layers);
  void freeze(const std::function<bool(const LayerInfo&)>& which);
  void unfreeze(const std::vector<std::string>& layers);
  [[nodiscard]] std::set<std::string> frozen() const;

  /// The factor of the learning rate, initially 1.
  void set_learning_rate_scale(double scale);
  [[nodiscard]] double learning_rate_scale() const;
  /// The current loss scale (1 if unscaled); the number of steps skipped because of non-finite
  /// gradients. Both block.
  [[nodiscard]] double loss_scale() const;
  [[nodiscard]] std::int64_t skipped_steps() const;

  /// The same network with copies of the variables and the same frozen layers, but other options
  /// (loss, optimizer, precision). The optimizer starts fresh.
  [[nodiscard]] Model compile(ModelOptions options) const;
  /// A smaller model for inference. f16, bf16: parameters are stored in that dtype and computed
  /// with in f32. s8: dense layers become quantized_dense. Throws invalid_parameter for another dtype,
  /// unsupported if no layer can be converted, invalid_argument for values that f16 cannot
  /// represent.
  [[nodiscard]] QuantizedModel quantize(DType to) const;

  /// An independent copy.
  [[nodiscard]] Model clone() const;
  /// A copy with its variables on that device, or this model if it is already there.
  [[nodiscard]] Model to_device(const Device& device) const;

  /// A table of the layers with shapes and parameters, as Keras prints it.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] ModelInfo info() const;

  /// Blocks. Saves all that is needed to resume training: graph, variables, optimizer, options. The
  /// safetensors file is replaced atomically. Throws unsupported if the network cannot be saved;
  /// invalid_argument for `more` metadata with a reserved name: "format", "network", "options",
  /// "frozen".
  void save(const std::filesystem::path& path,
            const std::map<std::string, std::string>& more = {}) const;
  /// Throws invalid_argument for a file that save() has not written, and the errors of
  /// Network::check() if the variables do not fit. Schedules are functions and are not saved: pass
  /// the schedule again.
  [[nodiscard]] static Model load(const std::filesystem::path& path,
                                  std::optional<Device> device = {}, Schedule schedule = {});

  /// Saves only the variables, as JSON: by name, with type, shape and nested lists. Values are
  /// exact except NaN payloads. The file is replaced atomically.
  void export_params(const std::filesystem::path& path) const;
  /// Loads all variables or none. Throws invalid_argument, saying what was expected, for a file
  /// that export_params() has not written or that holds other variables, types or shapes; io_error
  /// for an unreadable file. Resets the optimizer.
  void import_params(const std::filesystem::path& path);
  /// The same as bytes, a safetensors file.
  [[nodiscard]] std::vector<std::byte> serialize_params() const;
  void deserialize_params(std::span<const std::byte> bytes);

  /// All that a step changes, for a later restore().
  [[nodiscard]] TrainingState state() const;
  void restore(TrainingState state);

 private:
  struct Data;
  [[nodiscard]] Model to_device(const Device& device, bool always) const;
  std::shared_ptr<Data> data_;
};

/// The result of quantize(): the model, the converted layers, and the layers left unchanged, with
/// reasons.
struct QuantizedModel {
  Model model;
  std::vector<std::string> quantized;
  std::map<std::string, std::string> left;
};

}  // namespace stoker::nn
