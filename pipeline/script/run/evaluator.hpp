// Runs what a script asked for and what is needed now.
//
// A script's values are nodes of the tensors' graph, and what makes them known is what makes tensors known
// (pipeline/tensor/lowering/evaluation.hpp): programs are taken out of the graph, fused, compiled once per
// structure and run. Here is what a script's limits ask for beside that: what each value takes is charged, long
// programs are cut, values that are needed again are kept (next_results.hpp), and a script does not outrun its
// device (flights.hpp).
//
// Threads: the script's process only. Waiting parks it, until the script is cancelled.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/script/run/flights.hpp"
#include "stoker/pipeline/script/run/node_account.hpp"
#include "stoker/pipeline/script/run/structures.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::script {

/// The script's garbage collector: a small object in Lua may hold much memory on the device.
class GarbageCollector {
 public:
  /// Collects in proportion to device memory that was taken.
  virtual void step(std::size_t bytes) = 0;
  /// Collects everything.
  virtual void collect() = 0;

 protected:
  ~GarbageCollector() = default;
};

class Evaluator {
 public:
  /// What one program computes, at most.
  static constexpr std::size_t max_nodes = 512;

  Evaluator(std::shared_ptr<DeviceClient> device, Budget& budget, GarbageCollector& garbage,
            ScriptObserver* observer);

  /// A call of an operation, whose outputs `make` asks the graph for: their specs are known, nothing runs yet.
  /// `name` outlives the script. Errors: what `make` throws, as an error of `name` that tells of the inputs;
  /// budget_exceeded.
  [[nodiscard]] Result<std::vector<expr::Value>> call(
      std::string_view name, int line, std::span<const expr::Value> inputs,
      const std::function<std::vector<expr::Value>()>& make);
  /// Memory outside of the Lua state and of the device for a while, garbage collected if need be.
  /// Errors: budget_exceeded, which the script may catch.
  [[nodiscard]] Result<MemoryLoan> lend(std::size_t bytes);
  /// Whether there is room for a buffer of that size, garbage collected if need be: to be asked before
  /// its contents are made. Errors: budget_exceeded.
  [[nodiscard]] Result<void> room_for_buffer(std::size_t bytes);
  /// How many nodes of a graph the memory that is left has room for, garbage collected before.
  [[nodiscard]] std::size_t room_for_nodes();
  /// The same memory until Budget::give_memory(). Errors: budget_exceeded, and the script must end.
  [[nodiscard]] Result<void> take_memory(std::size_t bytes);
  /// A buffer with the given contents.
  [[nodiscard]] Result<expr::Value> constant(const TensorSpec& spec,
                                             std::span<const std::byte> bytes);
  /// A buffer that the host made, on device(): from now on it counts as the script's. Errors: budget_exceeded.
  [[nodiscard]] Result<expr::Value> take(const DeviceBuffer& buffer);
  using ChargePtr = std::shared_ptr<const BufferCharge>;
  /// Device memory that the host takes for the script, until the charge goes. Errors: budget_exceeded.
  [[nodiscard]] Result<ChargePtr> charge(std::span<const TensorSpec> buffers);
  /// Few numbers that a call was given. The last ones share their buffers, but not their nodes: numbers that
  /// happen to be equal make no other structure.
  [[nodiscard]] Result<expr::Value> number(const TensorSpec& spec,
                                           std::span<const std::byte> bytes);

  /// Starts what the values need; they are known afterwards.
  [[nodiscard]] Result<void> evaluate(std::span<const expr::Value> values);
  /// evaluate(), and waits until they are there.
  [[nodiscard]] Result<void> wait(std::span<const expr::Value> values);
  /// evaluate(), and the bytes from `offset` on.
  [[nodiscard]] Result<std::vector<std::byte>> read(const expr::Value& value, std::size_t offset,
                                                    std::size_t bytes);
  /// Waits for everything that was started; the first failure that the script was not told of.
  [[nodiscard]] Result<void> finish();
  /// Cancels everything that was started and not waited for.
  void abandon(const Error& why);

  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }
  /// What has run so far.
  [[nodiscard]] ScriptReport report() const;

 private:
  using Nodes = std::vector<std::shared_ptr<expr::Node>>;

  [[nodiscard]] Result<void> run(const Nodes& results);
  [[nodiscard]] Result<std::shared_ptr<const expr::LoweredProgram>> program_of(
      const expr::Extracted& extracted);
  /// Accounts for the nodes that were made since `begin`.
  [[nodiscard]] Result<void> adopt(std::span<const expr::Value> values, std::uint64_t begin,
                                   const CallSite& site);
  /// Null contents: undefined ones.
  [[nodiscard]] Result<DeviceBuffer> make_buffer(const TensorSpec& spec,
                                                 const std::span<const std::byte>* contents);
  [[nodiscard]] Result<expr::Value> known(DeviceBuffer buffer, ChargePtr charge);
  [[nodiscard]] Result<Flight> flight_of(const expr::Extracted& extracted,
                                         const expr::LoweredProgram& program,
                                         std::span<const CommandPtr> commands,
                                         std::span<const expr::Buffers> results);
  /// False: the script was cancelled first.
  [[nodiscard]] bool wait_until_ready(FutureCore& future);
  [[nodiscard]] Result<void> wait_for_oldest();
  /// For one more evaluation that holds `bytes`.
  [[nodiscard]] Result<void> wait_for_room(std::size_t bytes);
  [[nodiscard]] Result<void> wait_for(const CommandPtr& command);
  [[nodiscard]] Error cancelled();

  struct KeptNumber {
    TensorSpec spec;
    std::vector<std::byte> bytes;
    DeviceBuffer buffer;
    ChargePtr charge;
  };

  const std::shared_ptr<DeviceClient> device_;
  Budget& budget_;
  GarbageCollector& garbage_;
  ScriptReport report_;
  std::size_t pressure_ = 0;  ///< bytes taken on the device since the last step of the collector
  Flights flights_;
  Failures failures_;
  Structures structures_;
  CancelSource stop_;              ///< of what the host drives
  std::list<KeptNumber> numbers_;  // newest first
};

}  // namespace stoker::script
