// Fields that responses of several services share.
#ifndef SEMRANK_SERVER_RPC_RESPONSE_FIELDS_H_
#define SEMRANK_SERVER_RPC_RESPONSE_FIELDS_H_

#include "absl/time/time.h"
#include "semrank/v1/common.pb.h"
#include "server/core/model_store.h"
#include "server/core/stage_times.h"
#include "server/core/text_embedder.h"

namespace semrank {

inline void SetTimings(const StageTimes& times, absl::Duration total,
                       v1::Timings& timings) {
  timings.set_queue_nanos(absl::ToInt64Nanoseconds(times[Stage::kQueue]));
  timings.set_parse_nanos(absl::ToInt64Nanoseconds(times[Stage::kParse]));
  timings.set_cache_nanos(absl::ToInt64Nanoseconds(times[Stage::kCache]));
  timings.set_embed_nanos(absl::ToInt64Nanoseconds(times[Stage::kEmbed]));
  timings.set_score_nanos(absl::ToInt64Nanoseconds(times[Stage::kScore]));
  timings.set_total_nanos(absl::ToInt64Nanoseconds(total));
}

// Model, cache use and timings, which have the same names in each response.
template <typename Response>
void SetFacts(const ServedModel& served, const CacheUse& cache,
              const StageTimes& times, absl::Duration total,
              Response& response) {
  const ModelVersion& version = served.model->version();
  response.mutable_model()->set_name(version.name);
  response.mutable_model()->set_version(version.version);
  response.set_cache_hits(cache.hits);
  response.set_cache_misses(cache.misses);
  SetTimings(times, total, *response.mutable_timings());
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_RESPONSE_FIELDS_H_
