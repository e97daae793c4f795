// A judged collection in memory: documents, queries and relevance grades, with
// ids replaced by indices.
//
//   Files    documents "doc_id TAB title", queries "query_id TAB query",
//            judgements in TREC qrels "query_id iteration doc_id grade"; each
//            plain, .gz or .zst.
//   Texts    normalised; an empty one (no letters, no numbers) is valid.
//   Order    queries as in their file. Documents by falling id, byte by byte:
//            trec_eval's order of equal scores. So no result depends on the
//            order of the documents file.
//   Errors   bad lines are counted by BadLines: wrong number of fields, invalid
//            UTF-8, an id that is empty, contains a blank, is longer than
//            kMaxIdBytes or is repeated, a grade that is no whole number in
//            [kMinGrade, kMaxGrade].
#ifndef SEMRANK_MODEL_DATA_COLLECTION_H_
#define SEMRANK_MODEL_DATA_COLLECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"

namespace semrank {

inline constexpr std::size_t kMaxIdBytes = 1024;
inline constexpr int kMinGrade = -100;  // TREC writes -1 and -2 for junk.
inline constexpr int kMaxGrade = 30;

struct Judgement {
  std::uint32_t document = 0;
  int grade = 0;  // relevant when >= 1
};

struct JudgedQuery {
  std::string id;
  std::string text;
  std::vector<Judgement> judgements;  // document rising, each once
  // Positive grades of documents that are not in the collection: they count as
  // not found, so they lower NDCG and MAP, as in trec_eval.
  std::vector<int> missing_grades;

  // Whether any judgement, missing documents included, is positive.
  bool HasRelevant() const;
};

struct Collection {
  std::vector<std::string> document_ids;
  std::vector<std::string> documents;
  std::vector<JudgedQuery> queries;

  // Judgements of unknown documents (of any grade) and of unknown queries. Not
  // errors, but reported.
  std::int64_t num_unknown_documents = 0;
  std::int64_t num_unknown_queries = 0;
};

struct CollectionFiles {
  std::string documents;
  std::string queries;
  std::string qrels;
};

// Fails when a file cannot be read, when too many lines are bad, when there is
// no document, or when no query has a document of positive grade.
absl::StatusOr<Collection> ReadCollection(const CollectionFiles& files,
                                          BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_COLLECTION_H_
