#include "stoker/pipeline/kernel_graph/pipeline_actor.hpp"

#include <algorithm>
#include <utility>

#include "stoker/actors/device/device_client.hpp"

namespace stoker {

PipelineActor::PipelineActor(std::shared_ptr<const PipelinePlan> plan,
                             std::shared_ptr<DeviceClient> device)
    : plan_{std::move(plan)},
      device_{std::move(device)},
      arenas_{device_->services().get<KeptArenas>()} {
  device_->pipelines().fetch_add(1, std::memory_order_relaxed);
}

PipelineActor::~PipelineActor() {
  for (const auto& one : kept_)
    if (const auto replay = one.lock()) arenas_->drop(*replay);
  device_->pipelines().fetch_sub(1, std::memory_order_relaxed);
}

std::optional<Result<void>> PipelineActor::run_at_once(const RunPipeline& run) {
  if (plan_->cost_ns > at_once_ns) return std::nullopt;
  if (!std::exchange(asked_direct_, true)) direct_ = InlineRun::make(*plan_, device_->scheduler());
  if (!direct_) return std::nullopt;
  for (const std::shared_ptr<BufferState>& buffer : *run.binding)
    if (!buffer->memory) return std::nullopt;
  return device_->scheduler().run_at_once(*run.command, direct_->bind(std::span{*run.binding}),
                                          *run.binding);
}

void PipelineActor::on(RunPipeline run) {
  std::optional<Result<void>> ran;
  try {
    ran = run_at_once(run);
  } catch (const std::bad_alloc&) {
    ran = Result<void>{error_from_current_exception("pipeline")};
  }
  if (ran && *ran) return;
  auto chosen = [&]() -> Result<Chosen> {
    if (ran) return ran->error();
    if (run.command->must_end()) return *run.command->cancel_reason();
    try {
      return replay_for(run);
    } catch (const std::exception&) {
      return error_from_current_exception("pipeline");
    }
  }();
  std::optional<Error> refused;
  if (chosen) {
    run.command->work.replay = std::move(chosen->replay);
    run.command->work.replay->busy = true;
    run.command->work.replay->runs_again = run.runs_again;
  } else
    try {
      // Whoever reads what it would have written fails with it.
      run.command->work.replay = std::make_shared<Replay>(
          Replay{.plan = plan_->replay, .bound = run.binding, .arena = {}});
      refused = chosen.error();
    } catch (const std::bad_alloc&) {  // not even for that
      return fail_unsent(*run.command, chosen.error());
    }
  device_->scheduler().submit(run.command, std::move(refused));
  if (chosen && chosen->passing_arena) device_->scheduler().release(*chosen->passing_arena);
}

Result<PipelineActor::Chosen> PipelineActor::replay_for(const RunPipeline& run) {
  forget_dropped();
  auto chosen = kept([&](const Replay& one) { return !one.busy && one.bound == run.binding; });
  // Better to use the arena of another than to hold one more of them.
  const bool full = kept_.size() >= max_idle;
  if (!chosen && run.keep && full) {
    chosen = kept([](const Replay& one) { return !one.busy; });
    if (chosen) {
      chosen->bound = run.binding;
      chosen->moved = true;
    }
  }
  if (chosen) {
    arenas_->use(*chosen);
    return Chosen{std::move(chosen), nullptr};
  }
  bool keep = run.keep && !full;
  auto made = make_arena(keep);
  // What others keep, and do not use now, is rather given to those who run.
  if (!made && made.error().code() == ErrorCode::out_of_memory && arenas_->drop_idle())
    made = make_arena(keep);
  if (!made && keep && made.error().code() == ErrorCode::out_of_memory) {
    // What is in flight may give some back: the run waits for that, and leaves nothing for the next.
    keep = false;
    made = make_arena(keep);
  }
  STOKER_ASSIGN(std::shared_ptr<BufferState> arena, std::move(made));
  std::shared_ptr<Replay> replay = keep ? std::make_shared<Replay>() : spare();
  replay->plan = plan_->replay;
  replay->bound = run.binding;
  replay->arena = arena;
  replay->passing = !keep;
  replay->moved = true;
  if (keep) {
    const std::uint64_t limit =
        device_->scheduler().pool().stats().budget / KeptArenas::part_of_budget;
    kept_.push_back(replay);
    arenas_->keep(replay, limit);
  }
  return Chosen{std::move(replay), keep ? nullptr : std::move(arena)};
}

void PipelineActor::forget_dropped() {
  std::erase_if(kept_, [](const auto& one) { return one.expired(); });
}

template <class Wanted> std::shared_ptr<Replay> PipelineActor::kept(Wanted&& wanted) const {
  for (const auto& one : kept_)
    if (auto replay = one.lock(); replay && wanted(*replay)) return replay;
  return nullptr;
}

Result<std::shared_ptr<BufferState>> PipelineActor::make_arena(bool keep) const {
  const auto bytes = plan_->arena.bytes;
  if (bytes == 0) return std::shared_ptr<BufferState>{};
  const TensorSpec spec{DType::u8, Shape{static_cast<std::int64_t>(bytes)}};
  CommandScheduler& scheduler = device_->scheduler();
  const bool late = !keep && bytes >= MemoryPool::large_bytes;
  return late ? scheduler.make_late_buffer(spec, "pipeline")
              : scheduler.make_buffer(spec, "pipeline");
}

std::shared_ptr<Replay> PipelineActor::spare() {
  const auto idle = std::ranges::find_if(spare_, [](const auto& replay) { return !replay->busy; });
  if (idle != spare_.end()) return *idle;
  auto made = std::make_shared<Replay>();
  if (spare_.size() < max_spare) spare_.push_back(made);
  return made;
}

std::size_t PipelineActor::on(TrimPipeline) {
  direct_.reset();
  asked_direct_ = false;
  forget_dropped();
  const std::size_t of_kept = std::erase_if(kept_, [&](const auto& one) {
    const std::shared_ptr<Replay> replay = one.lock();
    if (replay->busy) return false;
    arenas_->drop(*replay);
    return true;
  });
  return of_kept + std::erase_if(spare_, [](const auto& replay) { return !replay->busy; });
}

}  // namespace stoker
