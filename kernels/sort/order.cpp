#include "stoker/kernels/sort/order.hpp"

#include <string>

namespace stoker::kernels::sort {

Result<Order> order_of(Kind kind, const KernelCall& call) {
  const std::string name{kinds[static_cast<std::size_t>(kind)].kernel};
  Order order;
  if (kind == Kind::top_k) {
    if (call.shape().rank() == 0)
      return Error{name,
                   ErrorCode::shape_mismatch,
                   "expected an axis to choose from, got a scalar",
                   {{"input", call.inputs[0].to_string()}}};
    STOKER_ASSIGN(order.rows, rows::along(name, call, -1));
    order.keep = options::from<TopK>(call.params).k;
    order.descending = order.values = order.indices = true;
    if (order.keep > order.rows.length)
      return Error{name,
                   ErrorCode::invalid_parameter,
                   "k: " + std::to_string(order.keep) + " elements of rows of " +
                       std::to_string(order.rows.length),
                   {{"parameter", "k"},
                    {"k", std::to_string(order.keep)},
                    {"input", call.shape().to_string()}}};
  } else {
    const auto given = options::from<Sort>(call.params);  // argsort has the same options
    STOKER_ASSIGN(order.rows, rows::along(name, call, given.axis));
    order.keep = order.rows.length;
    order.descending = given.direction == SortDirection::descending;
    order.values = kind == Kind::sort;
    order.indices = kind == Kind::argsort;
  }
  if (order.rows.length > INT32_MAX)
    return Error{
        name,
        ErrorCode::limit_exceeded,
        "positions along the axis do not fit s32",
        {{"limit", std::to_string(INT32_MAX)}, {"extent", std::to_string(order.rows.length)}}};
  return order;
}

}  // namespace stoker::kernels::sort
