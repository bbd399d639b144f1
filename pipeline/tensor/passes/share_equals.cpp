#include <unordered_map>

#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/pipeline/tensor/passes/rewriter.hpp"

namespace stoker::expr {

void share_equals(Program& program) {
  std::unordered_map<std::string, std::uint32_t> seen;
  Rewriter rewriter{program};
  rewriter.run([&](std::uint32_t i) {
    const Instruction& one = program.code[i];
    if (one.op->kind == OpKind::parameter) return;
    std::string key;
    append_key(key, view_of(one));
    const auto [known, fresh] = seen.try_emplace(std::move(key), i);
    if (!fresh) rewriter.replace_all(i, known->second);
  });
}

}  // namespace stoker::expr
