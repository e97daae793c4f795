#include "model/eval/block_evaluator.h"

#include <cstddef>
#include <string_view>

namespace semrank {

void BlockEvaluator::Run(std::span<QueryEvaluation> block) {
  if (options_->candidates == Candidates::kAll) return RankAll(block);
  for (QueryEvaluation& evaluation : block) RankJudged(evaluation);
}

// Position i of the scores is judgement i; judgements are in order of document,
// so ties keep the order of the documents file.
void BlockEvaluator::RankJudged(QueryEvaluation& evaluation) {
  const JudgedQuery& query = QueryOf(evaluation);
  documents_.clear();
  relevant_.clear();
  for (const Judgement& judgement : query.judgements) {
    const auto position = static_cast<std::uint32_t>(documents_.size());
    if (judgement.grade >= 1) relevant_.push_back({position, judgement.grade});
    documents_.push_back(judgement.document);
  }
  scores_.resize(documents_.size());
  ranker_->ScoreSome(query.text, documents_, scores_);
  Measure(scores_, evaluation);
  for (RankedDocument& ranked : evaluation.run) {
    ranked.index = documents_[ranked.index];
  }
}

void BlockEvaluator::RankAll(std::span<QueryEvaluation> block) {
  const std::size_t num_documents = collection_->documents.size();
  std::vector<std::string_view> texts;
  for (const QueryEvaluation& e : block) texts.push_back(QueryOf(e).text);
  scores_.resize(block.size() * num_documents);
  ranker_->ScoreAll(texts, scores_.data());
  std::span<const float> rest(scores_);
  for (QueryEvaluation& evaluation : block) {
    relevant_.clear();
    for (const Judgement& judgement : QueryOf(evaluation).judgements) {
      if (judgement.grade < 1) continue;
      relevant_.push_back({judgement.document, judgement.grade});
    }
    Measure(rest.first(num_documents), evaluation);
    rest = rest.subspan(num_documents);
  }
}

void BlockEvaluator::Measure(std::span<const float> scores,
                             QueryEvaluation& evaluation) {
  const std::vector<RankedGrade> ranked = RankRelevant(scores, relevant_);
  const std::vector<int>& missing = QueryOf(evaluation).missing_grades;
  evaluation.metrics = ComputeMetrics(ranked, missing, options_->gain);
  evaluation.tuples = CountRankingTuples(ranked, missing.size(), scores.size());
  if (options_->run_depth > 0) {
    RankScores(scores, options_->run_depth, evaluation.run);
  }
}

}  // namespace semrank
