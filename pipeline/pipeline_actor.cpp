#include "stoker/pipeline/pipeline_actor.hpp"

#include <algorithm>
#include <utility>

namespace stoker {

std::optional<Result<void>> PipelineActor::run_at_once(const RunPipeline& run) {
  if (!std::exchange(asked_direct_, true)) direct_ = DirectRun::make(*plan_, device_->shell());
  if (!direct_) return std::nullopt;
  for (const std::shared_ptr<BufferState>& buffer : *run.binding)
    if (!buffer->memory) return std::nullopt;
  return device_->shell().run_at_once(*run.command, direct_->bind(*run.binding), *run.binding);
}

void PipelineActor::on(RunPipeline run) {
  const std::optional<Result<void>> ran = run_at_once(run);
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
  } else {
    // Whoever reads what it would have written fails with it.
    run.command->work.replay =
        std::make_shared<Replay>(Replay{.plan = plan_->replay, .bound = run.binding, .arena = {}});
    refused = chosen.error();
  }
  device_->shell().submit(std::move(run.command), std::move(refused));
  if (chosen && chosen->passing_arena) device_->shell().release(chosen->passing_arena);
}

Result<PipelineActor::Chosen> PipelineActor::replay_for(const RunPipeline& run) {
  const auto is_idle = [](const auto& replay) { return !replay->busy; };
  auto chosen = std::ranges::find_if(
      kept_, [&](const auto& replay) { return is_idle(replay) && replay->bound == run.binding; });
  if (chosen != kept_.end()) return Chosen{*chosen, nullptr};
  // Better to use the arena of another than to hold one more of them.
  const bool full = kept_.size() >= max_idle;
  if (run.keep && full) chosen = std::ranges::find_if(kept_, is_idle);
  if (chosen != kept_.end()) {
    (*chosen)->bound = run.binding;
    (*chosen)->moved = true;
    return Chosen{*chosen, nullptr};
  }
  bool keep = run.keep && !full;
  auto made = make_arena(keep);
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
  if (keep) kept_.push_back(replay);
  return Chosen{std::move(replay), keep ? nullptr : std::move(arena)};
}

Result<std::shared_ptr<BufferState>> PipelineActor::make_arena(bool keep) const {
  const auto bytes = plan_->arena.bytes;
  if (bytes == 0) return std::shared_ptr<BufferState>{};
  const TensorSpec spec{DType::u8, Shape{static_cast<std::int64_t>(bytes)}};
  DeviceShell& shell = device_->shell();
  const bool late = !keep && bytes >= MemoryPool::large_bytes;
  return late ? shell.make_late_buffer(spec, "pipeline") : shell.make_buffer(spec, "pipeline");
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
  const auto is_idle = [](const auto& replay) { return !replay->busy; };
  return std::erase_if(kept_, is_idle) + std::erase_if(spare_, is_idle);
}

}  // namespace stoker
