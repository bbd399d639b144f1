// A Stream over a stream of Asio. Included where such streams are made only: what Beast writes with is much to compile.
//
// Threads: as Stream.
#pragma once

#include <boost/asio/write.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "stoker/api/serve/http/server/stream.hpp"

namespace stoker::serve::http {

template <class Next> class StreamOf : public Stream {
 public:
  template <class... Arguments>
  explicit StreamOf(Arguments&&... arguments) : next_{std::forward<Arguments>(arguments)...} {}

  boost::asio::any_io_executor executor() override { return next_.get_executor(); }
  void read(boost::asio::mutable_buffer into, User user) override {
    next_.async_read_some(
        into, [user = std::move(user)](const boost::system::error_code& failure,
                                       std::size_t bytes) { user->has_read(failure, bytes); });
  }
  void write(Response& response, User user) override {
    boost::beast::http::async_write(next_, response, Told{std::move(user)});
  }
  void write(boost::asio::const_buffer bytes, User user) override {
    boost::asio::async_write(next_, bytes, Told{std::move(user)});
  }

 protected:
  Next& next() noexcept { return next_; }

 private:
  struct Told {
    User user;
    void operator()(const boost::system::error_code& failure, std::size_t) const noexcept {
      user->has_written(failure);
    }
  };
  Next next_;
};

}  // namespace stoker::serve::http
