// Models over HTTP. Component Stoker::serve_http.
//
//     auto models = std::make_shared<ServedModels>();
//     models->set("faces", start_serving(system.supervisor(), model));
//     const HttpService service{system, models};
//
// With a server of Stoker's, on an io_context of the program:
//
//     HttpServer server{loop.get_executor(), service};
//     server.listen("127.0.0.1", 8000);
//
// Within a server of the program's own, for a request of Boost.Beast whose body is a string:
//
//     const HttpResponse response = co_await service.async_answer(std::move(request), use_awaitable);
//     co_await http::async_write(stream, response, use_awaitable);
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "stoker/api/serve/calls/access_tokens.hpp"
#include "stoker/api/serve/http/beast_message.hpp"
#include "stoker/api/serve/http/http_service.hpp"
#include "stoker/api/serve/http/security/tls_certificate.hpp"
#include "stoker/api/serve/http/server/http_server.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

template <class Request, class Token>
auto HttpService::async_answer(Request&& request, Token&& token) const {
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(request.body())>, std::string>,
                "the body of the request must be a string");
  const serve::http::ResponseForm form{.version = request.version(),
                                       .keep_alive = request.keep_alive(),
                                       .is_head = request.method_string() == "HEAD"};
  HttpQuestion question = serve::http::question_of(request.base());
  question.body = std::forward<Request>(request).body();
  return async_get(serve::http::respond(*this, std::move(question), form),
                   std::forward<Token>(token), OnCancel::cancel_work);
}

}  // namespace stoker
