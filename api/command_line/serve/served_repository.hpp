// The model repository of `stoker serve`: --repository, --control, --load-model.
//
// Threads: one at a time; load() blocks. Errors are thrown.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/command_line/words/serve_words.hpp"
#include "stoker/api/serve/repository/model_repository.hpp"

namespace stoker::command_line {

/// Looks at a repository again and again. Destroy it when its executor has stopped. The repository outlives it.
class RepositoryPoll {
 public:
  RepositoryPoll(const boost::asio::any_io_executor& executor, const ModelRepository& repository,
                 std::chrono::nanoseconds interval);

  RepositoryPoll(const RepositoryPoll&) = delete;
  RepositoryPoll& operator=(const RepositoryPoll&) = delete;

 private:
  void wait();

  boost::asio::steady_timer timer_;
  const ModelRepository* repository_;
  const std::chrono::nanoseconds interval_;
  Future<void> running_ = make_ready_future();
};

class ServedRepository {
 public:
  using Describe = std::function<void(const std::string& name, const Serving& serving)>;

  /// Makes the names known. Throws not_found if there is no such directory, or no model of a name in `words.load`.
  ServedRepository(const System& system, std::shared_ptr<ServedModels> served,
                   const ServeWords& words, ModelRepositoryOptions options);

  /// The repository if clients may control it, else null.
  [[nodiscard]] std::shared_ptr<const ModelRepository> for_clients() const;
  /// Loads what is to be loaded at the start, until `stopped`, and describes each version. Throws what a model throws
  /// that is not loaded; under --control poll it is only told.
  void load(const Describe& describe, const Future<void>& stopped) const;
  void start_poll(const boost::asio::any_io_executor& executor,
                  std::optional<RepositoryPoll>& poll) const;

 private:
  const ServeWords* words_;
  std::shared_ptr<ServedModels> served_;
  std::shared_ptr<const ModelRepository> repository_;
  std::vector<std::string> names_;  ///< that are loaded at the start
};

}  // namespace stoker::command_line
