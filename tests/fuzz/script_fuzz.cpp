// Lua scripts in their sandbox, with small limits: each ends within them, and one that ends well takes as
// many instructions when it runs again.
#include "fuzz.hpp"
#include "stoker/api/script.hpp"

namespace stoker::fuzz::script {
namespace {

constexpr std::uint64_t memory_limit = std::uint64_t{8} << 20;

class Silent final : public ScriptObserver {
 public:
  void on_print(std::string_view) noexcept override {}
};

Result<ScriptReport> outcome(std::string_view text) {
  static ScriptHost host = script_host(system(), device());
  ScriptOptions options;
  options.limits = {.instructions = 200'000,
                    .memory_bytes = memory_limit,
                    .buffer_bytes = std::uint64_t{16} << 20};
  options.observer = std::make_shared<Silent>();
  options.kernels = script_kernels();  // compiling one takes more instructions than there are
  return host.start({"fuzz", std::string{text}}, std::move(options)).done.wait();
}

}  // namespace

void run(Bytes bytes) {
  const Result<ScriptReport> first = outcome(text_of(bytes));
  if (first.has_error()) return require_refusal(first.error());
  require(first->peak_memory_bytes <= memory_limit, "a script keeps to its memory");
  const Result<ScriptReport> second = outcome(text_of(bytes));
  // What takes long uses instructions up by its time, which is not the script's.
  if (second.has_error()) return require_refusal(second.error());
  require(first->instructions == second->instructions && first->commands == second->commands,
          "a script takes the same instructions each time");
}

}  // namespace stoker::fuzz::script
