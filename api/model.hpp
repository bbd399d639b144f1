// Models of any kind behind one interface: ONNX files, Stoker's networks, scripts. Component
// Stoker::model.
#pragma once

#include "stoker/api/model/core/model.hpp"
#include "stoker/api/model/core/network_export.hpp"
#include "stoker/api/model/script/model_table.hpp"
