// Reads and writes fields that messages of several services share.
#ifndef SEMRANK_SERVER_REQUESTS_MESSAGE_FIELDS_H_
#define SEMRANK_SERVER_REQUESTS_MESSAGE_FIELDS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"
#include "server/base/phase_times.h"
#include "server/base/text_checks.h"
#include "server/base/vector_encoding.h"
#include "server/catalog/store/catalog_names.h"
#include "server/catalog/store/document_tags.h"
#include "server/models/model_store.h"
#include "server/requests/error_status.h"
#include "server/requests/request_run.h"
#include "server/requests/wire_reader.h"
#include "server/stores/document_store.h"

namespace semrank {

// A ModelRef, read in place.
struct ModelRefView {
  std::string_view name = {};  // empty = the default model
  std::int64_t version = 0;    // 0 = the current one
};

inline void ReadFrom(WireReader& reader, ModelRefView& model) {
  reader.ReadMessage([&] {
    reader.ReadField(
        WireField(v1::ModelRef::kNameFieldNumber, model.name),
        WireField(v1::ModelRef::kVersionFieldNumber, model.version));
  });
}

// Appends to a list that may have `max_size` items. One more is kept, so that
// the check of the list sees that it is too long.
inline void AppendBounded(WireReader& reader, std::size_t max_size,
                          std::vector<std::string_view>& items) {
  std::string_view item;
  if (reader.Read(item) && items.size() <= max_size) items.push_back(item);
}

inline void ReadFrom(WireReader& reader, TagFilter& filter) {
  reader.ReadMessage([&] {
    switch (reader.field()) {
      case v1::TagFilter::kIncludeTagsFieldNumber:
        return AppendBounded(reader, kMaxTagsPerFilter, filter.include);
      case v1::TagFilter::kExcludeTagsFieldNumber:
        return AppendBounded(reader, kMaxTagsPerFilter, filter.exclude);
      default:
        return reader.Skip();
    }
  });
}

// ModelParts has the numbers of v1::Parts; it may have any other until
// CheckParts.
static_assert(static_cast<int>(ModelParts::kSemantic) == v1::PARTS_SEMANTIC &&
              static_cast<int>(ModelParts::kLexical) == v1::PARTS_LEXICAL);

inline void ReadFrom(WireReader& reader, ModelParts& parts) {
  std::int32_t number = 0;
  if (reader.Read(number)) parts = static_cast<ModelParts>(number);
}

// A response has the number of a NameMatch.
static_assert(int{v1::NAME_MATCH_ONE_EDIT} == int(NameMatch::kOneEdit) &&
              int{v1::NAME_MATCH_PREFIX} == int(NameMatch::kPrefix) &&
              int{v1::NAME_MATCH_UNFINISHED_NAME} ==
                  int(NameMatch::kUnfinishedName) &&
              int{v1::NAME_MATCH_LEADING_WORDS} ==
                  int(NameMatch::kLeadingWords) &&
              int{v1::NAME_MATCH_NAME} == int(NameMatch::kName));

// Equal spelling is an order among names, not a kind of match for clients.
inline v1::NameMatch ToProto(NameMatch match) {
  return static_cast<v1::NameMatch>(std::min(match, NameMatch::kName));
}

// Without the check, a name that is not UTF-8 would be reported as not found
// under a garbled name.
inline absl::Status CheckModelName(const ModelRefView& model) {
  return CheckUtf8("model.name", model.name);
}

inline absl::StatusOr<ServedModelPtr> FindModel(const ModelRefView& model,
                                                const ModelStore& models) {
  SEMRANK_RETURN_IF_ERROR(CheckModelName(model));
  return models.Find(model.name, model.version);
}

// INVALID_FIELD for a value that the enum does not have.
template <typename IsValid>
absl::Status CheckEnum(std::string_view field, std::int32_t value,
                       IsValid is_valid) {
  if (is_valid(value)) return absl::OkStatus();
  return FieldError("INVALID_FIELD", field,
                    absl::StrFormat("%d is not a value of this field", value),
                    {{"value", std::to_string(value)}});
}

// Message is a Document or a DocumentHit.
template <typename Message>
void SetKey(const DocumentKeyView& key, Message& message) {
  if (const auto* const number = std::get_if<std::uint64_t>(&key)) {
    message.set_id(*number);
  } else {
    message.set_document_id(std::string(std::get<std::string_view>(key)));
  }
}

// `times` are those of the handler's stages; the run adds its own.
template <typename Response>
void SetTimings(const RequestRun& run, PhaseTimes times, Response& response) {
  run.AddOwnTimes(times);
  v1::Timings& timings = *response.mutable_timings();
  timings.set_queue_nanos(absl::ToInt64Nanoseconds(times[Phase::kQueue]));
  timings.set_parse_nanos(absl::ToInt64Nanoseconds(times[Phase::kParse]));
  timings.set_cache_nanos(absl::ToInt64Nanoseconds(times[Phase::kCache]));
  timings.set_embed_nanos(absl::ToInt64Nanoseconds(times[Phase::kEmbed]));
  timings.set_score_nanos(absl::ToInt64Nanoseconds(times[Phase::kScore]));
  timings.set_total_nanos(absl::ToInt64Nanoseconds(run.TimeSinceReceived()));
}

template <typename Response>
void SetModel(const ServedModel& served, Response& response) {
  const ModelVersion& version = served.model->version();
  response.mutable_model()->set_name(version.name);
  response.mutable_model()->set_version(version.version);
}

// Sets model, cache use and timings, which have the same names in each
// response. Result is a RankResult or an EmbedResult.
template <typename Result, typename Response>
void SetFacts(const RequestRun& run, const ServedModel& served,
              const Result& result, Response& response) {
  SetModel(served, response);
  response.set_cache_hits(result.cache.hits);
  response.set_cache_misses(result.cache.misses);
  if constexpr (requires { response.set_store_hits(0); }) {
    response.set_store_hits(result.cache.store_hits);
  }
  SetTimings(run, result.times, response);
}

// Known is the KnownFeatures of a query.
template <typename Known, typename Response>
void SetQueryKnown(const Known& known, Response& response) {
  v1::KnownFeatures& out = *response.mutable_query_known_features();
  out.set_num_words(known.num_words);
  out.set_num_known_words(known.num_known_words);
  out.set_num_ngrams(known.num_ngrams);
  out.set_num_known_ngrams(known.num_known_ngrams);
}

template <typename Response>
void SetProblems(const std::vector<ItemProblem>& problems, Response& response) {
  for (const ItemProblem& problem : problems) {
    v1::Problem& out = *response.add_problems();
    out.set_index(problem.index);
    *out.mutable_status() = ToRpcStatus(problem.status);
  }
}

// Sets the vectors of a response: rows of `dim` elements, encoded.
template <typename Response>
void SetVectors(const std::vector<float>& vectors, int dim,
                v1::VectorEncoding encoding, Response& response) {
  std::string& bytes = *response.mutable_vectors();
  if (encoding == v1::VECTOR_ENCODING_FLOAT16) {
    EncodeFloat16(vectors, bytes);
  } else if (encoding == v1::VECTOR_ENCODING_INT8) {
    std::vector<float> scales;
    EncodeInt8(vectors, dim, bytes, scales);
    response.mutable_scales()->Add(scales.begin(), scales.end());
  } else {
    EncodeFloat32(vectors, bytes);
  }
  response.set_embedding_dim(dim);
  response.set_encoding(encoding);
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_MESSAGE_FIELDS_H_
