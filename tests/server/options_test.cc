#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/cli/command_line.h"
#include "server/open_files.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What the server makes of its command line.
struct ParsedOptions {
  explicit ParsedOptions(std::vector<std::string> flags = {},
                         const std::string& model_dir = "models/shop") {
    flags.insert(flags.begin(), "--model_dir=" + model_dir);
    AddServerFlags(command_line, options);
    status = command_line.ParseArguments(flags).status();
    if (status.ok()) status = FinishOptions(command_line, options);
  }

  ServerOptions options;
  CommandLine command_line{{.name = "semrank-server"}};
  absl::Status status;
};

TEST(OptionsTest, DefaultsAreValidAndListenOnLoopback) {
  const ParsedOptions parsed;
  EXPECT_THAT(parsed.status, IsOk());
  EXPECT_EQ(parsed.options.listen_address, "127.0.0.1:50051");
  EXPECT_EQ(parsed.options.http_address, "127.0.0.1:8080");
  EXPECT_GE(parsed.options.limits.max_texts_per_request, 10'000);
}

TEST(OptionsTest, DescriptionHasEveryFlagAsAConfigFileTakesIt) {
  const ParsedOptions parsed({"--drain_delay=1500ms", "--max_connections=77",
                              "--warm_catalog=two words"});
  const std::string text = DescribeConfig(parsed.command_line);
  EXPECT_THAT(text, StartsWith("model_dir=models/shop\n"));
  for (const char* line : {R"(model_version="")",
                           "model_poll_interval=5s",
                           "wait_for_model=false",
                           "enable_admin_rpcs=false",
                           "listen_address=127.0.0.1:50051",
                           "http_address=127.0.0.1:8080",
                           "max_http_body_bytes=8388608",
                           "cache_bytes=268435456",
                           "vector_precision=float32",
                           "warm_catalog=\"two words\"",
                           "max_texts_per_request=10000",
                           "max_text_bytes=4096",
                           "max_inflight_texts=100000",
                           "max_queue_wait=250ms",
                           "max_requests_per_stream=64",
                           "max_streams_per_connection=1000",
                           "max_connections=77",
                           "max_connection_age=1h",
                           "max_metadata_bytes=8192",
                           "drain_delay=1.5s",
                           "drain_timeout=30s",
                           "max_catalog_documents=10000000",
                           "max_document_id_bytes=512",
                           "max_payload_bytes=4096",
                           "max_top_k=1000",
                           "store=none",
                           "store_timeout=10ms",
                           "store_vector_bytes=4294967296",
                           R"(tls_cert="")",
                           R"(tls_key="")",
                           R"(tls_client_ca="")",
                           R"(api_keys_file="")",
                           R"(health_address="")",
                           "http_calls=auto",
                           "log_format=text"}) {
    EXPECT_THAT("\n" + text, HasSubstr("\n" + std::string(line) + "\n"));
  }
  EXPECT_THAT(text, HasSubstr("\nslow_request_threshold=0"));
}

TEST(OptionsTest, TheDescriptionHidesThePasswordOfTheStore) {
  const ParsedOptions parsed({"--store=redis://user:secret@host"});
  EXPECT_THAT(parsed.status, IsOk());
  EXPECT_EQ(parsed.options.store.redis->password, "secret");
  EXPECT_THAT(
      DescribeConfig(parsed.command_line),
      AllOf(HasSubstr("store=redis://***@host"), Not(HasSubstr("secret"))));
}

TEST(OptionsTest, ARedisOverTlsHasItsFiles) {
  const ParsedOptions parsed({"--store=rediss://user:secret@host",
                              "--store_tls_ca=a", "--store_tls_cert=c",
                              "--store_tls_key=k"});
  EXPECT_THAT(parsed.status, IsOk());
  EXPECT_TRUE(parsed.options.store.redis->tls);
  EXPECT_EQ(parsed.options.store.redis->tls_files.key, "k");
  EXPECT_THAT(
      DescribeConfig(parsed.command_line),
      AllOf(HasSubstr("store=rediss://***@host"), Not(HasSubstr("secret"))));
}

TEST(OptionsTest, EventsAreOffUnlessAskedFor) {
  EXPECT_FALSE(ParsedOptions().options.events.is_on());
  const ParsedOptions parsed({"--events=/var/events", "--events_text=hash"});
  EXPECT_THAT(parsed.status, IsOk());
  EXPECT_EQ(parsed.options.events.text, EventText::kHash);
  const auto& folder =
      std::get<EventFiles::Options>(parsed.options.events.destination);
  EXPECT_EQ(folder.folder, "/var/events");
  EXPECT_EQ(folder.max_age, absl::Hours(24 * 90));
}

TEST(OptionsTest, EventsAreKeptInRedisOrKafka) {
  const ParsedOptions redis({"--events=rediss://:secret@h:7/2/shop",
                             "--events_key=k", "--events_max_age=2h",
                             "--store_tls_ca=ca"});
  ASSERT_THAT(redis.status, IsOk());
  const auto& stream =
      std::get<RedisEventSink::Options>(redis.options.events.destination);
  EXPECT_EQ(stream.stream, "shop");
  EXPECT_EQ(stream.url.db, 2);
  EXPECT_EQ(stream.url.password, "secret");
  EXPECT_EQ(stream.url.tls_files.ca, "ca");
  EXPECT_EQ(stream.max_age, absl::Hours(2));
  EXPECT_THAT(DescribeConfig(redis.command_line), Not(HasSubstr("secret")));
  const ParsedOptions kafka({"--events=kafka:a:1,b:2/shop", "--events_key=k",
                             "--events_kafka_config=f", "--explore=0.1"});
  ASSERT_THAT(kafka.status, IsOk());
  const auto& topic =
      std::get<KafkaEventSink::Options>(kafka.options.events.destination);
  EXPECT_EQ(topic.brokers, "a:1,b:2");
  EXPECT_EQ(topic.topic, "shop");
  EXPECT_EQ(topic.properties_file, "f");
}

TEST(OptionsTest, ModelsHaveAliases) {
  const ParsedOptions parsed({"--model_alias=rerank-v3.5=shop",
                              "--model_alias=BAAI/bge-m3=news,b=shop"},
                             "shop=models/shop,news=models/news");
  ASSERT_THAT(parsed.status, IsOk());
  const auto& folders = parsed.options.models.folders;
  EXPECT_THAT(folders[0].aliases, ElementsAre("rerank-v3.5", "b"));
  EXPECT_THAT(folders[1].aliases, ElementsAre("BAAI/bge-m3"));
  EXPECT_THAT(DescribeConfig(parsed.command_line),
              HasSubstr("model_alias=\"rerank-v3.5=shop,BAAI/bge-m3=news,"
                        "b=shop\"\n"));
}

TEST(OptionsTest, AnAliasOfNoModelOrOfTwoIsRefused) {
  for (const auto& [alias, reason] :
       std::vector<std::pair<std::string, std::string>>{
           {"a=news", "--model_dir has no model named \"news\""},
           {"a", "must be ALIAS=NAME"},
           {"a b=shop", "must be ALIAS=NAME"},
           {"a=", "must be ALIAS=NAME"},
           {"shop=shop", "model \"shop\" has the name \"shop\" already"},
           {"a=shop,a=shop", "model \"shop\" has the name \"a\" already"}}) {
    EXPECT_THAT(ParsedOptions({"--model_alias=" + alias}).status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("--model_alias"), HasSubstr(reason))))
        << alias;
  }
}

TEST(OptionsTest, ExperimentsNameServedModels) {
  const ParsedOptions parsed(
      {"--model_dir=shop=x,next=y", "--model_alias=a:b=next", "--events=e",
       "--explore=0.05", "--interleave=shop,a:b,0.1", "--shadow=a:b:0.25"});
  ASSERT_THAT(parsed.status, IsOk());
  const ExperimentOptions& experiments = parsed.options.experiments;
  EXPECT_EQ(experiments.lists.explore_rate, .05);
  EXPECT_EQ(experiments.lists.interleave_a, "shop");
  EXPECT_EQ(experiments.lists.interleave_b, "next");
  EXPECT_EQ(experiments.lists.interleave_share, .1);
  EXPECT_EQ(experiments.shadow_model, "next");
  EXPECT_EQ(experiments.shadow_share, .25);
  const ParsedOptions all(
      {"--model_dir=shop=x,next=y", "--model_alias=a:b=next", "--shadow=a:b"});
  EXPECT_EQ(all.options.experiments.shadow_model, "next");
  EXPECT_EQ(all.options.experiments.shadow_share, 1);
}

TEST(OptionsTest, HttpCallsNeedWhatGrpcNeedsUnlessAskedOtherwise) {
  const TlsFiles mutual = {.cert = "c", .key = "k", .client_ca = "a"};
  EXPECT_FALSE(HttpCallsNeedCertificate({}));
  EXPECT_FALSE(HttpCallsNeedCertificate({.tls = {.cert = "c", .key = "k"}}));
  EXPECT_TRUE(HttpCallsNeedCertificate({.tls = mutual}));
  EXPECT_TRUE(
      HttpCallsNeedCertificate({.tls = mutual, .api_keys_file = "keys"}));
  EXPECT_FALSE(HttpCallsNeedCertificate(
      {.tls = mutual, .http_calls = HttpCallPolicy::kOn}));
  EXPECT_THAT(HttpCallsAllowed({.tls = mutual}), IsOk());
  EXPECT_THAT(HttpCallsAllowed({.http_calls = HttpCallPolicy::kOff}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("--http_calls=off")));
}

TEST(MaxConnectionsTest, DefaultShrinksToWhatOpenFilesAllow) {
  EXPECT_EQ(MaxConnections(0, 1'000'000).value(), 8'192);
  EXPECT_EQ(MaxConnections(0, 1'024).value(), 256);
  EXPECT_EQ(MaxConnections(0, 256).value(), 64);
  EXPECT_EQ(MaxConnections(0, 1).value(), 1);
}

TEST(MaxConnectionsTest, WhatIsRequestedIsTakenOrRefused) {
  EXPECT_EQ(MaxConnections(256, 1'024).value(), 256);
  EXPECT_EQ(MaxConnections(500'000, 1 << 30).value(), 500'000);
  EXPECT_THAT(MaxConnections(257, 1'024),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--max_connections=257: the limit of 1024 open files "
                       "(ulimit -n) has room for 256"));
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

MATCHER_P3(IsFolder, name, path, version, "is this folder") {
  *result_listener << arg.name << " " << arg.path << " " << arg.version;
  return arg.name == name && arg.path == path && arg.version == version;
}

TEST(ServedFoldersTest, ABarePathIsNamedAfterItsLastPart) {
  EXPECT_THAT(ParsedOptions({}, "models/shop").options.models.folders,
              ElementsAre(IsFolder("shop", "models/shop", 0)));
  EXPECT_THAT(ParsedOptions({"--model_version=7"}, "/data/run=3,a/shop/")
                  .options.models.folders,
              ElementsAre(IsFolder("shop", "/data/run=3,a/shop/", 7)));
}

TEST(ServedFoldersTest, SeveralModelsHaveNamesAndVersions) {
  EXPECT_THAT(
      ParsedOptions({"--model_version=news=2"}, "shop=a/x,news=/b/run=1")
          .options.models.folders,
      ElementsAre(IsFolder("shop", "a/x", 0), IsFolder("news", "/b/run=1", 2)));
}

struct BadOption {
  std::string name;
  std::vector<std::string> flags;
  // The beginning of the message; empty = the first flag.
  std::string start = "";
};

class BadOptionTest : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptionTest, IsRefusedWithTheFlagAndItsValue) {
  const BadOption& bad = GetParam();
  EXPECT_THAT(
      ParsedOptions(bad.flags).status,
      StatusIs(absl::StatusCode::kInvalidArgument,
               StartsWith(bad.start.empty() ? bad.flags[0] : bad.start)));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadOptionTest,
    ::testing::ValuesIn<BadOption>({
        {"NoModel", {"--model_dir="}, "--model_dir: is required"},
        {"EmptyPath", {"--model_dir=a="}, "--model_dir=a=: has an empty path"},
        {"SameName",
         {"--model_dir=a=x,a=y"},
         "--model_dir=a=x,a=y: has two models named \"a\""},
        {"NoName",
         {"--model_dir=a=x,y"},
         "--model_dir=a=x,y: has an empty path"},
        {"NameIsNotUtf8",
         {"--model_dir=/models/mod\xe8le"},
         "--model_dir=/models/mod\xe8le: names a model"},
        {"NegativeVersion", {"--model_version=-1"}},
        {"VersionIsNoNumber", {"--model_version=new"}},
        {"VersionOfWhichModel",
         {"--model_version=3", "--model_dir=a=x,b=y"},
         "--model_version=3: with several models must be NAME=N"},
        {"VersionOfUnknownModel",
         {"--model_version=b=3"},
         "--model_version=b=3: --model_dir has no model named \"b\""},
        {"NoPort", {"--listen_address=localhost"}},
        {"NoHost", {"--http_address=:80"}},
        {"BadPort", {"--http_address=h:65536"}},
        {"NoAddress", {"--http_address="}},
        {"HealthAddress", {"--health_address=nowhere"}},
        {"NegativeCache", {"--cache_bytes=-1"}},
        {"CacheOverMemory", {"--cache_bytes=1152921504606846976"}},
        {"NoTexts", {"--max_texts_per_request=0"}},
        {"NoTextBytes", {"--max_text_bytes=0"}},
        {"MessageOver2GiB",
         {"--max_texts_per_request=99999", "--max_text_bytes=1048576"},
         "--max_texts_per_request=99999: times --max_text_bytes=1048576"},
        {"LargestRequestNeverFits", {"--max_inflight_texts=10000"}},
        {"NegativeConnections", {"--max_connections=-1"}},
        {"NoRequestsPerStream", {"--max_requests_per_stream=0"}},
        {"NoStreams", {"--max_streams_per_connection=0"}},
        {"TooLittleMetadata", {"--max_metadata_bytes=100"}},
        {"NegativeCatalog", {"--max_catalog_documents=-1"}},
        {"NoTopK", {"--max_top_k=0"}},
        {"NegativeDelay", {"--drain_delay=-1s"}},
        {"EndlessTimeout", {"--drain_timeout=inf"}},
        {"LogFormat", {"--log_format=xml"}},
        {"HttpCalls", {"--http_calls=maybe"}},
        {"StoreKind", {"--store=mysql:x"}},
        {"EventsScheme", {"--events=amqp://host/x"}},
        {"EventsWithoutStream", {"--events=redis://host", "--events_key=k"}},
        {"EventsRedisPort", {"--events=redis://h:0/s", "--events_key=k"}},
        {"EventsWithoutTopic", {"--events=kafka:host", "--events_key=k"}},
        {"EventsWithoutKey",
         {"--events=redis://:secret@h/s"},
         "--events=redis://***@h/s: needs --events_key=FILE"},
        {"EventsKeyOfFolder",
         {"--events_key=k", "--events=dir"},
         "--events_key=k: needs --events=redis://"},
        {"EventsKafkaConfigOfFolder",
         {"--events_kafka_config=f", "--events=dir"},
         "--events_kafka_config=f: needs --events=kafka:"},
        {"EventsText", {"--events=e", "--events_text=some"}, "--events_text"},
        {"EventsAge", {"--events_max_age=1m"}},
        {"EventsBytes", {"--events_max_bytes=1"}},
        {"StoreTimeout", {"--store_timeout=1us"}},
        {"StoreTlsOfPlainText", {"--store_tls_ca=a", "--store=redis://h"}},
        {"StoreCertificateWithoutKey",
         {"--store_tls_cert=c", "--store=rediss://h"}},
        {"StoreKeyWithoutCertificate",
         {"--store_tls_key=k", "--store=rediss://h"}},
        {"ExploreAll", {"--explore=1.5", "--events=e"}},
        {"ExploreWithoutEvents",
         {"--explore=0.1"},
         "--explore=0.1: needs --events"},
        {"InterleaveWithoutEvents",
         {"--interleave=shop,shop,1"},
         "--interleave=shop,shop,1: needs --events"},
        {"InterleaveWithoutShare",
         {"--interleave=shop,shop", "--events=e"},
         "--interleave=shop,shop: must be MODEL,MODEL,SHARE"},
        {"InterleaveOfUnknownModel",
         {"--interleave=shop,news,0.1", "--events=e"},
         "--interleave=shop,news,0.1: --model_dir has no model named \"news\""},
        {"InterleaveWithItself",
         {"--interleave=shop,shop,0.1", "--events=e"},
         "--interleave=shop,shop,0.1: names one model twice"},
        {"ShadowOfUnknownModel",
         {"--shadow=news"},
         "--shadow=news: --model_dir has no model named \"news\""},
        {"ShadowShare", {"--shadow=shop:0"}, "--shadow=shop:0: must be MODEL"},
        {"ServerNameWithPort", {"--server_names=shop.example:80"}},
        {"CertificateWithoutKey", {"--tls_cert=c"}},
        {"KeyWithoutCertificate", {"--tls_key=k"}},
        {"ClientCaAlone", {"--tls_client_ca=a"}},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace semrank
