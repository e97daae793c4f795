#include "server/rpc/embed_texts_stream.h"

#include <memory>
#include <string>
#include <utility>

#include "model/base/status_macros.h"
#include "semrank/v1/embedding_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/request_run.h"
#include "server/requests/response_fields.h"
#include "server/rpc/streamed_request.h"

namespace semrank {
namespace {

absl::Status ChangesTheStream(std::string_view field) {
  return FieldError("INVALID_FIELD", field,
                    "is not what the first message of the stream said");
}

class StreamedEmbedWork final : public RequestWork {
 public:
  StreamedEmbedWork(const RpcEnvironment& environment, EmbedStreamState& state)
      : environment_(environment), state_(state) {}

  const MessageTexts* texts() const override { return &kEmbedStreamTexts; }
  absl::StatusOr<WorkSize> Measure(const TextCount& count) override {
    num_texts_ = count.num_items;
    return RequestWork::Measure(count);
  }
  absl::Status Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(
        ReadEmbedStreamRequest(bytes, num_texts_, message_));
    SEMRANK_RETURN_IF_ERROR(state_.served == nullptr ? BeginStream()
                                                     : CheckSameStream());
    input_.side =
        state_.settings.side == v1::SIDE_QUERY ? Side::kQuery : Side::kDocument;
    input_.texts = message_.texts;
    input_.skip_bad_texts = true;
    return environment_.embedding->Check(input_);
  }

  absl::StatusOr<Progress> Advance(const RequestRun& run) override {
    const ServedModel& served = *state_.served;
    SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                             environment_.embedding->RunSlice(
                                 served, input_, run, progress_, result_));
    if (progress == Progress::kMore) return progress;
    response_.set_first_text(state_.num_answered);
    response_.set_num_texts(static_cast<std::uint32_t>(message_.texts.size()));
    SetVectors(result_.vectors, served.model->embedding_dim(),
               state_.settings.encoding, response_);
    SetProblems(result_.problems, response_);
    run.AddOwnTimes(result_.times);
    SetFacts(served, result_.cache, result_.times, run.TimeSinceReceived(),
             response_);
    if (!begins_stream_) response_.clear_model();
    state_.num_answered += message_.texts.size();
    return Progress::kDone;
  }

  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  absl::Status BeginStream() {
    begins_stream_ = true;
    state_.settings = message_.settings;
    SEMRANK_RETURN_IF_ERROR(CompleteSettings(state_.settings));
    const v1::ModelRef& model = state_.settings.model;
    SEMRANK_ASSIGN_OR_RETURN(state_.served, environment_.models->Find(
                                                model.name(), model.version()));
    return absl::OkStatus();
  }

  // Later messages leave the settings out or repeat them.
  absl::Status CheckSameStream() const {
    const EmbedSettings& now = message_.settings;
    const EmbedSettings& first = state_.settings;
    const ModelVersion& served = state_.served->model->version();
    if (now.side != v1::SIDE_UNSPECIFIED && now.side != first.side) {
      return ChangesTheStream("side");
    }
    if (now.encoding != v1::VECTOR_ENCODING_UNSPECIFIED &&
        now.encoding != first.encoding) {
      return ChangesTheStream("encoding");
    }
    if ((!now.model.name().empty() && now.model.name() != served.name) ||
        (now.model.version() != 0 && now.model.version() != served.version)) {
      return ChangesTheStream("model");
    }
    return absl::OkStatus();
  }

  const RpcEnvironment& environment_;
  EmbedStreamState& state_;
  std::size_t num_texts_ = 0;
  EmbedStreamMessage message_;
  EmbedInput input_;
  EmbedState progress_;
  EmbedResult result_;
  v1::EmbedTextsStreamResponse response_;
  bool begins_stream_ = false;
};

}  // namespace

RawStreamReactor* EmbedTextsStream::Start(
    const RpcEnvironment& environment, const Metrics::Stream& metrics,
    grpc::CallbackServerContext& context) {
  // One piece at a time keeps the order.
  auto* const stream =
      new EmbedTextsStream(environment, metrics, context, /*max_requests=*/1);
  stream->Begin();
  return stream;
}

void EmbedTextsStream::Take(grpc::Slice bytes) {
  StreamedRequest::Begin(std::make_unique<StreamedPiece>(
      *this, std::move(bytes),
      std::make_unique<StreamedEmbedWork>(environment(), state_),
      ++state_.num_messages));
}

}  // namespace semrank
