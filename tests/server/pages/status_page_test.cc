#include "server/pages/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"
#include "tests/support/fake_caller.h"
#include "tests/support/fake_document_store.h"
#include "tests/support/memory_source.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StatusPageTest : public ::testing::Test {
 protected:
  std::string Page() {
    return StatusPage({.catalog = &catalog_,
                       .models = &models_,
                       .lifecycle = &lifecycle_,
                       .admission = &admission_,
                       .connections = &connections_,
                       .recent_calls = &recent_,
                       .cache = cache_.get(),
                       .stored = stored_,
                       .request_log = &log_},
                      absl::Seconds(3661.7));
  }

  Lifecycle lifecycle_;
  Metrics metrics_;
  MemoryFolder folder_;
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(1 << 20).value();
  ModelStore models_{{{folder_.Source("shop")}}, &metrics_};
  Admission admission_{777};
  ConnectionCount connections_{888};
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  SyncedCatalog catalog_{100, {.embedder = &embedder_, .metrics = &metrics_}};
  RecentCalls recent_{&metrics_, absl::Now() - absl::Seconds(10)};
  RequestLog log_{{}};
  const StoredVectors* stored_ = nullptr;
};

TEST_F(StatusPageTest, SaysWhatAnOperatorAsksFirst) {
  EXPECT_THAT(Page(), HasSubstr("no model is loaded yet"));
  folder_.Put(1, MakeTinyModel());
  folder_.Put(2, absl::DataLossError("weights.safetensors is <short>"));
  models_.Refresh().IgnoreError();
  lifecycle_.Advance(Lifecycle::State::kServing);
  const std::string page = Page();
  for (const char* part :
       {"<td>1h1m1s</td>",
        "<th scope=\"row\">shop</th><td data-label=\"version\">1</td>"
        "<td data-label=\"state\">serving</td>",
        "<td data-label=\"version\">2</td><td data-label=\"state\">failed</td>",
        "weights.safetensors is &lt;short&gt;", "0 of 777", "0 of 888",
        "<td>8,192</td>", "<td>192</td>", "none since the start", "</html>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST_F(StatusPageTest, ShowsTheDocumentStoreAndWhyItIsLeftAlone) {
  EXPECT_THAT(Page(), Not(HasSubstr("Document store")));
  FakeDocumentStore store;
  StoredVectors stored(&store, &metrics_, {});
  stored_ = &stored;
  EXPECT_THAT(Page(), HasSubstr("<td>in use</td>"));
  store.FailWith(absl::UnavailableError("fake store: <down>"));
  const std::string_view text = "text";
  std::uint8_t found = 0;
  std::vector<float> row(16);
  stored.Find({.model = MakeTinyModel()}, {&text, 1}, FakeCaller(), row.data(),
              {&found, 1});
  EXPECT_THAT(Page(), HasSubstr("fake store: &lt;down&gt;"));
}

TEST_F(StatusPageTest, ShowsTheCallsOfTheLastMinutes) {
  EXPECT_THAT(Page(), HasSubstr("none in 5 minutes"));
  const Metrics::Rpc rank = metrics_.AddRpc("S", "Rank", "unary");
  for (int i = 0; i < 100; ++i) {
    rank.Handled(absl::StatusCode::kOk, absl::Milliseconds(3));
  }
  EXPECT_THAT(Page(),
              HasSubstr(">S/<wbr>Rank</th><td data-label=\"type\">unary<"));
  EXPECT_THAT(Page(),
              HasSubstr("data-label=\"p50, 1 minute\">2.5\u00a0ms</td>"));
  EXPECT_THAT(Page(),
              HasSubstr("data-label=\"p99, 5 minutes\">2.99\u00a0ms</td>"));
}

TEST_F(StatusPageTest, HeadsOfCallsAreGroupedByTheirTime) {
  metrics_.AddRpc("S", "Rank", "unary")
      .Handled(absl::StatusCode::kOk, absl::Milliseconds(3));
  EXPECT_THAT(
      Page(),
      HasSubstr("<tr><td></td><td></td>"
                "<th scope=\"colgroup\" colspan=\"4\">1 minute</th>"
                "<th scope=\"colgroup\" colspan=\"4\">5 minutes</th></tr>"));
}

TEST_F(StatusPageTest, SizesAreInMiB) {
  EXPECT_THAT(Page(), HasSubstr("MiB of 1.0 MiB"));
}

TEST_F(StatusPageTest, FailuresAreShownByReasonWithoutTheirMessage) {
  log_.Record({.method = "S/RankStream",
               .identity = {"<id>"},
               .number = 7,
               .status = absl::InvalidArgumentError("secret")});
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("INVALID_FIELD"));
  EXPECT_THAT(page, HasSubstr("&lt;id&gt; #7"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace semrank
