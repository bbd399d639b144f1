#include "served_repository.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

#include "stoker/api/command_line/output.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::command_line {
namespace {

/// Throws not_found for a name that is not there.
std::vector<std::string> names_to_load(const ServeWords& words,
                                       const std::vector<std::string>& there) {
  const bool is_all =
      words.control != "explicit" || std::ranges::find(words.load, "*") != words.load.end();
  for (const std::string& name : words.load) {
    if (name == "*" || std::ranges::find(there, name) != there.end()) continue;
    const std::vector<std::string_view> known{there.begin(), there.end()};
    throw Error{"serve",
                ErrorCode::not_found,
                "there is no model '" + name + "' in the repository" + did_you_mean(name, known),
                {{"model", name}}};
  }
  return is_all ? there : words.load;
}

}  // namespace

RepositoryPoll::RepositoryPoll(const boost::asio::any_io_executor& executor,
                               const ModelRepository& repository, std::chrono::nanoseconds interval)
    : timer_{executor}, repository_{&repository}, interval_{interval} {
  wait();
}

void RepositoryPoll::wait() {
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(interval_));
  timer_.async_wait([this](const boost::system::error_code& failure) {
    if (failure) return;
    // The last look may still load a model.
    try {
      if (running_.ready()) running_ = repository_->poll();
    } catch (const Error& error) {
      log_error("the repository is not looked at", {{"error", error.what()}});
    }
    wait();
  });
}

ServedRepository::ServedRepository(const System& system, std::shared_ptr<ServedModels> served,
                                   const ServeWords& words, ModelRepositoryOptions options)
    : words_{&words}, served_{std::move(served)} {
  repository_ = std::make_shared<const ModelRepository>(system, served_, std::move(options));
  const bool loads_all = words.control != "explicit";
  names_ = names_to_load(
      words, repository_->look(loads_all ? ModelState::loading : ModelState::unavailable).get());
}

std::shared_ptr<const ModelRepository> ServedRepository::for_clients() const {
  return words_->control == "explicit" ? repository_ : nullptr;
}

void ServedRepository::load(const Describe& describe, const Future<void>& stopped) const {
  for (const std::string& name : names_) {
    if (stopped.ready()) return;
    std::cout << printable(name) << ": loading" << std::endl;
    const Result<void> loaded = repository_->load(name).wait();
    const ServedModels::Snapshot models = served_->snapshot();
    if (const auto place = models->find(name); place != models->end())
      for (const auto& [number, version] : place->second.versions)
        if (version.serving)
          describe(name + " version " + std::to_string(number), *version.serving);
    if (loaded) continue;
    if (words_->control != "poll") throw loaded.error();
    std::cerr << "stoker: " << printable(name) << ": " << command_line::describe(loaded.error())
              << std::endl;
  }
}

void ServedRepository::start_poll(const boost::asio::any_io_executor& executor,
                                  std::optional<RepositoryPoll>& poll) const {
  if (words_->control != "poll") return;
  poll.emplace(executor, *repository_,
               std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::duration<double>{words_->poll_interval_s}));
}

}  // namespace stoker::command_line
