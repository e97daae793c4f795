#include "client/lib/response_check.h"

#include "absl/strings/str_format.h"
#include "client/lib/request_chunks.h"
#include "model/base/status_macros.h"

// A server may be of another release, or another program behind a wrong
// address. Callers use numbers of a response as indices and its sizes for
// memory, so a wrong one is Internal here and not a crash there.
namespace semrank {
namespace {

absl::Status Mismatch(std::string_view field, std::uint64_t value,
                      std::string_view want, std::uint64_t limit) {
  return InvalidResponse(
      absl::StrFormat("%s is %d, %s %d", field, value, want, limit));
}

std::uint32_t NumberOf(std::uint32_t number) { return number; }
std::uint32_t NumberOf(const v1::Problem& problem) { return problem.index(); }

// The numbers of items, each of which must be below `limit`.
template <typename Items>
absl::Status CheckNumbers(std::string_view field, const Items& items,
                          std::string_view want, std::uint64_t limit) {
  for (const auto& item : items) {
    if (NumberOf(item) < limit) continue;
    return Mismatch(field, NumberOf(item), want, limit);
  }
  return absl::OkStatus();
}

// Elements have a fixed size, so the length says how many vectors there are.
std::uint64_t BytesPerElement(v1::VectorEncoding encoding) {
  if (encoding == v1::VECTOR_ENCODING_INT8) return 1;
  return encoding == v1::VECTOR_ENCODING_FLOAT16 ? 2 : sizeof(float);
}

// One vector per text or document, in the requested encoding.
template <typename Response>
absl::Status CheckVectors(v1::VectorEncoding asked, std::uint64_t num_rows,
                          const Response& response) {
  const v1::VectorEncoding want_encoding =
      asked == v1::VECTOR_ENCODING_UNSPECIFIED ? v1::VECTOR_ENCODING_FLOAT32
                                               : asked;
  if (response.encoding() != want_encoding) {
    return Mismatch("the encoding", response.encoding(), "wanted",
                    want_encoding);
  }
  const std::uint64_t num_bytes = response.vectors().size();
  const std::uint64_t row_bytes =
      response.embedding_dim() * BytesPerElement(want_encoding);
  // A division, because rows times bytes may overflow 64 bits.
  const bool fits = row_bytes == 0 ? num_bytes == 0
                                   : num_bytes % row_bytes == 0 &&
                                         num_bytes / row_bytes == num_rows;
  if (!fits) {
    return InvalidResponse(
        absl::StrFormat("%d bytes of vectors for %d rows with %d dimensions",
                        num_bytes, num_rows, response.embedding_dim()));
  }
  // An int8 vector has one scale, by which its elements are multiplied.
  const std::uint64_t want_scales =
      want_encoding == v1::VECTOR_ENCODING_INT8 ? num_rows : 0;
  if (static_cast<std::uint64_t>(response.scales_size()) != want_scales) {
    return Mismatch("the number of scales", response.scales_size(), "wanted",
                    want_scales);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InvalidResponse(std::string_view what) {
  return absl::InternalError(
      absl::StrFormat("invalid response from the server: %s", what));
}

// Callers index the candidates with numbers of the response, so each is checked
// here once.
absl::Status CheckRankResponse(const v1::RankRequest& request,
                               const v1::RankResponse& response) {
  const int num_ranked = response.indices_size();
  // The fields that are parallel to `indices`, and the size that each must
  // have.
  const struct {
    std::string_view name;
    int size, wanted;
  } fields[] = {
      {"the number of scores", response.scores_size(), num_ranked},
      // A model may have one part alone, or none.
      {"the number of semantic scores", response.semantic_scores_size(),
       response.semantic_scores_size() == 0 ? 0 : num_ranked},
      {"the number of lexical scores", response.lexical_scores_size(),
       response.lexical_scores_size() == 0 ? 0 : num_ranked},
      {"the number of titles", response.titles_size(),
       request.with_titles() ? num_ranked : 0},
      {"the number of name matches", response.name_matches_size(),
       request.name_match() ? num_ranked : 0}};
  for (const auto& field : fields) {
    if (field.size == field.wanted) continue;
    return Mismatch(field.name, field.size, "wanted", field.wanted);
  }
  // An upper bound: the dimension is not known here, so each element of the
  // given vectors counts as one.
  const std::uint64_t max_candidates =
      NumCandidates(request, /*embedding_dim=*/1);
  SEMRANK_RETURN_IF_ERROR(CheckNumbers("a candidate number", response.indices(),
                                       "of candidates", max_candidates));
  SEMRANK_RETURN_IF_ERROR(CheckNumbers("the number of an embedded title",
                                       response.embedded_titles(),
                                       "of candidates", max_candidates));
  return CheckNumbers("the number of a candidate with a problem",
                      response.problems(), "of candidates", max_candidates);
}

absl::Status CheckEmbedTextsResponse(const v1::EmbedTextsRequest& request,
                                     const v1::EmbedTextsResponse& response) {
  return CheckVectors(request.encoding(), request.texts_size(), response);
}

absl::Status CheckEmbedTextsChunk(const v1::EmbedTextsRequest& request,
                                  std::uint64_t first_text,
                                  const v1::EmbedTextsStreamResponse& chunk) {
  // Chunks have no gaps and no overlaps, so their order is that of the texts.
  if (chunk.first_text() != first_text) {
    return Mismatch("the first text of a chunk", chunk.first_text(), "wanted",
                    first_text);
  }
  const std::uint64_t num_left = request.texts_size() - first_text;
  if (chunk.num_texts() > num_left) {
    return Mismatch("the number of texts in a chunk", chunk.num_texts(),
                    "not answered before", num_left);
  }
  SEMRANK_RETURN_IF_ERROR(CheckNumbers("the number of a text with a problem",
                                       chunk.problems(), "of texts",
                                       chunk.num_texts()));
  return CheckVectors(request.encoding(), chunk.num_texts(), chunk);
}

absl::Status CheckKeyProblems(
    const google::protobuf::RepeatedPtrField<v1::Problem>& problems,
    std::uint64_t num_keys) {
  return CheckNumbers("the number of a key with a problem", problems, "of keys",
                      num_keys);
}

absl::Status CheckGetDocumentsResponse(
    const v1::GetDocumentsRequest& request,
    const v1::GetDocumentsResponse& response) {
  if (response.documents_size() + response.problems_size() !=
      request.ids_size() + request.document_ids_size()) {
    return InvalidResponse("it does not account for the keys sent");
  }
  if (!request.with_vectors()) return absl::OkStatus();
  return CheckVectors(request.encoding(), response.documents_size(), response);
}

}  // namespace semrank
