// What computes some values, taken out of the graph: its nodes in an order in which they can run.
//
// Cheap to make and to look up by its key, because most of what a program evaluates has run before;
// the instructions are only written for what has not.
//
// A value of its caller's, used by one thread.
#pragma once

#include <string>
#include <vector>

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

class Extracted {
 public:
  /// Everything that says what the program does: equal keys, equal programs.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] Program program() const;
  /// The nodes in their order; an instruction's origin is its position here.
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] const Node& node(std::size_t position) const noexcept {
    return *places_[position].node;
  }

  /// What it stands on, in the order of the program's parameters: what is known, and placeholders.
  [[nodiscard]] std::vector<Value> leaves() const;
  /// What each of them holds; of a placeholder nothing.
  [[nodiscard]] std::span<const Buffers> buffers() const noexcept { return buffers_; }

 private:
  friend Extracted extract(std::span<const Value> results);

  struct Place {
    std::shared_ptr<Node> node;
    boost::container::small_vector<Ref, 3> inputs;
    bool leaf = false;
  };
  [[nodiscard]] static InstructionView view_of(const Place& place);

  boost::container::small_vector<Place, 4> places_;
  boost::container::small_vector<Buffers, 4> buffers_;
  boost::container::small_vector<Ref, 2> results_;
};

/// What computes `results` from what is known, and from placeholders. Known values are not computed
/// anew.
[[nodiscard]] Extracted extract(std::span<const Value> results);

}  // namespace stoker::expr
