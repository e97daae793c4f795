#include "model/train/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_format.h"
#include "model/train/negative_sampler.h"
#include "model/train/parameter_optimizer.h"
#include "model/train/tower_weights.h"

namespace semrank {
namespace {

// Titles to draw from are enough when no mini-batch sees one twice too often;
// validation pairs, when their mean loss has two digits.
constexpr std::int64_t kMaxSampledTitles = std::int64_t{1} << 18;
constexpr std::int64_t kMaxValidPairs = 200'000;
// Of a counted word, a kept title and a kept pair, with their containers.
constexpr std::int64_t kWordBytes = 128;
constexpr std::int64_t kTextBytes = 512;
constexpr std::int64_t kPairBytes = 1024;
// A text of a mini-batch that is made ready: characters, bag, tables.
constexpr std::int64_t kBatchTextBytes = 300;

// Code, libraries, threads' stacks and what the allocator keeps; as much of it
// as a sixteenth of the limit comes out of the limit.
constexpr std::int64_t kProgramBytes = std::int64_t{64} << 20;

// Activations, gradients and scores of a step, and the batches made ready.
std::int64_t BatchBytes(const TrainOptions& options) {
  const std::int64_t pairs = options.batch_size;
  const bool in_batch = options.loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  const std::int64_t drawn = std::min<std::int64_t>(
      kMaxDrawnTitles, pairs * (in_batch ? options.loss.hard_negatives
                                         : options.loss.negatives));
  std::int64_t floats = 0;
  for (const int width : TowerWidths(options.tower, 0)) floats += 2 * width;
  return (2 * pairs + drawn) * (4 * floats + 4 * kBatchTextBytes) +
         (in_batch ? 4 * pairs * pairs : 0);
}

}  // namespace

std::int64_t PhysicalMemory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

// Not getrusage: that counts what the program before exec had, too.
std::int64_t PeakResidentMemory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lld kB", &kibibytes) == 1) {
      return std::int64_t{kibibytes} * 1024;
    }
  }
  return 0;
}

std::int64_t MemoryLimit(const DataOptions& options) {
  return options.memory_limit > 0 ? options.memory_limit : PhysicalMemory() / 2;
}

std::int64_t PairBytes(std::int64_t num_pairs, std::int64_t num_texts,
                       std::int64_t num_characters) {
  // A pair and its place in the order; a text's string, its entry in the table
  // of texts and its bag of about one feature a character.
  return 24 * num_pairs + 120 * num_texts + 7 * num_characters;
}

bool FitsInMemory(std::int64_t pair_bytes, const DataOptions& options) {
  return pair_bytes <= MemoryLimit(options) / 4 * 3;
}

std::int64_t ModelBytes(const TrainOptions& options, int num_features) {
  return NumParameters(TowerWidths(options.tower, num_features)) *
         (options.tower.shared ? 1 : 2) * std::int64_t{sizeof(float)} *
         (2 + OptimizerStateSize(options.optimizer.kind));
}

CountingBudget ShareForCounting(const TrainOptions& options) {
  const std::int64_t limit = MemoryLimit(options.data);
  return {.max_words = std::max<std::int64_t>(1000, limit / 4 / kWordBytes),
          .max_titles = std::clamp<std::int64_t>(limit / 16 / kTextBytes, 16,
                                                 kMaxSampledTitles),
          .max_valid_pairs = std::clamp<std::int64_t>(limit / 16 / kPairBytes,
                                                      16, kMaxValidPairs)};
}

absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features) {
  const std::int64_t limit = MemoryLimit(options.data);
  const std::int64_t model = ModelBytes(options, num_features);
  const std::int64_t batches = BatchBytes(options);
  const std::int64_t rest =
      limit - limit / 8 - model - batches - std::min(kProgramBytes, limit / 16);
  if (rest >= limit / 16) return rest;
  return absl::ResourceExhaustedError(absl::StrFormat(
      "--memory_limit=%d leaves no room to shuffle pairs: the model and its "
      "training (%d features) take %d bytes, mini-batches %d. More memory, or "
      "smaller: --hash_buckets, --hidden, --batch_size, --negatives",
      limit, num_features, model, batches));
}

}  // namespace semrank
