#include "model/train/batches/pair_shuffler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"

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

// The object, its characters and the allocator's own bytes.
std::size_t LineBytes(std::size_t line_size) {
  constexpr std::size_t kShort = 15, kAllocatorBytes = 24;
  return sizeof(std::string) +
         (line_size > kShort ? line_size + kAllocatorBytes : 0);
}

}  // namespace

bool ShuffleBuffer::Add(std::string_view line) {
  const std::size_t bytes = LineBytes(line.size());
  if (!lines_.empty() && bytes_ + bytes > capacity_bytes_) return false;
  lines_.emplace_back(line);
  bytes_ += bytes;
  return true;
}

void ShuffleBuffer::Draw(Random& random, std::string& line) {
  const std::size_t place =
      random.Below(static_cast<std::uint32_t>(lines_.size()));
  // The last line fills the gap, so a draw takes constant time.
  std::swap(lines_[place], lines_.back());
  line = std::move(lines_.back());
  lines_.pop_back();
  bytes_ -= LineBytes(line.size());
}

void ShuffleBuffer::Clear() {
  lines_.clear();
  bytes_ = 0;
}

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
  return ParsePair(line, PairLines::kClicked, pair).ok() && pair.clicks > 0 &&
         hash_(pair.query) >= stream_.held_out_below;
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

}  // namespace semrank
