#include "stoker/pipeline/tensor/graph/node_quota.hpp"

#include "stoker/runtime/base/error.hpp"

namespace stoker::expr {
namespace {

constexpr char node_quotas = 0;  // its address

}  // namespace

NodeQuota::NodeQuota(std::size_t most) noexcept : ContextScope{&node_quotas}, left_{most} {}

void NodeQuota::take() {
  const auto* const quota = static_cast<const NodeQuota*>(innermost(&node_quotas));
  if (quota == nullptr) return;
  if (quota->left_ == 0)
    throw Error{"graph", ErrorCode::budget_exceeded, "more operations than there is room for"};
  --quota->left_;
}

}  // namespace stoker::expr
