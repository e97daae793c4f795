#include "model/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

const std::string kHash(64, 'a');

std::string Entry(const std::string& name, const std::string& bytes = "1",
                  const std::string& sha256 = kHash) {
  return "{\"format_version\": 1, \"" + name + "\": {\"bytes\": " + bytes +
         ", \"sha256\": \"" + sha256 + "\"}}\n";
}

TEST(ManifestTest, ReadsWhatItWrites) {
  const Manifest manifest = {
      .format_version = 2,
      .files = {{"config.json", {12, kHash}},
                {"words.txt", {1ull << 40, std::string(64, '0')}}}};
  ASSERT_OK_AND_ASSIGN(const Manifest read,
                       ParseManifest(FormatManifest(manifest)));
  EXPECT_EQ(read.format_version, 2);
  ASSERT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.files.at("config.json").bytes, 12u);
  EXPECT_EQ(read.files.at("config.json").sha256, kHash);
  EXPECT_EQ(read.files.at("words.txt").bytes, 1ull << 40);
}

TEST(ManifestTest, RefusesNamesThatAreNotOfTheFormat) {
  EXPECT_THAT(ParseManifest(Entry("config.json")), IsOk());
  for (const std::string name :
       {"../config.json", "/etc/passwd", "MANIFEST.json", "notes.txt", "",
        "Config.json", "config.json\\u0000"}) {
    EXPECT_THAT(ParseManifest(Entry(name)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not a file of this format")))
        << name;
  }
}

TEST(ManifestTest, RefusesValuesThatAreNotSizeAndChecksum) {
  for (const std::string bytes :
       {"-1", "1.0", "1e3", "\"1\"", "null", "18446744073709551616"}) {
    EXPECT_THAT(ParseManifest(Entry("words.txt", bytes)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bytes;
  }
  for (const std::string& sha256 :
       {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
        std::string(64, 'g'), std::string()}) {
    EXPECT_THAT(ParseManifest(Entry("words.txt", "1", sha256)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << sha256;
  }
  for (const std::string text :
       {"[]\n", "1\n", "{\"format_version\": 1, \"words.txt\": 5}\n",
        "{\"format_version\": 1, \"words.txt\": {\"bytes\": 1}}\n",
        "{\"format_version\": 1}"}) {
    EXPECT_THAT(ParseManifest(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

TEST(ManifestTest, DistinguishesNewerFormatsFromWrongOnes) {
  EXPECT_THAT(ParseManifest("{\"format_version\": 5, \"new.bin\": []}\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("format_version is 5")));
  for (const std::string version : {"0", "-1", "1.5", "\"1\"", "null"}) {
    EXPECT_THAT(ParseManifest("{\"format_version\": " + version + "}\n"),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << version;
  }
  EXPECT_THAT(ParseManifest("{}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ManifestTest, ComparesSizeAndChecksum) {
  ASSERT_OK_AND_ASSIGN(FileFacts facts, DescribeContent("cat"));
  EXPECT_THAT(CheckContent("cat", facts), IsOk());
  EXPECT_THAT(CheckContent("cats", facts),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("4 bytes, where MANIFEST.json says 3")));
  EXPECT_THAT(CheckContent("car", facts),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("SHA")));
}

}  // namespace
}  // namespace semrank
