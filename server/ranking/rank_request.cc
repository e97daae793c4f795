#include "server/ranking/rank_request.h"

#include <cmath>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// Number of rows in `bytes`.
absl::StatusOr<std::size_t> CountVectors(const TwoTowerModel& model,
                                         const RankInput& input) {
  const std::string_view bytes = input.vectors;
  if (bytes.empty()) return 0;
  const PartsWanted scored = input.scored_parts();
  if (model.lexical() != nullptr &&
      (scored.parts == Parts::kLexical || scored.with_parts)) {
    return FieldError(
        "INVALID_FIELD", "vectors",
        absl::StrFormat("have no lexical part, which this request asks for of "
                        "%s; send titles, or leave parts and with_parts out",
                        model.version().name));
  }
  if (model.sparse_scorer() != nullptr) {
    return FieldError("INVALID_FIELD", "vectors",
                      "are not all of this model's score, which needs the "
                      "words of the titles too; send titles");
  }
  // At least 1 here: only models with a sparse scorer have no vectors.
  const int dim = model.embedding_dim();
  const std::size_t row_bytes = dim * sizeof(float);
  if (bytes.size() % row_bytes != 0) {
    return FieldError(
        "BAD_VECTOR", "vectors",
        absl::StrFormat("%d bytes are no whole number of vectors of %d float32",
                        bytes.size(), dim),
        {{"value", std::to_string(bytes.size())},
         {"embedding_dim", std::to_string(dim)}});
  }
  return bytes.size() / row_bytes;
}

}  // namespace

absl::Status CheckRankInput(const ServedModel& served, const RankInput& input,
                            const Limits& limits) {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(input.query, limits));
  SEMRANK_RETURN_IF_ERROR(CheckParts(*served.model, input.wanted.parts));
  SEMRANK_ASSIGN_OR_RETURN(const std::size_t num_vectors,
                           CountVectors(*served.model, input));
  const std::size_t num_candidates = input.num_named() + num_vectors;
  if (num_candidates == 0) {
    return FieldError("NO_CANDIDATES", "titles",
                      "the request has no candidate");
  }
  // Titles and ids were counted by the reader; vectors are known only with the
  // model.
  if (num_candidates > static_cast<std::size_t>(limits.max_texts_per_request)) {
    return TooManyTexts("titles", num_candidates, limits.max_texts_per_request);
  }
  // Every comparison with NaN is false, so it would filter nothing, silently.
  if (input.min_score.has_value() && std::isnan(*input.min_score)) {
    return FieldError("INVALID_FIELD", "min_score", "is NaN");
  }
  return input.filter.Check();
}

}  // namespace semrank
