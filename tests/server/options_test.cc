#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "server/connection_options.h"
#include "tests/support/status_matchers.h"

ABSL_DECLARE_FLAG(std::string, model_dir);

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ServerOptions GoodOptions() {
  absl::SetFlag(&FLAGS_model_dir, "models/shop");
  return OptionsFromFlags().value();
}

TEST(OptionsTest, DefaultsAreValidAndListenOnLoopback) {
  const ServerOptions options = GoodOptions();
  EXPECT_EQ(options.listen_address, "127.0.0.1:50051");
  EXPECT_EQ(options.http_address, "127.0.0.1:8080");
  EXPECT_GE(options.limits.max_texts_per_request, 10'000);
}

TEST(OptionsTest, ModelDirIsRequired) {
  absl::SetFlag(&FLAGS_model_dir, "");
  EXPECT_THAT(OptionsFromFlags(), StatusIs(absl::StatusCode::kInvalidArgument,
                                           StartsWith("--model_dir=")));
}

TEST(OptionsTest, DescriptionHasEveryFlagAsAFlagfileTakesIt) {
  ServerOptions options = GoodOptions();
  options.drain_delay = absl::Milliseconds(1500);
  options.limits.max_connections = 777;  // else it is the machine's
  EXPECT_EQ(DescribeOptions(options),
            "model_dir=models/shop\nmodel_version=\nmodel_poll_interval=5s\n"
            "wait_for_model=false\nenable_admin_rpcs=false\n"
            "listen_address=127.0.0.1:50051\nhttp_address=127.0.0.1:8080\n"
            "max_http_body_bytes=8388608\n"
            "cache_bytes=268435456\nwarm_catalog=\n"
            "max_texts_per_request=10000\n"
            "max_text_bytes=4096\nmax_inflight_texts=100000\n"
            "max_requests_per_stream=64\nmax_streams_per_connection=1000\n"
            "max_connections=777\nmax_metadata_bytes=8192\n"
            "drain_delay=1.5s\ndrain_timeout=30s\n"
            "max_catalog_documents=10000000\nmax_document_id_bytes=512\n"
            "max_payload_bytes=4096\nmax_top_k=1000\n"
            "store=none\nstore_timeout=10ms\n"
            "store_vector_bytes=4294967296\n"
            "tls_cert=\ntls_key=\ntls_client_ca=\napi_keys_file=\n"
            "health_address=\nhttp_calls=auto\nlog_format=text\nslow_request_"
            "threshold=0\n");
}

TEST(MaxConnectionsTest, DefaultShrinksToWhatOpenFilesAllow) {
  EXPECT_EQ(MaxConnections(0, 1'000'000).value(), 8'192);
  EXPECT_EQ(MaxConnections(0, 1'024).value(), 256);
  EXPECT_EQ(MaxConnections(0, 256).value(), 64);
  EXPECT_EQ(MaxConnections(0, 1).value(), 1);
}

TEST(MaxConnectionsTest, WhatIsAskedForIsTakenOrRefused) {
  EXPECT_EQ(MaxConnections(256, 1'024).value(), 256);
  EXPECT_EQ(MaxConnections(500'000, 1 << 30).value(), 500'000);
  EXPECT_THAT(MaxConnections(257, 1'024),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--max_connections=257: the limit of 1024 open files "
                       "(ulimit -n) has room for 256"));
  EXPECT_THAT(MaxConnections(-1, 1'024),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("--max_connections=-1: must be 0 to")));
}

TEST(MaxConnectionsTest, TheLimitOnOpenFilesIsRaisedAsFarAsAllowed) {
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old_limit), 0);
  const rlimit low = {100, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(OpenFileLimit(), 100);
  RaiseOpenFileLimit();
  EXPECT_EQ(OpenFileLimit(),
            std::min<rlim_t>(old_limit.rlim_max, rlim_t{1} << 30));
  setrlimit(RLIMIT_NOFILE, &old_limit);
}

struct BadOption {
  std::string_view name;
  std::function<void(ServerOptions&)> spoil;
  std::string_view message_start;
};

class BadOptionTest : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptionTest, IsRefusedWithTheFlagAndItsValue) {
  ServerOptions options = GoodOptions();
  ASSERT_THAT(ValidateOptions(options), IsOk());
  GetParam().spoil(options);
  EXPECT_THAT(ValidateOptions(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith(std::string(GetParam().message_start))));
}

using O = ServerOptions;
INSTANTIATE_TEST_SUITE_P(
    Cases, BadOptionTest,
    ::testing::ValuesIn<BadOption>({
        {"NoPort", [](O& o) { o.listen_address = "localhost"; },
         "--listen_address=localhost"},
        {"NoHost", [](O& o) { o.http_address = ":80"; }, "--http_address=:80"},
        {"BadPort", [](O& o) { o.http_address = "h:65536"; },
         "--http_address=h:65536"},
        {"NegativeCache", [](O& o) { o.cache_bytes = -1; }, "--cache_bytes=-1"},
        {"CacheOverMemory", [](O& o) { o.cache_bytes = std::int64_t{1} << 60; },
         "--cache_bytes="},
        {"NoTexts", [](O& o) { o.limits.max_texts_per_request = 0; },
         "--max_texts_per_request=0"},
        {"NoTextBytes", [](O& o) { o.limits.max_text_bytes = 0; },
         "--max_text_bytes=0"},
        {"MessageOver2GiB",
         [](O& o) {
           o.limits.max_texts_per_request = 100'000;
           o.limits.max_text_bytes = 1 << 20;
         },
         "--max_texts_per_request=100000: times --max_text_bytes"},
        {"LargestRequestNeverFits",
         [](O& o) { o.limits.max_inflight_texts = 10'000; },
         "--max_inflight_texts=10000"},
        {"NoRequestsPerStream",
         [](O& o) { o.limits.max_requests_per_stream = 0; },
         "--max_requests_per_stream=0"},
        {"NoStreams", [](O& o) { o.limits.max_streams_per_connection = 0; },
         "--max_streams_per_connection=0"},
        {"TooLittleMetadata", [](O& o) { o.limits.max_metadata_bytes = 100; },
         "--max_metadata_bytes=100"},
        {"NegativeCatalog", [](O& o) { o.catalog.max_documents = -1; },
         "--max_catalog_documents=-1"},
        {"NoTopK", [](O& o) { o.limits.max_top_k = 0; }, "--max_top_k=0"},
        {"NegativeDelay", [](O& o) { o.drain_delay = -absl::Seconds(1); },
         "--drain_delay=-1s"},
        {"EndlessTimeout",
         [](O& o) { o.drain_timeout = absl::InfiniteDuration(); },
         "--drain_timeout=inf"},
        {"LogFormat", [](O& o) { o.log.format = "xml"; }, "--log_format=xml"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace semrank
