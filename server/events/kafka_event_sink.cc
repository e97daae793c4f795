#include "server/events/kafka_event_sink.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"

// librdkafka sends in threads of its own, but calls OnDelivery only from
// rd_kafka_poll and rd_kafka_flush. Both run in the thread of Append, so error_
// needs no lock.
namespace semrank {
namespace {

// How long the start waits for a broker.
constexpr absl::Duration kFirstAnswer = absl::Seconds(2);
// What a flush may take longer than the messages: librdkafka looks for those
// that are late once a second.
constexpr absl::Duration kSlack = absl::Seconds(2);

// The id of an impression and the headers that librdkafka counts, generously.
constexpr std::size_t kMaxOverhead = 300;

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

}  // namespace

absl::StatusOr<std::unique_ptr<KafkaEventSink>> KafkaEventSink::Open(
    const Options& options) {
  std::unique_ptr<KafkaEventSink> sink(new KafkaEventSink(options));
  SEMRANK_ASSIGN_OR_RETURN(
      sink->client_,
      KafkaClient::Create(
          RD_KAFKA_PRODUCER,
          {.brokers = options.brokers,
           .topic = options.topic,
           .properties = {{"message.timeout.ms",
                           absl::StrCat(Milliseconds(options.timeout))},
                          // Without all replicas an acknowledged record could
                          // be lost with one broker.
                          {"acks", "all"},
                          {"compression.codec", "lz4"}},
           .properties_file = options.properties_file,
           .on_delivery = &OnDelivery}));
  SEMRANK_ASSIGN_OR_RETURN(const std::size_t max_message_bytes,
                           sink->client_->MaxMessageBytes());
  sink->max_line_bytes_ = max_message_bytes - kMaxOverhead;
  return sink;
}

absl::Status KafkaEventSink::Check() {
  return client_->FindPartitions(kFirstAnswer).status();
}

absl::Status KafkaEventSink::Append(const EventLines& lines,
                                    absl::Time /*now*/) {
  error_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const rd_kafka_resp_err_t error =
        Produce(lines.impression(i), lines.line(i));
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    // What was queued before is sent nevertheless, and Flush waits for it.
    error_ = error;
    break;
  }
  Flush();
  return client_->StatusOf(error_);
}

rd_kafka_resp_err_t KafkaEventSink::Produce(std::string_view key,
                                            std::string_view line) {
  // The macros of rd_kafka_producev need an extension of GNU C.
  const rd_kafka_vu_t fields[] = {
      {.vtype = RD_KAFKA_VTYPE_TOPIC, .u = {.cstr = client_->topic().c_str()}},
      // librdkafka only reads what these pointers point to, and copies it.
      {.vtype = RD_KAFKA_VTYPE_KEY,
       .u = {.mem = {const_cast<char*>(key.data()), key.size()}}},
      {.vtype = RD_KAFKA_VTYPE_VALUE,
       .u = {.mem = {const_cast<char*>(line.data()), line.size()}}},
      {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u = {.i = RD_KAFKA_MSG_F_COPY}},
      {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u = {.ptr = this}}};
  const absl::Time end = absl::Now() + timeout_;
  for (;;) {
    rd_kafka_error_t* const result =
        rd_kafka_produceva(client_->get(), fields, std::size(fields));
    const rd_kafka_resp_err_t error = rd_kafka_error_code(result);
    rd_kafka_error_destroy(result);
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL || absl::Now() > end) {
      return error;
    }
    // Makes room: messages leave the queue when their delivery is reported.
    rd_kafka_poll(client_->get(), /*timeout_ms=*/100);
  }
}

// A message that is neither delivered nor failed in time would be taken for one
// of the next Append.
void KafkaEventSink::Flush() {
  rd_kafka_t* const handle = client_->get();
  if (rd_kafka_flush(handle, Milliseconds(timeout_ + kSlack)) ==
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return;
  }
  if (error_ == RD_KAFKA_RESP_ERR_NO_ERROR) {
    error_ = RD_KAFKA_RESP_ERR__TIMED_OUT;
  }
  // Purged messages fail, and this second flush reports them.
  rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(handle, Milliseconds(kSlack));
}

void KafkaEventSink::OnDelivery(rd_kafka_t* /*handle*/,
                                const rd_kafka_message_t* message,
                                void* /*client*/) {
  auto& sink = *static_cast<KafkaEventSink*>(message->_private);
  // The first error is the cause; later messages often fail because of it.
  if (sink.error_ == RD_KAFKA_RESP_ERR_NO_ERROR) sink.error_ = message->err;
}

}  // namespace semrank
