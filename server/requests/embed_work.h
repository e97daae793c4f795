// EmbedTexts, and one message of an EmbedTextsStream: from the bytes to the
// response.
#ifndef SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "semrank/v1/embedding_service.pb.h"
#include "server/requests/message_fields.h"
#include "server/requests/request_run.h"

namespace semrank {

// An EmbedTextsRequest or an EmbedTextsStreamRequest, which have the same
// fields, read in place. Unspecified values stay so.
struct EmbedMessage {
  std::vector<std::string_view> texts;
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  ModelRefView model;
};

// MALFORMED_MESSAGE; TOO_MANY_TEXTS for more than `max_texts`; INVALID_FIELD
// for a value that an enum does not have. `type` is the message's.
absl::Status ReadEmbedRequest(std::string_view bytes, std::int64_t max_texts,
                              const google::protobuf::Descriptor& type,
                              EmbedMessage& message);

class EmbedWork final : public RequestWork {
 public:
  explicit EmbedWork(const ServerParts& parts) : parts_(parts) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  const ServerParts& parts_;
  EmbedMessage message_;
  EmbedInput input_;
  ServedModelPtr served_;
  EmbedState progress_;
  EmbedResult result_;
  v1::EmbedTextsResponse response_;
};

// What the first message of a stream fixes, and how many texts are answered.
struct EmbedStreamState {
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  ServedModelPtr served;  // null before the first message
  std::uint64_t num_answered = 0;
};

class StreamedEmbedWork final : public RequestWork {
 public:
  // `state` is the stream's; one message of a stream is worked on at a time.
  StreamedEmbedWork(const ServerParts& parts, EmbedStreamState& state)
      : parts_(parts), state_(state) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  absl::Status BeginStream();
  // Later messages leave the settings out or repeat them.
  absl::Status CheckSameStream() const;

  const ServerParts& parts_;
  EmbedStreamState& state_;
  EmbedMessage message_;
  EmbedInput input_;
  EmbedState progress_;
  EmbedResult result_;
  v1::EmbedTextsStreamResponse response_;
  bool begins_stream_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
