#include "stoker/actors/supervisor/supervisor_report.hpp"

#include <utility>

#include "stoker/runtime/observe/log.hpp"

namespace stoker {

std::string_view to_string(SupervisorReport::Event event) noexcept {
  switch (event) {
    case SupervisorReport::Event::child_terminated: return "child terminated";
    case SupervisorReport::Event::start_error: return "child did not start";
    case SupervisorReport::Event::shutdown_error: return "child ended otherwise than told";
    case SupervisorReport::Event::left_behind: return "child left behind";
    case SupervisorReport::Event::gave_up: break;
  }
  return "supervisor gave up: too many restarts";
}

void log_report(const SupervisorReport& said) {
  if (!log_enabled(LogLevel::error)) return;
  const std::string actor = std::to_string(said.actor);
  std::string reason = cut_short(said.reason.to_string(), SupervisorReport::reason_bytes);
  if (said.event != SupervisorReport::Event::gave_up)
    return log_error(to_string(said.event), {{"supervisor", said.supervisor},
                                             {"child", said.child},
                                             {"actor", actor},
                                             {"reason", std::move(reason)}});
  std::string chain;
  for (const std::string& one : said.chain) chain += (chain.empty() ? "" : " > ") + one;
  log_error(to_string(said.event), {{"supervisor", said.supervisor},
                                    {"child", said.child},
                                    {"actor", actor},
                                    {"reason", std::move(reason)},
                                    {"restarts", std::to_string(said.restarts)},
                                    {"chain", std::move(chain)}});
}

}  // namespace stoker
