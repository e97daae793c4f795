#include "model/eval/rankers/translation_rankers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "model/base/interrupt.h"
#include "model/base/strings.h"
#include "model/eval/rankers/list_ranker.h"
#include "model/eval/translation/phrase_translations.h"
#include "model/text/bag_batch.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Smaller values are dropped to bound the lists (translation_rankers.h).
constexpr double kMinTranslation = 0.001;
constexpr double kMinWeight = 0.1;

// The words of the documents and of the click log, with P(q|C).
class TranslationVocabulary {
 public:
  TranslationVocabulary(const TranslationModel& model,
                        const std::vector<std::string>& documents)
      : number_of_(model.number_of), background_(model.query_counts) {
    for (const std::string& document : documents) {
      ForEachWord(document, [&](std::string_view word) {
        // Words that the log does not have get numbers after the model's.
        const auto [entry, is_new] = number_of_.try_emplace(
            std::string(word), static_cast<std::uint32_t>(background_.size()));
        if (is_new) background_.push_back(0);
        ++background_[entry->second];
      });
    }
    const double total =
        std::accumulate(background_.begin(), background_.end(), 0.0);
    // A query counts once for each click, as each click is a query that a
    // user typed.
    for (double& count : background_) count /= total;
  }

  std::size_t size() const { return background_.size(); }
  // Words of the model keep their numbers.
  std::optional<std::uint32_t> Find(std::string_view word) const {
    const auto found = number_of_.find(ToAbsl(word));
    if (found == number_of_.end()) return std::nullopt;
    return found->second;
  }
  // P(q|C). It is 0 only for words that occur in the log's titles alone, which
  // are never translations.
  double Background(std::uint32_t word) const { return background_[word]; }

 private:
  absl::flat_hash_map<std::string, std::uint32_t> number_of_;
  std::vector<double> background_;
};

// Finds the words that a title may be translated to.
class DocumentTranslator {
 public:
  // Both must outlive the translator.
  DocumentTranslator(const TranslationModel& model,
                     const TranslationVocabulary& vocabulary,
                     const TranslationSmoothing& smoothing)
      : model_(model),
        vocabulary_(vocabulary),
        smoothing_(smoothing),
        probability_(vocabulary.size()) {}

  // Appends to the last bag of `bags`, without ending it, each word q of
  // P_mx(q|D) > 0 with the weight log P_s(q|D) - log(alpha P(q|C)).
  void AppendWords(std::string_view document, BagBatch& bags) {
    const double share = 1 / LengthInWords(document);
    ForEachWord(document, [&](std::string_view text) {
      const std::uint32_t word = *vocabulary_.Find(text);
      // P_mx (translation_rankers.h): beta of the word's share remains with the
      // word itself, the rest is divided among its translations.
      Add(word, smoothing_.self * share);
      AddTranslations(word, (1 - smoothing_.self) * share);
    });
    // log P_s - log(alpha P(q|C)) = log(1 + (1 - alpha) / alpha x P_mx
    // / P(q|C)).
    const double odds = (1 - smoothing_.background) / smoothing_.background;
    for (const std::uint32_t word : found_) {
      const double weight =
          std::log1p(odds * probability_[word] / vocabulary_.Background(word));
      probability_[word] = 0;
      // The translations of a title have a long tail of words that hardly
      // change its score; without this bound they would fill the lists.
      if (weight < kMinWeight) continue;
      bags.indices.push_back(word);
      bags.counts.push_back(static_cast<float>(weight));
    }
    found_.clear();
  }

 private:
  void Add(std::uint32_t word, double probability) {
    if (probability == 0) return;
    if (probability_[word] == 0) found_.push_back(word);
    probability_[word] += probability;
  }

  void AddTranslations(std::uint32_t word, double probability) {
    // A word that no title of the log has translates to itself, so that it
    // keeps its share of the title.
    if (word >= model_.words.size() ||
        model_.word_translations.Of(word).empty()) {
      return Add(word, probability);
    }
    for (const auto& translation : model_.word_translations.Of(word)) {
      if (translation.probability < kMinTranslation) continue;
      Add(translation.target, probability * translation.probability);
    }
  }

  const TranslationModel& model_;
  const TranslationVocabulary& vocabulary_;
  TranslationSmoothing smoothing_;
  std::vector<double> probability_;  // P_mx(q|D); 0 for words not in found_
  std::vector<std::uint32_t> found_;
};

class TranslationRanker : public ListRanker {
 public:
  TranslationRanker(const TranslationModel& model,
                    const std::vector<std::string>& documents,
                    const TranslationSmoothing& smoothing)
      : ListRanker(documents.size()), vocabulary_(model, documents) {
    DocumentTranslator translator(model, vocabulary_, smoothing);
    BagBatch bags;
    for (const std::string& document : documents) {
      if (Interrupted()) return;
      translator.AppendWords(document, bags);
      bags.EndBag();
    }
    lists_ = InvertedLists(vocabulary_.size(), bags);
  }
  std::string name() const override { return "wtm"; }

 private:
  void ScoreQuery(std::string_view query, float* scores) const override {
    ForEachWord(query, [&](std::string_view text) {
      const auto word = vocabulary_.Find(text);
      // Adds the logarithm of the word's factor. A word that neither the log
      // nor the documents have does not distinguish documents.
      if (word) lists_.AddScaled(*word, 1, scores);
    });
  }

  TranslationVocabulary vocabulary_;
  InvertedLists lists_;
};

// The range [begin, end) of each word, in bytes.
std::vector<std::pair<std::size_t, std::size_t>> WordSpans(
    std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  ForEachWord(text, [&](std::string_view word) {
    const std::size_t begin = word.data() - text.data();
    spans.emplace_back(begin, begin + word.size());
  });
  return spans;
}

// Calls visit(phrase) for every phrase of up to kMaxPhraseWords words.
template <typename Visitor>
void ForEachPhrase(std::string_view text, Visitor visit) {
  const auto spans = WordSpans(text);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t end = std::min(spans.size(), i + kMaxPhraseWords);
    for (std::size_t j = i; j < end; ++j) {
      visit(text.substr(spans[i].first, spans[j].second - spans[i].first));
    }
  }
}

class PhraseRanker : public ListRanker {
 public:
  PhraseRanker(const TranslationModel& model,
               const std::vector<std::string>& documents,
               const TranslationSmoothing& smoothing)
      : ListRanker(documents.size()), vocabulary_(model, documents) {
    const LongPhrases phrases = NumberPhrases(model, smoothing);
    DocumentTranslator translator(model, vocabulary_, smoothing);
    BagBatch bags;
    absl::flat_hash_map<std::uint32_t, double> found;
    for (const std::string& document : documents) {
      if (Interrupted()) return;
      translator.AppendWords(document, bags);
      const double share = 1 / LengthInWords(document);
      ForEachPhrase(document, [&](std::string_view phrase) {
        for (const auto& translation : model.phrase_translations.Of(phrase)) {
          const auto list = phrases.list_of_target[translation.target];
          if (list) found[*list] += share * translation.probability;
        }
      });
      for (const auto& [list, probability] : found) {
        const double weight = std::log(probability) +
                              phrases.constants[list - vocabulary_.size()];
        // This phrase is never the maximum: the path through its single words
        // weighs 0 or more, as their lists have no negative weights and a word
        // without an entry adds 0.
        if (!(weight > 0)) continue;
        bags.indices.push_back(list);
        bags.counts.push_back(static_cast<float>(weight));
      }
      found.clear();
      bags.EndBag();
    }
    lists_ = InvertedLists(vocabulary_.size() + phrases.constants.size(), bags);
  }
  std::string name() const override { return "ptm"; }

 private:
  // The lists of the phrases of two words and more.
  struct LongPhrases {
    // By target of the phrase table; nullopt for a single word.
    std::vector<std::optional<std::uint32_t>> list_of_target;
    // The term that all weights of a list share, by list.
    std::vector<double> constants;
  };

  LongPhrases NumberPhrases(const TranslationModel& model,
                            const TranslationSmoothing& smoothing) {
    const double log_translated =
        std::log((1 - smoothing.background) * (1 - smoothing.self));
    LongPhrases phrases;
    for (const std::string& target : model.phrase_translations.targets()) {
      phrases.list_of_target.emplace_back();
      // Skips single words. Words have no blank, so a phrase of two is never in
      // the vocabulary.
      if (vocabulary_.Find(target)) continue;
      const auto list = static_cast<std::uint32_t>(vocabulary_.size() +
                                                   phrases.constants.size());
      phrases.list_of_target.back() = list;
      long_phrases_.emplace(target, list);
      double log_background = 0;
      ForEachWord(target, [&](std::string_view word) {
        log_background +=
            std::log(smoothing.background *
                     vocabulary_.Background(*vocabulary_.Find(word)));
      });
      // Scores are relative to the log of alpha P(q|C) of each query word, so
      // the score of a phrase is relative to those of all its words.
      phrases.constants.push_back(log_translated - log_background);
    }
    return phrases;
  }

  // The list of a query phrase of `num_words` words, or nullopt.
  std::optional<std::uint32_t> FindPhrase(std::string_view phrase,
                                          std::size_t num_words) const {
    if (num_words == 1) return vocabulary_.Find(phrase);
    const auto found = long_phrases_.find(ToAbsl(phrase));
    if (found == long_phrases_.end()) return std::nullopt;
    return found->second;
  }

  // `scores` holds log a_j of all documents and is updated in place from word
  // to word. A longer phrase needs log a_j from before its first word, but only
  // for the documents of its own list, so not all scores are copied.
  void ScoreQuery(std::string_view query, float* scores) const override {
    struct OpenPhrase {
      std::span<const InvertedLists::Posting> list;
      std::size_t end;            // in words
      std::vector<float> before;  // log a_j of the list's documents
    };
    const auto spans = WordSpans(query);
    std::vector<OpenPhrase> open;
    for (std::size_t j = 0; j < spans.size(); ++j) {
      const auto list_of = [&](std::size_t num_words) {
        const std::size_t end = spans[j + num_words - 1].second;
        return FindPhrase(query.substr(spans[j].first, end - spans[j].first),
                          num_words);
      };
      for (std::size_t n = 2; n <= std::min(kMaxPhraseWords, spans.size() - j);
           ++n) {
        const auto list = list_of(n);
        if (!list) continue;
        OpenPhrase& phrase =
            open.emplace_back(OpenPhrase{lists_.Of(*list), j + n, {}});
        for (const auto& posting : phrase.list) {
          phrase.before.push_back(scores[posting.document]);
        }
      }
      // First the path through the single word, for all documents: a_j+1 is at
      // least a_j times the word's probability. The phrases that end at this
      // word then compete with it.
      if (const auto list = list_of(1)) lists_.AddScaled(*list, 1, scores);
      std::erase_if(open, [&](const OpenPhrase& phrase) {
        if (phrase.end != j + 1) return false;
        for (std::size_t i = 0; i < phrase.list.size(); ++i) {
          float& score = scores[phrase.list[i].document];
          score = std::max(score, phrase.before[i] + phrase.list[i].weight);
        }
        return true;
      });
    }
  }

  TranslationVocabulary vocabulary_;
  // Phrases of two words and more; their lists follow those of the words.
  absl::flat_hash_map<std::string, std::uint32_t> long_phrases_;
  InvertedLists lists_;  // log P(q|D) - log of alpha P(q|C) of its words
};

// The constructor of a ranker returns early after Ctrl-C.
template <typename RankerType>
absl::StatusOr<std::unique_ptr<Ranker>> Create(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  auto ranker = std::make_unique<RankerType>(model, documents, smoothing);
  if (Interrupted()) {
    return absl::CancelledError("interrupted while documents were translated");
  }
  return ranker;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Ranker>> CreateTranslationRanker(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  return Create<TranslationRanker>(model, documents, smoothing);
}

absl::StatusOr<std::unique_ptr<Ranker>> CreatePhraseRanker(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  return Create<PhraseRanker>(model, documents, smoothing);
}

}  // namespace semrank
