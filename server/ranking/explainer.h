// Explains a score by words: what each word of the query and of the title adds
// to it is the score of the pair less the score without that one occurrence of
// the word. For a model with a lexical part, also lists which letter n-grams of
// a word the other text has, and what these add.
//
//   Parts    score = semantic part + lexical part. The lexical part is the sum
//            of the lexical parts of the words of one text, within 1e-5,
//            because each is rounded by itself.
//   Promise  the score has the bits of the one that Rank returns.
//   Cost     one text through a tower for each word, and two. Variants of a
//            title are not cached.
//   Threads  all methods are thread-safe, but one request runs one slice at a
//            time.
//   Errors   InvalidArgument before the first slice; DeadlineExceeded and
//            Cancelled when no client waits. After an error no further slice
//            may be run.
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
  std::uint32_t position = 0;  // the index of the word
  std::string word;            // the middle of the window
  std::string window;          // its words, without the padding
};

// A score and its summands.
struct ScoreParts {
  float score = 0;
  float semantic = 0;
  float lexical = 0;
};

// A letter n-gram that is in both texts.
struct NgramMatch {
  std::string ngram;
  float lexical = 0;  // what one occurrence adds to the score
};

struct WordContribution {
  std::string word;         // normalised
  ScoreParts without = {};  // the pair without this occurrence of the word
  std::uint32_t num_features = 0;
  std::uint32_t num_known_features = 0;
  bool in_other_text = false;
  std::vector<NgramMatch> matches = {};  // in the order of the word
};

struct Explanation {
  ScoreParts parts;
  std::vector<WordContribution> query_words;
  std::vector<WordContribution> title_words;
  // Only for CLSM models.
  std::vector<PoolingWinner> query_pooling;
  std::vector<PoolingWinner> title_pooling;
  PhaseTimes times;
};

class Explainer {
 public:
  // `engine` must outlive the explainer.
  explicit Explainer(const RankingEngine* engine) : engine_(*engine) {}

  // The input of one request, and its state between two slices.
  struct Request {
    TextBatch query;  // one normalised text each
    TextBatch title;
    std::vector<float> query_row;  // [embedding_dim]
    std::vector<float> title_row;  // [embedding_dim]
    // The number of words explained, counted through the query and the title.
    std::size_t num_explained = 0;
    bool begun = false;
    std::uint32_t max_pooling_units = 0;  // 0 = 5
    ModelParts parts = ModelParts::kBoth;
    // The texts to embed: one for each word, and the two themselves.
    std::int64_t num_texts = 2;
    std::size_t num_bytes = 0;  // of all these texts
  };

  // Normalises both texts and counts the texts to embed. Returns
  // InvalidArgument for a query or title that Rank refuses; the request then
  // counts as two texts.
  absl::Status Read(const ServedModel& served, std::string_view query,
                    std::string_view title, Request& request) const;
  // Returns InvalidArgument for more words than --max_explain_words, or than a
  // request may have texts, and for parts that the model does not have.
  absl::Status Check(const ServedModel& served, const Request& request) const;

  // Runs one slice; `result` is complete after kDone.
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
