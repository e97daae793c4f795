#include "server/requests/search_work.h"

#include "model/base/status_macros.h"
#include "server/requests/catalog_fields.h"
#include "server/requests/message_parser.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"

namespace semrank {

absl::StatusOr<WorkSize> SearchWork::Measure(const TextCount& count) {
  return WorkSize{environment_.catalog_searcher->Begin(result_),
                  count.num_bytes};
}

absl::Status SearchWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  excluded_ = KeysOf(message_.exclude_ids(), message_.exclude_document_ids());
  input_ = {.query = message_.query(),
            .top_k = message_.top_k(),
            .excluded = excluded_,
            .model_name = message_.model().name(),
            .model_version = message_.model().version()};
  if (message_.has_min_score()) input_.min_score = message_.min_score();
  return environment_.catalog_searcher->Check(input_, result_);
}

absl::StatusOr<Progress> SearchWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      environment_.catalog_searcher->RunSlice(input_, run, environment_.workers,
                                              state_, result_));
  if (progress == Progress::kMore) return progress;
  AddHits();
  response_.set_num_documents_searched(result_.num_documents_searched);
  const ServedModelPtr served = result_.snapshot.model();
  SetModel(*served, response_);
  response_.set_score_kind(served->model->config().score_kind());
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response_.mutable_timings());
  return Progress::kDone;
}

void SearchWork::AddHits() {
  for (const CatalogHit& hit : result_.hits) {
    const CatalogRecord& record = result_.snapshot.record(hit.slot);
    v1::DocumentHit& out = *response_.add_hits();
    SetKey(record.key(), out);
    out.set_score(hit.score);
    if (message_.with_titles()) out.set_title(std::string(record.title()));
    if (message_.with_payloads()) {
      out.set_payload(std::string(record.payload()));
    }
  }
}

}  // namespace semrank
