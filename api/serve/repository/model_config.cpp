#include "stoker/api/serve/repository/model_config.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/repository/config_fields.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve {
namespace {

using std::chrono::microseconds;

constexpr std::uint64_t most_microseconds = 86'400'000'000;  // a day
constexpr std::uint64_t most_levels = 1000;
constexpr std::uint64_t most_workers = 1024;  // each is an actor

[[noreturn]] void wrong_field(const std::string& field, const std::string& reason) {
  throw Error{
      "config", ErrorCode::invalid_argument, "field '" + field + "' " + reason, {{"field", field}}};
}

/// 0 and none are the same: nothing was said.
std::optional<std::chrono::nanoseconds> time_of(ConfigFields& fields, std::string_view name) {
  const std::uint64_t count = fields.whole(name).value_or(0);
  if (count > most_microseconds) wrong_field(fields.path_of(name), "must be at most a day");
  if (count == 0) return {};
  return microseconds{count};
}

onnx::ElementType type_of(const ConfigFields& fields, const std::string& name) {
  std::string_view datatype = name;
  if (datatype.starts_with("TYPE_")) datatype.remove_prefix(5);
  if (datatype == "STRING") datatype = "BYTES";
  const auto type = protocol::parse_datatype(datatype);
  if (!type || !name.starts_with("TYPE_") || name == "TYPE_BYTES")
    wrong_field(fields.path_of("data_type"), "must be a type such as TYPE_FP32");
  return *type;
}

std::vector<std::int64_t> dims_of(ConfigFields& fields, std::int64_t least) {
  std::vector<std::int64_t> dims = fields.integers("dims");
  for (const std::int64_t extent : dims)
    if (extent < least || extent == 0)
      wrong_field(
          fields.path_of("dims"),
          "must have numbers above 0" + std::string{least < 0 ? ", or -1 for any number" : ""});
  return dims;
}

ConfigTensor tensor_of(ConfigFields& fields) {
  ConfigTensor tensor;
  tensor.name = fields.text("name").value_or("");
  if (tensor.name.empty()) wrong_field(fields.path_of("name"), "must be given");
  if (const auto name = fields.word("data_type"); name && *name != "TYPE_INVALID")
    tensor.type = type_of(fields, *name);
  tensor.dims = dims_of(fields, -1);
  fields.refuse("reshape", "requests have the model's own shapes");
  for (const char* const name : {"is_shape_tensor", "is_non_linear_format_io"})
    if (fields.flag(name).value_or(false)) wrong_field(fields.path_of(name), "must be false");
  return tensor;
}

std::vector<ConfigTensor> inputs_of(ConfigFields& config, const std::string& model) {
  std::vector<ConfigTensor> inputs;
  for (ConfigFields& fields : config.messages("input")) {
    inputs.push_back(tensor_of(fields));
    if (fields.flag("allow_ragged_batch").value_or(false))
      wrong_field(fields.path_of("allow_ragged_batch"),
                  "must be false: rows of a batch have one shape");
    fields.leave_out({"format", "optional"}, model);
    fields.end();
  }
  return inputs;
}

std::vector<ConfigTensor> outputs_of(ConfigFields& config) {
  std::vector<ConfigTensor> outputs;
  for (ConfigFields& fields : config.messages("output")) {
    ConfigTensor output = tensor_of(fields);
    output.label_file = fields.text("label_filename").value_or("");
    if (output.label_file.find('/') != std::string::npos || output.label_file.starts_with('.'))
      wrong_field(fields.path_of("label_filename"),
                  "must be the name of a file in the model's directory");
    fields.end();
    outputs.push_back(std::move(output));
  }
  return outputs;
}

VersionPolicy versions_of(ConfigFields& config) {
  VersionPolicy policy;
  std::optional<ConfigFields> fields = config.message("version_policy");
  if (!fields) return policy;
  int choices = 0;
  if (auto latest = fields->message("latest")) {
    ++choices;
    policy.count = latest->whole("num_versions").value_or(1);
    if (policy.count == 0) wrong_field(latest->path_of("num_versions"), "must be at least 1");
    latest->end();
  }
  if (const auto all = fields->message("all")) {
    ++choices;
    policy.kind = VersionPolicy::Kind::all;
    all->end();
  }
  if (auto specific = fields->message("specific")) {
    ++choices;
    policy.kind = VersionPolicy::Kind::specific;
    for (const std::int64_t number : specific->integers("versions")) {
      if (number < 1) wrong_field(specific->path_of("versions"), "must have numbers above 0");
      policy.numbers.push_back(static_cast<std::uint64_t>(number));
    }
    specific->end();
  }
  fields->end();
  if (choices > 1) wrong_field("version_policy", "must be one of latest, all and specific");
  return policy;
}

PriorityLevel level_of(ConfigFields& fields) {
  PriorityLevel level;
  if (fields.choice("timeout_action", {"REJECT", "DELAY"}) == std::size_t{1})
    level.action = LateAction::delay;
  level.timeout = time_of(fields, "default_timeout_microseconds");
  if (const std::uint64_t most = fields.whole("max_queue_size").value_or(0); most > 0)
    level.max_requests = most;
  // A request may always have a time-out of its own.
  static_cast<void>(fields.flag("allow_timeout_override"));
  fields.end();
  return level;
}

void read_levels(ConfigFields& batching, ServingOptions& serving) {
  const std::uint64_t levels = batching.whole("priority_levels").value_or(0);
  const std::uint64_t chosen = batching.whole("default_priority_level").value_or(0);
  if (levels > most_levels)
    wrong_field(batching.path_of("priority_levels"), "must be at most 1000");
  if (chosen > levels || (levels > 0 && chosen == 0))
    wrong_field(batching.path_of("default_priority_level"), "must be one of the priority levels");
  std::optional<ConfigFields> common = batching.message("default_queue_policy");
  const bool is_given = levels > 0 || common;
  const PriorityLevel usual = common ? level_of(*common) : PriorityLevel{};
  if (is_given) serving.priorities.assign(std::max<std::uint64_t>(levels, 1), usual);
  if (is_given) serving.default_priority = std::max<std::uint64_t>(chosen, 1);
  for (auto& [key, fields] : batching.map("priority_queue_policy")) {
    std::uint64_t level = 0;
    const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), level);
    if (failure != std::errc{} || end != key.data() + key.size() || level < 1 || level > levels)
      wrong_field(batching.path_of("priority_queue_policy"),
                  "must have keys that are priority levels");
    serving.priorities[level - 1] = level_of(fields);
  }
}

void read_batching(ConfigFields& config, const std::string& model, ServingOptions& serving) {
  std::optional<ConfigFields> fields = config.message("dynamic_batching");
  if (!fields) return;
  const std::vector<std::int64_t> sizes = fields->integers("preferred_batch_size");
  if (!sizes.empty()) serving.sizes.clear();  // those of the program
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > serving.batch_size)
      wrong_field(fields->path_of("preferred_batch_size"), "must be from 1 to max_batch_size");
    serving.sizes.push_back(size);
    serving.padding =
        false;  // as with Triton, they are preferred, and other numbers of rows run, too
  }
  if (const auto delay = time_of(*fields, "max_queue_delay_microseconds")) {
    serving.batch_timeout = *delay;
    serving.wait = BatchWait::full;
  }
  read_levels(*fields, serving);
  fields->leave_out({"preserve_ordering"}, model);
  fields->end();
}

void read_instances(ConfigFields& config, const std::string& model, ModelConfig& made) {
  std::vector<ConfigFields> groups = config.messages("instance_group");
  if (groups.size() > 1)
    wrong_field("instance_group", "must have one group: a model is on one device");
  if (groups.empty()) return;
  ConfigFields& group = groups.front();
  const std::uint64_t count = group.whole("count").value_or(0);
  if (count > most_workers)
    wrong_field(group.path_of("count"), "must be at most " + std::to_string(most_workers));
  if (count > 0) made.serving.workers = count;
  const std::size_t kind =
      group.choice("kind", {"KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL"}).value_or(0);
  const std::vector<std::int64_t> gpus = group.integers("gpus");
  if (gpus.size() > 1 || (!gpus.empty() && (kind > 1 || gpus.front() < 0)))
    wrong_field(group.path_of("gpus"), "must be one number, and only of a GPU");
  if (kind == 1 || !gpus.empty())
    made.device = gpus.empty() ? "vulkan" : "vulkan:" + std::to_string(gpus.front());
  if (kind == 2) made.device = "cpu";
  group.refuse("passive", "each model answers requests");
  group.refuse("profile", "there are no profiles");
  group.leave_out({"name", "rate_limiter", "secondary_devices", "host_policy"}, model);
  group.end();
}

std::vector<WarmUpSample> samples_of(ConfigFields& config, const std::string& model,
                                     std::int64_t max_batch_size) {
  std::vector<WarmUpSample> samples;
  for (ConfigFields& fields : config.messages("model_warmup")) {
    WarmUpSample sample;
    const std::uint64_t rows = fields.whole("batch_size").value_or(0);
    if (rows > std::numeric_limits<std::int32_t>::max())
      wrong_field(fields.path_of("batch_size"), "is too large");
    if (max_batch_size == 0 && rows > 1)
      wrong_field(fields.path_of("batch_size"),
                  "must be 1: without max_batch_size, dims are whole");
    // As with `dims` of inputs, those of a sample lack the rows only if max_batch_size says that there are some.
    if (max_batch_size > 0)
      sample.rows = std::max<std::int64_t>(static_cast<std::int64_t>(rows), 1);
    sample.times = std::max<std::uint64_t>(fields.whole("count").value_or(1), 1);
    bool is_known = true;
    for (auto& [name, input] : fields.map("inputs")) {
      WarmUpInput made{.name = name};
      made.type = type_of(input, input.word("data_type").value_or(""));
      made.dims = dims_of(input, 1);
      made.random = input.flag("random_data").value_or(false);
      static_cast<void>(input.flag("zero_data"));
      is_known = is_known && !input.has("input_data_file");
      input.leave_out({"input_data_file"}, model);
      input.end();
      sample.inputs.push_back(std::move(made));
    }
    fields.leave_out({"name"}, model);
    fields.end();
    if (is_known) samples.push_back(std::move(sample));
  }
  return samples;
}

/// What stands under `parameters` as "stoker.NAME".
class Parameters {
 public:
  Parameters(ConfigFields& config, const std::string& model) {
    for (auto& [key, fields] : config.map("parameters")) {
      std::string value = fields.text("string_value").value_or("");
      fields.end();
      if (key.starts_with(prefix))
        all_.push_back({key.substr(prefix.size()), std::move(value)});
      else
        others_.push_back(key);
    }
    for (const std::string& key : others_)
      log_info("a parameter of a model's configuration has no effect",
               {{"model", model}, {"parameter", key}});
  }

  const std::string* find(std::string_view name) {
    known_.push_back(name);
    const auto place = std::ranges::find(all_, name, &std::pair<std::string, std::string>::first);
    return place == all_.end() ? nullptr : &place->second;
  }
  /// The position of the parameter's word among `words`.
  std::optional<std::size_t> choice(std::string_view name,
                                    std::initializer_list<std::string_view> words) {
    const std::string* const value = find(name);
    if (value == nullptr) return {};
    const auto place = std::ranges::find(words, *value);
    if (place != words.end()) return static_cast<std::size_t>(place - words.begin());
    std::string all;
    for (const std::string_view word : words) all += " " + std::string{word};
    wrong_field(path_of(name), "must be one of" + all);
  }
  /// Above 0.
  std::optional<std::uint64_t> whole(std::string_view name) {
    const std::string* const value = find(name);
    if (value == nullptr) return {};
    std::uint64_t number = 0;
    const char* const end = value->data() + value->size();
    const auto [stop, failure] = std::from_chars(value->data(), end, number);
    if (failure != std::errc{} || stop != end || number == 0)
      wrong_field(path_of(name), "must be a whole number above 0");
    return number;
  }
  void end() const {
    for (const auto& [name, value] : all_)
      if (std::ranges::find(known_, name) == known_.end())
        throw Error{
            "config",
            ErrorCode::invalid_argument,
            "there is no parameter 'stoker." + printable(name) + "'" + did_you_mean(name, known_),
            {{"field", "parameters"}}};
  }

 private:
  static constexpr std::string_view prefix = "stoker.";
  static std::string path_of(std::string_view name) {
    return "parameters.stoker." + std::string{name};
  }

  std::vector<std::pair<std::string, std::string>> all_;
  std::vector<std::string> others_;
  std::vector<std::string_view> known_;
};

void read_parameters(ConfigFields& config, const std::string& model, ModelConfig& made) {
  Parameters parameters{config, model};
  ServingOptions& serving = made.serving;
  if (const std::string* const device = parameters.find("device")) made.device = *device;
  if (const auto one = parameters.choice("precision", {"full", "f16", "bf16"}))
    made.precision = static_cast<onnx::Precision>(*one);
  if (const auto one = parameters.choice("wait", {"none", "full"}))
    serving.wait = static_cast<BatchWait>(*one);
  if (const auto one = parameters.choice("padding", {"false", "true"})) serving.padding = *one == 1;
  if (const auto one = parameters.choice("retry", {"never", "once", "one_by_one"}))
    serving.retry = static_cast<BatchRetry>(*one);
  if (const auto one = parameters.choice("warm_up", {"checks", "few", "all"}))
    serving.warm_up = static_cast<WarmUp>(*one);
  if (const auto number = parameters.whole("deadline_us")) {
    if (*number > most_microseconds)
      wrong_field("parameters.stoker.deadline_us", "must be at most a day");
    serving.deadline = microseconds{*number};
  }
  if (const auto number = parameters.whole("max_requests")) serving.max_requests = *number;
  if (const auto number = parameters.whole("max_bytes")) serving.max_bytes = *number;
  parameters.end();
}

void refuse_what_changes_answers(ConfigFields& config) {
  config.refuse("sequence_batching", "there are no sequences");
  config.refuse("ensemble_scheduling", "there are no ensembles");
  config.refuse("batch_input", "requests give all inputs");
  config.refuse("batch_output", "outputs have rows of their own");
  config.refuse("cc_model_filenames", "a model is one file");
  config.refuse("model_operations", "there are no libraries of operations");
  config.refuse("model_repository_agents", "models are used as they lie there");
  if (auto policy = config.message("model_transaction_policy")) {
    if (policy->flag("decoupled").value_or(false))
      wrong_field(policy->path_of("decoupled"), "must be false: a request has one answer");
    policy->end();
  }
}

std::string model_file_of(ConfigFields& config) {
  static constexpr std::string_view names[] = {"", "model.onnx", "model.safetensors", "model.lua"};
  std::string name = config.text("default_model_filename").value_or("");
  if (std::ranges::find(names, name) == std::end(names))
    wrong_field("default_model_filename", "must be model.onnx, model.safetensors or model.lua");
  return name;
}

}  // namespace

std::vector<std::uint64_t> VersionPolicy::chosen(std::span<const std::uint64_t> there) const {
  if (kind == Kind::all) return {there.begin(), there.end()};
  if (kind == Kind::latest) {
    const auto last = there.last(std::min<std::uint64_t>(count, there.size()));
    return {last.begin(), last.end()};
  }
  for (const std::uint64_t number : numbers)
    if (std::ranges::find(there, number) == there.end())
      throw Error{"config",
                  ErrorCode::not_found,
                  "version_policy names version " + std::to_string(number) + ", which is not there",
                  {{"field", "version_policy.specific"}}};
  return numbers;
}

ModelConfig read_model_config(const ConfigTree& tree, const std::string& model,
                              const ServingOptions& defaults) {
  ModelConfig made{.serving = defaults};
  ConfigFields config{tree.root, tree.form, ""};
  if (const auto name = config.text("name"); name && !name->empty() && *name != model)
    wrong_field("name", "must be '" + model + "', as the directory is named");
  made.max_batch_size = config.integer("max_batch_size").value_or(0);
  if (made.max_batch_size < 0 || made.max_batch_size > std::numeric_limits<std::int32_t>::max())
    wrong_field("max_batch_size", "must be from 0 to 2147483647");
  if (made.max_batch_size > 0) made.serving.batch_size = made.max_batch_size;
  made.inputs = inputs_of(config, model);
  made.outputs = outputs_of(config);
  made.versions = versions_of(config);
  made.model_file = model_file_of(config);
  read_batching(config, model, made.serving);
  read_instances(config, model, made);
  made.samples = samples_of(config, model, made.max_batch_size);
  read_parameters(config, model, made);
  refuse_what_changes_answers(config);
  config.leave_out({"platform", "backend", "runtime", "optimization", "metric_tags",
                    "model_metrics", "response_cache"},
                   model);
  config.end();
  return made;
}

}  // namespace stoker::serve
