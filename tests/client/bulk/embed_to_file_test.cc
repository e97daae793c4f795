#include "client/bulk/embed_to_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// Embeds a text as its length, ten texts in a response. A signal arrives with
// response number `interrupt_at`, from 1.
class LengthSource final : public VectorSource {
 public:
  explicit LengthSource(int interrupt_at = 0) : interrupt_at_(interrupt_at) {}

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef&) override {
    v1::Model model;
    model.set_name("shop");
    model.set_version(3);
    model.set_embedding_dim(1);
    return model;
  }
  absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const SemrankClient::TakeEmbeddings& take) override {
    for (int first = 0; first < request.texts_size(); first += 10) {
      v1::EmbedTextsStreamResponse chunk;
      chunk.set_first_text(first);
      chunk.set_num_texts(std::min(10, request.texts_size() - first));
      chunk.set_embedding_dim(1);
      for (std::uint32_t i = 0; i < chunk.num_texts(); ++i) {
        const float length[] = {static_cast<float>(
            request.texts(first + static_cast<int>(i)).size())};
        chunk.mutable_vectors()->append(reinterpret_cast<const char*>(length),
                                        sizeof(length));
      }
      if (++num_responses_ == interrupt_at_) Interrupt();
      const absl::Status status = take(chunk);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const int interrupt_at_;
  int num_responses_ = 0;
};

class EmbedToFileTest : public ::testing::TestWithParam<EmbeddingFileFormat> {
 protected:
  EmbedToFileOptions Options(const std::string& name) {
    std::string texts;
    for (int i = 1; i <= 45; ++i) texts += std::string(i, 'x') + "\n";
    return {.texts = dir_.Write("texts", texts),
            .output = dir_.File(name),
            .format = GetParam()};
  }
  std::string Read(const std::string& name) {
    return ReadFile(dir_.File(name), 1'000'000).value_or("(none)");
  }

  const TempDir dir_;
};

// In a process of its own, since a signal is never forgotten.
void ExitAfter(const EmbedToFileOptions& options, int interrupt_at) {
  LengthSource source(interrupt_at);
  const absl::Status status = EmbedToFile(source, options);
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::exit(absl::IsCancelled(status) ? 0 : 1);
}

TEST_P(EmbedToFileTest, SignalSavesWhatIsFinishedAndTheNextRunContinues) {
  LengthSource source;
  ASSERT_THAT(EmbedToFile(source, Options("whole")), IsOk());
  EXPECT_EXIT(ExitAfter(Options("file"), 2), ::testing::ExitedWithCode(0),
              GetParam() == EmbeddingFileFormat::kSql
                  ? "saved up to line 0, 0 vectors; the same command continues"
                  : "saved up to line 20, 20 vectors; the same command");
  EXPECT_EQ(Read("file"), "(none)");
  ASSERT_THAT(EmbedToFile(source, Options("file")), IsOk());
  EXPECT_EQ(Read("file"), Read("whole"));
  EXPECT_EQ(Read("file.ids"), Read("whole.ids"));
}

TEST_P(EmbedToFileTest, RowsOfCsvAreItsTitles) {
  EmbedToFileOptions options = Options("lines");
  options.texts = dir_.Write("lines.tsv", "a\tx\nb\ty,y\n");
  LengthSource source;
  ASSERT_THAT(EmbedToFile(source, options), IsOk());
  options.texts = dir_.Write("docs.csv", "title,id\nx,a\n\"y,y\",b\n");
  options.output = dir_.File("csv");
  ASSERT_THAT(EmbedToFile(source, options), IsOk());
  EXPECT_EQ(Read("csv"), Read("lines"));
  EXPECT_EQ(Read("csv.ids"), Read("lines.ids"));
}

TEST_P(EmbedToFileTest, AnOpenQuoteLeavesNoFile) {
  EmbedToFileOptions options = Options("file");
  options.max_bad_lines = 100;
  options.texts = dir_.Write("docs.csv", "id,title\na,x\nb,\"y\nc,z\n");
  LengthSource source;
  EXPECT_THAT(EmbedToFile(source, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("docs.csv:3: the quote that opens")));
  EXPECT_EQ(Read("file"), "(none)");
}

TEST_P(EmbedToFileTest, SkippedLinesAreCounted) {
  EmbedToFileOptions options = Options("file");
  options.max_bad_lines = 1;
  options.texts = dir_.Write("docs.txt", "x\ncaf\xe9\n");
  LengthSource source;
  ::testing::internal::CaptureStderr();
  ASSERT_THAT(EmbedToFile(source, options), IsOk());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("file: 1 vector; 1 line skipped"));
}

TEST_P(EmbedToFileTest, BadLinesOfAnInterruptedRunAreCounted) {
  EmbedToFileOptions options = Options("file");
  options.max_bad_lines = 1;
  std::string texts = "caf\xe9\n";
  for (int i = 1; i <= 45; ++i) texts += "x\n";
  options.texts = dir_.Write("docs.txt", texts);
  EXPECT_EXIT(ExitAfter(options, 2), ::testing::ExitedWithCode(0), "saved");
  LengthSource source;
  ::testing::internal::CaptureStderr();
  ASSERT_THAT(EmbedToFile(source, options), IsOk());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("file: 45 vectors; 1 line skipped"));
}

TEST_P(EmbedToFileTest, AnIdOfTwoLinesShiftsNoOtherId) {
  EmbedToFileOptions options = Options("file");
  options.texts =
      dir_.Write("docs.jsonl", R"({"document_id":"a\nb","title":"x"})"
                               "\n"
                               R"({"document_id":"c","title":"xx"})"
                               "\n");
  LengthSource source;
  const absl::Status status = EmbedToFile(source, options);
  if (!HasIdsFile(GetParam())) {
    EXPECT_THAT(status, IsOk());
    return;
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("1 text could not be embedded")));
  EXPECT_EQ(Read("file.ids"), "c\n");
}

TEST_P(EmbedToFileTest, AnotherTextLimitDoesNotContinue) {
  // An SQL file of less than a block is begun anew.
  if (GetParam() == EmbeddingFileFormat::kSql) return;
  EmbedToFileOptions options = Options("file");
  options.max_text_bytes = 4'096;
  EXPECT_EXIT(ExitAfter(options, 2), ::testing::ExitedWithCode(0), "saved");
  options.max_text_bytes = 65'536;
  LengthSource source;
  EXPECT_THAT(EmbedToFile(source, options),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("max_text_bytes")));
}

INSTANTIATE_TEST_SUITE_P(Formats, EmbedToFileTest,
                         ::testing::Values(EmbeddingFileFormat::kNpy,
                                           EmbeddingFileFormat::kJsonl,
                                           EmbeddingFileFormat::kSql),
                         [](const auto& format) {
                           return std::string(NameOf(format.param));
                         });

}  // namespace
}  // namespace semrank
