// Random typing mistakes in the queries of a mini-batch, so that the query
// tower learns what a mistyped word may mean.
//
//   Threads  one thread at a time uses a QueryTypos.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_QUERY_TYPOS_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_QUERY_TYPOS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/random.h"
#include "model/train/options/train_options.h"

namespace semrank {

// `text`, normalised, with one edit in one of its words: a letter deleted,
// inserted or replaced, or two adjacent ones swapped. Letters are code points;
// a new one is drawn from a to z, in a word of another script from the word.
// Words that have digits or fewer than kMinTypoLetters letters stay as they
// are; nullopt when there are no others.
std::optional<std::string> Mistype(std::string_view text, Random& random);

// Mistypes the queries of one mini-batch, one after another, each with
// probability --query_typos. Seed, epoch and batch decide the result.
class QueryTypos {
 public:
  QueryTypos(const TrainOptions& options, int epoch, std::int64_t batch)
      : share_(static_cast<float>(options.loss.query_typos)),
        random_(options.seed, RandomPurpose::kQueryTypos, epoch, batch) {}

  // nullopt = the query stays as it is.
  std::optional<std::string> Next(std::string_view query) {
    if (random_.Between(0, 1) >= share_) return std::nullopt;
    return Mistype(query, random_);
  }

 private:
  float share_;
  Random random_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_QUERY_TYPOS_H_
