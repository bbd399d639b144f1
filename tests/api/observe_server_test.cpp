// A program that is observed through a socket.
#include "stoker/api/observe/observe_server.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <fstream>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class ObserveServers : public testing::Test {
 protected:
  ObserveServers() {
    path = fs::temp_directory_path() / ("stoker_observe_" + std::to_string(getpid()));
    fs::remove(path);
    options.config.observe_socket = path;
  }
  ~ObserveServers() override { fs::remove(path); }

  [[nodiscard]] ErrorCode refusal() const {
    const auto seen = observe_at(path);
    return seen ? ErrorCode::internal : seen.error().code();
  }
  /// What a process leaves that was killed.
  void leave_a_dead_socket() const {
    boost::asio::io_context loop;
    const boost::asio::local::stream_protocol::acceptor dead{loop, path.string()};
  }

  LogCapture log;
  fs::path path;
  SystemOptions options;
};

TEST_F(ObserveServers, answer_as_often_as_they_are_asked) {
  const System system{options};
  static_cast<void>(system.device("null"));
  for (int i = 0; i < 3; ++i) {
    const auto seen = observe_at(path);
    ASSERT_TRUE(seen) << seen.error().what();
    EXPECT_EQ(seen->pid, static_cast<std::uint64_t>(getpid()));
    EXPECT_EQ(seen->devices.at(0).name, "null");
    EXPECT_EQ(seen->tree->children.at(0).id, "device null");
  }
}

TEST_F(ObserveServers, are_for_the_same_user_only) {
  const mode_t before = umask(0);
  const System system{options};
  umask(before);
  struct stat found {};
  ASSERT_EQ(lstat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(ObserveServers, leave_nothing_behind) {
  { const System system{options}; }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(refusal(), ErrorCode::not_found);
  const System stopped{options};
  stopped.stop();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ObserveServers, replace_what_a_dead_process_left) {
  leave_a_dead_socket();
  ASSERT_TRUE(fs::exists(path));
  EXPECT_EQ(refusal(), ErrorCode::not_found);
  const System system{options};
  EXPECT_TRUE(observe_at(path));
}

TEST_F(ObserveServers, leave_the_socket_of_another_system_alone) {
  const System first{options};
  static_cast<void>(first.device("null"));
  { const System second{options}; }
  EXPECT_TRUE(log.contains("the system cannot be observed"));
  EXPECT_TRUE(log.contains("another system listens there"));
  const auto seen = observe_at(path);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->devices.size(), 1U);
}

TEST_F(ObserveServers, leave_a_file_alone_that_is_no_socket) {
  std::ofstream{path} << "precious";
  { const System system{options}; }
  EXPECT_TRUE(log.contains("no socket"));
  EXPECT_EQ(fs::file_size(path), 8U);
}

TEST_F(ObserveServers, do_not_remove_what_took_their_place) {
  {
    const System system{options};
    fs::remove(path);
    std::ofstream{path} << "new";
  }
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(ObserveServers, a_path_that_is_too_long_or_nowhere_stops_no_program) {
  options.config.observe_socket = std::string(200, 'x');
  const System long_one{options};
  EXPECT_TRUE(log.contains("too long"));
  options.config.observe_socket = "/nowhere/at/all";
  const System nowhere{options};
  EXPECT_TRUE(log.contains("cannot listen"));
}

TEST_F(ObserveServers, answer_while_the_hosts_loop_does_not_run) {
  boost::asio::io_context loop;
  use_event_loop(options, loop.get_executor());
  {
    const System system{options};
    static_cast<void>(system.device("null"));
    const auto seen = observe_at(path);
    ASSERT_TRUE(seen) << seen.error().what();
    EXPECT_EQ(seen->devices.at(0).name, "null");
    EXPECT_EQ(seen->tree->no_answer, "no answer in time");
  }
  loop.run();
  options = {};  // they name the loop
}

TEST_F(ObserveServers, one_who_does_not_read_is_no_harm) {
  const System system{options};
  boost::asio::io_context loop;
  boost::asio::local::stream_protocol::socket silent{loop};
  silent.connect(path.string());
  EXPECT_TRUE(observe_at(path));
}

TEST_F(ObserveServers, a_forked_child_does_not_listen) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
  // A program that forks and dies; its child says that it lives, until the test closes a pipe.
  std::array<int, 2> life{};
  std::array<int, 2> sign{};
  ASSERT_EQ(pipe(life.data()), 0);
  ASSERT_EQ(pipe(sign.data()), 0);
  char byte = 0;
  const pid_t program = fork();
  if (program == 0) {
    close(life[1]);
    alarm(60);
    auto system = std::make_unique<System>(options);
    if (fork() == 0) {
      alarm(60);
      system.reset();
      if (write(sign[1], &byte, 1) != 1) _exit(1);
      _exit(static_cast<int>(read(life[0], &byte, 1)));
    }
    _exit(observe_at(path) ? 0 : 1);
  }
  close(life[0]);
  close(sign[1]);
  int status = 0;
  waitpid(program, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the parent goes on answering";
  EXPECT_EQ(read(sign[0], &byte, 1), 1) << "the child can let go of the system";
  EXPECT_TRUE(fs::exists(path)) << "the child left the file alone";
  EXPECT_EQ(refusal(), ErrorCode::not_found);
  close(life[1]);
  close(sign[0]);
}

}  // namespace
}  // namespace stoker
