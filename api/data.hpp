// Readers of data and batches for training (component Stoker::nn); see docs/training.md.
#pragma once

#include "stoker/api/data/csv.hpp"
#include "stoker/api/data/dataset.hpp"
#include "stoker/api/data/idx.hpp"
#include "stoker/api/data/image_folder.hpp"
#include "stoker/api/data/loader.hpp"
#include "stoker/api/data/normalize.hpp"
#include "stoker/api/data/npy_rows.hpp"
#include "stoker/api/data/row_options.hpp"
#include "stoker/api/data/split.hpp"
