#include "model/train/data/memory_budget.h"

#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/base/resources.h"
#include "model/base/status_macros.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

// There are enough titles to draw from when few are drawn twice for a
// mini-batch, and enough validation pairs when two digits of their mean loss
// are right.
constexpr std::int64_t kMaxSampledTitles = std::int64_t{1} << 18;
constexpr std::int64_t kMaxValidPairs = 200'000;
// A vocabulary needs at least this much.
constexpr std::int64_t kMinWordBytes = std::int64_t{1} << 17;
// Bytes of a counted word, beside its characters.
constexpr std::int64_t kWordBytes = 112;
// Bytes of a kept text: its entries in tables, and for each character two
// copies for a while, and a feature of its bag.
constexpr std::int64_t kTextBytes = 200;
constexpr std::int64_t kCharacterBytes = 7;

// Bytes of code, libraries, stacks of threads and what the allocator keeps.
constexpr std::int64_t kProgramBytes = std::int64_t{64} << 20;

// The program's part of the limit. A limit below kProgramBytes cannot be kept;
// it bounds the data, and the program's part is smaller.
std::int64_t ProgramShare(std::int64_t limit) {
  return limit < kProgramBytes ? limit / 16
                               : std::min(kProgramBytes, limit / 4);
}

}  // namespace

std::int64_t MemoryLimit(const DataOptions& options,
                         const ControlGroups& groups) {
  if (options.memory_limit > 0) return options.memory_limit;
  if (options.resumed_memory_limit > 0) return options.resumed_memory_limit;
  // A container sees all memory of its machine, but is killed at its limit. A
  // limit of the shell (ulimit -v) bounds the process as memory does.
  std::int64_t memory = PhysicalMemory();
  const std::int64_t of_groups = MemoryQuota(groups);
  if (of_groups > 0) memory = std::min(memory, of_groups);
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    memory = std::min(memory, static_cast<std::int64_t>(limit.rlim_cur));
  }
  return memory / 2;
}

std::int64_t PairBytes(std::int64_t num_pairs, std::int64_t num_texts,
                       std::int64_t num_characters) {
  // Bytes of a pair, its position in the order and among the clicked titles;
  // and of a text's string, its entries in tables and its bag of about one
  // feature a character.
  // The sum is a model of the allocations, not a measurement: it must give the
  // same answer in every run of the same files.
  return 24 * num_pairs + 120 * num_texts + 7 * num_characters;
}

std::int64_t MaxPairBytes(const DataOptions& options) {
  return static_cast<std::int64_t>(kMaxPairShare *
                                   static_cast<double>(MemoryLimit(options)));
}

absl::Status CheckFitsBesideModel(std::int64_t pair_bytes,
                                  const TrainOptions& options,
                                  int num_features) {
  // The default, half of a machine, has room beside it; only a limit that was
  // given is checked.
  const std::int64_t limit = options.data.memory_limit;
  if (limit == 0) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t model,
                           ModelBytes(options, num_features));
  if (pair_bytes + model + ProgramShare(limit) + limit / 8 <= limit) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError("pairs and model do not fit in memory together");
}

CountingBudget ShareForCounting(const TrainOptions& options) {
  const std::int64_t limit = MemoryLimit(options.data);
  // The parts add up to three eighths of the limit. The model and the shuffle
  // buffer follow when counting has ended.
  return {.word_bytes = std::max(kMinWordBytes, limit / 4),
          .max_titles = kMaxSampledTitles,
          .title_bytes = limit / 16,
          .max_valid_pairs = kMaxValidPairs,
          .valid_pair_bytes = limit / 16};
}

std::int64_t CountedWordsBytes(std::int64_t num_words,
                               std::int64_t num_characters) {
  return kWordBytes * num_words + num_characters;
}

std::int64_t KeptTextBytes(std::size_t num_characters) {
  return kTextBytes +
         kCharacterBytes * static_cast<std::int64_t>(num_characters);
}

absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features) {
  const std::int64_t limit = MemoryLimit(options.data);
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t model,
                           ModelBytes(options, num_features));
  const std::int64_t share = (limit - ProgramShare(limit) - model) / 2;
  // A smaller buffer would mix too few lines.
  if (share >= limit / 16) return share;
  return absl::ResourceExhaustedError(absl::StrFormat(
      "--memory_limit=%d leaves no room to shuffle pairs: a model of %d "
      "features takes %d bytes. Give more memory, or make it smaller: %s",
      limit, num_features, model, ModelSizeFlags(options.tower)));
}

absl::Status CheckFitsThisMachine(const TrainOptions& options, int num_features,
                                  int num_processes) {
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t bytes,
                           ModelBytes(options, num_features, num_processes));
  // The machine's memory and not the limit: a default limit of half must not
  // refuse a model that fits.
  const auto needed = static_cast<double>(bytes);
  const auto present = static_cast<double>(PhysicalMemory());
  if (needed <= present) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the weights of %d features and their training need %.1f GiB; this "
      "machine has %.1f GiB. Make the model smaller: %s",
      num_features, needed / (1 << 30), present / (1 << 30),
      ModelSizeFlags(options.tower)));
}

absl::Status CheckResidentMemory(const TrainOptions& options,
                                 std::int64_t bytes_to_come) {
  const std::int64_t limit = options.data.memory_limit;
  if (limit < kProgramBytes) return absl::OkStatus();
  const std::int64_t bytes = ResidentMemory() + bytes_to_come;
  if (bytes <= limit + limit / 10) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "training takes %d bytes of memory, more than --memory_limit=%d. Give "
      "more memory, or make mini-batches or model smaller: --batch_size, "
      "--negatives, --hard_negatives, %s",
      bytes, limit, ModelSizeFlags(options.tower)));
}

}  // namespace semrank
