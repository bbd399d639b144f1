#include "stoker/pipeline/onnx/reading/findings.hpp"

namespace stoker::onnx {

void Findings::add(std::string place, std::string text) {
  ++count_;
  if (kept_.size() < most_kept) kept_.push_back({std::move(place), std::move(text)});
}

void Findings::put_before(std::size_t first, const std::string& outer) {
  for (std::size_t i = first; i < kept_.size(); ++i)
    kept_[i].key = kept_[i].key.empty() ? outer : outer + ", " + kept_[i].key;
}

Error Findings::error(const std::string& file) const {
  std::string reason = count_ == 1 ? kept_.front().key + ": " + kept_.front().value
                                   : std::to_string(count_) + " things are wrong";
  std::vector<Detail> details{{"file", file}};
  details.insert(details.end(), kept_.begin(), kept_.end());
  if (count_ > kept_.size())
    details.push_back({"not listed", std::to_string(count_ - kept_.size())});
  return Error{"onnx", ErrorCode::invalid_argument, std::move(reason), std::move(details)};
}

}  // namespace stoker::onnx
