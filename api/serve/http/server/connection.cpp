#include "stoker/api/serve/http/server/connection.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <string_view>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/runtime/asio/future_asio.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t head_read_bytes = std::size_t{8} << 10;
constexpr std::size_t body_read_bytes = std::size_t{64} << 10;

std::string_view text_of(const boost::beast::flat_buffer& buffer) {
  const auto data = buffer.cdata();
  return {static_cast<const char*>(data.data()), data.size()};
}

/// `first`, and a second more for each `rate` bytes.
std::chrono::nanoseconds allowed(std::chrono::nanoseconds first, std::uint64_t bytes,
                                 std::uint64_t rate) {
  return first + std::chrono::seconds{bytes / std::max<std::uint64_t>(rate, 1)};
}

}  // namespace

Connection::Connection(std::unique_ptr<Stream> stream, std::shared_ptr<const ConnectionHost> host,
                       Origin origin)
    : host_{std::move(host)},
      options_{host_->options},
      origin_{std::move(origin)},
      stream_{std::move(stream)},
      timer_{stream_->executor()},
      buffer_{std::max(options_.header_bytes, options_.bytes_ahead) + 2 * body_read_bytes},
      reader_{options_, origin_.is_local} {}

Connection::~Connection() {
  for (const ExchangePtr& exchange : exchanges_)
    if (exchange->work.valid() && !exchange->answer) exchange->work.cancel();
  host_->connections->remove(this);
}

template <class F> void Connection::guard(F&& function) noexcept {
  if (closed_) return;
  try {
    function();
  } catch (const std::exception& error) {
    log_failure(LogLevel::error, "http connection failed", error);
    abandon();
  } catch (...) {
    abandon();
  }
}

template <class F> void Connection::run(F function) {
  asio::post(timer_.get_executor(),
             [self = shared_from_this(), function] { self->guard([&] { function(*self); }); });
}

void Connection::start(HttpAnswerPtr refused_with) {
  refused_with_ = std::move(refused_with);
  run([](Connection& self) {
    self.stream_->open(self.shared_from_this());
    self.arm();
  });
}

void Connection::has_opened(const error_code& failure) noexcept {
  guard([&] {
    if (failure) return abandon();
    opened_ = true;
    idle_since_ = Clock::now();
    if (refused_with_) refuse(refused_with_);
    read();
    write();
    arm();
  });
}

void Connection::refuse(HttpAnswerPtr answer) {
  auto exchange = std::make_shared<Exchange>(host_->bodies);
  exchange->began = Clock::now();
  exchange->complete = true;
  exchange->answer = std::move(answer);
  exchanges_.push_back(std::move(exchange));
  no_more_ = true;
}

void Connection::drain() {
  run([](Connection& self) {
    self.draining_ = true;
    if (self.is_drained() && !self.lingering_) self.linger();
  });
}

void Connection::refuse_rest() {
  run([](Connection& self) {
    self.draining_ = true;
    self.no_more_ = true;
    const HttpAnswerPtr late = unavailable("the server is ending");
    for (const ExchangePtr& exchange : self.exchanges_) {
      if (exchange->answer) continue;
      exchange->answer = late;
      exchange->complete = true;
      if (exchange->work.valid()) exchange->work.cancel();
    }
    if (self.exchanges_.empty()) return self.linger();
    self.write();
  });
}

void Connection::close() {
  run([](Connection& self) { self.abandon(); });
}

// Reading -----------------------------------------------------------------------------------------

std::size_t Connection::may_read() const {
  if (closed_ || ended_) return 0;
  const std::size_t most = is_receiving() ? body_read_bytes : head_read_bytes;
  if (no_more_) return most;  // to notice the end; what comes is dropped
  if (exchanges_.empty() || (exchanges_.size() == 1 && is_receiving())) return most;
  std::size_t ahead = buffer_.size();
  for (std::size_t i = 1; i < exchanges_.size(); ++i) ahead += exchanges_[i]->bytes;
  return ahead >= options_.bytes_ahead ? 0 : std::min(most, options_.bytes_ahead - ahead);
}

void Connection::read() {
  if (reading_) return;
  const std::size_t bytes = may_read();
  const bool was_paused = std::exchange(paused_, bytes == 0);
  if (paused_) return;
  if (was_paused) read_since_ = Clock::now();  // the client could not go on
  reading_ = true;
  stream_->read(buffer_.prepare(bytes), shared_from_this());
}

void Connection::has_read(const error_code& failure, std::size_t bytes) noexcept {
  reading_ = false;
  guard([&] {
    if (failure) return end_of_stream(failure);
    buffer_.commit(bytes);
    take_bytes();
    write();
    read();
    arm();
  });
}

void Connection::take_bytes() {
  using Progress = RequestReader::Progress;
  while (!no_more_) {
    // A request behind as many as may be ahead waits in the buffer.
    if (!is_receiving() && exchanges_.size() > options_.requests_ahead) return;
    std::size_t used = 0;
    const Progress progress = reader_.read(text_of(buffer_), used);
    buffer_.consume(used);
    if (progress == Progress::head) {
      take_head();
      if (is_refused_unread()) return take_refusal();
    }
    if (is_receiving()) exchanges_.back()->bytes += used;
    if (progress != Progress::refused && is_receiving() && !has_memory()) return take_refusal();
    switch (progress) {
      case Progress::more: return take_part();
      case Progress::head: break;
      case Progress::complete: take_request(); break;
      case Progress::refused: return take_refusal();
    }
  }
  buffer_.consume(buffer_.size());
}

void Connection::take_part() {
  const bool in_body = reader_.is_in_body();
  // All of a body is taken as it comes; what is left is a line about a chunk.
  if (in_body && buffer_.size() > options_.header_bytes) {
    reader_.refuse(400, "a line of the body is too long");
    return take_refusal();
  }
  const bool was_amid = std::exchange(amid_head_, !in_body && buffer_.size() > 0);
  if (amid_head_ && !was_amid) read_since_ = Clock::now();
}

bool Connection::is_refused_unread() {
  if (!reader_.has_body()) return false;  // then the connection can go on
  HttpAnswerPtr refused = host_->service.refusal_of(reader_.question());
  if (!refused) return false;
  Exchange& exchange = *exchanges_.back();
  if (!may_ask(exchange)) refused = exchange.answer;  // nor may it try tokens more often
  reader_.refuse(std::move(refused));
  return true;
}

bool Connection::has_memory() {
  BodyBudget::Share& body = exchanges_.back()->body;
  const bool may_come =
      reader_.body_bytes() > 0 || host_->bodies.has_room(reader_.promised_bytes());
  if (may_come && body.grow_to(reader_.body_bytes())) return true;
  reader_.refuse(unavailable("the bodies of all requests need too much memory"));
  return false;
}

void Connection::take_head() {
  amid_head_ = false;
  auto exchange = std::make_shared<Exchange>(host_->bodies);
  exchange->head = reader_.head();
  exchange->began = Clock::now();
  if (options_.on_answer) {
    exchange->method = reader_.question().method;
    exchange->target = reader_.question().target;
  }
  read_since_ = exchange->began;
  exchanges_.push_back(std::move(exchange));
}

bool Connection::may_ask(Exchange& exchange) const {
  using std::chrono::seconds;
  const auto wait = origin_.client ? origin_.client->ask(exchange.began) : seconds{0};
  if (wait <= wait.zero()) return true;
  const auto after = std::min(std::chrono::ceil<seconds>(wait), seconds{3600});
  exchange.answer = too_many("this client asks too often", static_cast<unsigned>(after.count()));
  return false;
}

void Connection::take_request() {
  const ExchangePtr exchange = exchanges_.back();
  exchange->complete = true;
  exchange->head.wants_continue = false;
  HttpQuestion question = reader_.take();
  // While it drains, a client that sends requests without end is told of the end by the first one.
  if (!exchange->head.form.keep_alive || draining_) no_more_ = true;
  if (!may_ask(*exchange)) return exchange->body.release();
  exchange->work = host_->service.answer(std::move(question));
  async_wait(exchange->work,
             asio::bind_executor(timer_.get_executor(), [self = shared_from_this(), exchange](
                                                            const Result<HttpAnswerPtr>& answer) {
               self->guard([&] { self->answered(*exchange, answer); });
             }));
}

void Connection::answered(Exchange& exchange, const Result<HttpAnswerPtr>& answer) {
  if (exchange.answer) return;  // with a refusal
  exchange.body.release();
  exchange.answer = answer ? *answer : failed(answer.error(), "");
  write();
}

void Connection::take_refusal() {
  if (!is_receiving()) take_head();
  exchanges_.back()->complete = true;
  exchanges_.back()->answer = reader_.refused_with();
  no_more_ = true;
  buffer_.consume(buffer_.size());
}

void Connection::end_of_stream(const error_code& failure) {
  const bool is_served_on = options_.half_close && failure == asio::error::eof;
  if (lingering_ || !is_served_on) return abandon();
  ended_ = true;
  no_more_ = true;
  if (is_receiving()) exchanges_.pop_back();
  if (exchanges_.empty() && !writing_) return abandon();
  arm();
}

// Writing -----------------------------------------------------------------------------------------

void Connection::write() {
  if (writing_ || closed_ || exchanges_.empty()) return;
  Exchange& oldest = *exchanges_.front();
  if (!oldest.answer) {
    if (oldest.head.wants_continue) write_continue();
    return;
  }
  writing_ = true;
  write_since_ = Clock::now();
  if (exchanges_.size() == 1 && (no_more_ || draining_)) oldest.head.form.keep_alive = false;
  response_.emplace(response_of(oldest.answer, oldest.head.form));
  serializer_.emplace(*response_);
  stream_->write(*serializer_, shared_from_this());
  arm();
}

void Connection::write_continue() {
  static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  exchanges_.front()->head.wants_continue = false;
  writing_ = true;
  writes_continue_ = true;
  write_since_ = Clock::now();
  stream_->write(asio::buffer(text), shared_from_this());
}

void Connection::has_written(const error_code& failure) noexcept {
  writing_ = false;
  const bool was_continue = std::exchange(writes_continue_, false);
  guard([&] {
    if (failure) return abandon();
    if (!was_continue) return written();
    read_since_ = Clock::now();
    write();
    arm();
  });
}

void Connection::written() {
  serializer_.reset();
  response_.reset();
  const ExchangePtr done = std::move(exchanges_.front());
  exchanges_.pop_front();
  if (exchanges_.empty()) idle_since_ = Clock::now();
  if (options_.on_answer)
    options_.on_answer(
        {.method = done->method,
         .target = done->target,
         .status = done->answer->status,
         .body_bytes = done->answer->body.size(),
         .taken = Clock::now() - done->began,
         .inference = done->answer->inference ? &*done->answer->inference : nullptr});
  if (!done->head.form.keep_alive) return linger();
  take_bytes();
  if (is_drained()) return linger();
  read();
  write();
  arm();
}

bool Connection::is_drained() const {
  return draining_ && exchanges_.empty() && !reader_.is_amid(buffer_.size());
}

void Connection::linger() {
  if (ended_ || !opened_) return abandon();
  for (const ExchangePtr& exchange : exchanges_)
    if (exchange->work.valid() && !exchange->answer) exchange->work.cancel();
  exchanges_.clear();
  lingering_ = true;
  no_more_ = true;
  write_since_ = Clock::now();
  stream_->end_writing(shared_from_this());
  read();
  arm();
}

void Connection::abandon() noexcept {
  closed_ = true;
  for (const ExchangePtr& exchange : exchanges_)
    if (exchange->work.valid() && !exchange->answer) exchange->work.cancel();
  exchanges_.clear();
  stream_->close();
  error_code ignored;
  timer_.cancel(ignored);
}

// Time --------------------------------------------------------------------------------------------

std::optional<Connection::Clock::time_point> Connection::due() const {
  if (lingering_) return write_since_ + options_.linger;
  if (!opened_) return idle_since_ + options_.header_timeout;
  std::optional<Clock::time_point> first;
  const auto at = [&](Clock::time_point time) { first = first ? std::min(*first, time) : time; };
  if (writing_) {
    const std::uint64_t bytes = response_ ? HttpAnswerBody::size(response_->body()) : 0;
    at(write_since_ + allowed(options_.body_timeout, bytes, options_.least_rate));
  }
  if (!reading_ || no_more_) return first;
  const bool client_waits = is_receiving() && exchanges_.back()->head.wants_continue;
  if (client_waits) return first;
  if (is_receiving())
    at(read_since_ + allowed(options_.body_timeout, reader_.body_bytes(), options_.least_rate));
  else if (reader_.is_amid(buffer_.size()) && exchanges_.size() <= options_.requests_ahead)
    at(read_since_ + options_.header_timeout);
  else if (exchanges_.empty())
    at(idle_since_ + options_.idle_timeout);
  return first;
}

void Connection::arm() {
  if (closed_) return;
  const std::optional<Clock::time_point> next = due();
  if (!next || (armed_ && *armed_ <= *next)) return;  // a timer that comes too early is armed again
  armed_ = next;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](error_code failure) {
    const std::shared_ptr<Connection> self = weak.lock();
    if (failure || !self) return;
    self->armed_.reset();
    self->guard([&] { self->expire(); });
  });
}

void Connection::expire() {
  const std::optional<Clock::time_point> time = due();
  if (!time || Clock::now() < *time) return arm();
  const bool is_amid = is_receiving() || reader_.is_amid(buffer_.size());
  if (lingering_ || writing_ || !is_amid) return abandon();
  reader_.refuse(408, "the request came too slowly");
  take_refusal();
  write();
  arm();
}

}  // namespace stoker::serve::http
