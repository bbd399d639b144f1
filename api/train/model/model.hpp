// A network with its numbers, and what it takes to train it.
//
//     Model model{Network{y}, {.optimizer = optimizers::Adam{.learning_rate = 0.002}, .seed = 1}};
//     History history = fit(model, {x, labels}, {.epochs = 5});        // fit.hpp
//     Tensor logits = model.predict(x);
//     model.save("digits.safetensors");
//
// Numbers live on one device, which the options choose; what is given lives there, too, or is
// copied there. Everything that draws numbers follows from the seed: on one device the same model
// trained on the same data is the same to the bit.
//
// Threads: any, also at the same time; each call sees the model before or after another, never
// between. A step takes the model from one state to the next, so two threads that train one model
// wait for each other. Nothing waits for the device but what is said to. Errors are thrown; a call
// that throws has changed nothing.
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
  /// Handles to the same model; clone() makes another.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;

  [[nodiscard]] const Network& network() const noexcept;
  [[nodiscard]] const ModelOptions& options() const noexcept;
  [[nodiscard]] Device device() const;

  /// The network's outputs in inference mode. One input, one output; or all of them. They are started, as one
  /// program, which inputs of the same shapes and dtypes share whatever the model's numbers are by then
  /// (inference.hpp); `limits` end it.
  ///
  /// Inside of jit(), grad() and vmap() it becomes a part of what is traced there, with the numbers that the
  /// model has when it is called: a traced function goes on with those. apply() takes them as arguments.
  [[nodiscard]] Tensor predict(const Tensor& x, const CommandOptions& limits = {}) const;
  [[nodiscard]] std::vector<Tensor> predict(const std::vector<Tensor>& inputs,
                                            const CommandOptions& limits = {}) const;
  /// The same by name: Network::in_order() and output_names(). Optional inputs may be left out; outputs that
  /// are missing then are not in the result.
  [[nodiscard]] Variables predict_by_name(const Variables& inputs,
                                          const CommandOptions& limits = {}) const;
  /// What predict() computes, of these variables in the place of the model's: pure and not computed yet.
  [[nodiscard]] Tensor apply(const Variables& variables, const Tensor& x) const;
  [[nodiscard]] std::vector<Tensor> apply(const Variables& variables,
                                          const std::vector<Tensor>& inputs) const;

  /// The losses of such predictions, weighted and added up, as a step has it: one of each for each
  /// output.
  [[nodiscard]] Tensor compute_loss(const std::vector<Tensor>& predictions,
                                    const std::vector<Tensor>& targets) const;

  /// Starts one step; its loss. A step that `limits` end leaves the model as one that fails does,
  /// without numbers: take its state() before, and restore() it.
  Tensor train_step(const Batch& batch, const CommandOptions& limits = {});
  /// What a step would follow, and its loss.
  [[nodiscard]] TrainingStep::Gradients compute_gradients(const Batch& batch) const;
  /// Waits. The mean loss over all rows, in inference mode; `batch_size` at a time. Throws the cause
  /// if `limits` end it.
  [[nodiscard]] double evaluate(const Dataset& data, std::int64_t batch_size = 256,
                                const CommandOptions& limits = {}) const;
  /// The same, and metrics of the first output, which are those of all rows at once.
  [[nodiscard]] Evaluation evaluate(const Dataset& data, const std::vector<MetricName>& metrics,
                                    std::int64_t batch_size = 256,
                                    const CommandOptions& limits = {}) const;
  /// Waits. Takes the parts of a step apart; the model stays as it is.
  [[nodiscard]] StepProfile profile_step(const Batch& batch, int runs = 10) const;
  /// What a step on such a batch takes; nothing runs.
  [[nodiscard]] StepMemory step_memory(const Batch& batch) const;
  /// For people: the operations of such a step, and the kernels that they come to; nothing runs.
  [[nodiscard]] std::string trace_step(const Batch& batch) const;
  /// Waits. How long predict() takes.
  [[nodiscard]] Timing benchmark(const std::vector<Tensor>& inputs, int warmup = 3,
                                 int runs = 10) const;

  /// All variables by "layer.variable", or some.
  [[nodiscard]] Variables variables() const;
  [[nodiscard]] Variables variables(Part part) const;
  /// Others in the place of all, or of some: throws as Network::check() does. The optimizer begins
  /// anew; after a loss of the device so do the random numbers.
  void update_variables(Variables variables);
  void merge_variables(const Variables& some);

  /// Layers by name that training leaves alone; not_found names the nearest. The optimizer goes on
  /// with what it knows of the others.
  void freeze(const std::vector<std::string>& layers);
  void freeze(const std::function<bool(const LayerInfo&)>& which);
  void unfreeze(const std::vector<std::string>& layers);
  [[nodiscard]] std::set<std::string> frozen() const;

  /// What the learning rate is multiplied by, 1 at first.
  void set_learning_rate_scale(double scale);
  [[nodiscard]] double learning_rate_scale() const;
  /// The current loss scale (1 if unscaled); the number of steps skipped because of non-finite
  /// gradients. Both block.
  [[nodiscard]] double loss_scale() const;
  [[nodiscard]] std::int64_t skipped_steps() const;

  /// The same network with copies of these numbers and the same layers frozen, to be trained in
  /// another way: loss, optimizer, precision. The optimizer begins anew.
  [[nodiscard]] Model compile(ModelOptions options) const;
  /// A smaller model for predictions. "f16", "bf16": parameters are stored so and computed with in
  /// f32. "int8": dense layers become quantized_dense. not_found for another word, unsupported
  /// where no layer can be made so, invalid_argument for numbers that f16 has not.
  [[nodiscard]] QuantizedModel quantize(const std::string& to) const;
  [[nodiscard]] QuantizedModel quantize(DType to) const;

  /// A copy that goes its own way.
  [[nodiscard]] Model clone() const;
  /// The same with its numbers on another device; this one if it is there.
  [[nodiscard]] Model to_device(const Device& device) const;

  /// A table of the layers with shapes and parameters, as Keras prints it.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] ModelInfo info() const;

  /// Everything, so that training can go on: graph, variables, optimizer, options. One safetensors
  /// file, written under another name and renamed. Waits. unsupported where the network cannot be
  /// written; invalid_argument for `more` metadata by a name that the file has itself: "format",
  /// "network", "options", "frozen".
  void save(const std::filesystem::path& path,
            const std::map<std::string, std::string>& more = {}) const;
  /// invalid_argument for a file that save() has not written; what Network::check() says for one
  /// whose numbers do not fit. A schedule is not in a file, only that there was one: give it again.
  [[nodiscard]] static Model load(const std::filesystem::path& path,
                                  std::optional<Device> device = {}, Schedule schedule = {});

  /// The variables alone as JSON, by name with type, shape and nested lists; numbers come
  /// back exactly, but for the payloads of NaN. Written as save() does.
  void export_params(const std::filesystem::path& path) const;
  /// The model changes as a whole or not at all: invalid_argument, saying what was expected, for a
  /// file that export_params() has not written or that holds other variables, types or shapes;
  /// io_error for one that cannot be read. The optimizer begins anew.
  void import_params(const std::filesystem::path& path);
  /// The same as bytes, a safetensors file.
  [[nodiscard]] std::vector<std::byte> serialize_params() const;
  void deserialize_params(std::span<const std::byte> bytes);

  /// All that a step changes, for whoever wants to go back to it.
  [[nodiscard]] TrainingState state() const;
  void restore(TrainingState state);

 private:
  struct Data;
  [[nodiscard]] Model to_device(const Device& device, bool always) const;
  std::shared_ptr<Data> data_;
};

/// What quantize() made, and which layers with parameters it left as they were, each with the
/// reason.
struct QuantizedModel {
  Model model;
  std::vector<std::string> quantized;
  std::map<std::string, std::string> left;
};

}  // namespace stoker::nn
