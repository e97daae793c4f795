// A good model cut and changed at every byte: always an error, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "tests/model/format/tiny_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AnyOf;

// A new file each time: ext4 syncs one that is cut to nothing and rewritten.
void Rewrite(const TempDir& dir, const std::string& name,
             const std::string& content) {
  std::filesystem::remove(dir.File(name));
  dir.Write(name, content);
}

class DamagedModelTest : public ::testing::TestWithParam<std::string> {
 protected:
  DamagedModelTest() {
    TinyModel model({.hidden_dims = {3},
                     .embedding_dim = 2,
                     .features = v1::FEATURE_KIND_LETTERS_AND_WORDS});
    EXPECT_THAT(PublishModel(dir_.path(), model.bundle()), IsOk());
    content_ = *ReadFile(path(), 1 << 20);
  }

  std::string path() const { return dir_.File("1/" + GetParam()); }

  absl::Status LoadWith(const std::string& content) {
    Rewrite(dir_, "1/" + GetParam(), content);
    return LoadModel(dir_.path(), 1).status();
  }

  // A changed format_version may look like a newer one.
  static auto IsRefused() {
    return AnyOf(StatusIs(absl::StatusCode::kDataLoss),
                 StatusIs(absl::StatusCode::kFailedPrecondition,
                          ::testing::HasSubstr("format_version")));
  }

  const TempDir dir_;
  std::string content_;
};

TEST_P(DamagedModelTest, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < content_.size(); ++size) {
    ASSERT_THAT(LoadWith(content_.substr(0, size)), IsRefused()) << size;
  }
  EXPECT_THAT(LoadWith(content_), IsOk());
}

TEST_P(DamagedModelTest, EveryChangedByteIsRefused) {
  std::mt19937 random(1);
  for (std::size_t i = 0; i < content_.size(); ++i) {
    for (const int mask : {0xFF, 1 << (random() % 8)}) {
      std::string changed = content_;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      ASSERT_THAT(LoadWith(changed), IsRefused()) << i << " ^ " << mask;
    }
  }
}

TEST_P(DamagedModelTest, AppendedBytesAreRefused) {
  EXPECT_THAT(LoadWith(content_ + "x"), IsRefused());
  EXPECT_THAT(LoadWith(content_ + content_), IsRefused());
  EXPECT_THAT(LoadWith(content_ + std::string(100000, '\0')), IsRefused());
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedModelTest,
                         ::testing::Values(kConfigFile, kNgramsFile, kWordsFile,
                                           kWeightsFile, kManifestFile),
                         [](const auto& file) {
                           return file.param.substr(0, file.param.find('.'));
                         });

// Files that agree with their manifest and are wrong all the same, as a
// hostile writer would make them.
class HostileModelTest : public ::testing::Test {
 protected:
  HostileModelTest() {
    TinyModel model({.lexical_weight = 0.25});
    EXPECT_THAT(PublishModel(dir_.path(), model.bundle()), IsOk());
    manifest_ =
        *ParseManifest(*ReadFile(dir_.File("1/MANIFEST.json"), 1 << 20));
  }

  // Changes one file, makes the manifest agree with it, loads, and puts
  // all back.
  absl::Status LoadChanged(const std::string& name,
                           const std::function<void(std::string&)>& change) {
    const std::string good = *ReadFile(dir_.File("1/" + name), 1 << 20);
    std::string content = good;
    change(content);
    Manifest manifest = manifest_;
    manifest.files[name] = *DescribeContent(content);
    Rewrite(dir_, "1/" + name, content);
    Rewrite(dir_, "1/MANIFEST.json", FormatManifest(manifest));
    const absl::Status status = LoadModel(dir_.path(), 1).status();
    Rewrite(dir_, "1/" + name, good);
    return status;
  }

  static void Replace(std::string& text, const std::string& from,
                      const std::string& to) {
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
  }

  const TempDir dir_;
  Manifest manifest_;
};

TEST_F(HostileModelTest, EveryTruncationIsRefused) {
  for (const char* name : {kConfigFile, kNgramsFile, kWeightsFile}) {
    const std::size_t size = manifest_.files[name].bytes;
    // config.json is whole without its last line feed.
    const std::size_t last = name == kConfigFile ? size - 2 : size - 1;
    for (std::size_t keep = 0; keep <= last; ++keep) {
      ASSERT_THAT(
          LoadChanged(name, [&](auto& c) { c.resize(keep); }),
          StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr(name)))
          << keep;
    }
  }
}

struct HostileCase {
  const char* file;
  std::string from, to, reason;
};

TEST_F(HostileModelTest, WrongContentIsNamed) {
  const std::vector<HostileCase> cases = {
      {kConfigFile, "\"embedding_dim\": 4", "\"embedding_dim\": 5", "shape"},
      {kConfigFile, "\"embedding_dim\": 4", "\"embedding_dim\": 4000000000",
       "embedding_dim is 4000000000"},
      {kConfigFile, "\"num_ngrams\": 10", "\"num_ngrams\": 11", "ngrams.txt"},
      {kConfigFile, "\"num_ngrams\": 10", "\"num_ngrams\": 60000000",
       "ngrams.txt"},
      {kConfigFile, "TOWER_KIND_DSSM", "TOWER_KIND_NEW", "tower"},
      {kConfigFile, "\"gamma\": 10", "\"gamma\": \"NaN\"", "gamma"},
      {kConfigFile, "\"features\"", "\"shared_towers\": true, \"features\"",
       "tensors"},
      {kConfigFile, "TOWER_KIND_DSSM", "TOWER_KIND_CLSM", "clsm_window is 0"},
      {kConfigFile, "TOWER_KIND_DSSM\"",
       "TOWER_KIND_CLSM\", \"clsm_window\": 3", "shape"},
      {kConfigFile, "TOWER_KIND_DSSM\"",
       "TOWER_KIND_CLSM\", \"clsm_window\": 2147483649", "clsm_window"},
      {kConfigFile, "FEATURE_KIND_LETTERS", "FEATURE_KIND_WORDS", "features"},
      {kConfigFile, "\"format_version\": 2", "\"format_version\": 1",
       "the other fields ask for 2"},
      {kConfigFile, "\"lexical\"", "\"from_the_future\"",
       "the other fields ask for 1"},
      {kConfigFile, "\"weight\": 0.25", "\"weight\": 1.25", "lexical.weight"},
      {kConfigFile, "\"num_buckets\": 64", "\"num_buckets\": 65", "shape"},
      {kNgramsFile, "cat\n", "dog\n", "dog"},
      {kNgramsFile, "cat\n", "\n", "empty"},
      {kNgramsFile, "cat\n", "cats\n", "cats"},
      {kNgramsFile, "cat\n", "c\rt\n", "line break"},
      {kNgramsFile, "üb#",
       "\xFC"
       "b#",
       "UTF-8"},
      {kWeightsFile, "query.0.bias", "query.9.bias", "query.0.bias"},
      {kWeightsFile, "[10,6]", "[6,10]", "shape"},
      {kWeightsFile, "[10,6]", "[60]  ", "shape"},
      {kWeightsFile, "F32", "I32", "F32"},
  };
  for (const HostileCase& c : cases) {
    EXPECT_THAT(
        LoadChanged(c.file, [&](std::string& s) { Replace(s, c.from, c.to); }),
        StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr(c.reason)))
        << c.from << " -> " << c.to;
  }
}

TEST_F(HostileModelTest, NotANumberInTheWeightsIsRefused) {
  for (const std::string& bits :
       {std::string("\0\0\xC0\x7F", 4), std::string("\0\0\x80\xFF", 4)}) {
    EXPECT_THAT(
        LoadChanged(kWeightsFile,
                    [&](std::string& c) { c.replace(c.size() - 4, 4, bits); }),
        StatusIs(absl::StatusCode::kDataLoss,
                 ::testing::HasSubstr("NaN or infinity")));
  }
}

TEST_F(HostileModelTest, ANegativeIdfIsRefused) {
  // The last tensor of the file; -2 in place of 2.
  EXPECT_THAT(
      LoadChanged(kWeightsFile, [](std::string& c) { c.back() ^= '\x80'; }),
      StatusIs(absl::StatusCode::kDataLoss,
               ::testing::HasSubstr("\"lexical.idf\" holds -2")));
}

TEST_F(HostileModelTest, AManifestOfAnotherFormatVersionIsRefused) {
  manifest_.format_version = 1;
  EXPECT_THAT(LoadChanged(kConfigFile, [](std::string&) {}),
              StatusIs(absl::StatusCode::kDataLoss,
                       ::testing::HasSubstr("MANIFEST.json says 1")));
}

TEST_F(HostileModelTest, RandomChangesNeverCrash) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const char* name = round % 3 == 0   ? kConfigFile
                       : round % 3 == 1 ? kNgramsFile
                                        : kWeightsFile;
    LoadChanged(name, [&](std::string& content) {
      for (unsigned n = 1 + random() % 4; n > 0; --n) {
        content[random() % content.size()] = static_cast<char>(random());
      }
    }).IgnoreError();
  }
}

}  // namespace
}  // namespace semrank
