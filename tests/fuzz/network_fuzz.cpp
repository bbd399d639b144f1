// Networks as JSON: one that is read, written and read again is the same.
#include "fuzz.hpp"
#include "stoker/api/nn/graph/network.hpp"

namespace stoker::fuzz::network {

void run(Bytes bytes) {
  const auto read = accepted([&] { return nn::Network::from_json(text_of(bytes)); });
  if (!read) return;
  const std::string text = read->to_json();
  const nn::Network again = nn::Network::from_json(text);
  require(again.to_json() == text, "a network that is written and read is the same: " + text);
  require(again.outputs().size() == read->outputs().size(), "a network keeps its outputs");
  static_cast<void>(read->to_dot());
}

}  // namespace stoker::fuzz::network
