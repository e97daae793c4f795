#include "model/kafka/kafka_client.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

// librdkafka connects in threads of its own, and tries again for ever. Its
// calls fail with a timeout that says nothing; why brokers cannot be reached
// comes to the error callback. StatusOf puts both into one message.
namespace semrank {
namespace {

struct DestroyConf {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, DestroyConf>;

absl::Status Set(const Conf& conf, const std::string& name,
                 const std::string& value) {
  std::array<char, 512> reason = {};
  if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(),
                        reason.size()) == RD_KAFKA_CONF_OK) {
    return absl::OkStatus();
  }
  // The reason may quote the value, which may be a password.
  return absl::InvalidArgumentError(
      absl::StrFormat("librdkafka refuses the property %s or its value", name));
}

// No attempt will succeed before an operator changes a password or a right.
bool IsRefusal(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<KafkaProperties> ReadKafkaProperties(const std::string& path) {
  // Properties are small; a mistyped path must not read a large file.
  constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path, kMaxFileBytes));
  KafkaProperties properties;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(content, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == absl::string_view::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: must be name=value, a property of librdkafka", path, number));
    }
    properties.emplace_back(
        absl::StripAsciiWhitespace(line.substr(0, equals)),
        absl::StripAsciiWhitespace(line.substr(equals + 1)));
  }
  return properties;
}

absl::StatusOr<std::unique_ptr<KafkaClient>> KafkaClient::Create(
    rd_kafka_type_t type, const Options& options) {
  std::unique_ptr<KafkaClient> client(new KafkaClient(options));
  Conf conf(rd_kafka_conf_new());
  // The file is last, so that it can override every other property.
  SEMRANK_RETURN_IF_ERROR(Set(conf, "bootstrap.servers", options.brokers));
  SEMRANK_RETURN_IF_ERROR(Set(conf, "client.id", "semrank"));
  for (const auto& [name, value] : options.properties) {
    SEMRANK_RETURN_IF_ERROR(Set(conf, name, value));
  }
  if (!options.properties_file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const KafkaProperties properties,
                             ReadKafkaProperties(options.properties_file));
    for (const auto& [name, value] : properties) {
      SEMRANK_RETURN_IF_ERROR(Set(conf, name, value));
    }
  }
  // The default log callback writes to standard error. Errors are passed to
  // NoteError, which librdkafka calls while the client polls or flushes, on the
  // thread of the caller. So last_error_ needs no lock.
  rd_kafka_conf_set_log_cb(conf.get(), nullptr);
  rd_kafka_conf_set_error_cb(conf.get(), &NoteError);
  rd_kafka_conf_set_opaque(conf.get(), client.get());
  if (options.on_delivery != nullptr) {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), options.on_delivery);
  }
  std::array<char, 512> reason = {};
  client->handle_.reset(
      rd_kafka_new(type, conf.get(), reason.data(), reason.size()));
  if (client->handle_ == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", client->name_, reason.data()));
  }
  // After a success the handle owns it.
  static_cast<void>(conf.release());
  return client;
}

// Keeps the error of a broker: "all brokers are down", which follows it, says
// less.
void KafkaClient::NoteError(rd_kafka_t* /*handle*/, int error,
                            const char* reason, void* client) {
  auto& noted = *static_cast<KafkaClient*>(client);
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN &&
      !noted.last_error_.empty()) {
    return;
  }
  noted.last_error_ = reason;
  noted.last_error_code_ = static_cast<rd_kafka_resp_err_t>(error);
}

absl::StatusOr<std::size_t> KafkaClient::MaxMessageBytes() const {
  constexpr const char* kProperty = "message.max.bytes";
  std::array<char, 32> value = {};
  std::size_t size = value.size();
  std::size_t num_bytes = 0;
  if (rd_kafka_conf_get(rd_kafka_conf(get()), kProperty, value.data(), &size) !=
          RD_KAFKA_CONF_OK ||
      !absl::SimpleAtoi(value.data(), &num_bytes)) {
    return absl::InternalError(
        absl::StrFormat("librdkafka does not know its %s", kProperty));
  }
  return num_bytes;
}

absl::Status KafkaClient::StatusOf(rd_kafka_resp_err_t error) const {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return absl::OkStatus();
  // After a refused login `error` only says that no broker answered.
  const absl::StatusCode code = IsRefusal(error) || IsRefusal(last_error_code_)
                                    ? absl::StatusCode::kPermissionDenied
                                    : absl::StatusCode::kUnavailable;
  return {code,
          absl::StrFormat("%s: %s%s%s", name_, rd_kafka_err2str(error),
                          last_error_.empty() ? "" : "; its last error was: ",
                          last_error_)};
}

absl::StatusOr<std::vector<std::int32_t>> KafkaClient::FindPartitions(
    absl::Duration max_wait) const {
  struct DestroyTopic {
    void operator()(rd_kafka_topic_t* topic) const {
      rd_kafka_topic_destroy(topic);
    }
  };
  const std::unique_ptr<rd_kafka_topic_t, DestroyTopic> topic(
      rd_kafka_topic_new(get(), topic_.c_str(), nullptr));
  if (topic == nullptr) return StatusOf(rd_kafka_last_error());
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(get(), /*all_topics=*/0, topic.get(), &metadata,
                        static_cast<int>(absl::ToInt64Milliseconds(max_wait)));
  rd_kafka_poll(get(), 0);  // for the errors of the brokers
  SEMRANK_RETURN_IF_ERROR(StatusOf(error));
  // The ids are copied, since librdkafka owns the memory of the answer.
  std::vector<std::int32_t> partitions;
  rd_kafka_resp_err_t topic_error = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& found = metadata->topics[i];
    // One topic was asked for. A broker that does not have it says so here, not
    // in the error of the call.
    topic_error = found.err;
    for (int j = 0; j < found.partition_cnt; ++j) {
      partitions.push_back(found.partitions[j].id);
    }
  }
  rd_kafka_metadata_destroy(metadata);
  SEMRANK_RETURN_IF_ERROR(StatusOf(topic_error));
  return partitions;
}

}  // namespace semrank
