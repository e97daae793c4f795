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
#include "model/train/start/kept_pairs.h"

namespace semrank {
namespace {

// The order of the steps in memory is fixed by what each needs: pairs are read
// before any is held out, those for judging leave first, so that no other step
// sees them, and features are chosen from what is left. Only then is the size
// of the model known.

// Returns the validation pairs that the options ask for; pairs that are held
// out leave `train_pairs`.
absl::StatusOr<std::vector<TextPair>> TakeValidPairs(
    const TrainOptions& options, const PositionWeights& weights,
    BadLines& bad_lines, TextInterner& texts,
    std::vector<TextPair>& train_pairs) {
  if (!options.data.valid_pair_files.empty()) {
    return ReadValidPairs(options, weights, bad_lines, texts);
  }
  if (options.data.valid_fraction <= 0) return std::vector<TextPair>();
  // A model that grows night by night must not be validated on what an earlier
  // night has learned, so there a hash decides which queries are held out.
  const double fraction = options.data.valid_fraction;
  std::vector<TextPair> held_out =
      options.features.grows_given
          ? HoldOutQueriesByHash(fraction, options.seed, texts, train_pairs)
          : HoldOutQueries(fraction, options.seed, train_pairs);
  // There are too few pairs to hold some out.
  if (!HasTwoTitles(held_out) || !HasTwoTitles(train_pairs) ||
      (options.data.default_valid_fraction &&
       held_out.size() < kMinPairsForLoss)) {
    train_pairs.insert(train_pairs.end(), held_out.begin(), held_out.end());
    held_out.clear();
    absl::FPrintF(stderr,
                  "too few pairs to choose an epoch by held-out ones: the last "
                  "epoch is published\n");
  }
  return held_out;
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

// Both are in ascending order.
std::vector<TextId> Union(std::span<const TextId> a,
                          std::span<const TextId> b) {
  std::vector<TextId> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

// How often each query counts in the idf, so that all of them count about as
// much as the titles of the catalogue.
std::int64_t QueryCount(std::span<const TextId> queries,
                        std::span<const TextId> catalogue) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(catalogue.size() / queries.size()));
}

DataStatistics Describe(const std::vector<TextPair>& pairs,
                        const TextInterner& texts,
                        const std::vector<TextId>& queries,
                        const std::vector<TextId>& titles) {
  DataStatistics statistics;
  statistics.train_pairs = std::ssize(pairs);
  for (const TextPair& pair : pairs) statistics.clicks += pair.clicks;
  for (const TextId id : queries) statistics.queries.Add(texts.text(id));
  for (const TextId id : titles) statistics.titles.Add(texts.text(id));
  return statistics;
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

// The file of the pairs that are kept with the model. Pairs of other files do
// not belong to it.
std::string KeptPairsOf(const DataOptions& options, const TextInterner& texts,
                        const std::vector<TextPair>& train_pairs,
                        const std::vector<TextPair>& valid_pairs,
                        const std::vector<TextPair>& omitted) {
  std::vector<TextPair> pairs = train_pairs;
  // Pairs that this run held out for validation are new to the next one, which
  // may learn from them.
  if (options.valid_pair_files.empty()) {
    pairs.insert(pairs.end(), valid_pairs.begin(), valid_pairs.end());
  }
  pairs.insert(pairs.end(), omitted.begin(), omitted.end());
  return FormatKeptPairs(texts, pairs, options.keep_pairs);
}

// Fails as ReadPairs, PairsOfRows and ClickCounts::RemoveChance.
absl::StatusOr<std::vector<TextPair>> ReadTrainPairs(
    const TrainOptions& options, const Clicks& clicks, BadLines& bad_lines,
    TextInterner& texts, std::vector<ShownTitle>* shown) {
  const PositionWeights& weights = clicks.weights;
  ClickCounts counts;
  ClickCounts* const output = weights.corrects() ? &counts : nullptr;
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> pairs,
      options.data.event_paths.empty()
          ? ReadPairs(options.data.train_files, options, weights, bad_lines,
                      texts, shown, output)
          : PairsOfRows(clicks.rows, weights, texts, shown, output));
  SEMRANK_RETURN_IF_ERROR(counts.RemoveChance(texts, pairs));
  return pairs;
}

// OutOfRange when the pairs do not fit.
absl::StatusOr<TrainingData> LoadIntoMemory(const TrainOptions& options,
                                            Clicks& clicks, TextInterner texts,
                                            BadLines& bad_lines) {
  const PositionWeights& weights = clicks.weights;
  std::vector<ShownTitle> shown_lines;
  const bool uses_shown = UsesShownTitles(options.loss);
  SEMRANK_ASSIGN_OR_RETURN(std::vector<TextPair> train_pairs,
                           ReadTrainPairs(options, clicks, bad_lines, texts,
                                          uses_shown ? &shown_lines : nullptr));
  SEMRANK_RETURN_IF_ERROR(CheckRepeatsFit(options, train_pairs));
  SEMRANK_RETURN_IF_ERROR(CheckPairsCanTeach(options, train_pairs, texts));
  // The judging pairs leave before anything is counted or learned.
  const std::vector<TextPair> judged_new =
      HoldOutJudged(options.data, texts, train_pairs);
  SEMRANK_ASSIGN_OR_RETURN(
      std::vector<TextPair> valid_pairs,
      TakeValidPairs(options, weights, bad_lines, texts, train_pairs));
  SEMRANK_ASSIGN_OR_RETURN(
      EarlierPairs earlier,
      AddEarlierPairs(options, valid_pairs, texts, train_pairs));
  // The earlier pairs have queries for judging too, of the nights that they
  // are from.
  std::vector<TextPair> judged_earlier;
  if (earlier.num_added > 0) {
    judged_earlier = HoldOutJudged(options.data, texts, train_pairs);
    earlier.num_added -= std::ssize(judged_earlier);
  }
  for (const auto& held_out : {judged_new, judged_earlier}) {
    earlier.omitted.insert(earlier.omitted.end(), held_out.begin(),
                           held_out.end());
  }
  const std::vector<TextPair> list_pairs =
      PairsOfLists(clicks.judged_lists.get(), texts);
  ShownTitles shown;
  if (uses_shown) {
    SEMRANK_ASSIGN_OR_RETURN(
        shown,
        ReadShownTitles(std::move(shown_lines), options.data.judged_file,
                        bad_lines, texts, options.data.normalizer_version));
    SEMRANK_RETURN_IF_ERROR(CheckShownTitles(shown, train_pairs));
  }
  // From here on train_pairs do not change: idf and statistics are those of
  // what is learned from. The vocabulary has their queries without accents,
  // too, which are trained beside them.
  std::vector<TextId> titles = DistinctTitles(train_pairs);
  const std::vector<TextId> queries = DistinctQueries(train_pairs);
  UnaccentedQueries unaccented;
  if (options.loss.unaccented_queries) {
    // Queries of --valid_pairs may be trained on; those that are held out not.
    unaccented = FindUnaccentedQueries(
        train_pairs,
        {options.data.valid_pair_files.empty() ? valid_pairs
                                               : std::vector<TextPair>(),
         judged_new, judged_earlier},
        texts);
  }
  std::vector<TextId> embedded = queries;
  for (const auto& [query, plain] : unaccented) embedded.push_back(plain);
  SEMRANK_ASSIGN_OR_RETURN(
      Featurizer featurizer,
      ChooseFeatures(options.features, texts,
                     TextsOfVocabulary(embedded, titles, shown), train_pairs,
                     NumPaddings(options.tower), unaccented));
  DataStatistics statistics = Describe(train_pairs, texts, queries, titles);
  SEMRANK_ASSIGN_OR_RETURN(std::vector<TextId> catalogue,
                           TakeCatalogue(
                               options, titles, [](TextId) { return true; },
                               bad_lines, texts, statistics));
  // The number of features is known here for the first time, and with it the
  // size of the model.
  SEMRANK_RETURN_IF_ERROR(CheckFitsBesideModel(
      PairBytes(std::ssize(train_pairs), texts.size(), texts.num_characters()),
      options, featurizer.num_features()));
  absl::FPrintF(stderr,
                "%d pairs (%d queries, %d titles) for training, %d for "
                "validation, %d features, %d bad lines\n",
                train_pairs.size(), queries.size(), titles.size(),
                valid_pairs.size(), NumListedFeatures(featurizer),
                bad_lines.count());
  if (!unaccented.empty()) {
    absl::FPrintF(stderr, "%d queries are trained without their accents, too\n",
                  unaccented.size());
  }
  // Texts of hard negatives count as well, since they are embedded, and the
  // catalogue, since it is ranked.
  std::vector<float> idf =
      LexicalIdfOf(options.features, texts,
                   Union(TextsOfVocabulary(queries, titles, shown), catalogue),
                   queries, QueryCount(queries, catalogue));
  std::string kept_pairs = KeptPairsOf(options.data, texts, train_pairs,
                                       valid_pairs, earlier.omitted);
  TrainingData data =
      MakeData(options, texts, std::move(featurizer), std::move(valid_pairs),
               std::move(titles), std::move(catalogue), statistics, bad_lines);
  data.lexical_idf = std::move(idf);
  data.train_pairs = std::move(train_pairs);
  data.unaccented = std::move(unaccented);
  data.kept_pairs = std::move(kept_pairs);
  data.num_kept_pairs = earlier.num_added;
  data.judged =
      MakeJudged(options, texts, data.served_titles(),
                 options.data.event_paths.empty() ? judged_new : list_pairs,
                 std::move(judged_earlier), std::move(clicks.judged_lists));
  data.shown = std::move(shown);
  // Only mistyped queries and the fit of the lexical weight need texts later;
  // otherwise they are freed here.
  if (options.loss.query_typos > 0 || !options.features.lexical_weight) {
    data.texts = std::make_shared<TextInterner>(std::move(texts));
  }
  return data;
}

absl::Status CheckStreamable(const TrainOptions& options) {
  if (!options.data.event_paths.empty()) {
    return absl::ResourceExhaustedError(
        "the clicks of --events do not fit in --memory_limit: give more "
        "memory, or stream the file of `semrank events join` as --train");
  }
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
  ShownTitles shown;
  if (UsesShownTitles(options.loss)) {
    SEMRANK_ASSIGN_OR_RETURN(
        shown, ReadShownTitles({}, options.data.judged_file, bad_lines,
                               stream.texts, options.data.normalizer_version));
  }
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
  const BadLines bad_lines_before = bad_lines;
  absl::StatusOr<TrainingData> data =
      LoadIntoMemory(options, clicks, std::move(texts), bad_lines);
  // OutOfRange means that the pairs do not fit in memory: they are streamed.
  // The files are read again, so their bad lines must not count twice.
  if (absl::IsOutOfRange(data.status())) {
    bad_lines = bad_lines_before;
    data = LoadStreamedData(options, bad_lines, clicks.weights);
  }
  if (data.ok()) data->position_weights = std::move(clicks.weights);
  return data;
}

}  // namespace semrank
