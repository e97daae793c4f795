// Says what each word of a query and of a title adds to their score: the score
// of the pair less the score without that one occurrence of the word; and, for
// a model with a lexical part, which letter n-grams of a word the other text
// has, and what these add.
//
//   Parts    score = semantic part + lexical part; the lexical part is the sum
//            over the words of one text of their lexical parts. Within 1e-5:
//            each is rounded by itself.
//   Promise  the score is the one that RankingEngine::Rank gives, to the last
//            bit.
//   Cost     one text through a tower for each word, and two. The variants of
//            a title are not kept in the cache.
//   Threads  every method, from any thread; the slices of one request one after
//            another.
#ifndef SEMRANK_SERVER_RANKING_EXPLAINER_H_
#define SEMRANK_SERVER_RANKING_EXPLAINER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/work_slice.h"
#include "server/ranking/ranking_engine.h"

namespace semrank {

// One of the most active units of a CLSM tower's max-pooling layer, and the
// window of words that gave it its maximum (CLSM, table 3 and figure 4).
struct PoolingWinner {
  std::uint32_t unit = 0;
  float activation = 0;
  std::uint32_t position = 0;  // of the word, from 0
  std::string word;            // the middle of the window
  std::string window;          // its words, without the padding
};

// What a score is the sum of.
struct ScoreParts {
  float score = 0;
  float semantic = 0;
  float lexical = 0;
};

// A letter n-gram that both texts have.
struct NgramMatch {
  std::string ngram;
  float lexical = 0;  // what one occurrence adds to the score
};

struct WordContribution {
  std::string word;         // normalised
  ScoreParts without = {};  // of the pair without this occurrence of the word
  std::uint32_t num_features = 0;
  std::uint32_t num_known_features = 0;
  bool in_other_text = false;
  std::vector<NgramMatch> matches = {};  // in the order of the word
};

struct Explanation {
  ScoreParts parts;
  std::vector<WordContribution> query_words;
  std::vector<WordContribution> title_words;
  // CLSM only.
  std::vector<PoolingWinner> query_pooling;
  std::vector<PoolingWinner> title_pooling;
  StageTimes times;
};

class Explainer {
 public:
  // `engine` must outlive the explainer.
  explicit Explainer(const RankingEngine* engine) : engine_(*engine) {}

  // One request: two texts, normalised, and how far it has come.
  struct Request {
    TextBatch query;  // one text each
    TextBatch title;
    std::vector<float> query_row;
    std::vector<float> title_row;
    // Of the query's words and then the title's, those that are explained.
    std::size_t num_explained = 0;
    bool begun = false;
    std::uint32_t max_pooling_units = 0;  // 0 = 5
    Parts parts = Parts::kBoth;
    // What it takes in all: a text a word, and the two themselves.
    std::int64_t num_texts = 2;
    std::size_t num_bytes = 0;
  };

  // Normalises both and counts what they take. InvalidArgument for a query or
  // title that Rank would not take; the request then counts as the two texts.
  absl::Status Read(std::string_view query, std::string_view title,
                    Request& request) const;
  // InvalidArgument for more words than a request may have texts, or parts that
  // the model does not have.
  absl::Status Check(const ServedModel& served, const Request& request) const;

  // One slice; `result` is complete after kDone.
  absl::StatusOr<Progress> RunSlice(const ServedModel& served,
                                    const Caller& caller, Request& request,
                                    Explanation& result) const;

 private:
  absl::Status Begin(const ServedModel& served, const Caller& caller,
                     Request& request, Explanation& result) const;
  struct WordRange {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  absl::Status ExplainWords(const EmbedContext& context, Side side,
                            WordRange range, const Request& request,
                            std::vector<WordContribution>& words) const;

  const RankingEngine& engine_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_EXPLAINER_H_
