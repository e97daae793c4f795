#include "server/pages/browser_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/pages/embedded_files.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BrowserPagesTest, FilesAreThereWithATypeAndAStrictPolicy) {
  HttpPages pages;
  AddBrowserPages("127.0.0.1:4711", pages);
  for (const auto& [path, page] : pages) {
    const HttpResponse response = page();
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_GT(response.body.size(), 100u) << path;
    EXPECT_EQ(response.headers[0].first, "Content-Security-Policy");
    EXPECT_THAT(response.headers[0].second, Not(HasSubstr("unsafe")));
  }
  EXPECT_THAT(pages["/"]().content_type, HasSubstr("text/html"));
  EXPECT_THAT(pages["/"]().body, HasSubstr("content=\"4711\""));
  EXPECT_THAT(pages["/pages/playground.js"]().content_type,
              HasSubstr("text/javascript"));
}

TEST(BrowserPagesTest, NothingComesFromElsewhere) {
  HttpPages pages;
  AddBrowserPages("127.0.0.1:4711", pages);
  for (const auto& [path, page] : pages) {
    EXPECT_THAT(page().body, Not(HasSubstr("https://"))) << path;
    EXPECT_THAT(page().body, Not(HasSubstr("style="))) << path;
  }
}

TEST(BrowserPagesTest, OpenApiIsJson) {
  HttpPages pages;
  AddOpenApi(pages);
  const auto api =
      nlohmann::json::parse(pages["/openapi.json"]().body, nullptr, false);
  EXPECT_EQ(api["openapi"], "3.1.0");
}

TEST(BrowserPagesTest, UnknownFileIsEmpty) {
  EXPECT_EQ(EmbeddedFile("passwd"), "");
}

}  // namespace
}  // namespace semrank
