// The kinds of cases, each a source of its own: a family draws one case and records it.
#pragma once

#include "draw.hpp"
#include "record.hpp"

namespace stoker::compare {

void elementwise(Draw& draw, Record& record);
void reductions(Draw& draw, Record& record);
void orders(Draw& draw, Record& record);
void products(Draw& draw, Record& record);
void factorizations(Draw& draw, Record& record);
void complex_functions(Draw& draw, Record& record);
void programs(Draw& draw, Record& record);
void slopes(Draw& draw, Record& record);
void training(Draw& draw, Record& record);
void layers(Draw& draw, Record& record);
void image_layers(Draw& draw, Record& record);
void recurrent(Draw& draw, Record& record);
void attention(Draw& draw, Record& record);
void loss_functions(Draw& draw, Record& record);
/// Extents beyond 65,535 and sums beyond 10^6.
void large(Draw& draw, Record& record);

}  // namespace stoker::compare
