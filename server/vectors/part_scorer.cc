#include "server/vectors/part_scorer.h"

#include "absl/strings/str_format.h"
#include "model/nn/sparse_scorer.h"
#include "model/text/featurizer.h"
#include "server/base/errors.h"

namespace semrank {

// SSI has no semantic part to ask for: its dot products are not cosines.
absl::Status CheckParts(const TwoTowerModel& model, ModelParts parts) {
  const std::string& name = model.version().name;
  switch (parts) {
    case ModelParts::kBoth:
      return absl::OkStatus();
    case ModelParts::kSemantic:
      if (model.config().score_kind() != v1::SCORE_KIND_SSI_DOT) {
        return absl::OkStatus();
      }
      return FieldError(
          "INVALID_FIELD", "parts",
          absl::StrFormat("is PARTS_SEMANTIC, but the parts of %s, an SSI "
                          "model, are not cosines",
                          name));
    case ModelParts::kLexical:
      if (model.lexical() != nullptr) return absl::OkStatus();
      return FieldError(
          "INVALID_FIELD", "parts",
          absl::StrFormat("is PARTS_LEXICAL, but %s has no lexical part",
                          name));
  }
  return FieldError(
      "INVALID_FIELD", "parts",
      absl::StrFormat("is %d, which names no parts", static_cast<int>(parts)));
}

void PartScorer::Begin(const TwoTowerModel& model, const PartsWanted& wanted,
                       std::span<const LexicalEntry> query) {
  model_ = &model;
  wanted_ = wanted;
  const LexicalPart* const lexical = model.lexical();
  // With weight 0 the lexical part changes no score, so it is not computed.
  const bool counts =
      lexical != nullptr &&
      (wanted.parts == ModelParts::kLexical ||
       (wanted.parts == ModelParts::kBoth && lexical->weight() > 0));
  needs_lexical_ = lexical != nullptr && (counts || wanted.with_parts);
  if (!needs_lexical_) return;
  // The table of a LexicalQuery takes 16 KiB and is reused by later queries.
  if (!query_.has_value()) query_.emplace();
  query_->Prepare(query);
}

void PartScorer::Score(std::span<const float> lexical, std::span<float> scores,
                       PartScores& kept) const {
  // SSI's dot products are not cosines, so they are not reported as such.
  const bool cosines = model_->config().score_kind() != v1::SCORE_KIND_SSI_DOT;
  if (wanted_.with_parts && cosines) {
    // Here, because the loop below overwrites the cosines.
    kept.semantic.insert(kept.semantic.end(), scores.begin(), scores.end());
  }
  if (!needs_lexical_) return;
  if (wanted_.with_parts) {
    kept.lexical.insert(kept.lexical.end(), lexical.begin(),
                        lexical.begin() + scores.size());
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    // The same function for Rank, Search and Explain, so that their scores have
    // the same bits.
    scores[i] = Combine(scores[i], lexical[i]);
  }
}

float PartScorer::LexicalCosineOf(std::string_view title) const {
  LexicalBatch entries;
  model_->lexical()->AppendText(title, entries);
  return query_->Cosine(entries[0]);
}

float PartScorer::Combine(float semantic, float lexical) const {
  const LexicalPart* const part = model_->lexical();
  return part == nullptr ? semantic
                         : part->Combine(wanted_.parts, semantic, lexical);
}

void AddSparseScores(const TwoTowerModel& model, std::string_view query,
                     const TextBatch& titles, std::span<float> scores) {
  if (model.sparse_scorer() == nullptr) return;
  struct Scratch {
    std::vector<std::string_view> titles;
    BagBatch query_words;
    BagBatch title_words;
    SparseScorer::Scratch scorer;
  };
  thread_local Scratch scratch;
  scratch.titles.clear();
  for (int i = 0; i < titles.size(); ++i) scratch.titles.push_back(titles[i]);
  model.WeighTexts(std::span(&query, 1), scratch.query_words);
  model.WeighTexts(scratch.titles, scratch.title_words);
  // Scatters the query's words into an array of the vocabulary's size, once for
  // all titles.
  const SparseScorer::PreparedQuery prepared(
      *model.sparse_scorer(), scratch.query_words, 0, scratch.scorer);
  for (int i = 0; i < titles.size(); ++i) {
    scores[i] += prepared.Score(scratch.title_words, i);
  }
}

}  // namespace semrank
