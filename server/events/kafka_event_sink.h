// Keeps records of events in a topic of Kafka, a message each. Its key is the
// id of the impression, so that a list and the events on it are in one
// partition, in their order.
//
//   Promise  a record is kept when the brokers have acknowledged its message
//            (acks=all). After an error the messages that were acknowledged
//            before stay, so that a repeated report may be kept twice.
//   Size     max_line_bytes follows from message.max.bytes. A topic whose
//            max.message.bytes is smaller refuses whole batches, which are
//            errors.
//   Old      how long messages stay is the topic's retention.
//   Threads  as EventSink.
#ifndef SEMRANK_SERVER_EVENTS_KAFKA_EVENT_SINK_H_
#define SEMRANK_SERVER_EVENTS_KAFKA_EVENT_SINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/kafka/kafka_client.h"
#include "server/events/event_sink.h"

namespace semrank {

class KafkaEventSink final : public EventSink {
 public:
  struct Options {
    std::string brokers = {};
    std::string topic = {};
    std::string properties_file = {};  // of librdkafka; empty = none
    // How long the brokers may take. A larger message.timeout.ms in the file
    // has no effect.
    absl::Duration timeout = absl::Seconds(3);
  };

  // Does not wait for the brokers. The error of KafkaClient::Create.
  static absl::StatusOr<std::unique_ptr<KafkaEventSink>> Open(
      const Options& options);

  // Whether a broker answers and has the topic.
  absl::Status Check();

  absl::Status Append(const EventLines& lines, absl::Time now) override;
  std::size_t max_line_bytes() const override { return max_line_bytes_; }
  absl::Status RemoveOld(absl::Time /*now*/) override {
    return absl::OkStatus();
  }
  const std::string& name() const override { return client_->name(); }
  std::int64_t num_bytes() const override { return 0; }

 private:
  explicit KafkaEventSink(const Options& options) : timeout_(options.timeout) {}

  // The callback of each message; the message has the sink.
  static void OnDelivery(rd_kafka_t* handle, const rd_kafka_message_t* message,
                         void* client);
  // Queues a message; waits for room while librdkafka's queue is full.
  rd_kafka_resp_err_t Produce(std::string_view key, std::string_view line);
  // Waits until every queued message has been delivered or has failed.
  void Flush();

  const absl::Duration timeout_;
  std::size_t max_line_bytes_ = 0;
  // The first error of the messages of one Append.
  rd_kafka_resp_err_t error_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::unique_ptr<KafkaClient> client_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_KAFKA_EVENT_SINK_H_
