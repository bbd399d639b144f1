// Graphs as text, for tests of passes:
//
//     in x float[n,3]                     # an input; n is a symbol
//     in k float[1] = 2                   # with an initializer
//     const w float[3,2] = 1 2 3 4 5 6    # one number stands for all elements
//     y = MatMul(x, w)                    # outputs = operator(operands) {attributes}
//     z = Softmax(y) {axis: -1}           # integers, reals (with a point), "texts", [lists of integers]
//     out z
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "stoker/api/onnx/core/known.hpp"
#include "stoker/api/onnx/optimize/graph_editor.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

class GraphText {
 public:
  static Graph parse(const std::string& text, std::int64_t opset) {
    Graph graph;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words{line.substr(0, line.find('#'))};
      std::string first;
      if (!(words >> first)) continue;
      if (first == "in" || first == "const")
        value(graph, words, first == "in");
      else if (first == "out")
        output(graph, words);
      else
        graph.nodes.push_back(node(line.substr(0, line.find('#')), opset));
    }
    return graph;
  }

  /// Its nodes, and before them the constants that `before` does not have; numbers where they are few.
  static std::string print(const Graph& graph, const Graph& before) {
    std::string text;
    for (const Initializer& one : graph.initializers) {
      if (before.initializer(one.name) != nullptr) continue;
      text += "const " + one.name + ' ' + one.tensor.to_string();
      if (one.tensor.elements() <= most_shown && one.tensor.type != ElementType::string) {
        text += " =";
        for (const double number : Known{one.tensor}.to_reals()) text += ' ' + shown_number(number);
      }
      text += '\n';
    }
    for (const Node& node : graph.nodes) text += print(node) + '\n';
    return text;
  }

 private:
  static constexpr std::size_t most_shown = 8;

  static std::string shown_number(double number) {
    std::ostringstream text;
    text << number;
    return text.str();
  }

  static void value(Graph& graph, std::istringstream& words, bool is_input) {
    std::string name;
    std::string type;
    words >> name >> type;
    const std::size_t bracket = type.find('[');
    ValueInfo info{.name = name, .type = {}, .doc = {}};
    info.type.kind = ValueKind::tensor;
    info.type.element = parse_element_type(type.substr(0, bracket)).value();
    info.type.dims.emplace();
    std::istringstream dims{type.substr(bracket + 1, type.size() - bracket - 2)};
    for (std::string dim; std::getline(dims, dim, ',');) {
      Dimension made;
      if (std::isdigit(dim[0]))
        made.extent = std::stoll(dim);
      else
        made.symbol = dim;
      info.type.dims->push_back(made);
    }
    std::string equals;
    if (words >> equals) graph.initializers.push_back({name, numbers(info.type, words)});
    if (is_input) graph.inputs.push_back(info);
  }

  static TensorData numbers(const ValueType& type, std::istringstream& words) {
    TensorData made{.type = type.element, .dims = {}, .bytes = {}, .strings = {}};
    for (const Dimension& dim : *type.dims) made.dims.push_back(*dim.extent);
    std::vector<double> values;
    for (std::string word; words >> word;) values.push_back(std::stod(word));
    if (values.size() == 1) values.resize(made.elements(), values[0]);
    const Known known =
        Known::reals(values, Shape{static_cast<std::int64_t>(values.size())}, type.element);
    made.bytes = SharedBytes::own(packed_bytes(type.element, known.bytes()));
    return made;
  }

  static void output(Graph& graph, std::istringstream& words) {
    for (std::string name; words >> name;)
      graph.outputs.push_back({.name = name, .type = {}, .doc = {}});
  }

  static std::vector<std::string> names(std::string list) {
    std::erase(list, ' ');
    std::vector<std::string> all;
    std::istringstream parts{list};
    for (std::string name; std::getline(parts, name, ',');) all.push_back(name);
    return all;
  }

  static Node node(const std::string& line, std::int64_t opset) {
    const std::size_t equals = line.find('=');
    const std::size_t open = line.find('(', equals);
    const std::size_t close = line.find(')', open);
    std::string op = line.substr(equals + 1, open - equals - 1);
    std::erase(op, ' ');
    Node made = make_node(op, opset, names(line.substr(open + 1, close - open - 1)));
    made.outputs = names(line.substr(0, equals));
    const std::size_t brace = line.find('{', close);
    if (brace != std::string::npos)
      attributes(made, line.substr(brace + 1, line.find('}') - brace - 1));
    return made;
  }

  static void attributes(Node& node, const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t colon = text.find(':', at);
      std::string name = text.substr(at, colon - at);
      std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
      std::size_t begin = text.find_first_not_of(' ', colon + 1);
      std::size_t end = text[begin] == '[' ? text.find(']', begin) + 1
                                           : std::min(text.find(',', begin), text.size());
      const std::string value = text.substr(begin, end - begin);
      if (value[0] == '[') {
        std::vector<std::int64_t> list;
        for (const std::string& one : names(value.substr(1, value.size() - 2)))
          list.push_back(std::stoll(one));
        node.attributes.push_back(attribute(name, list));
      } else if (value[0] == '"') {
        node.attributes.push_back(attribute(name, value.substr(1, value.rfind('"') - 1)));
      } else if (value.find('.') != std::string::npos || value.find('e') != std::string::npos) {
        node.attributes.push_back(attribute(name, std::stof(value)));
      } else {
        node.attributes.push_back(attribute(name, static_cast<std::int64_t>(std::stoll(value))));
      }
      at = end;
    }
  }

  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  static std::string print(const Node& node) {
    std::string text = joined(node.outputs) + " = " + node.op + '(' + joined(node.inputs) + ')';
    std::string inside;
    for (const Attribute& one : node.attributes) {
      inside += (inside.empty() ? "" : ", ") + one.name + ": ";
      if (const auto* integer = std::get_if<std::int64_t>(&one.value)) {
        inside += std::to_string(*integer);
      } else if (const auto* real = std::get_if<float>(&one.value)) {
        inside += shown_number(*real) + (std::floor(*real) == *real ? ".0" : "");
      } else if (const auto* word = std::get_if<std::string>(&one.value)) {
        inside += '"' + *word + '"';
      } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&one.value)) {
        std::string all;
        for (const std::int64_t each : *list)
          all += (all.empty() ? "" : ",") + std::to_string(each);
        inside += '[' + all + ']';
      } else {
        inside += std::string{kind_of(one.value)};
      }
    }
    return inside.empty() ? text : text + " {" + inside + '}';
  }
};

}  // namespace stoker::onnx
