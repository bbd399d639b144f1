#include "stoker/kernels/reduce/shader_sources.hpp"

namespace stoker::kernels::reduce {
namespace {

constexpr std::string_view rows =
#include "stoker/kernels/reduce/rows.glsl.inc"
    ;
constexpr std::string_view columns =
#include "stoker/kernels/reduce/columns.glsl.inc"
    ;
constexpr std::string_view narrow =
#include "stoker/kernels/reduce/narrow.glsl.inc"
    ;

}  // namespace

std::string_view text_of(Walk walk) noexcept {
  if (walk == Walk::rows) return rows;
  return walk == Walk::narrow ? narrow : columns;
}

}  // namespace stoker::kernels::reduce
