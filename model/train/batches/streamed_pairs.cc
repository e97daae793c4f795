#include "model/train/batches/streamed_pairs.h"

#include <algorithm>
#include <utility>

#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/cli/interrupt.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/data/training_features.h"

namespace semrank {
namespace {

// The texts of one batch: those that the stream knows by number, and its own
// behind them.
class BatchTexts {
 public:
  explicit BatchTexts(const TextInterner& known) : known_(known) {}

  TextId Number(const std::string& text) {
    const std::optional<TextId> id = known_.Find(text);
    return id ? *id : static_cast<TextId>(known_.size()) + own_.Intern(text);
  }
  const std::string& text(TextId id) const {
    return id < known_.size()
               ? known_.text(id)
               : own_.text(id - static_cast<TextId>(known_.size()));
  }

 private:
  const TextInterner& known_;
  TextInterner own_;
};

// The same that the drawer hands out.
std::int64_t EpochPairs(const PairStream& stream, const LossOptions& loss) {
  return loss.clicks == v1::CLICK_USE_REPEAT ? stream.num_clicks
                                             : stream.num_pairs;
}

int NumThreads(const TrainOptions& options) {
  const int threads =
      options.threads > 0 ? options.threads : NumUsableProcessors();
  // A batch is made in about a quarter of the time that a step takes.
  return std::max(1, threads / 4);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StreamedPairs>> StreamedPairs::Create(
    const TrainOptions& options, const TrainingData& data) {
  SEMRANK_ASSIGN_OR_RETURN(PairDrawer drawer,
                           PairDrawer::Create(options, data));
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<StreamedPairs>(
      new StreamedPairs(options, data, std::move(drawer), NumThreads(options)));
}

StreamedPairs::StreamedPairs(const TrainOptions& options,
                             const TrainingData& data, PairDrawer drawer,
                             int num_threads)
    : options_(options),
      data_(data),
      num_pairs_(EpochPairs(*data.stream, options.loss)),
      plan_(num_pairs_, options.batch_size),
      num_threads_(num_threads),
      slots_(num_threads + 2),
      drawer_(std::move(drawer)) {}

StreamedPairs::~StreamedPairs() { StopWorkers(); }

void StreamedPairs::StopWorkers() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

absl::Status StreamedPairs::BeginEpoch(int epoch, std::int64_t first_batch) {
  StopWorkers();
  epoch_ = epoch;
  {
    MutexLock draw(draw_mutex_);
    drawer_.BeginEpoch(epoch);
    ClickPair pair;
    for (std::int64_t i = plan_.First(first_batch); i > 0; --i) {
      if (Interrupted()) return absl::CancelledError("interrupted");
      SEMRANK_RETURN_IF_ERROR(drawer_.Draw(pair));
    }
  }
  {
    MutexLock lock(mutex_);
    stopping_ = false;
    next_made_ = next_used_ = first_batch;
    in_use_ = false;
  }
  for (Slot& slot : slots_) slot.ready = false;
  for (int i = 0; i < num_threads_; ++i) {
    workers_.emplace_back([this] { RunWorker(); });
  }
  return absl::OkStatus();
}

absl::StatusOr<const MiniBatch*> StreamedPairs::Next() {
  MutexLock lock(mutex_);
  if (in_use_) {
    slots_[(next_used_ - 1) % slots_.size()].ready = false;
    in_use_ = false;
    changed_.NotifyAll();
  }
  if (next_used_ == plan_.num_batches()) return nullptr;
  const Slot& slot = slots_[next_used_ % slots_.size()];
  while (!slot.ready) changed_.Wait(mutex_);
  SEMRANK_RETURN_IF_ERROR(slot.status);
  ++next_used_;
  in_use_ = true;
  return &slot.batch;
}

std::int64_t StreamedPairs::WaitForRoom() {
  MutexLock lock(mutex_);
  for (;;) {
    if (stopping_ || next_made_ == plan_.num_batches()) return -1;
    const std::int64_t first_held = next_used_ - (in_use_ ? 1 : 0);
    if (next_made_ - first_held < static_cast<std::int64_t>(slots_.size())) {
      return next_made_++;
    }
    changed_.Wait(mutex_);
  }
}

// Pairs are drawn by one thread at a time, batch after batch; the rest of the
// work depends on nothing but them.
void StreamedPairs::RunWorker() {
  for (;;) {
    Slot* slot = nullptr;
    std::int64_t index = 0;
    {
      MutexLock draw(draw_mutex_);
      index = WaitForRoom();
      if (index < 0) return;
      slot = &slots_[index % slots_.size()];
      slot->status = DrawPairs(index, slot->pairs);
    }
    const bool failed = !slot->status.ok();
    if (!failed) MakeBatch(index, *slot);
    {
      MutexLock lock(mutex_);
      slot->ready = true;
    }
    changed_.NotifyAll();
    if (failed) return;
  }
}

absl::Status StreamedPairs::DrawPairs(std::int64_t batch,
                                      std::vector<ClickPair>& pairs) {
  pairs.resize(plan_.First(batch + 1) - plan_.First(batch));
  for (ClickPair& pair : pairs) SEMRANK_RETURN_IF_ERROR(drawer_.Draw(pair));
  return absl::OkStatus();
}

void StreamedPairs::MakeBatch(std::int64_t index, Slot& slot) const {
  BatchTexts texts(data_.stream->texts);
  std::vector<TextPair> pairs;
  for (const ClickPair& pair : slot.pairs) {
    const TextId query = texts.Number(pair.query);
    pairs.push_back(
        {query, texts.Number(pair.title), CappedClicks(pair.clicks)});
  }
  NegativeSampler sampler(options_.loss, data_.titles, &data_.shown);
  Random negatives(options_.seed, RandomPurpose::kNegatives, epoch_, index);
  sampler.Sample(pairs, negatives, slot.batch);

  TextInterner used;
  for (auto* ids : {&slot.batch.queries, &slot.batch.titles}) {
    for (TextId& id : *ids) id = used.Intern(texts.text(id));
  }
  slot.bags.emplace(used, data_.featurizer, TextFormOf(options_.tower));
  slot.batch.bags = &*slot.bags;
}

}  // namespace semrank
