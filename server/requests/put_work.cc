#include "server/requests/put_work.h"

#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/requests/message_parser.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"

namespace semrank {
namespace {

NewDocument View(const v1::Document& document) {
  NewDocument view = {.title = document.title(), .payload = document.payload()};
  if (document.key_case() == v1::Document::kId) view.key = document.id();
  if (document.key_case() == v1::Document::kDocumentId) {
    view.key = std::string_view(document.document_id());
  }
  return view;
}

}  // namespace

void PutSteps::Begin(const Documents& documents) {
  documents_.reserve(documents.size());
  for (const v1::Document& document : documents) {
    documents_.push_back(View(document));
  }
}

template <typename Response>
absl::StatusOr<Progress> PutSteps::Advance(const RequestRun& run,
                                           Response& response) {
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      environment_.catalog_writer->PutSlice(documents_, run, state_, result_));
  if (progress == Progress::kMore) return progress;
  response.set_num_created(result_.counts.num_created);
  response.set_num_replaced(result_.counts.num_replaced);
  SetProblems(result_.problems, response);
  SetModel(*result_.model, response);
  run.AddOwnTimes(result_.times);
  SetTimings(result_.times, run.TimeSinceReceived(),
             *response.mutable_timings());
  return Progress::kDone;
}

template absl::StatusOr<Progress> PutSteps::Advance(const RequestRun&,
                                                    v1::PutDocumentsResponse&);

absl::Status PutWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  if (message_.documents().empty()) {
    return FieldError("NO_DOCUMENTS", "documents",
                      "the request has no document");
  }
  steps_.Begin(message_.documents());
  return absl::OkStatus();
}

absl::Status StreamedPutWork::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(ParseMessage(bytes, message_));
  steps_.Begin(message_.documents());
  return absl::OkStatus();
}

absl::StatusOr<Progress> StreamedPutWork::Advance(const RequestRun& run) {
  SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                           steps_.Advance(run, response_));
  if (progress == Progress::kMore) return progress;
  response_.set_first_document(num_before_);
  num_before_ += steps_.num_documents();
  return Progress::kDone;
}

}  // namespace semrank
