#include "server/base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/errors.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, KnownLabelSetsAreZeroFromTheStart) {
  Metrics metrics;
  metrics.AddRpc("semrank.v1.RankingService", "Rank", "unary");
  const std::string text = metrics.Render();
  for (const char* line :
       {"grpc_server_started_total{grpc_method=\"Rank\",grpc_service=\"semrank."
        "v1.RankingService\",grpc_type=\"unary\"} 0\n",
        "grpc_code=\"ResourceExhausted\"", "grpc_server_handling_seconds_count",
        "semrank_stage_duration_seconds_count{stage=\"embed\"} 0\n",
        "semrank_texts_embedded_total{side=\"document\"} 0\n",
        "semrank_cache_requests_total{result=\"hit\"} 0\n",
        "semrank_requests_rejected_total{reason=\"OVERLOADED\"} 0\n",
        "semrank_requests_rejected_total{reason=\"MISSING_CERTIFICATE\"} 0\n",
        "semrank_requests_rejected_total{reason=\"HTTP_CALLS_OFF\"} 0\n",
        "semrank_model_load_total{result=\"failed\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, EveryOutcomeOfACallIsCountedAndTimed) {
  Metrics metrics;
  const Metrics::Rpc rpc = metrics.AddRpc("S", "M", "unary");
  rpc.Started();
  rpc.Handled(absl::StatusCode::kNotFound, absl::Seconds(3));
  const std::string text = metrics.Render();
  EXPECT_THAT(text, HasSubstr("grpc_server_handled_total{grpc_code=\"NotFound\""
                              ",grpc_method=\"M\",grpc_service=\"S\",grpc_type="
                              "\"unary\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("grpc_server_handling_seconds_sum{grpc_method="
                              "\"M\",grpc_service=\"S\",grpc_type=\"unary\"} "
                              "3\n"));
}

TEST(MetricsTest, OnlyRejectionsAreCountedAsRejected) {
  Metrics metrics;
  metrics.CountRejected(TextTooLong("query", 2, 1));
  metrics.CountRejected(absl::DeadlineExceededError("late"));
  const std::string text = metrics.Render();
  EXPECT_THAT(text,
              HasSubstr("rejected_total{reason=\"DEADLINE_EXCEEDED\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("TEXT_TOO_LONG")));
}

TEST(MetricsTest, OnlyTheCurrentModelIsShown) {
  Metrics metrics;
  metrics.SetModel({"shop", 1, "aaa"}, 128, absl::UnixEpoch(),
                   absl::UnixEpoch());
  metrics.SetModel({"shop", 2, "bbb"}, 128,
                   absl::UnixEpoch() + absl::Seconds(1.5),
                   absl::UnixEpoch() + absl::Seconds(1));
  const std::string text = metrics.Render();
  EXPECT_THAT(text, HasSubstr("semrank_model_info{dim=\"128\",name=\"shop\","
                              "sha256=\"bbb\",version=\"2\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("sha256=\"aaa\"")));
  EXPECT_THAT(
      text,
      HasSubstr("semrank_model_loaded_timestamp_seconds{name=\"shop\"} 1.5\n"));
  EXPECT_THAT(
      text,
      HasSubstr("semrank_model_created_timestamp_seconds{name=\"shop\"} 1\n"));
}

// The allocator keeps what a larger buffer took.
TEST(MetricsTest, TheNextPageHasABufferOfItsSize) {
  Metrics metrics;
  for (int i = 0; i < 20; ++i) {
    metrics.AddRpc("Service", std::to_string(i), "unary");
    metrics.Render();
    const std::string page = metrics.Render();
    EXPECT_LE(page.capacity(), page.size() + page.size() / 16);
  }
}

TEST(MetricsTest, AReadingIsTakenAtEachScrape) {
  Metrics metrics;
  double value = 1;
  metrics.AddGauge("semrank_thing_bytes", "A thing.", [&] { return value; });
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsemrank_thing_bytes 1\n"));
  value = 2;
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsemrank_thing_bytes 2\n"));
}

TEST(MetricsTest, CallersHaveABoundedNumberOfSeries) {
  Metrics metrics;
  const absl::Status over = CallerShareError("too much", {});
  metrics.CountCaller("aaaaaaaa", 7, absl::OkStatus());
  metrics.CountCaller("aaaaaaaa", 7, over);
  metrics.CountCaller("bbbbbbbb", 7, Overloaded("full", {}));
  metrics.CountCaller("", 7, absl::OkStatus());
  for (std::size_t i = 0; i < 2 * Metrics::kMaxKeyLabels; ++i) {
    metrics.CountCaller(std::to_string(i), 1, absl::OkStatus());
  }
  const std::string text = metrics.Render();
  EXPECT_THAT(text,
              HasSubstr("semrank_caller_texts_total{key=\"aaaaaaaa\"} 7"));
  EXPECT_THAT(text, HasSubstr("semrank_caller_share_refusals_total{key="
                              "\"aaaaaaaa\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("bbbbbbbb")));
  EXPECT_THAT(text, HasSubstr("semrank_caller_texts_total{key=\"other\"} 51"));
}

}  // namespace
}  // namespace semrank
