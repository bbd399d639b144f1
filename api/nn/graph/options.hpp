// Options as structs (kernels/options.hpp), by their names in stoker::nn, and what functions that take
// an option as an argument of their own need.
//
// Members may also be a name with options of its own (named.hpp), which scripts write as text.
//
// Values; any thread.
#pragma once

#include <string>
#include <utility>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/kernels/options.hpp"

namespace stoker::nn {

using stoker::anything;
using stoker::at_least;
using stoker::Extents;
using stoker::KindName;
using stoker::one_of;
using stoker::Required;
using stoker::WholeNumber;
using stoker::within;

/// Sets an option from a function argument: give(options, &Dense::units, 10). Throws
/// invalid_parameter, with both values, if the option was already given another value. A default
/// value counts as not given.
template <class O, class M>
void give(O& into, M O::*option, typename options::Member<M>::Type value) {
  const Params before = options::given(into);
  into.*option = std::move(value);
  visit_options(into, [&]<class N>(const char* name, N& member, const auto& rule, const char*) {
    if constexpr (std::is_same_v<N, M>) {
      const ParamValue* const given = before.find(name);
      if (&member != &(into.*option) || given == nullptr) return;
      const ParamValue now =
          options::written<typename options::Member<M>::Type>(O::kind, name, member, rule);
      if (same_value(*given, now)) return;
      throw Error{
          O::kind,
          ErrorCode::invalid_parameter,
          std::string{name} + " is given twice: " + to_string(*given) + " as an option, " +
              to_string(now) + " as an argument of the function",
          {{"parameter", name}, {"option", to_string(*given)}, {"argument", to_string(now)}}};
    }
  });
}

}  // namespace stoker::nn
