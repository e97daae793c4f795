#include "server/served_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MATCHER_P3(IsFolder, name, path, version, "is this folder") {
  *result_listener << arg.name << " " << arg.path << " " << arg.version;
  return arg.name == name && arg.path == path && arg.version == version;
}

TEST(ServedFoldersTest, ABarePathIsNamedAfterItsLastPart) {
  EXPECT_THAT(ParseServedFolders("models/shop", "").value(),
              ElementsAre(IsFolder("shop", "models/shop", 0)));
  EXPECT_THAT(ParseServedFolders("/data/run=3,a/shop/", "7").value(),
              ElementsAre(IsFolder("shop", "/data/run=3,a/shop/", 7)));
}

TEST(ServedFoldersTest, SeveralModelsHaveNamesAndVersions) {
  EXPECT_THAT(
      ParseServedFolders("shop=a/x,news=/b/run=1", "news=2").value(),
      ElementsAre(IsFolder("shop", "a/x", 0), IsFolder("news", "/b/run=1", 2)));
}

struct BadFolders {
  std::string name, model_dir, model_version, message;
};
class BadFoldersTest : public ::testing::TestWithParam<BadFolders> {};

TEST_P(BadFoldersTest, AreRefusedWithTheFlag) {
  const BadFolders& bad = GetParam();
  EXPECT_THAT(
      ParseServedFolders(bad.model_dir, bad.model_version),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadFoldersTest,
    ::testing::ValuesIn<BadFolders>({
        {"None", "", "", "--model_dir=: is required"},
        {"EmptyPath", "a=", "", "--model_dir=a=: has an empty path"},
        {"Twice", "a=x,a=y", "", "two models named \"a\""},
        {"NoName", "a=x,y", "", "--model_dir=a=x,y: has an empty path"},
        {"Negative", "x", "-1", "--model_version=-1"},
        {"NoNumber", "x", "new", "--model_version=new"},
        {"WhichModel", "a=x,b=y", "3", "NAME=N"},
        {"UnknownModel", "a=x", "b=3", "no model named \"b\""},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace semrank
