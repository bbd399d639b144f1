#include "stoker/kernels/glsl/frontend.hpp"

#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <array>
#include <atomic>
#include <charconv>
#include <optional>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#if __has_include(<glslang/Public/ResourceLimits.h>)
#include <glslang/Public/ResourceLimits.h>
#else
#include <glslang/Include/ResourceLimits.h>
#endif

#include "stoker/kernels/glsl/bounds.hpp"
#include "stoker/kernels/glsl/precise.hpp"
#include "stoker/runtime/base/exit_watch.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::glsl {
namespace {

/// Part of a cached text's key: raise the number when the target, the options or the passes below change.
constexpr const char* what_we_ask_for =
    "stoker 3: Vulkan 1.2, SPIR-V 1.5, performance passes, precise";

constexpr const char* preamble_label = "preamble";

// glslang keeps its symbol tables for the life of the process. They are never finalised: a compile
// on another thread may still run while static destructors do.
bool initialize() {
  static const bool ready = glslang::InitializeProcess();
  return ready;
}

struct Diagnostic {
  std::string message;
  std::string file;
  std::optional<int> line;
};

/// Reads "ERROR: file:12: message" from the start of `text`.
Diagnostic parse_error_line(std::string_view text) {
  text.remove_prefix(std::string_view{"ERROR: "}.size());
  const std::size_t message_at = text.find(": ");
  const std::size_t line_at = message_at == text.npos ? text.npos : text.rfind(':', message_at - 1);
  if (line_at == text.npos) return {std::string{text}, {}, {}};
  int line = 0;
  const char* const end = text.data() + message_at;
  const auto parsed = std::from_chars(text.data() + line_at + 1, end, line);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {std::string{text}, {}, {}};
  return {std::string{text.substr(message_at + 2)}, std::string{text.substr(0, line_at)}, line};
}

/// The first error of a glslang log; "ERROR: 2 compilation errors. …" is a tally, not an error.
Diagnostic first_error(std::string_view log) {
  std::size_t at = 0;
  while (at < log.size()) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = log.substr(at, end - at);
    if (line.starts_with("ERROR: ")) return parse_error_line(line);
    at = end + 1;
  }
  return {log.empty() ? "no message from glslang" : std::string{log}, {}, {}};
}

Error compile_error(const Source& source, std::string_view log) {
  const Diagnostic found = first_error(log);
  std::vector<Detail> details{{"file", source.file}};
  std::string where;
  if (found.line && found.file != preamble_label) {
    details.push_back({"line", std::to_string(*found.line)});
    where = source.file + ":" + std::to_string(*found.line) + ": ";
  }
  details.push_back({"message", found.message});
  details.push_back({"log", std::string{log}});
  return {source.op, ErrorCode::compile_failed, where + found.message, std::move(details)};
}

Result<std::vector<std::uint32_t>> translate(const Source& source) {
  glslang::TShader shader{EShLangCompute};
  // Two strings, so that the body's lines count from 1 whatever the preamble holds.
  const std::array<const char*, 2> texts{source.preamble.data(), source.body.data()};
  const std::array<int, 2> lengths{static_cast<int>(source.preamble.size()),
                                   static_cast<int>(source.body.size())};
  const std::array<const char*, 2> labels{preamble_label, source.file.c_str()};
  shader.setStringsWithLengthsAndNames(texts.data(), lengths.data(), labels.data(), 2);
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);

  constexpr auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  if (!shader.parse(GetDefaultResources(), 460, false, messages))
    return compile_error(source, shader.getInfoLog());
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) return compile_error(source, program.getInfoLog());

  std::vector<std::uint32_t> words;
  glslang::SpvOptions options;
  options.disableOptimizer = true;  // optimize() runs a stronger list of passes
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &options);
  return words;
}

/// Collects what SPIRV-Tools says, for the error's log.
spvtools::MessageConsumer collect_into(std::string& log) {
  return [&log](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
    if (level <= SPV_MSG_ERROR) log.append("ERROR: ").append(text).append("\n");
  };
}

using AddPasses = void (*)(spvtools::Optimizer&);

Result<std::vector<std::uint32_t>> run_passes(const Source& source,
                                              const std::vector<std::uint32_t>& words,
                                              AddPasses add_passes) {
  std::string log;
  spvtools::Optimizer optimizer{SPV_ENV_VULKAN_1_2};
  optimizer.SetMessageConsumer(collect_into(log));
  add_passes(optimizer);
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // validated once, at the end
  std::vector<std::uint32_t> optimized;
  if (!optimizer.Run(words.data(), words.size(), &optimized, options))
    return compile_error(source, log);
  return optimized;
}

// Together the lists are SPIRV-Tools' performance passes, so that nothing unrolls a second time.

void add_passes_up_to_unrolling(spvtools::Optimizer& optimizer) {
  optimizer.RegisterPass(spvtools::CreateWrapOpKillPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateMergeReturnPass())
      .RegisterPass(spvtools::CreateInlineExhaustivePass())
      .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreatePrivateToLocalPass())
      .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateScalarReplacementPass())
      .RegisterPass(spvtools::CreateLocalAccessChainConvertPass())
      .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateLocalMultiStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateCCPPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass());
}

void add_passes_up_to_unrolled(spvtools::Optimizer& optimizer) {
  add_passes_up_to_unrolling(optimizer);
  optimizer.RegisterPass(spvtools::CreateLoopUnrollPass(true));
}

void add_passes_after_unrolling(spvtools::Optimizer& optimizer) {
  optimizer.RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateCombineAccessChainsPass())
      .RegisterPass(spvtools::CreateSimplificationPass())
      .RegisterPass(spvtools::CreateScalarReplacementPass())
      .RegisterPass(spvtools::CreateLocalAccessChainConvertPass())
      .RegisterPass(spvtools::CreateLocalSingleBlockLoadStoreElimPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateSSARewritePass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateVectorDCEPass())
      .RegisterPass(spvtools::CreateDeadInsertElimPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateSimplificationPass())
      .RegisterPass(spvtools::CreateIfConversionPass())
      .RegisterPass(spvtools::CreateCopyPropagateArraysPass())
      .RegisterPass(spvtools::CreateReduceLoadSizePass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateBlockMergePass())
      .RegisterPass(spvtools::CreateRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateDeadBranchElimPass())
      .RegisterPass(spvtools::CreateBlockMergePass())
      .RegisterPass(spvtools::CreateSimplificationPass());
}

Result<std::vector<std::uint32_t>> optimize(const Source& source,
                                            const std::vector<std::uint32_t>& words) {
  if (source.bounded)
    return run_passes(source, words, [](spvtools::Optimizer& optimizer) {
      add_passes_up_to_unrolling(optimizer);
      add_passes_after_unrolling(optimizer);
    });
  if (!unrolls_precise(words))
    return run_passes(source, words, [](spvtools::Optimizer& optimizer) {
      optimizer.RegisterPerformancePasses();
    });
  // Decorated before the passes that would make one of a product and a sum.
  STOKER_ASSIGN(const std::vector<std::uint32_t> unrolled,
                run_passes(source, with_precise_lines(words), add_passes_up_to_unrolled));
  return run_passes(source, with_precise_decorations(unrolled), add_passes_after_unrolling);
}

Result<void> validate(const Source& source, const std::vector<std::uint32_t>& words) {
  std::string log;
  spvtools::SpirvTools tools{SPV_ENV_VULKAN_1_2};
  tools.SetMessageConsumer(collect_into(log));
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  if (!tools.Validate(words.data(), words.size(), options)) return compile_error(source, log);
  return {};
}

Result<std::vector<std::uint32_t>> compile_here(const Source& source) {
  if (!initialize())
    return Error{source.op, ErrorCode::internal, "glslang could not be initialised"};
  if (source.bounded) STOKER_TRY(check_text(source));
  STOKER_ASSIGN(const std::vector<std::uint32_t> plain, translate(source));
  if (source.bounded) STOKER_TRY(check_module(source, plain));
  STOKER_ASSIGN(std::vector<std::uint32_t> optimized, optimize(source, plain));
  STOKER_TRY(validate(source, optimized));
  return optimized;
}

}  // namespace

Result<std::vector<std::uint32_t>> compile(const Source& source) try {
  const ExitDelay in_library;
  // Both tools make tables, as static objects, when they first look into them.
  static std::atomic<bool> tables{false};
  std::optional<Result<std::vector<std::uint32_t>>> first;
  if (in_library.too_late() || !first_use(tables, [&] { first = compile_here(source); }))
    return process_exits(source.op);
  return first ? *std::move(first) : compile_here(source);
} catch (...) {
  return error_from_current_exception(source.op);
}

std::string_view toolchain_version() {
  static constinit NeverDestroyed<std::string> version;
  return version.get([] {
    return std::string{glslang::GetEsslVersionString()} + " generator " +
           std::to_string(glslang::GetSpirvGeneratorVersion()) + ", " +
           spvSoftwareVersionDetailsString() + ", " + what_we_ask_for;
  });
}

}  // namespace stoker::glsl
