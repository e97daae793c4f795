// A Kafka broker inside the test: the mock cluster of librdkafka, which keeps
// messages in memory.
#ifndef SEMRANK_TESTS_SUPPORT_MOCK_KAFKA_H_
#define SEMRANK_TESTS_SUPPORT_MOCK_KAFKA_H_

// The mock's header needs the other before it.
// clang-format off
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
// clang-format on

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace semrank {

class MockKafka {
 public:
  // `num_partitions` are those of the topic.
  explicit MockKafka(const std::string& topic, int num_partitions = 1)
      : handle_(rd_kafka_new(RD_KAFKA_PRODUCER, SilentConf(), nullptr, 0)),
        cluster_(rd_kafka_mock_cluster_new(handle_, /*broker_cnt=*/1)) {
    if (rd_kafka_mock_topic_create(cluster_, topic.c_str(), num_partitions,
                                   /*replication_factor=*/1) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
      std::abort();
    }
  }
  ~MockKafka() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
  }
  MockKafka(const MockKafka&) = delete;
  MockKafka& operator=(const MockKafka&) = delete;

  // "127.0.0.1:PORT".
  std::string brokers() const {
    return rd_kafka_mock_cluster_bootstraps(cluster_);
  }
  void Stop() { rd_kafka_mock_broker_set_down(cluster_, kBroker); }
  void StartAgain() { rd_kafka_mock_broker_set_up(cluster_, kBroker); }
  // As brokers whose rights name no group: no client may ask for a coordinator.
  void RefuseGroups() {
    constexpr std::int16_t kFindCoordinator = 10;
    constexpr std::size_t kTimes = 3;
    rd_kafka_mock_push_request_errors(
        cluster_, kFindCoordinator, kTimes,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
  }

 private:
  static constexpr int kBroker = 1;

  // The handle itself has no brokers, of which it would warn.
  static rd_kafka_conf_t* SilentConf() {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, nullptr);
    return conf;
  }

  rd_kafka_t* const handle_;
  rd_kafka_mock_cluster_t* const cluster_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_MOCK_KAFKA_H_
