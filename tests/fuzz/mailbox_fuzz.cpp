// A mailbox against two plain queues: nothing is lost or doubled, the order holds, signals come first,
// no more than its capacity is accepted, and what is kept takes no space and is never dropped.
#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "fuzz.hpp"
#include "stoker/runtime/queue/mailbox.hpp"

namespace stoker::fuzz::mailbox {
namespace {

struct Numbered final : Envelope {
  Numbered(int its_number, bool is_system) : number{its_number} { system = is_system; }
  int number;
};

class Machine {
 public:
  explicit Machine(std::uint32_t capacity) : mailbox_{capacity} {}
  ~Machine() { delete_all(mailbox_.close()); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void step(Decisions& decide) {
    act(decide);
    require(mailbox_.size() == space_taken(), "a mailbox counts what takes space");
  }

  void close() {
    if (idle_) static_cast<void>(wake());
    Envelope* chain = mailbox_.close();
    system_.insert(system_.end(), normal_.begin(), normal_.end());
    for (const int wanted : system_) {
      require(chain != nullptr, "closing hands out all that waited");
      const std::unique_ptr<Numbered> one{static_cast<Numbered*>(chain)};
      require(one->number == wanted, "closing hands out in order, signals first");
      chain = one->next;
    }
    require(chain == nullptr, "closing hands out no more than waited");
    Numbered late{0, false};
    require(mailbox_.push(&late) == PushResult::closed, "a closed mailbox refuses");
  }

 private:
  static void delete_all(Envelope* chain) {
    while (chain != nullptr) {
      const std::unique_ptr<Envelope> one{chain};
      chain = one->next;
    }
  }

  void act(Decisions& decide) {
    const std::size_t what = decide.below(13);
    if (what < 5) return push(what, decide.flag());
    // The rest is the reader's, who exists only while the mailbox is not idle.
    if (idle_ && !wake()) return;
    switch (what) {
      case 5: return pop();
      case 6: return pop_system();
      case 7: return take_first(decide.below(4));
      case 8:
        mailbox_.rescan();
        shown_ = 0;
        return;
      case 9: return take_if(decide.below(4));
      case 10: return trim();
      case 11: return append();
      default: return block(decide.flag());
    }
  }

  [[nodiscard]] bool wake() {
    const bool woken = mailbox_.claim();
    require(woken, "an idle mailbox can be claimed");
    idle_ = false;
    return woken;
  }

  [[nodiscard]] bool takes_space(int number) const { return !kept_.contains(number); }
  [[nodiscard]] std::size_t space_taken() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(normal_, [&](int number) { return takes_space(number); }));
  }

  void push(std::size_t how, bool system) {
    auto envelope = std::make_unique<Numbered>(next_++, system);
    const int number = envelope->number;
    const std::uint32_t before = mailbox_.size();
    const PushResult result = how == 0   ? mailbox_.push_over(envelope.get())
                              : how == 1 ? mailbox_.push_dropping(envelope.get())
                                         : mailbox_.push(envelope.get());
    if (result == PushResult::full) {
      require(!system && how != 0, "what is system or kept is never refused for want of space");
      // Fewer than a batch of those that were popped may still count.
      const std::uint32_t batch = std::max(mailbox_.capacity() / 8, 1U);
      require(before + batch > mailbox_.capacity() * (how == 1 ? 2 : 1),
              "a mailbox is full at its capacity only");
      return;
    }
    static_cast<void>(envelope.release());  // the mailbox's
    require(result == (idle_ ? PushResult::wake : PushResult::queued),
            "who finds the mailbox idle wakes its reader, nobody else");
    if (how >= 2 && !system)
      require(space_taken() < mailbox_.capacity(), "no more is accepted than there is room for");
    idle_ = false;
    if (how == 0) kept_.insert(number);
    (system ? system_ : normal_).push_back(number);
  }

  void append() {
    const int number = next_++;
    mailbox_.append(std::make_unique<Numbered>(number, false).release());
    kept_.insert(number);
    normal_.push_back(number);
  }

  void expect(Envelope* got, std::deque<int>& queue, std::size_t place) {
    const std::unique_ptr<Numbered> one{static_cast<Numbered*>(got)};
    require(one->number == queue[place], "messages come in the order in which they were sent");
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(place));
  }

  void pop() {
    Envelope* const got = mailbox_.pop();
    if (got == nullptr) {
      require(system_.empty() && normal_.empty(), "pop() finds what waits");
      return;
    }
    if (!system_.empty()) return expect(got, system_, 0);
    require(!normal_.empty(), "pop() finds no more than waits");
    expect(got, normal_, 0);
    if (shown_ > 0) --shown_;
  }

  void pop_system() {
    Envelope* const got = mailbox_.pop_system();
    require((got != nullptr) == !system_.empty(), "pop_system() finds signals, and them only");
    if (got != nullptr) expect(got, system_, 0);
  }

  /// Picks numbers that leave this rest.
  void take_first(std::size_t rest) {
    const auto picked = [&](int number) { return static_cast<std::size_t>(number) % 4 == rest; };
    Envelope* const got = mailbox_.take_first(
        [&](Envelope& one) { return picked(static_cast<Numbered&>(one).number); });
    const auto from =
        normal_.begin() + static_cast<std::ptrdiff_t>(std::min(shown_, normal_.size()));
    const auto wanted = std::find_if(from, normal_.end(), picked);
    require((got != nullptr) == (wanted != normal_.end()), "take_first() finds what it picks");
    shown_ = static_cast<std::size_t>(wanted - normal_.begin());
    if (got != nullptr) expect(got, normal_, shown_);
  }

  void take_if(std::size_t rest) {
    Envelope* chain = mailbox_.take_if([&](const Envelope& one) {
      return static_cast<std::size_t>(static_cast<const Numbered&>(one).number) % 4 == rest;
    });
    std::deque<int> kept;
    for (const int number : normal_) {
      if (static_cast<std::size_t>(number) % 4 != rest) {
        kept.push_back(number);
        continue;
      }
      require(chain != nullptr, "take_if() finds all that it picks");
      const std::unique_ptr<Numbered> one{static_cast<Numbered*>(chain)};
      require(one->number == number, "take_if() hands out in order");
      chain = one->next;
    }
    require(chain == nullptr, "take_if() takes no more than it picks");
    normal_ = kept;
    mailbox_.rescan();
    shown_ = 0;
  }

  void trim() {
    Envelope* chain = mailbox_.trim();
    while (chain != nullptr) {
      const std::unique_ptr<Numbered> one{static_cast<Numbered*>(chain)};
      chain = one->next;
      const auto oldest =
          std::ranges::find_if(normal_, [&](int number) { return takes_space(number); });
      require(oldest != normal_.end() && one->number == *oldest,
              "the oldest is dropped, and nothing that is kept");
      if (static_cast<std::size_t>(oldest - normal_.begin()) < shown_) --shown_;
      normal_.erase(oldest);
    }
    require(space_taken() <= mailbox_.capacity(), "no more is left than there is room for");
  }

  void block(bool keeping) {
    const bool done = keeping ? mailbox_.try_block_keeping() : mailbox_.try_block();
    if (done)
      require(system_.empty() && (keeping || normal_.empty()),
              "a reader with mail does not go idle");
    idle_ = done;
  }

  Mailbox mailbox_;
  std::deque<int> system_;
  std::deque<int> normal_;
  std::set<int> kept_;
  std::size_t shown_ = 0;  ///< of normal_, by take_first()
  int next_ = 1;
  bool idle_ = true;
};

}  // namespace

void run(Bytes bytes) {
  Decisions decide{bytes};
  Machine machine{static_cast<std::uint32_t>(decide.in(1, 40))};
  for (int steps = 0; !decide.empty() && steps < 400; ++steps) machine.step(decide);
  machine.close();
}

}  // namespace stoker::fuzz::mailbox
