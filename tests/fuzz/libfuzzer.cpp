// What libFuzzer calls: the fuzzer that STOKER_FUZZER names. See fuzz.hpp.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "fuzz.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace {

const stoker::fuzz::Fuzzer* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // What is refused on purpose need not be told a million times.
  stoker::set_log_level(stoker::LogLevel::off);
  const char* const wanted = std::getenv("STOKER_FUZZER");
  for (const auto& one : stoker::fuzz::all_fuzzers())
    if (wanted != nullptr && one.name == wanted) chosen = &one;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "STOKER_FUZZER is none of:");
  for (const auto& one : stoker::fuzz::all_fuzzers()) std::fprintf(stderr, " %s", one.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->run(std::as_bytes(std::span{data, size}));
  } catch (const std::exception& found) {
    std::fprintf(stderr, "%s: %s\n", chosen->name.data(), found.what());
    std::abort();
  }
  return 0;
}
