// The work of one PutDocuments, and of one piece of a PutDocumentsStream.
#ifndef SEMRANK_SERVER_REQUESTS_PUT_WORK_H_
#define SEMRANK_SERVER_REQUESTS_PUT_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "server/catalog/catalog_writer.h"
#include "server/requests/request_work.h"
#include "server/requests/rpc_environment.h"

namespace semrank {

// What both have in common.
class PutSteps {
 public:
  using Documents = google::protobuf::RepeatedPtrField<v1::Document>;

  explicit PutSteps(const RpcEnvironment& environment)
      : environment_(environment) {}

  // `documents` must stay as they are to the end.
  void Begin(const Documents& documents);
  // One turn; the response is complete after kDone.
  template <typename Response>
  absl::StatusOr<Progress> Advance(const RequestRun& run, Response& response);
  std::size_t num_documents() const { return documents_.size(); }

 private:
  const RpcEnvironment& environment_;
  std::vector<NewDocument> documents_;
  PutState state_;
  PutResult result_;
};

class PutWork final : public RequestWork {
 public:
  // `environment` must outlive the work.
  explicit PutWork(const RpcEnvironment& environment)
      : environment_(environment), steps_(environment) {}

  const MessageTexts* texts() const override { return &kPutTexts; }
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override {
    return steps_.Advance(run, response_);
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  // The store may take its time.
  WorkerPool* pool() const override { return environment_.workers; }

 private:
  const RpcEnvironment& environment_;
  v1::PutDocumentsRequest message_;
  PutSteps steps_;
  v1::PutDocumentsResponse response_;
};

class StreamedPutWork final : public RequestWork {
 public:
  // `num_before` are the documents of the stream's pieces before this one; the
  // work adds its own.
  StreamedPutWork(const RpcEnvironment& environment, std::uint64_t& num_before)
      : environment_(environment),
        num_before_(num_before),
        steps_(environment) {}

  const MessageTexts* texts() const override { return &kPutStreamTexts; }
  absl::Status Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  WorkerPool* pool() const override { return environment_.workers; }

 private:
  const RpcEnvironment& environment_;
  std::uint64_t& num_before_;
  v1::PutDocumentsStreamRequest message_;
  PutSteps steps_;
  v1::PutDocumentsStreamResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_PUT_WORK_H_
