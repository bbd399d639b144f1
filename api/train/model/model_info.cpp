#include "stoker/api/train/model/model_info.hpp"

#include <algorithm>

namespace stoker::nn {
namespace {

/// 1234567 as "1,234,567".
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

using Row = std::vector<std::string>;

std::string table_of(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string gap(widths[i] - rows[r][i].size() + 2, ' ');
      // Numbers to the right.
      line += i == 2 ? gap.substr(2) + rows[r][i] + "  " : rows[r][i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (r == 0) {
      std::size_t all = 0;
      for (const std::size_t width : widths) all += width + 2;
      text += std::string(all - 2, '-') + '\n';
    }
  }
  return text;
}

template <class Named> std::size_t bytes_of(const Named& tensors) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += tensor.bytes();
  return bytes;
}

/// Bytes by the dtype in which they are stored.
using Stored = std::map<DType, std::size_t>;

/// "s8 f32", without bytes.
std::string names_of(const Stored& stored) {
  std::string text;
  for (const auto& [dtype, bytes] : stored)
    text += (text.empty() ? "" : " ") + std::string{to_string(dtype)};
  return text;
}

void count_layers(const Network& network, const std::set<std::string>& frozen, ModelInfo& info) {
  info.layers = network.layers().size();
  info.frozen_layers = frozen.size();
  for (const LayerInfo& layer : network.layers()) {
    info.parameters += layer.parameters();
    if (!frozen.contains(layer.name)) info.trainable += layer.parameters();
  }
}

}  // namespace

ModelInfo info_of(const Network& network, const ModelOptions& options, const Optimizer& optimizer,
                  const TrainingState& state, const std::set<std::string>& frozen) {
  const Precision used = precision(options.precision);
  ModelInfo info;
  count_layers(network, frozen, info);
  info.bytes = bytes_of(state.variables());
  info.optimizer_bytes = bytes_of(state.slots);
  for (const Loss& loss : losses_of(options, network.outputs().size()))
    info.loss += (info.loss.empty() ? "" : ", ") + loss.text;
  info.optimizer = optimizer.text;
  info.weight_decay = options.weight_decay;
  info.precision = used.text;
  info.loss_scale = loss_scale_of(options, used).text();
  return info;
}

std::string summary_of(const Network& network, const Variables& all,
                       const std::set<std::string>& frozen) {
  Stored stored;
  std::vector<Row> rows{{"layer (kind)", "output", "parameters", "stored", "inputs"}};
  for (const Network::Input& input : network.inputs())
    rows.push_back({input.name + (input.optional ? " (optional input)" : " (input)"),
                    input.row.to_string(), "0", "", ""});
  for (const LayerInfo& layer : network.layers()) {
    std::string shapes;
    for (const RowSpec& row : layer.outputs)
      shapes += (shapes.empty() ? "" : " ") + row.to_string();
    Stored own;
    for (const VariableSpec& variable : layer.variables) {
      const Tensor& tensor = all.at(layer.name + "." + variable.name);
      own[tensor.dtype()] += tensor.bytes();
      stored[tensor.dtype()] += tensor.bytes();
    }
    std::string from;
    for (const std::string& input : layer.inputs) from += (from.empty() ? "" : ", ") + input;
    if (frozen.contains(layer.name)) from += " [frozen]";
    rows.push_back({layer.name + " (" + layer.kind + ")", shapes, grouped(layer.parameters()),
                    names_of(own), from});
  }
  ModelInfo about;
  count_layers(network, frozen, about);
  std::string bytes = "bytes: " + grouped(bytes_of(all));
  for (const auto& [dtype, part] : stored)
    bytes += ", " + std::string{to_string(dtype)} + ": " + grouped(part);
  return table_of(rows) + "parameters: " + grouped(about.parameters) +
         ", trainable: " + grouped(about.trainable) +
         ", not trainable: " + grouped(about.parameters - about.trainable) + '\n' + bytes + '\n';
}

}  // namespace stoker::nn
