#include "server/requests/embed_work.h"

#include "model/base/status_macros.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"

namespace semrank {

absl::Status EmbedWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ReadEmbedTextsRequest(bytes, num_texts_, message_));
  SEMRANK_ASSIGN_OR_RETURN(
      served_, environment_.models->Find(message_.settings.model.name(),
                                         message_.settings.model.version()));
  return environment_.embedding->Check(message_.input);
}

absl::StatusOr<Progress> EmbedWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           environment_.embedding->RunSlice(
                               *served_, message_.input, run, state_, result_));
  if (progress == Progress::kMore) return progress;
  SetVectors(result_.vectors, served_->model->embedding_dim(),
             message_.settings.encoding, response_);
  run.AddOwnTimes(result_.times);
  SetFacts(*served_, result_.cache, result_.times, run.TimeSinceReceived(),
           response_);
  return Progress::kDone;
}

}  // namespace semrank
