#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/streams/event_stream.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/kafka/kafka_client.h"

// A consumer without a group: it assigns the partitions to itself and begins at
// the offsets of `positions`, so that an import needs no right to a group and
// commits nothing to the cluster. A partition that has come to its end is
// paused, or its new messages would fill the queue while the others are read.
namespace semrank {
namespace {

constexpr absl::Duration kFirstAnswer = absl::Seconds(30);
constexpr int kTimeoutMs = 30'000;  // without a message
constexpr int kPollMs = 100;        // between two looks for Ctrl-C

// The offset of the next message by partition, "0:17,1:4" as text.
using Offsets = std::map<std::int32_t, std::int64_t>;

absl::StatusOr<Offsets> ParseOffsets(const std::string& text) {
  Offsets offsets;
  for (const absl::string_view item :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits(':', 1));
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    if (!absl::SimpleAtoi(parts.first, &partition) ||
        !absl::SimpleAtoi(parts.second, &offset) || offset < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("\"%s\" is not a position of a topic", text));
    }
    offsets[partition] = offset;
  }
  return offsets;
}

struct DestroyMessage {
  void operator()(rd_kafka_message_t* message) const {
    rd_kafka_message_destroy(message);
  }
};
using Message = std::unique_ptr<rd_kafka_message_t, DestroyMessage>;

// librdkafka asks for the coordinator of the group, though nothing here needs
// one, and passes on that the operator's rights do not allow this.
bool IsOfGroup(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
         error == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE;
}

// Reads each partition up to the end that it had at first.
class KafkaStream final : public EventStream {
 public:
  explicit KafkaStream(std::unique_ptr<KafkaClient> client)
      : client_(std::move(client)) {}
  ~KafkaStream() override { rd_kafka_consumer_close(client_->get()); }

  // A partition that is not in `position` was added to the topic since, and is
  // read from its beginning.
  absl::Status Begin(const std::string& position) override {
    SEMRANK_ASSIGN_OR_RETURN(offsets_, ParseOffsets(position));
    SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int32_t> partitions,
                             client_->FindPartitions(kFirstAnswer));
    for (const std::int32_t partition : partitions) {
      SEMRANK_RETURN_IF_ERROR(FindEnd(partition));
    }
    rd_kafka_topic_partition_list_t* const list =
        rd_kafka_topic_partition_list_new(static_cast<int>(ends_.size()));
    for (const auto& [partition, end] : ends_) {
      const auto known = offsets_.find(partition);
      rd_kafka_topic_partition_list_add(list, client_->topic().c_str(),
                                        partition)
          ->offset =
          known == offsets_.end() ? RD_KAFKA_OFFSET_BEGINNING : known->second;
    }
    const rd_kafka_resp_err_t error = rd_kafka_assign(client_->get(), list);
    rd_kafka_topic_partition_list_destroy(list);
    return client_->StatusOf(error);
  }

  absl::StatusOr<bool> Next(std::string& line) override {
    while (!ends_.empty()) {
      const Message message = Poll();
      if (message == nullptr) {
        return Interrupted() ? absl::CancelledError("interrupted")
                             : client_->StatusOf(RD_KAFKA_RESP_ERR__TIMED_OUT);
      }
      if (IsOfGroup(message->err)) continue;
      // The last offsets may be those of messages that were compacted away.
      if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        EndPartition(message->partition);
        continue;
      }
      // Messages of a paused partition may still be in the queue; they belong
      // to the next import.
      SEMRANK_RETURN_IF_ERROR(client_->StatusOf(message->err));
      const auto end = ends_.find(message->partition);
      if (end == ends_.end()) continue;
      const std::int64_t next = message->offset + 1;
      offsets_[message->partition] = next;
      line.assign(static_cast<const char*>(message->payload), message->len);
      if (next >= end->second) EndPartition(message->partition);
      return true;
    }
    return false;
  }

  std::string position() const override {
    return absl::StrJoin(offsets_, ",", absl::PairFormatter(":"));
  }
  absl::Status Delete(std::span<const std::string> /*positions*/) override {
    return absl::UnimplementedError(ToAbsl(kNoKafkaDeletion));
  }
  const std::string& name() const override { return client_->name(); }

 private:
  // The next message or event; null after kTimeoutMs and after Ctrl-C.
  Message Poll() {
    for (int waited_ms = 0; waited_ms < kTimeoutMs; waited_ms += kPollMs) {
      Message message(rd_kafka_consumer_poll(client_->get(), kPollMs));
      if (message != nullptr || Interrupted()) return message;
    }
    return nullptr;
  }

  // Notes the end of the partition, unless all of it has been read. An offset
  // beyond the end is of a topic that was deleted and created again; it is
  // removed, so that the partition is read from its beginning whenever it has
  // messages.
  absl::Status FindEnd(std::int32_t partition) {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    SEMRANK_RETURN_IF_ERROR(client_->StatusOf(rd_kafka_query_watermark_offsets(
        client_->get(), client_->topic().c_str(), partition, &begin, &end,
        kTimeoutMs)));
    std::erase_if(offsets_, [&](const auto& known) {
      return known.first == partition && known.second > end;
    });
    const auto known = offsets_.find(partition);
    if ((known == offsets_.end() ? begin : known->second) != end) {
      ends_[partition] = end;
    }
    return absl::OkStatus();
  }

  void EndPartition(std::int32_t partition) {
    ends_.erase(partition);
    rd_kafka_topic_partition_list_t* const list =
        rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, client_->topic().c_str(),
                                      partition);
    // Pausing only saves memory: Next skips the partition in any case, so that
    // an error does not matter.
    rd_kafka_pause_partitions(client_->get(), list);
    rd_kafka_topic_partition_list_destroy(list);
  }

  const std::unique_ptr<KafkaClient> client_;
  Offsets offsets_;
  Offsets ends_;  // of the partitions that have not come to theirs
};

}  // namespace

absl::StatusOr<std::unique_ptr<EventStream>> MakeKafkaStream(
    const EventStream::Options& options) {
  SEMRANK_ASSIGN_OR_RETURN(
      auto client,
      KafkaClient::Create(RD_KAFKA_CONSUMER,
                          {.brokers = options.address.place,
                           .topic = options.address.stream,
                           // The folder has the positions, and no group.
                           .properties = {{"group.id", "semrank-events-import"},
                                          {"enable.auto.commit", "false"},
                                          {"enable.partition.eof", "true"},
                                          {"auto.offset.reset", "earliest"}},
                           .properties_file = options.kafka_config}));
  return std::make_unique<KafkaStream>(std::move(client));
}

}  // namespace semrank
