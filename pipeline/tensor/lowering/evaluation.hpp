// Running what was asked for: a program is taken out of the graph, found among those that ran before
// or compiled, and started. Nothing waits: the buffers of the results are there at once, their
// contents come later, and a failure reaches whoever reads them.
//
// Threads: any.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "stoker/actors/device/command_options.hpp"
#include "stoker/device/commands/command_state.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/lowering/lowering.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::expr {

/// The programs that a device has ready, the latest first, and what compiles their shaders. One for each
/// device client.
class ProgramCache {
 public:
  static constexpr std::size_t most = 1024;
  /// Of all of them, unless a single one has more: what a program takes grows with its kernels.
  static constexpr std::size_t most_kernels = 32768;

  ProgramCache();
  /// Any thread, at any time: it outlives the cache.
  [[nodiscard]] const ShaderCompiler& shader_compiler() const noexcept { return compile_; }

  [[nodiscard]] std::shared_ptr<const LoweredProgram> find(const std::string& key);
  void add(const std::string& key, std::shared_ptr<const LoweredProgram> program);
  /// Those who hold the program keep it; whoever asks for the same later compiles it again.
  void forget(const LoweredProgram& program);

  struct Counters {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::size_t programs = 0;
    std::size_t kernels = 0;  ///< of all of them
  };
  [[nodiscard]] Counters counters() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const LoweredProgram> program;
  };
  /// Guarded by mutex_. Moves the entry to `dropped`.
  void drop(std::list<Entry>::iterator entry, std::list<Entry>& dropped);

  const ShaderCompiler compile_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the latest used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
  Counters counters_;  // but the number of programs
};

/// The program as it was compiled for the device, now or before. `key` is extracted.key(), or one of its own if the
/// program may not choose layouts. `refused` as for lower(). `may_choose_layouts`: whether convolutions may have
/// channels last where that is faster on the device.
[[nodiscard]] Result<std::shared_ptr<const LoweredProgram>> prepare(
    const Extracted& extracted, const std::string& key, const std::shared_ptr<DeviceClient>& device,
    std::uint32_t* refused = nullptr, bool may_choose_layouts = true);
[[nodiscard]] Result<std::shared_ptr<const LoweredProgram>> prepare(
    const Extracted& extracted, const std::shared_ptr<DeviceClient>& device,
    bool may_choose_layouts = true);

/// Starts a run. `leaves` has the buffers of each parameter's outputs, `made` one for each of program.made. `keep`:
/// whether what was recorded for these buffers stays for a next run on them. A step that the host drives may read
/// its operands later than commands that are started afterwards. The commands of the steps, null where the host
/// drives one. `options` are those of every command that it comes to: a deadline or a cancelled token ends what has
/// not run yet, and the results fail with its cause.
[[nodiscard]] Result<std::vector<CommandPtr>> start(const LoweredProgram& program,
                                                    const std::shared_ptr<DeviceClient>& device,
                                                    std::span<const Buffers> leaves,
                                                    std::span<const DeviceBuffer> made,
                                                    const CommandOptions& options,
                                                    Keep keep = Keep::nothing);
/// The buffers of each parameter's outputs, which others keep while a call lasts.
using Leaves = std::span<const Buffers* const>;
/// The same with buffers that it makes; small steps may have run when it returns (CompiledPipeline::run_here()). The
/// results' buffers, in order. `commands`, if it is given, gets what start() returns, with null for steps that have
/// run.
[[nodiscard]] Result<std::vector<DeviceBuffer>> run(const LoweredProgram& program,
                                                    const std::shared_ptr<DeviceClient>& device,
                                                    Leaves leaves, const CommandOptions& options,
                                                    Keep keep = Keep::nothing,
                                                    std::vector<CommandPtr>* commands = nullptr);
[[nodiscard]] Result<std::vector<DeviceBuffer>> run(const LoweredProgram& program,
                                                    const std::shared_ptr<DeviceClient>& device,
                                                    std::span<const Buffers> leaves,
                                                    const CommandOptions& options);

/// Makes the values known, all in one program; those that are known already stay as they are. Throws
/// what the device refuses, wrong_device if they stand on buffers of several, and invalid_argument if
/// one depends on a parameter that has no value yet. `otherwise` is asked for a device if
/// they stand on no buffer. `options` as for run(): values whose run was cancelled stay failed.
void evaluate(std::span<const Value> values,
              const std::function<std::shared_ptr<DeviceClient>()>& otherwise,
              const CommandOptions& options = {});

/// The program that would compute these values, as prepare() makes it; parameters need no value. Throws as evaluate().
[[nodiscard]] std::shared_ptr<const LoweredProgram> plan_of(
    std::span<const Value> values, const std::function<std::shared_ptr<DeviceClient>()>& otherwise);

/// The device that the known values below these live on; null if there are none. Throws wrong_device.
[[nodiscard]] std::shared_ptr<DeviceClient> device_of(std::span<const Value> values);

}  // namespace stoker::expr
