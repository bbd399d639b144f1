// The page of a service for people: its models, what they do now, and a form to try them.
//
// One document without any other resource. What scripts and styles may be in it says its content security policy, by
// a number that is another one each time. Without a script the tables are still there; with one they are renewed every
// two seconds.
//
// Threads: any; nothing blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/watch/model_status.hpp"

namespace stoker::serve::http {

/// `statuses`: of the models that are ready. `base`: what stands before /v2.
[[nodiscard]] HttpAnswerPtr page_answer(const ServedModels::Map& models,
                                        std::span<const ModelStatus> statuses,
                                        const std::string& base);

}  // namespace stoker::serve::http
