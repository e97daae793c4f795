// The limits of a server: flags set them, every part keeps to them, and
// GetLimits publishes them.
#ifndef SEMRANK_SERVER_BASE_LIMITS_H_
#define SEMRANK_SERVER_BASE_LIMITS_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace semrank {

// The most JSON calls and connections over HTTP at once; further calls are 429.
inline constexpr int kMaxHttpCalls = 48;
inline constexpr int kMaxHttpConnections = 192;

// The longest time that a request may wait for a worker. Shorter bursts lose
// nothing; a longer wait means that more requests arrive than the server can
// answer.
inline constexpr absl::Duration kMaxQueueWait = absl::Milliseconds(250);

// How long a client may read nothing of a response before the server ends it;
// large responses over gRPC get more (rpc/open_calls.h).
inline constexpr absl::Duration kSendTimeout = absl::Seconds(10);

// Bytes a second: a client on the slowest mobile network is ten times as fast.
inline constexpr std::int64_t kMinBodyRate = 500;

struct Limits {
  // Candidates or texts in one request.
  std::int64_t max_texts_per_request = 10'000;
  // Bytes of one query, text or title.
  std::int64_t max_text_bytes = 4'096;
  // Texts admitted at once over all calls. At least max_texts_per_request + 1,
  // so that the largest request (and its query) can be admitted at all.
  std::int64_t max_inflight_texts = 100'000;
  // Requests of one stream in flight; the server reads the next one when one of
  // them is done.
  std::int64_t max_requests_per_stream = 64;
  // Calls and streams in flight on one connection; further ones wait in the
  // client.
  std::int64_t max_streams_per_connection = 1'000;
  // Open connections over gRPC; a further one is closed. FinishOptions reduces
  // it to what the limit on open files allows.
  std::int64_t max_connections = 8'192;
  // Bytes of one call's metadata.
  std::int64_t max_metadata_bytes = 8'192;
  // Bytes of one JSON request over HTTP.
  std::int64_t max_http_body_bytes = std::int64_t{8} << 20;
  // Bytes of the name and of the payload of a document in the catalog.
  std::int64_t max_document_id_bytes = 512;
  std::int64_t max_payload_bytes = 4'096;
  // Documents that one search of the catalog returns.
  std::int64_t max_top_k = 1'000;
  // Normalised words of the query and the title of one Explain, whose cost
  // grows with their square.
  std::int64_t max_explain_words = 1'000;
  // The most that one caller may hold of what the others leave free of texts in
  // flight, time of workers and connections (fair_share.h); 1 = all of it.
  double max_share_per_caller = 0.5;
  // How long a request may wait for a worker.
  absl::Duration max_queue_wait = kMaxQueueWait;
  // How long a client may read nothing of its responses.
  absl::Duration send_timeout = kSendTimeout;
  // Bytes a second at which the body of a JSON request must arrive; 0 = any.
  std::int64_t min_body_rate = kMinBodyRate;
};

// The limit on messages has room for candidate vectors of this dimension. It
// does not depend on the model, so that it stays when a model is replaced.
inline constexpr std::int64_t kSizedEmbeddingDim = 1'024;

// The largest message that a request within the limits can need: every text has
// its maximum length, or every candidate is a vector; Protobuf adds its own
// bytes.
inline std::int64_t MaxRequestBytes(const Limits& limits) {
  const std::int64_t candidate_bytes =
      std::max(limits.max_text_bytes, kSizedEmbeddingDim * 4) + 8;
  return limits.max_texts_per_request * candidate_bytes +
         limits.max_text_bytes + 4'096;
}

// The largest response: a float32 vector for every text, or every title echoed.
inline std::int64_t MaxResponseBytes(const Limits& limits) {
  return MaxRequestBytes(limits) + limits.max_texts_per_request * 16;
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LIMITS_H_
