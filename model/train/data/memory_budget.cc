#include "model/train/data/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/train/batches/negative_sampler.h"
#include "model/train/optimizer/parameter_optimizer.h"
#include "model/train/towers/tower_weights.h"

namespace semrank {
namespace {

// Titles to draw from are enough when no mini-batch sees one twice too often;
// validation pairs, when their mean loss has two digits.
constexpr std::int64_t kMaxSampledTitles = std::int64_t{1} << 18;
constexpr std::int64_t kMaxValidPairs = 200'000;
// Less makes no vocabulary.
constexpr std::int64_t kMinWordBytes = std::int64_t{1} << 17;
// Of a counted word, or one of a vocabulary, beside its characters.
constexpr std::int64_t kWordBytes = 112;
// Of a kept text: its places in tables; and a character, which is there twice
// for a while and stands for a feature of its bag.
constexpr std::int64_t kTextBytes = 200;
constexpr std::int64_t kCharacterBytes = 7;
// Batches in use, made ready and under way; not how many threads make, which
// must not change the order of the pairs.
constexpr std::int64_t kHeldBatches = 4;
// A text of a mini-batch that is made ready: characters, bag, tables.
constexpr std::int64_t kBatchTextBytes = 450;
// A text of the mini-batch in use: some fifty features, by text and turned
// round.
constexpr std::int64_t kStepTextBytes = 800;
// A candidate of a pair in a batch, in a vector that has grown by doubling; and
// its weight with its place, by pair and by title, while the batch is in use.
constexpr std::int64_t kCandidateBytes = 8;
constexpr std::int64_t kWeightBytes = 16;
// Words of a text, where few have more.
constexpr std::int64_t kTextWords = 16;
// A (number, float) entry in a vector that has grown by doubling.
constexpr std::int64_t kEntryBytes = 16;

// Code, libraries, threads' stacks and what the allocator keeps.
constexpr std::int64_t kProgramBytes = std::int64_t{64} << 20;

// What of it comes out of the limit. Below kProgramBytes no limit can be kept,
// and less is held back for it.
std::int64_t ProgramShare(std::int64_t limit) {
  return limit < kProgramBytes ? limit / 16
                               : std::min(kProgramBytes, limit / 4);
}

// Titles that each pair of a mini-batch is told apart from.
std::int64_t NumNegatives(const TrainOptions& options) {
  const LossOptions& loss = options.loss;
  if (DrawsTitles(loss)) return loss.negatives;
  return (loss.negatives > 0 ? loss.negatives : options.batch_size) +
         loss.hard_negatives;
}

// What SSI keeps of a step beside vectors: violated margins (by block of pairs,
// in order, and turned round), rows for words, and the words of each pair's
// titles where pairs of words have weights.
std::int64_t SsiStepBytes(const TrainOptions& options, int num_words) {
  const std::int64_t pairs = options.batch_size;
  const std::int64_t negatives = NumNegatives(options);
  const std::int64_t rows =
      2 * pairs * kTextWords * std::max(1, options.ssi.correlated_top_k);
  const std::int64_t words =
      HasSsiVectors(options.ssi.variant)
          ? 0
          : std::min<std::int64_t>(num_words, kTextWords * (1 + negatives));
  return kEntryBytes *
             (3 * pairs * (1 + negatives) + 2 * rows + pairs * words) +
         4 * std::int64_t{options.ssi.pair_hash_buckets};
}

// Activations, gradients and scores of a step, and the batches made ready.
std::int64_t BatchBytes(const TrainOptions& options, int num_features) {
  const std::int64_t pairs = options.batch_size;
  const LossOptions& loss = options.loss;
  const bool in_batch = !DrawsTitles(loss);
  const std::int64_t drawn = std::min<std::int64_t>(
      kMaxDrawnTitles,
      pairs * (in_batch ? loss.hard_negatives : loss.negatives));
  std::int64_t floats = 0;
  for (const int width : TowerWidths(options.tower, 0)) floats += 2 * width;
  const std::int64_t texts =
      (2 * pairs + drawn) *
      (4 * floats + kStepTextBytes + kHeldBatches * kBatchTextBytes);
  const bool all_titles = in_batch && loss.negatives == 0;
  const std::int64_t candidates =
      pairs * (1 + loss.hard_negatives + (all_titles ? 0 : loss.negatives));
  const std::int64_t lists = kHeldBatches * kCandidateBytes * candidates;
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return texts + lists + SsiStepBytes(options, num_features);
  }
  return texts + lists + kWeightBytes * candidates +
         (in_batch ? 4 * pairs * pairs : 0);
}

// Of features that are listed, not hashed.
std::int64_t VocabularyBytes(const TrainOptions& options, int num_features) {
  constexpr std::int64_t kMeanCharacters = 8;
  const std::int64_t listed = num_features - options.features.hash_buckets;
  return CountedWordsBytes(listed, kMeanCharacters * listed);
}

absl::StatusOr<std::int64_t> NumLearned(const TrainOptions& options,
                                        int num_features) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return NumSsiParameters(options, num_features);
  }
  return NumParameters(TowerWidths(options.tower, num_features)) *
         (options.tower.shared ? 1 : 2);
}

// Gradients that are kept to be clipped, should a step change all weights.
std::int64_t KeptGradientBytes(const TrainOptions& options,
                               std::int64_t num_learned) {
  if (options.optimizer.gradient_clip_norm == 0) return 0;
  const bool by_entry = options.tower.kind == v1::TOWER_KIND_SSI &&
                        !HasSsiVectors(options.ssi.variant);
  return num_learned * (by_entry ? kEntryBytes : std::int64_t{sizeof(float)});
}

// Of the model, its vocabulary and gradients that are kept.
absl::StatusOr<std::int64_t> TrainingBytes(const TrainOptions& options,
                                           int num_features) {
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t model,
                           ModelBytes(options, num_features));
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t learned,
                           NumLearned(options, num_features));
  return model + VocabularyBytes(options, num_features) +
         KeptGradientBytes(options, learned);
}

// idf and correlated words.
std::int64_t NumSsiStatistics(const TrainOptions& options, int num_words) {
  const v1::SsiSpec spec = DescribeSsi(options.ssi, num_words);
  return num_words + (num_words - NumSsiRows(spec, num_words)) *
                         std::int64_t{spec.correlated_top_k()};
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
  // A pair, its place in the order and among the clicked titles; a text's
  // string, its entries in tables and its bag of about one feature a character.
  return 24 * num_pairs + 120 * num_texts + 7 * num_characters;
}

bool FitsInMemory(std::int64_t pair_bytes, const DataOptions& options) {
  return pair_bytes <= MemoryLimit(options) / 4 * 3;
}

absl::StatusOr<std::int64_t> ModelBytes(const TrainOptions& options,
                                        int num_features) {
  constexpr std::int64_t kCopies = 2;  // the best epoch's are kept beside
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t learned,
                           NumLearned(options, num_features));
  std::int64_t floats =
      learned * (kCopies + OptimizerStateSize(options.optimizer.kind));
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    floats += NumSsiStatistics(options, num_features) * kCopies;
  }
  return floats * std::int64_t{sizeof(float)};
}

std::string_view ModelSizeFlags(const TowerOptions& options) {
  return options.kind == v1::TOWER_KIND_SSI
             ? "--max_words, --embedding_dim, --optimizer=sgd"
             : "--hash_buckets, --hidden, --shared_towers, --optimizer=sgd";
}

CountingBudget ShareForCounting(const TrainOptions& options) {
  const std::int64_t limit = MemoryLimit(options.data);
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

absl::Status CheckFitsBesideModel(std::int64_t pair_bytes,
                                  const TrainOptions& options,
                                  int num_features) {
  if (options.data.memory_limit == 0) return absl::OkStatus();
  const std::int64_t limit = options.data.memory_limit;
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t training,
                           TrainingBytes(options, num_features));
  const std::int64_t all = pair_bytes + training +
                           BatchBytes(options, num_features) +
                           ProgramShare(limit);
  return all <= limit ? absl::OkStatus()
                      : absl::OutOfRangeError(
                            "pairs and model do not fit in memory together");
}

absl::StatusOr<std::int64_t> ShareForShuffling(const TrainOptions& options,
                                               int num_features) {
  const std::int64_t limit = MemoryLimit(options.data);
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t model,
                           TrainingBytes(options, num_features));
  const std::int64_t batches = BatchBytes(options, num_features);
  const std::int64_t rest =
      limit - limit / 8 - model - batches - ProgramShare(limit);
  if (rest >= limit / 16) return rest;
  return absl::ResourceExhaustedError(absl::StrFormat(
      "--memory_limit=%d leaves no room to shuffle pairs: the model and its "
      "training (%d features) take %d bytes, mini-batches %d. More memory, or "
      "smaller: %s, --batch_size, --negatives",
      limit, num_features, model, batches, ModelSizeFlags(options.tower)));
}

}  // namespace semrank
