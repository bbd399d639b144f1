// ONNX models: loaded from files, run with inputs of any size that they allow, and written. Component Stoker::onnx.
#pragma once

#include "stoker/api/onnx/core/call.hpp"
#include "stoker/api/onnx/core/known.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/onnx/core/value.hpp"
#include "stoker/api/onnx/exporting/save.hpp"
#include "stoker/api/onnx/run/model.hpp"
