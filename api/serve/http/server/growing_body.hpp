// The body of a request for Boost.Beast: a string that grows as bytes come. Beast's own takes the memory of all that
// Content-Length promises at once.
//
// Threads: as a value.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <string>

namespace stoker::serve::http {

struct GrowingBody {
  using value_type = std::string;
  static std::uint64_t size(const value_type& body) noexcept { return body.size(); }

  /// What Beast asks of the reader of a body.
  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(boost::beast::http::header<isRequest, Fields>&, value_type& body) noexcept
        : body_{body} {}
    void init(const boost::optional<std::uint64_t>& length,
              boost::beast::error_code& failure) noexcept {
      failure = {};
      if (length) length_ = *length;
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& failure) {
      failure = {};
      std::size_t bytes = 0;
      for (const boost::asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        make_room_for(buffer.size());
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        bytes += buffer.size();
      }
      return bytes;
    }
    void finish(boost::beast::error_code& failure) noexcept { failure = {}; }

   private:
    /// Twice as much as there was, and no more than will come.
    void make_room_for(std::size_t bytes) {
      const std::size_t needed = body_.size() + bytes;
      if (needed <= body_.capacity()) return;
      const std::uint64_t twice = 2 * std::uint64_t{body_.capacity()};
      body_.reserve(std::max<std::uint64_t>(needed, std::min(twice, length_)));
    }

    value_type& body_;
    std::uint64_t length_ = ~std::uint64_t{0};
  };
};

}  // namespace stoker::serve::http
