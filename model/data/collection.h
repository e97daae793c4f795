// A judged collection in memory: documents, queries and relevance grades. Its
// ids are replaced by indices.
//
//   Files    documents and queries in the formats of document_formats.h, where
//            the query is the title; judgements in TREC qrels "query_id
//            iteration doc_id grade"; each plain, .gz or .zst.
//   Texts    normalised. An empty one (no letters, no numbers) is valid.
//   Order    queries as in their file. Documents in descending order of id,
//            byte by byte: trec_eval's order of equal scores. So no result
//            depends on the order of the documents file.
//   Comments lines of qrels that begin with "#", as in trec_eval.
//   Errors   those of DocumentReader. BadLines also counts judgements with a
//            wrong number of fields, and an id that is empty, contains a blank,
//            is longer than kMaxIdBytes or is repeated. A grade that is no
//            whole number, or is beyond CollectionFiles::max_grade, refuses the
//            file: without that judgement the others would measure something
//            else.
#ifndef SEMRANK_MODEL_DATA_COLLECTION_H_
#define SEMRANK_MODEL_DATA_COLLECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/text/normalizer.h"

namespace semrank {

inline constexpr std::size_t kMaxIdBytes = 1024;
// The largest grade with either sign; TREC writes -1 and -2 for junk.
inline constexpr int kMaxGrade = 1'000'000'000;
// The largest one with the gain 2^grade - 1: that of a larger one would hide
// all other gains.
inline constexpr int kMaxExponentialGrade = 30;

struct Judgement {
  std::uint32_t document = 0;
  int grade = 0;  // relevant when >= 1
};

// A document of positive grade that the collection does not have.
struct MissingDocument {
  std::string id;
  int grade = 0;
};

struct JudgedQuery {
  std::string id;
  std::string text;
  std::vector<Judgement> judgements;  // by ascending document, each once
  // Rankers of the collection cannot find these documents, so they lower NDCG
  // and MAP, as in trec_eval. A run may list them.
  std::vector<MissingDocument> missing;

  // Whether any judgement, missing documents included, is positive.
  bool HasRelevant() const;
};

struct Collection {
  std::vector<std::string> document_ids;
  std::vector<std::string> documents;
  std::vector<JudgedQuery> queries;

  // Judgements of unknown documents, of any grade. They are reported, but are
  // not errors.
  std::int64_t num_unknown_documents = 0;
  // Documents and queries over kDefaultMaxTextBytes (text_limit.h), which a
  // server with its default limit refuses. They are measured all the same.
  std::int64_t num_long_texts = 0;
};

struct CollectionFiles {
  std::string documents;
  std::string queries;
  std::string qrels;
  int max_grade = kMaxExponentialGrade;
};

// Texts are normalised by `normalizer_version`. Fails if a file cannot be read,
// if too many lines are bad, if there is no document, or if no query has a
// document of positive grade.
absl::StatusOr<Collection> ReadCollection(
    const CollectionFiles& files, BadLines& bad_lines,
    int normalizer_version = kNormalizerVersion);

// A named part of the queries, such as misspelled ones: a mean over all queries
// hides what one kind of them gains or loses.
struct Slice {
  std::string name;
  std::vector<std::uint32_t> queries;  // indices, ascending
};

// Reads "query_id TAB slice" lines. A query may be in several slices or in
// none, and lines of unknown queries are ignored. Slices keep the order in
// which the file first names them. Fails if the file names no query of the
// collection.
absl::StatusOr<std::vector<Slice>> ReadSlices(const std::string& path,
                                              const Collection& collection,
                                              BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_COLLECTION_H_
