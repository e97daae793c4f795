// Finds pairs of query and title whose clicks may be chance.
//
//   Why       users click titles that they do not want, too. A title that was
//             shown a thousand times then has clicks, and each such pair of
//             query and title teaches as much as a right one, and more if it
//             stands far down and its clicks are weighted up.
//   Model     n examinations of a title (impressions that were looked at) bring
//             Poisson(n r) clicks. r is `chance` for all titles that are not
//             wanted, and differs among those that are: it is exponentially
//             distributed with mean `wanted`. A share of the titles is wanted.
//             This is a position-based model with clicks on irrelevant results
//             (Agarwal et al., WWW 2019) whose relevance is a random variable.
//   Limit     where titles were shown a few times, chance is hardly
//             distinguished from relevance, and nearly all pairs stay.
//   Memory    24 bytes a line of the log.
//   Threads   not thread-safe.
#ifndef SEMRANK_MODEL_TRAIN_DATA_CHANCE_CLICKS_H_
#define SEMRANK_MODEL_TRAIN_DATA_CHANCE_CLICKS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"

namespace semrank {

struct ClickRates {
  double wanted = 0;  // mean clicks an examination of a wanted title
  double chance = 0;  // clicks an examination of any other
  double share = 1;   // of the titles are wanted

  // P(wanted | clicks, examinations), in [0, 1].
  double WantedProbability(double clicks, double examinations) const;
};

// How often each query's titles were looked at and clicked.
class ClickCounts {
 public:
  // A line of the log. Lines of one pair are added up. `examinations` is
  // positive.
  void Add(std::string_view query, std::string_view title, double clicks,
           double examinations);

  // The most probable rates, by expectation maximisation. share = 1 when fewer
  // than a hundred titles have clicks, and when these are of a single kind:
  // fewer than one in a hundred would be wanted, or `wanted` would be less than
  // twice `chance`.
  ClickRates FitRates();

  // Removes from `pairs`, and returns, those that are wanted with a probability
  // below .25, or have no more clicks than chance brings, and says so on
  // standard error. Pairs that were not added stay. InvalidArgument if no pairs
  // with two different titles are left.
  absl::StatusOr<std::vector<TextPair>> TakeChance(
      const TextInterner& texts, std::vector<TextPair>& pairs);

  std::size_t num_bytes() const { return counts_.size() * sizeof(Count); }

 private:
  struct Count {
    std::uint64_t pair = 0;  // a fingerprint of query and title
    double clicks = 0;
    double examinations = 0;
  };

  // Sorts them by pair and merges those of one pair.
  void AddUp();
  static ClickRates Improve(const ClickRates& rates,
                            const std::vector<Count>& counts);

  std::vector<Count> counts_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_CHANCE_CLICKS_H_
