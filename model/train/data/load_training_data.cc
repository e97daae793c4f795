#include "model/train/data/load_training_data.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/data/catalogue.h"
#include "model/train/data/chance_clicks.h"
#include "model/train/data/event_clicks.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/pair_split.h"
#include "model/train/data/read_pairs.h"
#include "model/train/data/report_data.h"
#include "model/train/data/streamed_data.h"
#include "model/train/data/training_features.h"
#include "model/train/data/unaccented_queries.h"
#include "model/train/options/model_size.h"

namespace semrank {
namespace {

// Both are in ascending order.
std::vector<TextId> Union(std::span<const TextId> a,
                          std::span<const TextId> b) {
  std::vector<TextId> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

// The titles of --docs, if it is given and the model has a lexical part.
// `titles` are those of the training pairs, or a sample of them that has every
// title for which `is_sampled` is true.
absl::StatusOr<std::vector<TextId>> TakeCatalogue(
    const TrainOptions& options, std::span<const TextId> titles,
    absl::FunctionRef<bool(TextId)> is_sampled, BadLines& bad_lines,
    TextInterner& texts, DataStatistics& statistics) {
  std::vector<TextId> catalogue;
  if (options.data.docs_file.empty() || options.features.lexical_weight == 0) {
    return catalogue;
  }
  SEMRANK_ASSIGN_OR_RETURN(catalogue,
                           ReadCatalogue(options.data, bad_lines, texts));
  statistics.catalogue_titles = std::ssize(catalogue);
  // The fit of the lexical weight weighs known and new titles by this
  // share (lexical_fit.h).
  statistics.known_share = ShareOfTitles(catalogue, titles, is_sampled);
  absl::FPrintF(stderr,
                "%d titles in the catalogue; the training pairs have %.0f %% "
                "of them\n",
                catalogue.size(), 100 * statistics.known_share);
  return catalogue;
}

// The data with everything that is made of `texts`. `statistics` has what was
// counted of the training pairs.
TrainingData MakeData(const TrainOptions& options, const TextInterner& texts,
                      Featurizer featurizer, std::vector<TextPair> valid_pairs,
                      std::vector<TextId> titles, std::vector<TextId> catalogue,
                      DataStatistics statistics, const BadLines& bad_lines) {
  TextBags bags(texts, featurizer, TextFormOf(options.tower));
  TrainingData data = {.featurizer = std::move(featurizer),
                       .bags = std::move(bags)};
  statistics.valid_pairs = std::ssize(valid_pairs);
  statistics.bad_lines = bad_lines.count();
  statistics.features = NumListedFeatures(data.featurizer);
  data.statistics = statistics;
  data.valid_pairs = std::move(valid_pairs);
  data.titles = std::move(titles);
  data.catalogue = std::move(catalogue);
  data.held_out = MakeHeldOutCollection(texts, data.valid_pairs,
                                        data.served_titles(), options.seed);
  return data;
}

// `chance` gets the pairs whose clicks may be chance, which are omitted. Fails
// as ReadPairs, PairsOfRows and ClickCounts::TakeChance.
absl::StatusOr<std::vector<TextPair>> ReadTrainPairs(
    const TrainOptions& options, const Clicks& clicks, BadLines& bad_lines,
    TextInterner& texts, std::vector<ShownTitle>* shown,
    std::vector<TextPair>& chance) {
  const PositionWeights& weights = clicks.weights;
  ClickCounts counts;
  ClickCounts* const output = weights.corrects() ? &counts : nullptr;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> pairs,
      options.data.event_paths.empty()
          ? ReadPairs(options.data.train_files, options, weights, bad_lines,
                      texts, shown, output)
          : PairsOfRows(clicks.rows, weights, texts, shown, output));
  SEMRANK_ASSIGN_OR_RETURN(chance, counts.TakeChance(texts, pairs));
  return pairs;
}

// Hard negatives, if the loss uses them: of `lines`, and of --judged.
absl::StatusOr<ShownTitles> ReadNegatives(const TrainOptions& options,
                                          std::vector<ShownTitle> lines,
                                          BadLines& bad_lines,
                                          TextInterner& texts) {
  if (!UsesShownTitles(options.loss)) return ShownTitles();
  return ReadShownTitles(std::move(lines), options.data.judged_file, bad_lines,
                         texts, options.data.normalizer_version);
}

// The pairs of a run in memory, and what follows from them alone.
struct LoadedPairs {
  TextInterner texts;
  PairSplit split = {};
  std::vector<TextPair> list_pairs = {};  // the clicks of judged_lists
  ShownTitles shown = {};
  // Distinct texts of split.train, in ascending order.
  std::vector<TextId> queries = {};
  std::vector<TextId> titles = {};
  UnaccentedQueries unaccented = {};
};

// OutOfRange when the pairs do not fit.
absl::StatusOr<LoadedPairs> LoadPairs(const TrainOptions& options,
                                      const Clicks& clicks, TextInterner texts,
                                      BadLines& bad_lines) {
  const bool uses_shown = UsesShownTitles(options.loss);
  std::vector<ShownTitle> shown_lines;
  std::vector<TextPair> chance;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> pairs,
      ReadTrainPairs(options, clicks, bad_lines, texts,
                     uses_shown ? &shown_lines : nullptr, chance));
  // A file may be of one night, which cannot judge the clicks of earlier ones.
  // Folders of events keep these.
  if (options.data.event_paths.empty()) chance.clear();
  SEMRANK_RETURN_IF_ERROR(CheckRepeatsFit(options, pairs));
  SEMRANK_RETURN_IF_ERROR(CheckPairsCanTeach(options, pairs, texts));
  SEMRANK_ASSIGN_OR_RETURN(PairSplit split,
                           SplitPairs(options, clicks.weights, std::move(pairs),
                                      chance, bad_lines, texts));
  LoadedPairs loaded = {.texts = std::move(texts), .split = std::move(split)};
  loaded.list_pairs = PairsOfLists(clicks.judged_lists.get(), loaded.texts);
  SEMRANK_ASSIGN_OR_RETURN(
      loaded.shown,
      ReadNegatives(options, std::move(shown_lines), bad_lines, loaded.texts));
  const std::vector<TextPair>& train = loaded.split.train;
  if (uses_shown) {
    SEMRANK_RETURN_IF_ERROR(CheckShownTitles(loaded.shown, train));
  }
  loaded.queries = DistinctQueries(train);
  loaded.titles = DistinctTitles(train);
  if (options.loss.unaccented_queries) {
    loaded.unaccented =
        FindUnaccentedQueries(train,
                              {loaded.split.held_out(), loaded.split.judged_new,
                               loaded.split.judged_earlier},
                              loaded.texts);
  }
  return loaded;
}

// The texts of the training pairs and of their hard negatives, and the queries
// of `unaccented` without their accents.
std::vector<TextId> TextsOfVocabulary(const LoadedPairs& loaded,
                                      const UnaccentedQueries& unaccented) {
  std::vector<TextId> ids = loaded.titles;
  ids.insert(ids.end(), loaded.queries.begin(), loaded.queries.end());
  for (const auto& [query, plain] : unaccented) ids.push_back(plain);
  for (const TextId query : loaded.queries) {
    // Negatives are embedded too, though no pair has them.
    const std::span<const TextId> negatives = loaded.shown.Of(query);
    ids.insert(ids.end(), negatives.begin(), negatives.end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Texts of hard negatives count as well, since they are embedded, and the
// catalogue, since it is ranked. Each query counts so often that all of them
// weigh about as much as the titles of the catalogue.
std::vector<float> IdfOf(const TrainOptions& options, const LoadedPairs& loaded,
                         const std::vector<TextId>& catalogue) {
  const std::int64_t query_count = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(catalogue.size() / loaded.queries.size()));
  return LexicalIdfOf(
      options.features, loaded.texts,
      Union(TextsOfVocabulary(loaded, /*unaccented=*/{}), catalogue),
      loaded.queries, query_count);
}

DataStatistics Describe(const LoadedPairs& loaded) {
  const TextInterner& texts = loaded.texts;
  DataStatistics statistics;
  statistics.train_pairs = std::ssize(loaded.split.train);
  for (const TextPair& pair : loaded.split.train) {
    statistics.clicks += pair.clicks;
  }
  for (const TextId id : loaded.queries) statistics.queries.Add(texts.text(id));
  for (const TextId id : loaded.titles) statistics.titles.Add(texts.text(id));
  return statistics;
}

void PrintSizes(const LoadedPairs& loaded, const Featurizer& featurizer,
                const BadLines& bad_lines) {
  absl::FPrintF(stderr,
                "%d pairs (%d queries, %d titles) for training, %d for "
                "validation, %d features, %d bad lines\n",
                loaded.split.train.size(), loaded.queries.size(),
                loaded.titles.size(), loaded.split.valid.size(),
                NumListedFeatures(featurizer), bad_lines.count());
  if (!loaded.unaccented.empty()) {
    absl::FPrintF(stderr, "%d queries are trained without their accents, too\n",
                  loaded.unaccented.size());
  }
}

// The pairs judge by titles that the model will rank, which `data` has.
void MovePairs(const TrainOptions& options, LoadedPairs& loaded, Clicks& clicks,
               TrainingData& data) {
  PairSplit& split = loaded.split;
  data.judged = MakeJudged(
      options, loaded.texts, data.served_titles(),
      options.data.event_paths.empty() ? split.judged_new : loaded.list_pairs,
      std::move(split.judged_earlier), std::move(clicks.judged_lists));
  data.train_pairs = std::move(split.train);
  data.num_kept_pairs = split.num_earlier;
  data.unaccented = std::move(loaded.unaccented);
  data.shown = std::move(loaded.shown);
  // Only mistyped queries and the fit of the lexical weight need texts later;
  // otherwise they are freed with `loaded`.
  if (options.loss.query_typos > 0 || !options.features.lexical_weight) {
    data.texts = std::make_shared<TextInterner>(std::move(loaded.texts));
  }
}

// Features are chosen from what is left for training; only then is the size of
// the model known. OutOfRange when the pairs do not fit.
absl::StatusOr<TrainingData> LoadIntoMemory(const TrainOptions& options,
                                            Clicks& clicks, TextInterner texts,
                                            BadLines& bad_lines) {
  SEMRANK_ASSIGN_OR_RETURN(
      LoadedPairs loaded,
      LoadPairs(options, clicks, std::move(texts), bad_lines));
  const std::vector<TextPair>& train = loaded.split.train;
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      ChooseFeatures(options.features, loaded.texts,
                     TextsOfVocabulary(loaded, loaded.unaccented), train,
                     NumPaddings(options.tower), loaded.unaccented));
  DataStatistics statistics = Describe(loaded);
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextId> catalogue,
      TakeCatalogue(
          options, loaded.titles, [](TextId) { return true; }, bad_lines,
          loaded.texts, statistics));
  SEMRANK_RETURN_IF_ERROR(
      CheckFitsBesideModel(PairBytes(std::ssize(train), loaded.texts.size(),
                                     loaded.texts.num_characters()),
                           options, featurizer.num_features()));
  PrintSizes(loaded, featurizer, bad_lines);
  std::vector<float> idf = IdfOf(options, loaded, catalogue);
  std::string kept =
      FormatPairsToKeep(options.data, loaded.texts, loaded.split);
  TrainingData data =
      MakeData(options, loaded.texts, std::move(featurizer),
               std::move(loaded.split.valid), std::move(loaded.titles),
               std::move(catalogue), statistics, bad_lines);
  data.lexical_idf = std::move(idf);
  data.kept_pairs = std::move(kept);
  MovePairs(options, loaded, clicks, data);
  return data;
}

absl::Status CheckStreamable(const TrainOptions& options) {
  if (!options.data.event_paths.empty()) return EventsDoNotFit();
  if (options.loss.logq > 0) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the click log does not fit in --memory_limit, but --logq=%g needs the "
        "number of pairs of every title: give more memory or --logq=0",
        options.loss.logq));
  }
  if (options.data.judge_fraction > 0) {
    return absl::ResourceExhaustedError(
        "the click log does not fit in --memory_limit, but --judge_fraction "
        "holds out pairs of a log in memory: give more memory, or "
        "--judge_fraction=0 --publish=always");
  }
  if (UsesShownTitles(options.loss) && options.data.judged_file.empty()) {
    return absl::ResourceExhaustedError(
        "the click log does not fit in --memory_limit, but all of it is needed "
        "to know what was shown for a query: give more memory or --judged");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingData> LoadStreamedData(const TrainOptions& options,
                                              BadLines& bad_lines,
                                              const PositionWeights& weights) {
  // What needs all pairs at once is refused before hours of counting.
  SEMRANK_RETURN_IF_ERROR(CheckStreamable(options));
  SEMRANK_ASSIGN_OR_RETURN(CountedLog log,
                           CountLog(options, weights, bad_lines));
  PairStream& stream = *log.stream;
  if (!options.data.valid_pair_files.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        log.held_out,
        ReadValidPairs(options, weights, bad_lines, stream.texts));
  }
  SEMRANK_ASSIGN_OR_RETURN(
      ShownTitles shown,
      ReadNegatives(options, /*lines=*/{}, bad_lines, stream.texts));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           MakeFeaturizer(options.features, log.vocabulary));
  SEMRANK_ASSIGN_OR_RETURN(
      stream.shuffle_bytes,
      ShareForShuffling(options, featurizer.num_features()));
  absl::FPrintF(
      stderr,
      "%d pairs for training, streamed from disk through a shuffle buffer "
      "of %d bytes; %d for validation, %d features, %d bad lines\n",
      stream.num_pairs, stream.shuffle_bytes, log.held_out.size(),
      NumListedFeatures(featurizer), bad_lines.count());
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    absl::FPrintF(stderr, "idf is counted over %s%d titles\n",
                  stream.has_all_titles ? "all " : "a sample of ",
                  log.titles.size());
  }
  // A sample of the titles says which share of the catalogue is known: a title
  // of the catalogue counts if the sample would have it.
  const TextHash hash(options.seed);
  const auto is_sampled = [&](TextId title) {
    return hash(stream.texts.text(title)) <= log.highest_title_hash;
  };
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextId> catalogue,
      TakeCatalogue(options, log.titles, is_sampled, bad_lines, stream.texts,
                    log.statistics));
  TrainingData data = MakeData(options, stream.texts, std::move(featurizer),
                               std::move(log.held_out), std::move(log.titles),
                               std::move(catalogue), log.statistics, bad_lines);
  // A stream keeps no queries.
  data.lexical_idf = LexicalIdfOf(options.features, stream.texts,
                                  Union(data.titles, data.catalogue));
  data.shown = std::move(shown);
  // The pointer shares the ownership of the stream, whose member it is.
  data.texts =
      std::shared_ptr<const TextInterner>(log.stream, &log.stream->texts);
  data.stream = std::move(log.stream);
  return data;
}

absl::StatusOr<TrainingData> LoadTrainingData(const TrainOptions& options,
                                              BadLines& bad_lines) {
  TextInterner texts;
  SEMRANK_ASSIGN_OR_RETURN(Clicks clicks,
                           ReadClicks(options, bad_lines, texts));
  const std::int64_t num_bad_lines = bad_lines.count();
  absl::StatusOr<TrainingData> data =
      LoadIntoMemory(options, clicks, std::move(texts), bad_lines);
  // OutOfRange means that the pairs do not fit in memory: they are streamed.
  // The files are read again, so their bad lines must not count twice.
  if (absl::IsOutOfRange(data.status())) {
    bad_lines.CountAgainFrom(num_bad_lines);
    data = LoadStreamedData(options, bad_lines, clicks.weights);
  }
  if (data.ok()) data->position_weights = std::move(clicks.weights);
  return data;
}

}  // namespace semrank
