#include "model/eval/rankers/model_ranker.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/nn/lexical_query.h"

namespace semrank {
namespace {

// Documents that are embedded or scored together: their vectors and scores stay
// in the L2 cache.
constexpr std::size_t kSliceDocuments = 256;

}  // namespace

ModelRanker::ModelRanker(std::shared_ptr<const TwoTowerModel> model,
                         const std::vector<std::string>& documents,
                         ThreadPool& pool, ModelParts parts)
    : model_(std::move(model)),
      num_documents_(documents.size()),
      vectors_(documents.size() *
               static_cast<std::size_t>(model_->embedding_dim())),
      parts_(parts) {
  const std::size_t num_slices =
      (num_documents_ + kSliceDocuments - 1) / kSliceDocuments;
  std::vector<EmbedScratch> scratches(pool.num_threads());
  pool.ParallelFor(static_cast<int>(num_slices), [&](int slice, int worker) {
    const std::size_t first = slice * kSliceDocuments;
    const std::size_t last = std::min(first + kSliceDocuments, num_documents_);
    const std::vector<std::string_view> texts(documents.begin() + first,
                                              documents.begin() + last);
    model_->EmbedTexts(Side::kDocument, texts, scratches[worker],
                       vectors_.data() + first * model_->embedding_dim());
  });
  if (model_->lexical() != nullptr) AddLexicalPart(documents);
  if (model_->sparse_scorer() == nullptr) return;
  const std::vector<std::string_view> texts(documents.begin(), documents.end());
  model_->WeighTexts(texts, words_);
}

void ModelRanker::AddLexicalPart(const std::vector<std::string>& documents) {
  const LexicalPart& lexical = *model_->lexical();
  for (const std::string& document : documents) {
    lexical.AppendText(document, lexical_);
  }
  // A counting sort of all entries by bucket: sizes, then begins, then the
  // entries. Documents are visited in order, so each list ascends.
  postings_.offsets.resize(lexical.ngrams().size() + 1);
  for (const LexicalEntry& entry : lexical_.entries) {
    ++postings_.offsets[entry.bucket + 1];
  }
  std::partial_sum(postings_.offsets.begin(), postings_.offsets.end(),
                   postings_.offsets.begin());
  postings_.documents.resize(lexical_.entries.size());
  postings_.values.resize(lexical_.entries.size());
  std::vector<std::uint32_t> next = postings_.offsets;
  for (int d = 0; d < lexical_.num_texts(); ++d) {
    for (const LexicalEntry& entry : lexical_[d]) {
      const std::uint32_t place = next[entry.bucket]++;
      postings_.documents[place] = static_cast<std::uint32_t>(d);
      postings_.values[place] = entry.value;
    }
  }
}

void ModelRanker::CombineAll(std::string_view query,
                             std::span<float> scores) const {
  if (model_->lexical() == nullptr || parts_ == ModelParts::kSemantic) return;
  LexicalBatch entries;
  model_->lexical()->AppendText(query, entries);
  // Threads score different queries at the same time; each reuses its own sums.
  thread_local std::vector<std::uint64_t> sums;
  // The values are whole numbers, whose sum is exact in any order. So the
  // scores are the same bits as in CombineSome, which visits a document's
  // n-grams and not a bucket's documents.
  sums.assign(num_documents_, 0);
  for (const LexicalEntry& entry : entries.entries) {
    const std::uint32_t end = postings_.offsets[entry.bucket + 1];
    for (std::uint32_t i = postings_.offsets[entry.bucket]; i < end; ++i) {
      sums[postings_.documents[i]] +=
          std::uint64_t{entry.value} * postings_.values[i];
    }
  }
  for (std::size_t d = 0; d < num_documents_; ++d) {
    scores[d] =
        model_->lexical()->Combine(parts_, scores[d], LexicalCosine(sums[d]));
  }
}

void ModelRanker::CombineSome(std::string_view query,
                              std::span<const std::uint32_t> documents,
                              std::span<float> scores) const {
  if (model_->lexical() == nullptr || parts_ == ModelParts::kSemantic) return;
  LexicalBatch entries;
  model_->lexical()->AppendText(query, entries);
  thread_local LexicalQuery prepared;
  prepared.Prepare(entries[0]);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto document = static_cast<int>(documents[i]);
    scores[i] = model_->lexical()->Combine(parts_, scores[i],
                                           prepared.Cosine(lexical_[document]));
  }
}

template <typename DocumentAt>
void ModelRanker::AddSparseScores(std::string_view query,
                                  DocumentAt document_at,
                                  std::span<float> scores) const {
  const SparseScorer* sparse = model_->sparse_scorer();
  if (sparse == nullptr) return;
  BagBatch words;
  model_->WeighTexts(std::span(&query, 1), words);
  thread_local SparseScorer::Scratch scratch;
  const SparseScorer::PreparedQuery prepared(*sparse, words, 0, scratch);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] += prepared.Score(words_, document_at(i));
  }
}

std::vector<float> ModelRanker::EmbedQueries(
    std::span<const std::string_view> queries) const {
  std::vector<float> vectors(queries.size() * model_->embedding_dim());
  EmbedScratch scratch;
  model_->EmbedTexts(Side::kQuery, queries, scratch, vectors.data());
  return vectors;
}

void ModelRanker::ScoreAll(std::span<const std::string_view> queries,
                           float* scores) const {
  const int dim = model_->embedding_dim();
  // The queries are the packed right-hand side, so each document vector is read
  // from memory once for all of them.
  const int num_queries = static_cast<int>(queries.size());
  const std::vector<float> query_vectors = EmbedQueries(queries);
  const PackedMatrix packed(
      StridedMatrix{query_vectors.data(), num_queries, dim, dim}.Transposed());
  std::vector<float> slice(kSliceDocuments * queries.size());
  for (std::size_t first = 0; first < num_documents_;
       first += kSliceDocuments) {
    const std::size_t count = std::min(kSliceDocuments, num_documents_ - first);
    const StridedMatrix documents{vectors_.data() + first * dim,
                                  static_cast<int>(count), dim, dim};
    Multiply(documents, packed, {}, slice.data(), num_queries);
    // Multiply gives one row per document; scores has one row per query.
    for (int q = 0; q < num_queries; ++q) {
      float* row = scores + q * num_documents_ + first;
      for (std::size_t d = 0; d < count; ++d) {
        row[d] = slice[d * num_queries + q];
      }
    }
  }
  for (int q = 0; q < num_queries; ++q) {
    const std::span<float> row(scores + q * num_documents_, num_documents_);
    AddSparseScores(
        queries[q], [](std::size_t d) { return static_cast<int>(d); }, row);
    CombineAll(queries[q], row);
  }
}

// Uses Multiply, not Dot, to get the same bits as ScoreAll.
void ModelRanker::ScoreSome(std::string_view query,
                            std::span<const std::uint32_t> documents,
                            std::span<float> scores) const {
  const int dim = model_->embedding_dim();
  const std::vector<float> query_vector = EmbedQueries(std::span(&query, 1));
  const PackedMatrix packed(
      StridedMatrix{query_vector.data(), 1, dim, dim}.Transposed());
  std::vector<float> rows(documents.size() * dim);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    std::copy_n(vectors_.data() + std::size_t{documents[i]} * dim, dim,
                rows.data() + i * dim);
  }
  Multiply({rows.data(), static_cast<int>(documents.size()), dim, dim}, packed,
           {}, scores.data(), 1);
  AddSparseScores(
      query,
      [documents](std::size_t i) { return static_cast<int>(documents[i]); },
      scores);
  CombineSome(query, documents, scores);
}

}  // namespace semrank
