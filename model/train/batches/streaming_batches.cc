#include "model/train/batches/streaming_batches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/batches/query_typos.h"
#include "model/train/data/training_features.h"

namespace semrank {
namespace {

// Long enough to read at full speed, short enough that a buffer holds many.
constexpr std::size_t kMaxBlockBytes = std::size_t{4} << 20;
constexpr std::size_t kMinBlockBytes = std::size_t{1} << 12;

std::size_t BlockBytes(std::int64_t buffer_bytes) {
  // The buffer then mixes the lines of about 64 blocks or more from all over
  // the files: neighbours in a log are often about the same subject.
  return std::clamp(static_cast<std::size_t>(buffer_bytes / 64), kMinBlockBytes,
                    kMaxBlockBytes);
}

// Numbers the texts of one batch: first the texts that the stream has in
// memory, then new ones.
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

// The number of pairs that the shuffler returns in an epoch.
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

absl::StatusOr<PairShuffler> PairShuffler::Create(const TrainOptions& options,
                                                  const TrainingData& data) {
  SEMRANK_ASSIGN_OR_RETURN(
      LineBlocks blocks,
      LineBlocks::Create(options.data.train_files,
                         BlockBytes(data.stream->shuffle_bytes)));
  return PairShuffler(options, *data.stream, std::move(blocks));
}

PairShuffler::PairShuffler(const TrainOptions& options,
                           const PairStream& stream, LineBlocks blocks)
    : options_(options),
      stream_(stream),
      hash_(options.seed),
      blocks_(std::move(blocks)),
      buffer_(static_cast<std::size_t>(stream.shuffle_bytes)),
      order_(options.seed, RandomPurpose::kPairOrder) {}

void PairShuffler::BeginEpoch(int epoch) {
  order_ = Random(options_.seed, RandomPurpose::kPairOrder, epoch);
  blocks_.Shuffle(Random(options_.seed, RandomPurpose::kBlockOrder, epoch));
  buffer_.Clear();
  next_copies_ = 0;
  at_end_ = false;
}

bool PairShuffler::ParseTrainingPair(std::string_view line,
                                     ClickPair& pair) const {
  // Bad lines were reported when the pairs were counted. A hash of the query
  // decides whether it is held out, so no list of them is needed.
  return ParsePair(
             line, PairLines::kClicked, pair,
             {options_.data.max_text_bytes, options_.data.normalizer_version})
             .ok() &&
         pair.clicks > 0 && hash_(pair.query) >= stream_.held_out_below;
}

absl::Status PairShuffler::Fill() {
  const bool repeats = options_.loss.clicks == v1::CLICK_USE_REPEAT;
  for (;;) {
    if (next_copies_ == 0) {
      if (at_end_) return absl::OkStatus();
      SEMRANK_ASSIGN_OR_RETURN(const bool more, blocks_.Next(next_line_));
      at_end_ = !more;
      if (more) {
        next_copies_ = repeats ? CappedClicks(ClicksOf(next_line_)) : 1;
      }
      // Next tests what it draws, but copies of a line that it would skip must
      // not fill the buffer.
      ClickPair skipped;
      if (next_copies_ > 1 && !ParseTrainingPair(next_line_, skipped)) {
        next_copies_ = 0;
      }
      continue;
    }
    if (!buffer_.Add(next_line_)) return absl::OkStatus();
    --next_copies_;
  }
}

absl::Status PairShuffler::Next(ClickPair& pair) {
  for (;;) {
    SEMRANK_RETURN_IF_ERROR(Fill());
    if (buffer_.empty()) {
      return absl::DataLossError(absl::StrFormat(
          "%s: fewer pairs than at the start of the run; was the file changed?",
          absl::StrJoin(options_.data.train_files, ",")));
    }
    buffer_.Draw(order_, line_);
    if (ParseTrainingPair(line_, pair)) return absl::OkStatus();
  }
}

absl::StatusOr<std::unique_ptr<StreamingBatches>> StreamingBatches::Create(
    const TrainOptions& options, const TrainingData& data) {
  SEMRANK_ASSIGN_OR_RETURN(PairShuffler shuffler,
                           PairShuffler::Create(options, data));
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<StreamingBatches>(new StreamingBatches(
      options, data, std::move(shuffler), NumThreads(options)));
}

StreamingBatches::StreamingBatches(const TrainOptions& options,
                                   const TrainingData& data,
                                   PairShuffler shuffler, int num_threads)
    : options_(options),
      data_(data),
      num_pairs_(EpochPairs(*data.stream, options.loss)),
      plan_(num_pairs_, options.batch_size),
      num_threads_(num_threads),
      // One batch for each worker, one that waits and one in use.
      slots_(num_threads + 2),
      shuffler_(std::move(shuffler)) {}

StreamingBatches::~StreamingBatches() { StopWorkers(); }

void StreamingBatches::StopWorkers() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

absl::Status StreamingBatches::BeginEpoch(int epoch, std::int64_t first_batch) {
  StopWorkers();
  epoch_ = epoch;
  {
    MutexLock read(read_mutex_);
    // The content of the shuffle buffer depends on all earlier draws. So a run
    // that continues within an epoch reads the pairs of its first batches again
    // and drops them.
    shuffler_.BeginEpoch(epoch);
    ClickPair pair;
    for (std::int64_t i = plan_.First(first_batch); i > 0; --i) {
      if (Interrupted()) return absl::CancelledError("interrupted");
      SEMRANK_RETURN_IF_ERROR(shuffler_.Next(pair));
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

absl::StatusOr<const MiniBatch*> StreamingBatches::Next() {
  MutexLock lock(mutex_);
  if (in_use_) {
    slots_[(next_used_ - 1) % slots_.size()].ready = false;
    in_use_ = false;
    changed_.NotifyAll();
  }
  if (next_used_ == plan_.num_batches()) return nullptr;
  const Slot& slot = slots_[next_used_ % slots_.size()];
  while (!slot.ready) changed_.Wait(mutex_);
  // In order of the batches, whichever worker failed first: all batches before
  // the error are trained on.
  SEMRANK_RETURN_IF_ERROR(slot.status);
  ++next_used_;
  in_use_ = true;
  return &slot.batch;
}

std::int64_t StreamingBatches::WaitForRoom() {
  MutexLock lock(mutex_);
  for (;;) {
    if (stopping_ || next_made_ == plan_.num_batches()) return -1;
    // Slots are a ring by batch number. A new batch may only take the slot of
    // one that the trainer no longer uses.
    const std::int64_t first_held = next_used_ - (in_use_ ? 1 : 0);
    if (next_made_ - first_held < std::ssize(slots_)) {
      return next_made_++;
    }
    changed_.Wait(mutex_);
  }
}

// Only the order in which pairs are read decides a batch, so one thread at a
// time reads them, batch after batch; everything after that runs in parallel.
void StreamingBatches::RunWorker() {
  for (;;) {
    Slot* slot = nullptr;
    std::int64_t index = 0;
    {
      MutexLock read(read_mutex_);
      index = WaitForRoom();
      if (index < 0) return;
      slot = &slots_[index % slots_.size()];
      slot->status = ReadPairsOf(index, slot->pairs);
    }
    const bool failed = !slot->status.ok();
    if (!failed) MakeBatch(index, *slot);
    {
      MutexLock lock(mutex_);
      // The mutex makes everything that this worker wrote to the slot visible
      // to the thread that waits in Next.
      slot->ready = true;
    }
    changed_.NotifyAll();
    if (failed) return;
  }
}

absl::Status StreamingBatches::ReadPairsOf(std::int64_t batch,
                                           std::vector<ClickPair>& pairs) {
  pairs.resize(plan_.First(batch + 1) - plan_.First(batch));
  for (ClickPair& pair : pairs) SEMRANK_RETURN_IF_ERROR(shuffler_.Next(pair));
  return absl::OkStatus();
}

void StreamingBatches::MakeBatch(std::int64_t index, Slot& slot) const {
  BatchTexts texts(data_.stream->texts);
  std::vector<TextPair> pairs;
  for (const ClickPair& pair : slot.pairs) {
    const TextId query = texts.Number(pair.query);
    pairs.push_back(
        {query, texts.Number(pair.title), CappedClicks(pair.clicks),
         static_cast<float>(data_.position_weights.Of(pair.position))});
  }
  // There are no ClickedTitles: of a log that is not in memory, only the clicks
  // of this batch are known.
  NegativeSampler sampler(options_.loss, data_.titles, &data_.shown);
  Random negatives(options_.seed, RandomPurpose::kNegatives, epoch_, index);
  sampler.Sample(pairs, negatives, slot.batch);

  // Most texts of the stream are not in this batch: texts get new numbers, so
  // that its bags are those of its own texts only.
  TextInterner used;
  QueryTypos typos(options_, epoch_, index);
  for (TextId& id : slot.batch.queries) {
    const std::string& query = texts.text(id);
    id = used.Intern(typos.Next(query).value_or(query));
  }
  for (TextId& id : slot.batch.titles) id = used.Intern(texts.text(id));
  slot.bags.emplace(used, data_.featurizer, TextFormOf(options_.tower));
  slot.batch.bags = &*slot.bags;
}

}  // namespace semrank
