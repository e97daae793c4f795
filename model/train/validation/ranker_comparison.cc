#include "model/train/validation/ranker_comparison.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "model/eval/metrics/comparison.h"
#include "model/eval/rankers/bm25_ranker.h"
#include "model/eval/rankers/model_ranker.h"
#include "model/eval/rankers/tfidf_ranker.h"
#include "model/text/normalized_text.h"

namespace semrank {
namespace {

// Judgements are in the order of their documents.
bool IsRelevant(const JudgedQuery& query, std::uint32_t document) {
  const auto found = std::ranges::lower_bound(query.judgements, document, {},
                                              &Judgement::document);
  return found != query.judgements.end() && found->document == document &&
         found->grade >= 1;
}

// A model is refused beyond this two-sided p of the paired t-test, on this many
// queries or more.
constexpr double kSignificance = 0.01;
constexpr std::size_t kMinQueriesToRefuse = 20;

// Shows main words alone: a text that is typed or sent gets its further words
// from the normaliser again.
ExampleRanking ExampleOf(const QueryEvaluation& evaluation,
                         const Collection& collection) {
  const JudgedQuery& query = collection.queries[evaluation.query];
  ExampleRanking example = {.query = std::string(MainWords(query.text)),
                            .titles = {}};
  for (const RankedDocument& ranked : evaluation.run) {
    const std::string& title = collection.documents[ranked.index];
    example.titles.push_back({.title = std::string(MainWords(title)),
                              .score = ranked.score,
                              .relevant = IsRelevant(query, ranked.index)});
  }
  return example;
}

bool HasHit(const ExampleRanking& example) {
  return std::ranges::any_of(example.titles, &ExampleTitle::relevant);
}

// Members keep their order, so equal runs print equal lines.
nlohmann::ordered_json ExampleJson(const ExampleRanking& example) {
  nlohmann::ordered_json titles = nlohmann::ordered_json::array();
  for (const ExampleTitle& title : example.titles) {
    titles.push_back({{"title", title.title},
                      {"score", title.score},
                      {"relevant", title.relevant}});
  }
  return {{"query", example.query}, {"titles", std::move(titles)}};
}

// "0.4123 ± 0.0110".
std::string WithError(const MetricSummary& ranker) {
  return absl::StrFormat("%.4f ± %.4f", ranker.mean[kNdcgAt10],
                         ranker.standard_error[kNdcgAt10]);
}

}  // namespace

RankerComparer::RankerComparer(const DataOptions& options,
                               std::shared_ptr<const Collection> judged,
                               std::shared_ptr<const Collection> held_out)
    : judged_(judged != nullptr),
      collection_(judged_ ? std::move(judged) : std::move(held_out)) {
  // After Ctrl-C the best epoch is published only if it passes DescribeLoss,
  // which needs all rankers.
  options_.stops_when_interrupted = false;
  // The same candidates as in validation, so that the figures of the report
  // agree with those of the log. Held-out clicks always rank all titles.
  if (judged_ && options.valid_judged_only) {
    options_.candidates = Candidates::kJudged;
  }
}

absl::StatusOr<Evaluation> RankerComparer::Measure(
    const Ranker& ranker, ThreadPool& pool, std::uint32_t run_depth) const {
  EvaluateOptions options = options_;
  options.run_depth = run_depth;
  return EvaluateRanker(ranker, *collection_, options, pool);
}

absl::StatusOr<std::optional<RankerComparison>>
RankerComparer::MeasureBaselines(ThreadPool& pool) {
  // There are neither judged queries nor held-out clicks.
  if (!collection_) return std::nullopt;
  SEMRANK_ASSIGN_OR_RETURN(const auto words,
                           CreateBm25Ranker(collection_->documents, {}));
  SEMRANK_ASSIGN_OR_RETURN(const Evaluation bm25, Measure(*words, pool));
  // BM25 is only shown. A model that ranks worse than letter TF-IDF is refused:
  // a model without clicks would rank about as that.
  SEMRANK_ASSIGN_OR_RETURN(const auto letters,
                           TfidfRanker::OfLetters(collection_->documents));
  SEMRANK_ASSIGN_OR_RETURN(Evaluation letter_tfidf, Measure(*letters, pool));
  RankerComparison comparison = {.judged = judged_,
                                 .num_queries = bm25.queries.size(),
                                 .num_titles = collection_->documents.size(),
                                 .bm25 = bm25.summary,
                                 .letter_tfidf = letter_tfidf.summary};
  baselines_.push_back({"letter TF-IDF", std::move(letter_tfidf)});
  return comparison;
}

absl::Status RankerComparer::AddStart(
    std::shared_ptr<const TwoTowerModel> model, ThreadPool& pool,
    RankerComparison& comparison) {
  const ModelRanker ranker(std::move(model), collection_->documents, pool);
  SEMRANK_ASSIGN_OR_RETURN(Evaluation evaluation, Measure(ranker, pool));
  comparison.start = evaluation.summary;
  baselines_.push_back({"the model of --init_from", std::move(evaluation)});
  return absl::OkStatus();
}

absl::Status RankerComparer::AddModel(
    std::shared_ptr<const TwoTowerModel> model, ThreadPool& pool,
    RankerComparison& comparison) {
  const ModelRanker ranker(std::move(model), collection_->documents, pool);
  // Only the model's rankings are shown, so only its runs are kept.
  SEMRANK_ASSIGN_OR_RETURN(model_, Measure(ranker, pool, kExampleDepth));
  comparison.model = model_->summary;
  AddExamples(*model_, comparison);
  return absl::OkStatus();
}

void RankerComparer::AddExamples(const Evaluation& evaluation,
                                 RankerComparison& comparison) const {
  std::vector<ExampleRanking> hits;
  for (const QueryEvaluation& query : evaluation.queries) {
    ExampleRanking example = ExampleOf(query, *collection_);
    if (HasHit(example)) hits.push_back(std::move(example));
  }
  comparison.num_hits = hits.size();
  const std::size_t count = std::min(kNumExamples, hits.size());
  // Evenly spread over the hits, which are in the order of the queries.
  for (std::size_t i = 0; i < count; ++i) {
    comparison.examples.push_back(std::move(hits[i * hits.size() / count]));
  }
}

std::optional<std::string> RankerComparer::DescribeLoss() const {
  if (!model_ || model_->queries.size() < kMinQueriesToRefuse) {
    return std::nullopt;
  }
  for (const Baseline& baseline : baselines_) {
    const PairedComparison test =
        CompareMetric(*model_, baseline.evaluation, kNdcgAt10);
    // One significant loss is enough; a better p for another baseline does not
    // outweigh it.
    if (test.delta >= 0 || test.t_test_p >= kSignificance) continue;
    return absl::StrFormat(
        "the trained model ranks worse than %s: NDCG@10 %.4f against %.4f on "
        "%d %s queries, a difference of %.4f with a standard error of %.4f",
        baseline.name, model_->summary.mean[kNdcgAt10],
        baseline.evaluation.summary.mean[kNdcgAt10], model_->queries.size(),
        judged_ ? "judged" : "held-out", -test.delta, test.standard_error);
  }
  return std::nullopt;
}

std::string DescribeComparison(const RankerComparison& comparison) {
  const std::string queries = GroupDigits(comparison.num_queries);
  const std::string titles = GroupDigits(comparison.num_titles);
  const bool few = comparison.num_queries < kFewQueries;
  // Few held-out queries come with few titles, among which every ranker looks
  // far better than in the catalogue.
  if (few && !comparison.judged) {
    return absl::StrFormat(
        "%s held-out queries among %s titles are too few to say how well the "
        "model ranks: measure with judged queries and semrank-eval.\n",
        queries, titles);
  }
  return absl::StrFormat(
      "NDCG@10 %s; letter TF-IDF %s; BM25 %s (%s %s queries among %s "
      "titles%s)\n%s",
      WithError(*comparison.model), WithError(comparison.letter_tfidf),
      WithError(comparison.bm25), queries,
      comparison.judged ? "judged" : "held-out", titles,
      comparison.trial ? ", ranked by a shorter trial without them" : "",
      few ? "So few queries do not say which ranker is better: judge more, and "
            "measure with semrank-eval.\n"
          : "");
}

void AddComparison(const RankerComparison& comparison,
                   nlohmann::ordered_json& summary) {
  nlohmann::ordered_json& measures = summary["comparison"];
  measures["queries"] = comparison.judged ? "judged" : "held-out clicks";
  measures["trial"] = comparison.trial;
  measures["num_queries"] = comparison.num_queries;
  measures["num_titles"] = comparison.num_titles;
  nlohmann::ordered_json errors;
  const auto add = [&](const char* name, const MetricSummary& ranker) {
    measures[name] = MetricsJson(ranker.mean);
    errors[name] = MetricsJson(ranker.standard_error);
  };
  add("bm25", comparison.bm25);
  add("letter_tfidf", comparison.letter_tfidf);
  if (comparison.start) add("start", *comparison.start);
  if (comparison.model) add("model", *comparison.model);
  measures["standard_errors"] = std::move(errors);
  nlohmann::ordered_json& examples = summary["examples"];
  examples = nlohmann::ordered_json::array();
  for (const ExampleRanking& example : comparison.examples) {
    examples.push_back(ExampleJson(example));
  }
}

}  // namespace semrank
