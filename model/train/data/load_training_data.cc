#include "model/train/data/load_training_data.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/data/held_out_collection.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/read_pairs.h"
#include "model/train/data/streamed_data.h"
#include "model/train/data/training_features.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

DataStatistics Describe(const std::vector<TextPair>& pairs,
                        const TextInterner& texts,
                        const std::vector<TextId>& queries,
                        const std::vector<TextId>& titles) {
  DataStatistics statistics;
  statistics.train_pairs = static_cast<std::int64_t>(pairs.size());
  for (const TextPair& pair : pairs) statistics.clicks += pair.clicks;
  for (const TextId id : queries) statistics.queries.Add(texts.text(id));
  for (const TextId id : titles) statistics.titles.Add(texts.text(id));
  return statistics;
}

// The texts of the training pairs and of their hard negatives.
std::vector<TextId> TextsOfVocabulary(const std::vector<TextId>& queries,
                                      const std::vector<TextId>& titles,
                                      const ShownTitles& shown) {
  std::vector<TextId> ids = titles;
  ids.insert(ids.end(), queries.begin(), queries.end());
  for (const TextId query : queries) {
    // Negatives are embedded too, though no pair has them.
    const std::span<const TextId> negatives = shown.Of(query);
    ids.insert(ids.end(), negatives.begin(), negatives.end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Returns the validation pairs that the options ask for; pairs that are held
// out leave `train_pairs`.
absl::StatusOr<std::vector<TextPair>> TakeValidPairs(
    const TrainOptions& options, BadLines& bad_lines, TextInterner& texts,
    std::vector<TextPair>& train_pairs) {
  if (!options.data.valid_pair_files.empty()) {
    return ReadValidPairs(options.data.valid_pair_files, bad_lines, texts);
  }
  if (options.data.valid_fraction <= 0) return std::vector<TextPair>();
  std::vector<TextPair> held_out =
      HoldOutQueries(options.data.valid_fraction, options.seed, train_pairs);
  // There are too few pairs to hold some out.
  if (!HasTwoTitles(held_out) || !HasTwoTitles(train_pairs)) {
    train_pairs.insert(train_pairs.end(), held_out.begin(), held_out.end());
    held_out.clear();
    absl::FPrintF(stderr,
                  "too few pairs to hold some out: training without "
                  "validation\n");
  }
  return held_out;
}

// OutOfRange when the pairs do not fit.
absl::StatusOr<TrainingData> LoadIntoMemory(const TrainOptions& options,
                                            BadLines& bad_lines) {
  TextInterner texts;
  std::vector<ShownTitle> shown_lines;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> train_pairs,
      ReadPairs(
          options.data.train_files, bad_lines, texts,
          {.memory = &options.data,
           .shown = UsesShownTitles(options.loss) ? &shown_lines : nullptr}));
  SEMRANK_RETURN_IF_ERROR(
      CheckDistinctTitles(options.data.train_files, train_pairs, texts));
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> valid_pairs,
      TakeValidPairs(options, bad_lines, texts, train_pairs));
  ShownTitles shown;
  if (UsesShownTitles(options.loss)) {
    SEMRANK_ASSIGN_OR_RETURN(
        shown, ReadShownTitles(std::move(shown_lines), options.data.judged_file,
                               bad_lines, texts));
    SEMRANK_RETURN_IF_ERROR(CheckShownTitles(shown, train_pairs));
  }
  std::vector<TextId> titles = DistinctTitles(train_pairs);
  const std::vector<TextId> queries = DistinctQueries(train_pairs);
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      ChooseFeatures(options.features, texts,
                     TextsOfVocabulary(queries, titles, shown), train_pairs,
                     NumPaddings(options.tower)));
  // The number of features is known here for the first time, and with it the
  // size of the model.
  SEMRANK_RETURN_IF_ERROR(CheckFitsBesideModel(
      PairBytes(static_cast<std::int64_t>(train_pairs.size()), texts.size(),
                texts.num_characters()),
      options, featurizer.num_features()));

  absl::FPrintF(stderr,
                "%d pairs (%d queries, %d titles) for training, %d for "
                "validation, %d features, %d bad lines\n",
                train_pairs.size(), queries.size(), titles.size(),
                valid_pairs.size(), NumListedFeatures(featurizer),
                bad_lines.count());
  DataStatistics statistics = Describe(train_pairs, texts, queries, titles);
  statistics.valid_pairs = static_cast<std::int64_t>(valid_pairs.size());
  statistics.bad_lines = bad_lines.count();
  statistics.features = NumListedFeatures(featurizer);
  TextBags bags(texts, featurizer, TextFormOf(options.tower));
  std::vector<float> lexical_idf =
      LexicalIdfOf(options.features, texts, titles);
  std::shared_ptr<const Collection> held_out =
      MakeHeldOutCollection(texts, valid_pairs, titles, options.seed);
  std::shared_ptr<const TextInterner> kept_texts;
  // Only mistyped queries and the fit of the lexical weight need texts later;
  // otherwise they are freed here.
  if (options.loss.query_typos > 0 || !options.features.lexical_weight) {
    kept_texts = std::make_shared<TextInterner>(std::move(texts));
  }
  return TrainingData{std::move(featurizer),
                      std::move(bags),
                      std::move(train_pairs),
                      std::move(valid_pairs),
                      std::move(titles),
                      std::move(shown),
                      statistics,
                      /*stream=*/nullptr,
                      std::move(kept_texts),
                      std::move(lexical_idf),
                      std::move(held_out)};
}

}  // namespace

absl::StatusOr<TrainingData> LoadTrainingData(const TrainOptions& options,
                                              BadLines& bad_lines) {
  const BadLines bad_lines_before = bad_lines;
  absl::StatusOr<TrainingData> data = LoadIntoMemory(options, bad_lines);
  // OutOfRange means that the pairs do not fit in memory: they are streamed.
  // The files are read again, so their bad lines must not count twice.
  if (!absl::IsOutOfRange(data.status())) return data;
  bad_lines = bad_lines_before;
  return LoadStreamedData(options, bad_lines);
}

}  // namespace semrank
