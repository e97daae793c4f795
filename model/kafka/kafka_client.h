// A producer or consumer of a Kafka cluster, over librdkafka, which connects in
// threads of its own.
//
//   Errors   Unavailable, with the brokers and what librdkafka last said about
//            them; PermissionDenied for a login or a right that is refused.
#ifndef SEMRANK_MODEL_KAFKA_KAFKA_CLIENT_H_
#define SEMRANK_MODEL_KAFKA_KAFKA_CLIENT_H_

#include <librdkafka/rdkafka.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace semrank {

// Properties of librdkafka, with their values.
using KafkaProperties = std::vector<std::pair<std::string, std::string>>;

// Reads a file of lines "name=value"; empty lines and those that begin with #
// are skipped. InvalidArgument, or the error of the file; both name the file.
absl::StatusOr<KafkaProperties> ReadKafkaProperties(const std::string& path);

// Not thread-safe.
class KafkaClient {
 public:
  // The client calls it for each message that was sent, or that could not be,
  // while it polls or flushes.
  using OnDelivery = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);

  struct Options {
    std::string brokers;  // "host:port,host:port"
    std::string topic;
    // A property of properties_file overrides the one that is set here.
    KafkaProperties properties = {};
    std::string properties_file = {};  // empty = none
    OnDelivery on_delivery = nullptr;  // of a producer
  };

  // Does not wait for the brokers. InvalidArgument for a property that
  // librdkafka refuses; the error of properties_file.
  static absl::StatusOr<std::unique_ptr<KafkaClient>> Create(
      rd_kafka_type_t type, const Options& options);
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  rd_kafka_t* get() const { return handle_.get(); }
  // "kafka:BROKERS/TOPIC".
  const std::string& name() const { return name_; }
  const std::string& topic() const { return topic_; }

  // message.max.bytes: the largest message that the client sends, with its key
  // and headers. At least 1,000, the least that librdkafka accepts.
  absl::StatusOr<std::size_t> MaxMessageBytes() const;

  // `error` as a status; OK for none.
  absl::Status StatusOf(rd_kafka_resp_err_t error) const;

  // The partitions of the topic, as a broker answers within `max_wait`.
  absl::StatusOr<std::vector<std::int32_t>> FindPartitions(
      absl::Duration max_wait) const;

 private:
  struct Destroy {
    void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
  };

  explicit KafkaClient(const Options& options)
      : name_("kafka:" + options.brokers + "/" + options.topic),
        topic_(options.topic) {}

  static void NoteError(rd_kafka_t* handle, int error, const char* reason,
                        void* client);

  const std::string name_;
  const std::string topic_;
  // What librdkafka last said about its brokers; empty = nothing.
  std::string last_error_;
  rd_kafka_resp_err_t last_error_code_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::unique_ptr<rd_kafka_t, Destroy> handle_;  // last: it calls NoteError
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_KAFKA_KAFKA_CLIENT_H_
