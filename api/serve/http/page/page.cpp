#include "stoker/api/serve/http/page/page.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>

#include "stoker/api/serve/http/page/html_text.hpp"
#include "stoker/api/serve/http/page/page_texts.hpp"
#include "stoker/api/version.hpp"

namespace stoker::serve::http {
namespace {

using std::chrono::nanoseconds;

/// Nobody can know it before.
std::string made_nonce() {
  std::random_device source;
  std::string nonce;
  std::array<char, 9> digits{};
  for (int i = 0; i < 4; ++i) {
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(source()));
    nonce += digits.data();
  }
  return nonce;
}

std::string number(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string duration(nanoseconds time) {
  const double us = static_cast<double>(time.count()) / 1e3;
  if (us < 1e3) return number(us, 0) + " µs";
  return us < 1e6 ? number(us / 1e3, 1) + " ms" : number(us / 1e6, 2) + " s";
}

/// "≤ 1.0 ms / ≤ 4.1 ms": the half and 99 % of all took no longer.
std::string quantiles(const TimeHistogram& times) {
  if (times.count() == 0) return "–";
  return "≤ " + duration(times.quantile(0.5)) + " / ≤ " + duration(times.quantile(0.99));
}

std::string signature(const std::vector<onnx::ValueInfo>& values) {
  std::string text;
  for (const onnx::ValueInfo& value : values)
    text += "<code>" + html_text(value.name + ": " + value.type.to_string()) + "</code>";
  return text;
}

struct Cell {
  std::string_view label;
  std::string html;
  bool is_number = true;
};

class Table {
 public:
  explicit Table(std::string_view caption) {
    text_ = "<table>\n<thead><tr><th scope=\"col\">" + std::string{caption} + "</th>";
  }
  /// The labels of the first row become the heads of columns.
  void add(const std::string& name, std::span<const Cell> cells) {
    if (rows_.empty())
      for (const Cell& cell : cells)
        text_ += "<th scope=\"col\"" + of(cell) + ">" + std::string{cell.label} + "</th>";
    rows_ +=
        "<tr data-model=\"" + html_text(name) + "\"><th scope=\"row\">" + html_text(name) + "</th>";
    for (const Cell& cell : cells)
      rows_ += "<td data-label=\"" + std::string{cell.label} + "\"" + of(cell) + ">" + cell.html +
               "</td>";
    rows_ += "</tr>\n";
  }
  [[nodiscard]] std::string take() {
    if (rows_.empty()) return "<p>There are none.</p>\n";
    return text_ + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody>\n</table>\n";
  }

 private:
  static std::string of(const Cell& cell) { return cell.is_number ? " class=\"number\"" : ""; }

  std::string text_;
  std::string rows_;
};

std::string state_of(const ServedVersion& served, const ModelStatus* status) {
  const auto state = [](const char* kind, std::string_view text) {
    return "<span class=\"" + std::string{kind} + "\">" + html_text(text) + "</span>";
  };
  // Why it is not there is for operators, not for whoever sees the page.
  if (served.state == ModelState::loading) return state("away", "it is being loaded");
  if (!served.serving) return state("away", "it is not loaded");
  if (status == nullptr) return state("away", "it has ended");
  if (!status->model.device().ready()) return state("away", "its device is lost");
  if (status->status.draining) return state("away", "it accepts no requests");
  return state("ready", "ready");
}

std::string batches_of(const ServingStatus& status) {
  if (!status.joins) return "one request at a time: " + html_text(status.reason);
  return "up to " + std::to_string(status.batch_size) + " rows";
}

std::string models_table(const ServedModels::Map& models, std::span<const ModelStatus> statuses) {
  Table table{"Model"};
  for (const auto& [name, served] : models)
    for (const auto& [number, version] : served.versions) {
      const std::string label = std::to_string(number);
      const auto found = std::ranges::find_if(statuses, [&](const ModelStatus& one) {
        return one.name == name && one.version == label;
      });
      const ModelStatus* const status = found == statuses.end() ? nullptr : &*found;
      table.add(name,
                std::array<Cell, 6>{
                    Cell{"Version", label, false}, Cell{"State", state_of(version, status), false},
                    Cell{"Inputs", status ? signature(status->model.inputs()) : "", false},
                    Cell{"Outputs", status ? signature(status->model.outputs()) : "", false},
                    Cell{"Batches", status ? batches_of(status->status) : "", false},
                    Cell{"Device", status ? html_text(status->model.device().name()) : "", false}});
    }
  return table.take();
}

std::string load_table(std::span<const ModelStatus> statuses) {
  Table table{"Model"};
  for (const ModelStatus& one : statuses) {
    const ServingStatus& status = one.status;
    const ServingTotals& totals = status.totals;
    const double batches = static_cast<double>(std::max<std::uint64_t>(totals.batches, 1));
    const std::uint64_t others = totals.failed + totals.cancelled + totals.expired + totals.refused;
    table.add(one.name,
              std::array<Cell, 9>{
                  Cell{"Version", one.version, false},
                  Cell{"Requests/s", number(status.requests_per_second, 1)},
                  Cell{"Waiting", std::to_string(status.queued)},
                  Cell{"Batches now", std::to_string(status.running)},
                  Cell{"Rows a batch", number(static_cast<double>(totals.rows) / batches, 1)},
                  Cell{"In the queue, p50 / p99", quantiles(status.times.queue)},
                  Cell{"In all, p50 / p99", quantiles(status.times.request)},
                  Cell{"Answered", std::to_string(totals.answered)},
                  Cell{"Without a result", std::to_string(others)}});
  }
  return table.take();
}

std::string policy(const std::string& nonce) {
  return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
         "'; connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'";
}

}  // namespace

HttpAnswerPtr page_answer(const ServedModels::Map& models, std::span<const ModelStatus> statuses,
                          const std::string& base) {
  using Value = std::pair<std::string_view, std::string_view>;
  const std::string nonce = made_nonce();
  const std::string safe_base = html_text(base);
  const std::string table = models_table(models, statuses);
  const std::string load = load_table(statuses);
  const std::array values{Value{"nonce", nonce},     Value{"style", page_css},
                          Value{"script", page_js},  Value{"base", safe_base},
                          Value{"version", version}, Value{"models", table},
                          Value{"load", load}};
  return std::make_shared<const HttpAnswer>(
      HttpAnswer{.content_type = "text/html; charset=utf-8",
                 .headers = {{"Content-Security-Policy", policy(nonce)},
                             {"X-Content-Type-Options", "nosniff"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cache-Control", "no-store"}},
                 .body = filled(page_html, values)});
}

}  // namespace stoker::serve::http
