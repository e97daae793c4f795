// Finds out which of two models users prefer, from lists that were interleaved
// by team draft (Radlinski, Kurup and Joachims, CIKM 2008): a click on a result
// is for the model that contributed it.
//
//   Session   the model with more clicks in a session wins it; equal numbers
//             are a tie. A session without clicks says nothing. A list that
//             names no session is one of its own.
//   Sign test exact and two-sided: how often chance alone divides the sessions
//             that were won so unequally.
//   Share     (wins + ties / 2) / sessions with clicks, and its 95 % interval
//             (Wilson, JASA 1927). Results of 0, 1/2 and 1 vary at most as a
//             coin of that share, so with ties the interval is a little wide.
//   Horizon   p values hold for one look, after a number of sessions that was
//             fixed before. Who looks every day, and stops at the first p below
//             .05, finds differences that are not there (Johari, Koomen,
//             Pekelis and Walsh, KDD 2017).
//   Threads   not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_INTERLEAVING_H_
#define SEMRANK_MODEL_EVENTS_INTERLEAVING_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/events/click_join.h"

namespace semrank {

struct InterleavedPair {
  // Name and version, in alphabetic order.
  std::string a;
  std::string b;
  std::int64_t lists = 0;
  std::int64_t sessions = 0;
  // Sessions by their result, for a.
  std::int64_t wins = 0;
  std::int64_t ties = 0;
  std::int64_t losses = 0;
  std::int64_t without_clicks = 0;
  double p = 1;
  // The share of a, 0.5 = no preference.
  double share = 0.5;
  double share_low = 0;
  double share_high = 1;
};

class InterleavingComparison {
 public:
  // Counts an interleaved list of `join`, and ignores others.
  void Add(const JoinedList& list, const ClickJoin& join);

  // By names.
  std::vector<InterleavedPair> Results() const;

 private:
  struct SessionKey {
    std::int64_t pair;
    std::uint64_t session;

    friend bool operator==(const SessionKey&, const SessionKey&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const SessionKey& key) {
      return H::combine(std::move(state), key.pair, key.session);
    }
  };
  struct SessionClicks {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
  };

  std::map<std::pair<std::string, std::string>, std::int64_t> pair_numbers_;
  std::vector<std::int64_t> num_lists_;  // by the pair's number
  absl::flat_hash_map<SessionKey, SessionClicks> sessions_;
};

// The probability that a fair coin divides wins + losses throws this unequally.
double SignTest(std::int64_t wins, std::int64_t losses);

// How many sessions with a winner show, with 80 % power at p < .05, that a
// model wins the share 0.5 + `effect` of them; 0 < effect < 0.5.
std::int64_t SessionsForEffect(double effect);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_INTERLEAVING_H_
