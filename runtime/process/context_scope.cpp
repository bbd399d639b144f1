#include "stoker/runtime/process/context_scope.hpp"

#include <utility>

#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

thread_local ContextScope* of_this_thread = nullptr;

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static ContextScope*& of_thread() noexcept { return of_this_thread; }

static ContextScope*& head() noexcept {
  ProcessBase* const process = ProcessBase::current();
  return process ? process->scopes() : of_thread();
}

ContextScope::ContextScope(const void* kind) noexcept
    : kind_{kind}, outer_{std::exchange(head(), this)} {}

ContextScope::~ContextScope() { head() = outer_; }

const ContextScope* ContextScope::from(const ContextScope* scope, const void* kind) noexcept {
  while (scope && scope->kind_ != kind) scope = scope->outer_;
  return scope;
}

const ContextScope* ContextScope::innermost(const void* kind) noexcept {
  return from(head(), kind);
}

const ContextScope* ContextScope::outer() const noexcept { return from(outer_, kind_); }

}  // namespace stoker
