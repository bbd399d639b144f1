// What a script keeps with each node of the graph that it asked for: where it stands in the script, what it is
// charged for it, and, once it is known, who computes it.
//
// Chains are at most `max_depth` calls long, so that what one evaluation compiles stays small.
//
// Threads: the script's process only, which also is where the nodes go: nobody else holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "stoker/device/commands/command_state.hpp"
#include "stoker/pipeline/script/run/budget.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::script {

/// Device memory on the script's account, and the handles' on the host. Has been taken before.
class BufferCharge {
 public:
  BufferCharge(Budget& budget, std::size_t buffers, std::size_t memory) noexcept
      : budget_{budget}, buffers_{buffers}, memory_{memory} {}
  ~BufferCharge() {
    budget_.give_buffer(buffers_);
    budget_.give_memory(memory_);
  }
  BufferCharge(const BufferCharge&) = delete;
  BufferCharge& operator=(const BufferCharge&) = delete;

 private:
  Budget& budget_;
  const std::size_t buffers_, memory_;
};

/// A call of the script's.
struct CallSite {
  std::string_view name;     ///< of the operation, which outlives the script
  int line = 0;              ///< where the script made the call
  std::uint64_t number = 0;  ///< tells it from others
  std::uint32_t depth = 1;   ///< calls one above the other, this included
};

inline constexpr std::uint32_t max_depth = 256;

using Commands = std::vector<CommandPtr>;

struct NodeAccount final : expr::Attachment {
  /// `memory` has been taken before: what the node itself takes on the host.
  NodeAccount(Budget& account, std::size_t memory, CallSite site) noexcept
      : call{site}, budget{&account}, charged{memory} {}
  ~NodeAccount() override { budget->give_memory(charged); }

  CallSite call;
  bool ran = false;  ///< once, as part of an evaluation that left no buffer of it
  std::shared_ptr<const BufferCharge> buffers = {};  ///< once it is known
  std::shared_ptr<const Commands> writers = {};      ///< null: filled by the host
  Budget* budget;
  std::size_t charged;
  /// Where next_results() came by it last.
  struct {
    std::uint64_t search = 0;
    std::size_t position = 0;
    bool is_result = false;
    bool is_wanted = false;
  } seen = {};
};

/// Of a node that a script asked for. Null of one that it is just asking for.
[[nodiscard]] inline NodeAccount* account_of(const expr::Node& node) noexcept {
  return static_cast<NodeAccount*>(node.attachment());
}

/// What a node with its account takes on the host, near enough.
[[nodiscard]] std::size_t bytes_of(const expr::Node& node);

/// The error of a call with the facts a script's author wants: the function and its inputs.
[[nodiscard]] Error about_call(const Error& error, std::string_view name,
                               std::span<const expr::Value> inputs);

}  // namespace stoker::script
