#include "server/requests/embed_handler.h"

#include <memory>

#include "model/base/status_macros.h"
#include "semrank/v1/embedding_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/handlers.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using v1::EmbedTextsRequest;
using v1::EmbedTextsStreamRequest;

// ReadEmbedRequest reads both messages.
static_assert(int{EmbedTextsRequest::kTextsFieldNumber} ==
              int{EmbedTextsStreamRequest::kTextsFieldNumber});
static_assert(int{EmbedTextsRequest::kSideFieldNumber} ==
              int{EmbedTextsStreamRequest::kSideFieldNumber});
static_assert(int{EmbedTextsRequest::kEncodingFieldNumber} ==
              int{EmbedTextsStreamRequest::kEncodingFieldNumber});
static_assert(int{EmbedTextsRequest::kModelFieldNumber} ==
              int{EmbedTextsStreamRequest::kModelFieldNumber});

// The side is required rather than defaulted: vectors of the wrong tower look
// plausible and rank badly.
absl::Status CompleteSettings(v1::Side side, v1::VectorEncoding& encoding) {
  if (side == v1::SIDE_UNSPECIFIED) {
    return FieldError("INVALID_FIELD", "side",
                      "is not set: say SIDE_QUERY or SIDE_DOCUMENT");
  }
  if (encoding == v1::VECTOR_ENCODING_UNSPECIFIED) {
    encoding = v1::VECTOR_ENCODING_FLOAT32;
  }
  return absl::OkStatus();
}

Side ToSide(v1::Side side) {
  return side == v1::SIDE_QUERY ? Side::kQuery : Side::kDocument;
}

absl::Status ChangesTheStream(std::string_view field) {
  return FieldError("INVALID_FIELD", field,
                    "differs from the first message of the stream");
}

RequestSize SizeOf(const EmbedMessage& message, std::string_view bytes) {
  return {static_cast<std::int64_t>(message.texts.size()), bytes.size()};
}

}  // namespace

absl::Status ReadEmbedRequest(std::string_view bytes, std::int64_t max_texts,
                              const google::protobuf::Descriptor& type,
                              EmbedMessage& message) {
  std::int32_t side = 0;
  std::int32_t encoding = 0;
  WireReader reader(bytes, max_texts);
  while (reader.Next()) {
    reader.ReadField(
        WireField(EmbedTextsRequest::kTextsFieldNumber, message.texts),
        WireField(EmbedTextsRequest::kSideFieldNumber, side),
        WireField(EmbedTextsRequest::kEncodingFieldNumber, encoding),
        WireField(EmbedTextsRequest::kModelFieldNumber, message.model));
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(type));
  SEMRANK_RETURN_IF_ERROR(CheckModelName(message.model));
  SEMRANK_RETURN_IF_ERROR(CheckEnum("side", side, v1::Side_IsValid));
  SEMRANK_RETURN_IF_ERROR(
      CheckEnum("encoding", encoding, v1::VectorEncoding_IsValid));
  message.side = static_cast<v1::Side>(side);
  message.encoding = static_cast<v1::VectorEncoding>(encoding);
  return absl::OkStatus();
}

namespace {

// A bad text fails the whole call, which is cheap to repeat. In a stream it is
// a problem of its own.
class EmbedHandler final : public HandlerOf<v1::EmbedTextsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    SEMRANK_RETURN_IF_ERROR(
        ReadEmbedRequest(bytes, parts_.limits.max_texts_per_request,
                         *EmbedTextsRequest::descriptor(), message_));
    SEMRANK_RETURN_IF_ERROR(CompleteSettings(message_.side, message_.encoding));
    SEMRANK_ASSIGN_OR_RETURN(served_,
                             FindModel(message_.model, *parts_.models));
    input_.side = ToSide(message_.side);
    input_.texts = message_.texts;
    SEMRANK_RETURN_IF_ERROR(parts_.embedding->Check(input_));
    return SizeOf(message_, bytes);
  }

  void EachText(TakeText take) const override {
    for (const std::string_view text : message_.texts) take(text);
  }

  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override {
    SEMRANK_ASSIGN_OR_RETURN(
        const Progress progress,
        parts_.embedding->RunSlice(*served_, input_, run, progress_, result_));
    if (progress == Progress::kMore) return progress;
    SetVectors(result_.vectors, served_->model->embedding_dim(),
               message_.encoding, response_);
    SetFacts(run, *served_, result_, response_);
    return Progress::kDone;
  }

 private:
  EmbedMessage message_;
  EmbedInput input_;
  ServedModelPtr served_;
  EmbedState progress_;
  EmbedResult result_;
};

// What the first message of a stream fixes, and how many texts are answered.
struct EmbedStreamState {
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  ServedModelPtr served;  // null before the first message
  std::uint64_t num_answered = 0;
};

// One message at a time uses the state.
class StreamedEmbedHandler final
    : public HandlerOf<v1::EmbedTextsStreamResponse> {
 public:
  StreamedEmbedHandler(const ServerParts& parts, EmbedStreamState& state)
      : HandlerOf(parts), state_(state) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  void EachText(TakeText take) const override {
    for (const std::string_view text : message_.texts) take(text);
  }
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;
  v1::ModelRef model() const override;

 private:
  absl::Status BeginStream();
  // Later messages omit the settings or repeat them.
  absl::Status CheckSameStream() const;

  EmbedStreamState& state_;
  EmbedMessage message_;
  EmbedInput input_;
  EmbedState progress_;
  EmbedResult result_;
  bool begins_stream_ = false;
};

// Read may change state_ before the message is admitted. That is safe because a
// message that fails ends the stream.
absl::StatusOr<RequestSize> StreamedEmbedHandler::Read(std::string_view bytes) {
  SEMRANK_RETURN_IF_ERROR(
      ReadEmbedRequest(bytes, parts_.limits.max_texts_per_request,
                       *EmbedTextsStreamRequest::descriptor(), message_));
  SEMRANK_RETURN_IF_ERROR(state_.served == nullptr ? BeginStream()
                                                   : CheckSameStream());
  input_.side = ToSide(state_.side);
  input_.texts = message_.texts;
  // One bad text among millions must not make a batch job begin again.
  input_.skip_bad_texts = true;
  SEMRANK_RETURN_IF_ERROR(parts_.embedding->Check(input_));
  return SizeOf(message_, bytes);
}

// The first message fixes the model with the settings, so that a reload in the
// middle of a stream cannot mix vectors of two models.
absl::Status StreamedEmbedHandler::BeginStream() {
  begins_stream_ = true;
  SEMRANK_RETURN_IF_ERROR(CompleteSettings(message_.side, message_.encoding));
  state_.side = message_.side;
  state_.encoding = message_.encoding;
  SEMRANK_ASSIGN_OR_RETURN(state_.served,
                           FindModel(message_.model, *parts_.models));
  return absl::OkStatus();
}

// The name and version are compared with the model that the first message
// resolved to, so a client may name what "the default" turned out to be.
absl::Status StreamedEmbedHandler::CheckSameStream() const {
  const ModelRefView& model = message_.model;
  const ModelVersion& served = state_.served->model->version();
  if (message_.side != v1::SIDE_UNSPECIFIED && message_.side != state_.side) {
    return ChangesTheStream("side");
  }
  if (message_.encoding != v1::VECTOR_ENCODING_UNSPECIFIED &&
      message_.encoding != state_.encoding) {
    return ChangesTheStream("encoding");
  }
  if ((!model.name.empty() &&
       parts_.models->NameOf(model.name) != served.name) ||
      (model.version != 0 && model.version != served.version)) {
    return ChangesTheStream("model");
  }
  return absl::OkStatus();
}

absl::StatusOr<Progress> StreamedEmbedHandler::RunSlice(const RequestRun& run) {
  const ServedModel& served = *state_.served;
  SEMRANK_ASSIGN_OR_RETURN(
      const Progress progress,
      parts_.embedding->RunSlice(served, input_, run, progress_, result_));
  if (progress == Progress::kMore) return progress;
  response_.set_first_text(state_.num_answered);
  response_.set_num_texts(static_cast<std::uint32_t>(message_.texts.size()));
  SetVectors(result_.vectors, served.model->embedding_dim(), state_.encoding,
             response_);
  SetProblems(result_.problems, response_);
  SetFacts(run, served, result_, response_);
  // All messages have the same model, so the first response alone names it.
  if (!begins_stream_) response_.clear_model();
  // It grows only now, so that first_text counts complete messages alone.
  state_.num_answered += message_.texts.size();
  return Progress::kDone;
}

v1::ModelRef StreamedEmbedHandler::model() const {
  v1::EmbedTextsStreamResponse named;
  if (state_.served != nullptr) SetModel(*state_.served, named);
  return named.model();
}

}  // namespace

SEMRANK_DEFINE_HANDLER(EmbedTexts, EmbedHandler)
StreamHandlers MakeEmbedTextsStream(const ServerParts& parts) {
  // The stream keeps the function, and with it the state, until its last
  // message is done.
  return [&parts, state = std::make_shared<EmbedStreamState>()] {
    return std::make_unique<StreamedEmbedHandler>(parts, *state);
  };
}

}  // namespace semrank
