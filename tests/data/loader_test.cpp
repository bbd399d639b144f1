// Batches: their order, what is read ahead, errors on the way, and being dropped.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <future>
#include <numeric>

#include "stoker/api/data/loader.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using Numbers = std::vector<std::int64_t>;

class Loaders : public Tensors {
 protected:
  /// Row i: the number i twice. `before` is called with it on the worker's thread.
  static Dataset numbers(std::int64_t size, std::function<void(std::int64_t)> before = {}) {
    return dataset_from_function(size, {{{DType::s64, {}}}, {{DType::s64, {}}}},
                                 [before](std::int64_t row, const RowsInto& into) {
                                   if (before) before(row);
                                   std::memcpy(into.inputs[0].data(), &row, sizeof row);
                                   std::memcpy(into.targets[0].data(), &row, sizeof row);
                                 });
  }
  /// The rows of each batch to come.
  static std::vector<Numbers> all(Epoch epoch) {
    std::vector<Numbers> batches;
    for (const Batch& batch : epoch) {
      batches.push_back(batch.inputs[0].to_vector<std::int64_t>());
      EXPECT_EQ(batch.targets[0].to_vector<std::int64_t>(), batches.back()) << "pairs";
      EXPECT_EQ(batch.rows, static_cast<std::int64_t>(batches.back().size()));
    }
    return batches;
  }
  static Numbers joined(const std::vector<Numbers>& batches) {
    Numbers rows;
    for (const Numbers& batch : batches) rows.insert(rows.end(), batch.begin(), batch.end());
    return rows;
  }
};

TEST_F(Loaders, by_default_batches_of_32_are_shuffled_and_the_last_may_be_smaller) {
  const Loader loader{numbers(70)};
  EXPECT_EQ(loader.batches(), 3);
  const auto batches = all(loader.epoch(0));
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].size(), 32U);
  EXPECT_EQ(batches[2].size(), 6U);
  Numbers rows = joined(batches);
  EXPECT_FALSE(std::ranges::is_sorted(rows));
  std::ranges::sort(rows);
  Numbers expected(70);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(rows, expected) << "each row once";
}

TEST_F(Loaders, without_shuffle_the_order_stays_in_every_epoch) {
  const Loader loader{numbers(5), {.batch_size = 2, .shuffle = false}};
  const std::vector<Numbers> expected{{0, 1}, {2, 3}, {4}};
  EXPECT_EQ(all(loader.epoch(0)), expected);
  EXPECT_EQ(all(loader.epoch(1)), expected);
}

TEST_F(Loaders, drop_last_leaves_the_smaller_batch_out) {
  const LoaderOptions options{.batch_size = 2, .shuffle = false, .drop_last = true};
  EXPECT_EQ(all(Loader{numbers(5), options}.epoch(0)), (std::vector<Numbers>{{0, 1}, {2, 3}}));
  EXPECT_EQ(all(Loader{numbers(4), options}.epoch(0)).size(), 2U) << "a full one is kept";
  EXPECT_TRUE(all(Loader{numbers(1), options}.epoch(0)).empty());
}

TEST_F(Loaders, a_batch_larger_than_the_data_gives_one_batch) {
  EXPECT_EQ(all(Loader{numbers(3), {.batch_size = 100}}.epoch(0)).size(), 1U);
}

TEST_F(Loaders, seed_and_epoch_decide_the_order_and_workers_do_not) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch, std::int64_t prefetch,
                        std::int64_t workers) {
    return all(Loader{numbers(100),
                      {.batch_size = 7, .seed = seed, .prefetch = prefetch, .workers = workers}}
                   .epoch(epoch));
  };
  const auto expected = order(1, 4, 0, 1);
  EXPECT_EQ(order(1, 4, 2, 1), expected);
  EXPECT_EQ(order(1, 4, 5, 4), expected);
  EXPECT_EQ(order(1, 4, 1000, 8), expected);
  EXPECT_NE(order(1, 5, 2, 1), expected) << "a new order every epoch";
  EXPECT_NE(order(2, 4, 2, 1), expected);
}

TEST_F(Loaders, a_loader_without_a_seed_draws_one_and_tells_it) {
  const Loader loader{numbers(50)};
  EXPECT_EQ(all(loader.epoch(1)), all(loader.epoch(1)));
  EXPECT_EQ(all(Loader{numbers(50), {.seed = loader.seed()}}.epoch(1)), all(loader.epoch(1)));
}

TEST_F(Loaders, resuming_gives_exactly_the_batches_that_are_missing) {
  const Loader loader{numbers(20), {.batch_size = 3, .seed = 9, .workers = 2}};
  const auto whole = all(loader.epoch(2));
  Epoch epoch = loader.epoch(2);
  EXPECT_EQ(epoch.position(), (LoaderPosition{2, 0}));
  static_cast<void>(epoch.next());
  static_cast<void>(epoch.next());
  const LoaderPosition where = epoch.position();
  EXPECT_EQ(where, (LoaderPosition{2, 2}));
  const auto rest = all(loader.resume(where));
  EXPECT_EQ(rest, (std::vector<Numbers>{whole.begin() + 2, whole.end()}));
}

TEST_F(Loaders, the_position_after_the_last_batch_is_the_next_epoch) {
  for (const bool drop : {false, true}) {
    const Loader loader{numbers(5), {.batch_size = 2, .drop_last = drop}};
    Epoch epoch = loader.epoch(7);
    while (epoch.next()) {
    }
    EXPECT_EQ(epoch.position(), (LoaderPosition{8, 0})) << drop;
    EXPECT_FALSE(epoch.next()) << "the end stays the end";
  }
}

TEST_F(Loaders, no_more_than_prefetch_batches_are_begun_ahead) {
  std::atomic<std::int64_t> begun{0};
  std::promise<void> third;
  const Loader loader{numbers(100,
                              [&](std::int64_t) {
                                if (++begun == 3) third.set_value();
                              }),
                      {.batch_size = 1, .prefetch = 3, .workers = 2}};
  {
    const Epoch epoch = loader.epoch(0);
    third.get_future().wait();
  }  // joined: nothing is begun any more
  EXPECT_EQ(begun, 3);
}

TEST_F(Loaders, workers_work_at_the_same_time) {
  std::barrier meeting{2};  // a single worker would wait here for ever
  const Loader loader{numbers(2, [&](std::int64_t) { meeting.arrive_and_wait(); }),
                      {.batch_size = 1, .prefetch = 2, .workers = 2}};
  EXPECT_EQ(all(loader.epoch(0)).size(), 2U);
}

TEST_F(Loaders, an_epoch_may_be_left_at_any_batch) {
  const Loader loader{numbers(50), {.batch_size = 2, .prefetch = 4, .workers = 3}};
  for (int leave = 0; leave < 20; ++leave) {
    int count = 0;
    for (const Batch& batch : loader.epoch(leave)) {
      EXPECT_EQ(batch.rows, 2);
      if (count++ == leave) break;
    }
  }
  EXPECT_THROW(for (const Batch& batch
                    : loader.epoch(0)) throw std::runtime_error{std::to_string(batch.rows)};
               , std::runtime_error);
  Epoch moved = loader.epoch(0);
  moved = loader.epoch(1);
  EXPECT_EQ(joined(all(std::move(moved))).size(), 50U);
}

TEST_F(Loaders, a_readers_error_arrives_in_its_batchs_place_and_ends_the_epoch) {
  for (const std::int64_t prefetch : {0, 1, 6}) {
    const Loader loader{numbers(10,
                                [](std::int64_t row) {
                                  if (row == 5) throw Error{"disk", ErrorCode::io_error, "gone"};
                                }),
                        {.batch_size = 2, .shuffle = false, .prefetch = prefetch, .workers = 3}};
    Epoch epoch = loader.epoch(0);
    EXPECT_TRUE(epoch.next());
    EXPECT_TRUE(epoch.next());
    const Error error = error_of([&] { return epoch.next(); });
    EXPECT_EQ(error.code(), ErrorCode::io_error);
    EXPECT_EQ(error.op(), "disk");
    EXPECT_FALSE(epoch.next()) << "nothing comes after it";
    EXPECT_EQ(epoch.position(), (LoaderPosition{0, 2})) << "the batch that failed";
  }
}

TEST_F(Loaders, map_rows_changes_bytes_and_dtypes_before_tensors_are_made) {
  const auto halve = [](HostRows& rows, const LoaderPosition&) {
    HostArray& x = rows.inputs[0];
    std::vector<float> halves;
    for (const std::int64_t value : stoker::detail::converted<std::int64_t>(x.bytes, x.spec))
      halves.push_back(static_cast<float>(value) / 2);
    const auto bytes = std::as_bytes(std::span{halves});
    x = {{DType::f32, Shape{rows.rows}}, {bytes.begin(), bytes.end()}};
  };
  const Loader loader{numbers(3), {.shuffle = false, .map_rows = halve}};
  Epoch epoch = loader.epoch(0);
  expect_values<float>(epoch.next()->inputs[0], {3}, {0, 0.5, 1});
}

TEST_F(Loaders, map_takes_tensors_and_knows_where_it_is) {
  const auto shift = [](Batch batch, const LoaderPosition& where) {
    batch.inputs[0] = batch.inputs[0] + (100 * where.epoch + 10 * where.batch);
    return batch;
  };
  const Loader loader{numbers(3), {.batch_size = 2, .shuffle = false, .map = shift}};
  Epoch epoch = loader.epoch(4);
  expect_values<std::int64_t>(epoch.next()->inputs[0], {2}, {400, 401});
  expect_values<std::int64_t>(epoch.next()->inputs[0], {1}, {412});
}

TEST_F(Loaders, bad_options_and_positions_are_refused) {
  EXPECT_EQ(error_of([] {
              return Loader{numbers(3), {.batch_size = 0}};
            }).reason(),
            "batch_size must be at least 1, got 0");
  EXPECT_EQ(code_of([] {
              return Loader{numbers(3), {.prefetch = -1}};
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] {
              return Loader{numbers(3), {.workers = 0}};
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return Loader{numbers(0)}; }).reason(), "the dataset has no rows");
  const Loader loader{numbers(3), {.batch_size = 2}};
  EXPECT_EQ(code_of([&] { return loader.epoch(-1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return loader.resume({0, 3});
            }).reason(),
            "batch 3 of epoch 0; an epoch has 2");
}

}  // namespace
}  // namespace stoker::nn
