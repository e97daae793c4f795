#include "model/train/batches/in_memory_batches.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/random.h"
#include "model/train/batches/auto_loss_options.h"
#include "model/train/batches/query_typos.h"
#include "model/train/data/read_pairs.h"

namespace semrank {
namespace {

// The bit of order_ that marks a pair whose query is trained without accents.
constexpr std::uint32_t kUnaccented = std::uint32_t{1} << 31;

}  // namespace

absl::StatusOr<std::unique_ptr<InMemoryBatches>> InMemoryBatches::Create(
    const TrainOptions& options, const TrainingData& data) {
  std::int64_t num_pairs = 0;
  for (const TextPair& pair : data.train_pairs) {
    const std::int64_t forms = data.unaccented.contains(pair.query) ? 2 : 1;
    num_pairs += forms * Repetitions(pair.clicks, options.loss);
  }
  // The order of an epoch is a list of 32-bit numbers, one bit of which is
  // kUnaccented, and a random place in it is drawn with 32 bits.
  constexpr std::int64_t kMaxPairs = kUnaccented;
  if (num_pairs > kMaxPairs) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "an epoch would have %d pairs, of at most %d; --clicks=weight counts "
        "clicks without repeating pairs",
        num_pairs, kMaxPairs));
  }
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<InMemoryBatches>(
      new InMemoryBatches(options, data, num_pairs));
}

InMemoryBatches::InMemoryBatches(const TrainOptions& options,
                                 const TrainingData& data,
                                 std::int64_t num_pairs)
    : options_(options),
      data_(data),
      num_pairs_(num_pairs),
      plan_(num_pairs, options.batch_size),
      clicked_(data.train_pairs),
      sampler_(options.loss, data.titles, &data.shown, &clicked_),
      corrections_(LogQCorrections(options.loss, data.train_pairs)) {
  batch_.bags = next_.bags = &data.bags;
}

absl::Status InMemoryBatches::BeginEpoch(int epoch, std::int64_t first_batch) {
  epoch_ = epoch;
  next_batch_ = first_batch;
  is_next_made_ = false;
  // The shuffle begins with the order of the files each time, so that an epoch
  // depends on its number and the seed, not on earlier epochs: a run that
  // continues there draws the same order.
  order_.clear();
  order_.reserve(num_pairs_);
  for (std::size_t i = 0; i < data_.train_pairs.size(); ++i) {
    const TextPair& pair = data_.train_pairs[i];
    const auto index = static_cast<std::uint32_t>(i);
    const auto times = Repetitions(pair.clicks, options_.loss);
    order_.insert(order_.end(), times, index);
    if (data_.unaccented.contains(pair.query)) {
      order_.insert(order_.end(), times, index | kUnaccented);
    }
  }
  Random random(options_.seed, RandomPurpose::kPairOrder, epoch);
  Shuffle(random, order_);
  return absl::OkStatus();
}

absl::StatusOr<const MiniBatch*> InMemoryBatches::Next() {
  if (next_batch_ == plan_.num_batches()) return nullptr;
  PrepareNext();
  // Two batches alternate, so that the next one can be made during a step, in
  // memory that is reused.
  std::swap(batch_, next_);
  std::swap(bags_, next_bags_);
  is_next_made_ = false;
  ++next_batch_;
  return &batch_;
}

void InMemoryBatches::PrepareNext() {
  if (is_next_made_ || next_batch_ == plan_.num_batches()) return;
  pairs_.clear();
  const auto order =
      plan_.Batch(std::span<const std::uint32_t>(order_), next_batch_);
  for (const std::uint32_t i : order) {
    pairs_.push_back(data_.train_pairs[i & ~kUnaccented]);
  }
  // Each batch has a random stream of its own, so it does not matter which
  // batches were made before, or in which thread.
  Random negatives(options_.seed, RandomPurpose::kNegatives, epoch_,
                   next_batch_);
  sampler_.Sample(pairs_, negatives, next_);
  if (options_.loss.logq > 0) {
    for (const TextId title : next_.titles) {
      // A title that was shown and never clicked has no correction.
      next_.corrections.push_back(
          title < corrections_.size() ? corrections_[title] : 0);
    }
  }
  // Sampling comes first: it looks up by the true query what was clicked for
  // it.
  for (std::size_t i = 0; i < order.size(); ++i) {
    TextId& query = next_.queries[i];
    if ((order[i] & kUnaccented) != 0) query = data_.unaccented.at(query);
  }
  if (options_.loss.query_typos > 0) MistypeQueries();
  is_next_made_ = true;
}

void InMemoryBatches::MistypeQueries() {
  QueryTypos typos(options_, epoch_, next_batch_);
  next_bags_ = std::make_unique<TextBags>(TextBags::Extend(data_.bags));
  next_.bags = next_bags_.get();
  for (TextId& query : next_.queries) {
    const std::optional<std::string> text =
        typos.Next(data_.texts->text(query));
    if (text) query = next_bags_->Append(*text, data_.featurizer);
  }
}

}  // namespace semrank
