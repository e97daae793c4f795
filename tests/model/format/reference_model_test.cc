// Our reader, normaliser, featurizer and tower against an implementation in
// plain Python that was written from FORMAT.md alone
// (tests/testdata/make_reference_model.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "model/text/normalizer.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

const std::string kTestdata = SEMRANK_TESTDATA_DIR;
const std::string kReference = kTestdata + "/reference_model";

class ReferenceModelTest : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string folder_ = kReference + "/" + GetParam();
  const nlohmann::json vectors_ =
      nlohmann::json::parse(*ReadFile(folder_ + "/vectors.json", 1 << 20));
  const std::vector<std::string> texts_ = vectors_["texts"];
  const std::vector<std::string> normalized_ = vectors_["normalized"];
};

TEST_P(ReferenceModelTest, TextsNormaliseAsInPython) {
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    EXPECT_EQ(*NormalizeText(texts_[i], 1), normalized_[i]);
  }
}

TEST_P(ReferenceModelTest, VectorsAreThoseOfPython) {
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(folder_));
  const std::vector<std::string_view> texts(normalized_.begin(),
                                            normalized_.end());
  const int dim = model->embedding_dim();
  EmbedScratch scratch;
  for (const auto& [side, name] :
       {std::pair(Side::kQuery, "query"), {Side::kDocument, "document"}}) {
    std::vector<float> got(texts.size() * dim);
    model->EmbedTexts(side, texts, scratch, got.data());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<double> want = vectors_[name][i];
      ASSERT_EQ(want.size(), static_cast<std::size_t>(dim));
      for (int j = 0; j < dim; ++j) {
        // Sums of a few terms below 3 in float32, divided by a norm near 1.
        EXPECT_NEAR(got[i * dim + j], want[j], 1e-6)
            << name << " \"" << texts_[i] << "\" [" << j << "]";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceModelTest,
                         ::testing::Values("dssm", "linear", "clsm"),
                         [](const auto& model) { return model.param; });

TEST(ReferenceScriptTest, WritesWhatIsCommitted) {
  const TempDir dir;
  const std::string command =
      "python3 " + kTestdata + "/make_reference_model.py " + dir.File("made");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  int num_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir.File("made"))) {
    if (!entry.is_regular_file()) continue;
    const std::string name =
        fs::relative(entry.path(), dir.File("made")).string();
    const auto committed = ReadFile(kReference + "/" + name, 1 << 20);
    ASSERT_THAT(committed, IsOk());
    EXPECT_EQ(*ReadFile(entry.path().string(), 1 << 20), *committed) << name;
    ++num_files;
  }
  EXPECT_EQ(num_files, 17);
}

}  // namespace
}  // namespace semrank
