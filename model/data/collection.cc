#include "model/data/collection.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/document_formats.h"
#include "model/data/document_reader.h"
#include "model/text/text_limit.h"

namespace semrank {
namespace {

// Three passes fill a collection: documents, queries, judgements. The first two
// number the ids of their file in an index, in which the third looks up the ids
// of each judgement. Texts are stored as normalised, so rankers never see what
// the file has.

using IdIndex = absl::flat_hash_map<std::string, std::uint32_t>;

// Indices are 32 bits wide, and a file's unknown ids are numbered after the
// known ones.
constexpr std::size_t kMaxTexts = std::size_t{1} << 30;

// Why a document or query cannot be used; empty if it can. Sets `text` to its
// normalised text and numbers its id in `index`.
std::string UseText(const FileDocument& document, int normalizer_version,
                    IdIndex& index, std::string& text) {
  const std::string& id = document.id;
  if (id.size() > kMaxIdBytes) {
    return absl::StrFormat("the id has more than %d bytes", kMaxIdBytes);
  }
  // Qrels and runs separate their fields by blanks and tabs, and their records
  // by lines; ids of CSV and JSON may have any of these.
  if (id.find_first_of(" \t\r\n") != std::string::npos || id.empty()) {
    return absl::StrFormat("the id '%s' is empty or contains a blank", id);
  }
  const absl::Status status =
      NormalizeText(document.title, normalizer_version, text);
  if (!status.ok()) return std::string(status.message());
  // The index is changed last, so that a text that is refused leaves its id
  // free for a later line.
  const auto next = static_cast<std::uint32_t>(index.size());
  if (next >= kMaxTexts) return "too many lines";
  return index.emplace(id, next).second
             ? ""
             : absl::StrFormat("the id '%s' is repeated", id);
}

// Calls keep(id, normalised text) for each good document or query of a file.
// Adds those that are long to `num_long_texts`.
absl::Status ReadTextsWithIds(
    const std::string& path, BadLines& bad_lines, int normalizer_version,
    IdIndex& index, std::int64_t& num_long_texts,
    const std::function<void(std::string id, std::string text)>& keep) {
  SEMRANK_ASSIGN_OR_RETURN(
      const auto reader,
      DocumentReader::Open(
          path, {.format = DocumentFormatOf(path), .bad_lines = &bad_lines}));
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(DocumentBlock block, reader->NextBlock());
    if (block.empty()) return absl::OkStatus();
    for (std::size_t i = 0; i < block.documents.size(); ++i) {
      FileDocument& document = block.documents[i];
      std::string text;
      const std::string problem =
          UseText(document, normalizer_version, index, text);
      if (problem.empty()) {
        num_long_texts += IsTooLong(document.title, kDefaultMaxTextBytes);
        keep(std::move(document.id), std::move(text));
      } else {
        // The reader counts the lines that it cannot parse itself; these are
        // the lines whose document a collection cannot use.
        SEMRANK_RETURN_IF_ERROR(bad_lines.Add(path, block.lines[i], problem));
      }
    }
  }
}

// Sorts documents by descending id and updates `index`.
void SortDocuments(Collection& collection, IdIndex& index) {
  std::vector<std::uint32_t> order(collection.documents.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return collection.document_ids[a] > collection.document_ids[b];
  });
  // The members that count lines are still 0 here, so a new collection may
  // replace the old one.
  Collection sorted;
  for (const std::uint32_t document : order) {
    std::string& id = collection.document_ids[document];
    index[id] = static_cast<std::uint32_t>(sorted.documents.size());
    sorted.document_ids.push_back(std::move(id));
    sorted.documents.push_back(std::move(collection.documents[document]));
  }
  collection = std::move(sorted);
}

// Parses "2" and "2.0", which tools that keep grades as floats write.
std::optional<int> ParseGrade(absl::string_view text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || value != std::trunc(value) ||
      std::abs(value) > kMaxGrade) {
    return std::nullopt;
  }
  return static_cast<int>(value);
}

// Adds the judgements to their queries, line by line.
class QrelsReader {
 public:
  QrelsReader(IdIndex document_index, const IdIndex& query_index, int max_grade,
              Collection& collection)
      : document_index_(std::move(document_index)),
        query_index_(query_index),
        max_grade_(max_grade),
        collection_(collection) {}

  LineProblem Use(std::string_view line) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.empty() || IsTrecComment(line)) return {};
    if (fields.size() != 4) {
      return absl::StrFormat("%d fields instead of 4 (query 0 document grade)",
                             fields.size());
    }
    const std::optional<int> grade = ParseGrade(fields[3]);
    if (!grade) {
      // A judgement that is skipped would leave a query with other relevant
      // documents than its file says, and change its NDCG without a sign.
      return {
          absl::StrFormat("the grade '%s' is not a whole number from %d to %d",
                          fields[3], -kMaxGrade, kMaxGrade),
          /*refuses=*/true};
    }
    if (*grade > max_grade_) {
      return {
          absl::StrFormat("the grade %d is above %d, the limit of the gain "
                          "2^grade - 1; semrank-eval --gain=linear has none",
                          *grade, max_grade_),
          /*refuses=*/true};
    }
    const auto query = query_index_.find(fields[0]);
    if (query == query_index_.end()) {
      // One file of qrels often serves several sets of queries, such as dev
      // and test.
      return {};
    }
    return Add(query->second, fields[2], *grade);
  }

 private:
  std::string Add(std::uint32_t query, absl::string_view document_id,
                  int grade) {
    // An unknown id gets a number too, so that its repeated judgements are
    // found.
    const std::uint32_t document =
        document_index_
            .try_emplace(document_id,
                         static_cast<std::uint32_t>(document_index_.size()))
            .first->second;
    // The set has 8 bytes a judgement: the query in the upper half, the
    // document in the lower one.
    if (!seen_.insert(std::uint64_t{query} << 32 | document).second) {
      return absl::StrFormat("document '%s' was judged before for this query",
                             document_id);
    }
    JudgedQuery& judged = collection_.queries[query];
    if (document < collection_.documents.size()) {
      judged.judgements.push_back({document, grade});
      return "";
    }
    ++collection_.num_unknown_documents;
    // It still belongs to the ideal ranking of NDCG and to the count of MAP.
    if (grade >= 1) judged.missing.push_back({std::string(document_id), grade});
    return "";
  }

  IdIndex document_index_;
  const IdIndex& query_index_;
  int max_grade_;
  Collection& collection_;
  absl::flat_hash_set<std::uint64_t> seen_;
};

absl::Status CheckUsable(const Collection& collection,
                         const CollectionFiles& files) {
  if (collection.documents.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: no documents", files.documents));
  }
  // A mean over queries without a relevant document would be 0 for
  // every ranker.
  if (std::none_of(collection.queries.begin(), collection.queries.end(),
                   [](const JudgedQuery& q) { return q.HasRelevant(); })) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "no query is left: %s judges no document of the %d queries of %s with "
        "a grade of 1 or more",
        files.qrels, collection.queries.size(), files.queries));
  }
  return absl::OkStatus();
}

}  // namespace

bool JudgedQuery::HasRelevant() const {
  return !missing.empty() ||
         std::any_of(judgements.begin(), judgements.end(),
                     [](const Judgement& j) { return j.grade >= 1; });
}

absl::StatusOr<Collection> ReadCollection(const CollectionFiles& files,
                                          BadLines& bad_lines,
                                          int normalizer_version) {
  Collection collection;
  std::int64_t num_long_texts = 0;
  IdIndex document_index, query_index;
  SEMRANK_RETURN_IF_ERROR(ReadTextsWithIds(
      files.documents, bad_lines, normalizer_version, document_index,
      num_long_texts, [&](std::string id, std::string text) {
        collection.document_ids.push_back(std::move(id));
        collection.documents.push_back(std::move(text));
      }));
  // Documents are sorted before the judgements, which refer to them by index,
  // are read. With descending ids the lower index wins a tie, as trec_eval
  // breaks ties by the higher id.
  SortDocuments(collection, document_index);
  SEMRANK_RETURN_IF_ERROR(ReadTextsWithIds(
      files.queries, bad_lines, normalizer_version, query_index, num_long_texts,
      [&](std::string id, std::string text) {
        collection.queries.push_back({std::move(id), std::move(text), {}, {}});
      }));
  collection.num_long_texts = num_long_texts;
  QrelsReader qrels(std::move(document_index), query_index, files.max_grade,
                    collection);
  SEMRANK_RETURN_IF_ERROR(
      ForEachLine(files.qrels, bad_lines,
                  [&](std::string_view line) { return qrels.Use(line); }));
  for (JudgedQuery& query : collection.queries) {
    std::sort(query.judgements.begin(), query.judgements.end(),
              [](const Judgement& a, const Judgement& b) {
                return a.document < b.document;
              });
  }
  SEMRANK_RETURN_IF_ERROR(CheckUsable(collection, files));
  return collection;
}

absl::StatusOr<std::vector<Slice>> ReadSlices(const std::string& path,
                                              const Collection& collection,
                                              BadLines& bad_lines) {
  absl::flat_hash_map<absl::string_view, std::uint32_t> queries;
  for (std::size_t q = 0; q < collection.queries.size(); ++q) {
    queries.emplace(collection.queries[q].id, q);
  }
  std::vector<Slice> slices;  // in the order of first appearance
  absl::flat_hash_map<std::string, std::size_t> places;
  const auto use = [&](std::string_view line) -> std::string {
    if (line.empty()) return "";
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), '\t');
    if (fields.size() != 2 || fields[1].empty()) {
      return "not query_id<TAB>slice";
    }
    const auto query = queries.find(fields[0]);
    // Not an error: one file of slices may serve several sets of queries.
    if (query == queries.end()) return "";
    const auto [place, is_new] = places.try_emplace(fields[1], slices.size());
    if (is_new) slices.push_back({place->first, {}});
    slices[place->second].queries.push_back(query->second);
    return "";
  };
  SEMRANK_RETURN_IF_ERROR(ForEachLine(path, bad_lines, use));
  if (slices.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: names no query of --queries", path));
  }
  // A file may name a query of a slice twice; a mean must not count it twice.
  for (Slice& slice : slices) {
    std::sort(slice.queries.begin(), slice.queries.end());
    slice.queries.erase(std::unique(slice.queries.begin(), slice.queries.end()),
                        slice.queries.end());
  }
  return slices;
}

}  // namespace semrank
