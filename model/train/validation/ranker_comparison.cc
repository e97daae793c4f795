#include "model/train/validation/ranker_comparison.h"

#include <algorithm>
#include <utility>

#include "model/base/status_macros.h"
#include "model/eval/rankers/bm25_ranker.h"
#include "model/eval/rankers/model_ranker.h"

namespace semrank {
namespace {

// Judgements are in the order of their documents.
bool IsRelevant(const JudgedQuery& query, std::uint32_t document) {
  const auto found = std::ranges::lower_bound(query.judgements, document, {},
                                              &Judgement::document);
  return found != query.judgements.end() && found->document == document &&
         found->grade >= 1;
}

ExampleRanking ExampleOf(const QueryEvaluation& evaluation,
                         const Collection& collection) {
  const JudgedQuery& query = collection.queries[evaluation.query];
  ExampleRanking example = {.query = query.text, .titles = {}};
  for (const RankedDocument& ranked : evaluation.run) {
    example.titles.push_back({.title = collection.documents[ranked.index],
                              .score = ranked.score,
                              .relevant = IsRelevant(query, ranked.index)});
  }
  return example;
}

}  // namespace

RankerComparer::RankerComparer(const DataOptions& options,
                               std::shared_ptr<const Collection> judged,
                               std::shared_ptr<const Collection> held_out)
    : judged_(judged != nullptr),
      collection_(judged_ ? std::move(judged) : std::move(held_out)) {
  // The same candidates as in validation, so that the figures of the report
  // agree with those of the log. Held-out clicks always rank all titles.
  if (judged_ && options.valid_judged_only) {
    options_.candidates = Candidates::kJudged;
  }
}

absl::StatusOr<std::optional<RankerComparison>> RankerComparer::MeasureBm25(
    ThreadPool& pool) const {
  if (!collection_) return std::nullopt;
  SEMRANK_ASSIGN_OR_RETURN(const auto ranker,
                           CreateBm25Ranker(collection_->documents, {}));
  SEMRANK_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      EvaluateRanker(*ranker, *collection_, options_, pool));
  return RankerComparison{.judged = judged_,
                          .num_queries = evaluation.queries.size(),
                          .num_titles = collection_->documents.size(),
                          .bm25 = evaluation.summary.mean};
}

absl::Status RankerComparer::AddModel(
    std::shared_ptr<const TwoTowerModel> model, ThreadPool& pool,
    RankerComparison& comparison) const {
  const ModelRanker ranker(std::move(model), collection_->documents, pool);
  // Only the model's rankings are shown, so only its runs are kept.
  EvaluateOptions options = options_;
  options.run_depth = kExampleDepth;
  SEMRANK_ASSIGN_OR_RETURN(const Evaluation evaluation,
                           EvaluateRanker(ranker, *collection_, options, pool));
  comparison.model = evaluation.summary.mean;
  const std::size_t total = evaluation.queries.size();
  const std::size_t count = std::min(kNumExamples, total);
  for (std::size_t i = 0; i < count; ++i) {
    comparison.examples.push_back(
        ExampleOf(evaluation.queries[i * total / count], *collection_));
  }
  return absl::OkStatus();
}

}  // namespace semrank
