#include "stoker/pipeline/onnx/reading/entry_reader.hpp"

namespace stoker::onnx {

Metadata::value_type read_entry(Reading& reading, Wire::Bytes message) {
  reading.count_item();
  Metadata::value_type entry;
  for (Wire wire{message, reading.progress}; wire.next();) {
    if (wire.number() == 1) entry.first = wire.text();
    if (wire.number() == 2) entry.second = wire.text();
  }
  return entry;
}

}  // namespace stoker::onnx
