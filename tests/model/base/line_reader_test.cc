#include "model/base/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Lines = std::vector<std::string>;

std::string Plain(std::string_view text) { return std::string(text); }

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                         Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = out.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

absl::StatusOr<Lines> ReadLines(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const auto reader, LineReader::Open(path));
  Lines lines;
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return lines;
    lines.emplace_back(line);
    EXPECT_EQ(reader->line_number(), static_cast<int>(lines.size()));
  }
}

struct Format {
  std::string_view name;
  std::function<std::string(std::string_view)> encode;
};

class LineReaderTest : public ::testing::TestWithParam<Format> {
 protected:
  // The lines of a file that holds `text` in the test's format. The name
  // says nothing of the format.
  Lines LinesOf(std::string_view text) {
    return ReadLines(dir_.Write("f.txt", GetParam().encode(text)))
        .value_or(Lines{"unreadable"});
  }
  TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(Formats, LineReaderTest,
                         ::testing::Values(Format{"Plain", Plain},
                                           Format{"Gzip", Gzip},
                                           Format{"Zstd", Zstd}),
                         [](const auto& test) {
                           return std::string(test.param.name);
                         });

TEST_P(LineReaderTest, RemovesLineEnds) {
  EXPECT_THAT(LinesOf("one\ntwo\n"), ElementsAre("one", "two"));
  EXPECT_THAT(LinesOf("one\r\ntwo\r\n"), ElementsAre("one", "two"));
  EXPECT_THAT(LinesOf("a\rb\r\r\n"), ElementsAre("a\rb\r"));
}

TEST_P(LineReaderTest, LastLineMayLackItsEnd) {
  EXPECT_THAT(LinesOf("one\ntwo"), ElementsAre("one", "two"));
  EXPECT_THAT(LinesOf("x"), ElementsAre("x"));
}

TEST_P(LineReaderTest, EmptyFileHasNoLinesEmptyLinesCount) {
  EXPECT_THAT(LinesOf(""), IsEmpty());
  EXPECT_THAT(LinesOf("\n"), ElementsAre(""));
  EXPECT_THAT(LinesOf("\n\r\na\n\n"), ElementsAre("", "", "a", ""));
}

TEST_P(LineReaderTest, ByteOrderMarkIsRemovedAtTheStartOnly) {
  EXPECT_THAT(LinesOf("\xef\xbb\xbfone\n\xef\xbb\xbftwo\n"),
              ElementsAre("one", "\xef\xbb\xbftwo"));
}

TEST_P(LineReaderTest, ZeroAndInvalidBytesPassThrough) {
  const std::string text("a\0b\xff\n", 5);
  EXPECT_THAT(LinesOf(text), ElementsAre(text.substr(0, 4)));
}

// Lengths around the chunks in which files are read, so that line ends fall
// on every side of a border.
TEST_P(LineReaderTest, LinesMayCrossChunksAnywhere) {
  for (int length = 65'530; length <= 65'540; ++length) {
    const std::string first(length, 'x');
    EXPECT_THAT(LinesOf(first + "\r\nsecond\r\n" + first + "\nlast"),
                ElementsAre(first, "second", first, "last"));
  }
}

TEST_P(LineReaderTest, ManyLinesComeInOrder) {
  std::string text;
  Lines want;
  for (int i = 0; i < 50'000; ++i) {
    want.push_back("line " + std::to_string(i));
    text += want.back() + "\n";
  }
  EXPECT_EQ(LinesOf(text), want);
}

TEST_P(LineReaderTest, LinesBeyondTheLimitAreTruncatedOnce) {
  const std::string longest(LineReader::kMaxLineBytes, 'x');
  for (const std::string end : {"\n", "\r\n"}) {
    EXPECT_EQ(LinesOf(longest + end + "next" + end), (Lines{longest, "next"}));
    EXPECT_EQ(LinesOf(longest + "y" + end + "next"), (Lines{longest, "next"}));
  }
  EXPECT_EQ(LinesOf(longest + "\rzzz\nnext"), (Lines{longest, "next"}));
  EXPECT_EQ(LinesOf("a\n" + longest + longest + longest),
            (Lines{"a", longest}));
}

TEST_P(LineReaderTest, ReportsTheFractionRead) {
  const std::string path =
      dir_.Write("f", GetParam().encode(std::string(300'000, '\n')));
  ASSERT_OK_AND_ASSIGN(const auto reader, LineReader::Open(path));
  EXPECT_EQ(reader->path(), path);
  double last = reader->fraction_read();
  EXPECT_LT(last, 1.0);
  std::string_view line;
  while (reader->Next(line).value()) {
    EXPECT_GE(reader->fraction_read(), last);
    last = reader->fraction_read();
  }
  EXPECT_EQ(reader->fraction_read(), 1.0);
}

TEST_P(LineReaderTest, ReturnsTheEndAgain) {
  ASSERT_OK_AND_ASSIGN(const auto reader, LineReader::Open(dir_.Write(
                                              "f", GetParam().encode("a"))));
  std::string_view line;
  EXPECT_TRUE(reader->Next(line).value());
  EXPECT_FALSE(reader->Next(line).value());
  EXPECT_FALSE(reader->Next(line).value());
}

class CompressedLineReaderTest : public LineReaderTest {};
INSTANTIATE_TEST_SUITE_P(Formats, CompressedLineReaderTest,
                         ::testing::Values(Format{"Gzip", Gzip},
                                           Format{"Zstd", Zstd}),
                         [](const auto& test) {
                           return std::string(test.param.name);
                         });

TEST_P(CompressedLineReaderTest, StreamsOneAfterTheOtherAreOneText) {
  const auto& encode = GetParam().encode;
  const std::string path = dir_.Write(
      "f", encode("one\ntw") + encode("") + encode("o\n") + encode("three"));
  EXPECT_THAT(ReadLines(path).value(), ElementsAre("one", "two", "three"));
}

TEST_P(CompressedLineReaderTest, TruncatedFileIsDataLoss) {
  const std::string whole = GetParam().encode("one\ntwo\nthree\n");
  // With fewer bytes than a magic number, a file is plain text.
  for (std::size_t length = 4; length < whole.size(); ++length) {
    const std::string path = dir_.Write("f", whole.substr(0, length));
    EXPECT_THAT(ReadLines(path),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)))
        << length;
  }
}

TEST_P(CompressedLineReaderTest, TruncatedSecondStreamIsDataLoss) {
  const std::string whole = GetParam().encode("one\n");
  EXPECT_THAT(ReadLines(dir_.Write("f", whole + whole.substr(0, 9))),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_P(CompressedLineReaderTest, TrailingGarbageIsDataLoss) {
  EXPECT_THAT(
      ReadLines(dir_.Write("f", GetParam().encode("one\n") + "garbage")),
      StatusIs(absl::StatusCode::kDataLoss));
}

TEST_P(CompressedLineReaderTest, CorruptBytesNeverCrash) {
  const std::string whole = GetParam().encode(std::string(1000, 'x') + "\ny\n");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ReadLines(dir_.Write("f", damaged)).IgnoreError();
    }
  }
}

TEST(LineReaderFormatTest, WrongGzipChecksumIsDataLoss) {
  TempDir dir;
  std::string bytes = Gzip("one\ntwo\n");
  bytes[bytes.size() - 8] ^= 1;
  EXPECT_THAT(ReadLines(dir.Write("f", bytes)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("gzip")));
}

TEST(LineReaderFormatTest, ZerosAfterGzipAreIgnored) {
  TempDir dir;
  const std::string padding(100'000, '\0');
  const std::string path =
      dir.Write("f", Gzip("one\n") + padding + Gzip("two\n") + padding);
  EXPECT_THAT(ReadLines(path).value(), ElementsAre("one", "two"));
  EXPECT_THAT(ReadLines(dir.Write("f", Gzip("one\n") + padding + "x")),
              StatusIs(absl::StatusCode::kDataLoss));
}

// Whether iconv would write it with or without a byte order mark.
TEST_P(LineReaderTest, Utf16AndUtf32AreNamedWithTheRemedy) {
  using std::string_literals::operator""s;
  const std::pair<std::string, std::string> cases[] = {
      {"\xff\xfe"s + "a\0b\0\n\0"s, "UTF-16"},
      {"\xfe\xff"s + "\0a\0b\0\n"s, "UTF-16"},
      {"\xff\xfe\0\0a\0\0\0\n\0\0\0"s, "UTF-32"},
      {"\0\0\xfe\xff\0\0\0a"s, "UTF-32"},
      {"a\0b\0\n\0"s, "UTF-16LE"},
      {"\0a\0b\0c\0\n"s, "UTF-16BE"}};
  for (const auto& [text, encoding] : cases) {
    EXPECT_THAT(ReadLines(dir_.Write("f", GetParam().encode(text))),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("f: is " + encoding +
                                   ", not UTF-8; convert it: iconv -f " +
                                   encoding + " -t UTF-8")));
  }
}

TEST(LineReaderFormatTest, SkippableZstdFramesAreSkipped) {
  TempDir dir;
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_THAT(
      ReadLines(dir.Write("f", skippable + Zstd("one\n") + skippable)).value(),
      ElementsAre("one"));
}

TEST(LineReaderFormatTest, HugeZstdWindowIsRefused) {
  TempDir dir;
  // Magic number, no content size, window of 2^31 bytes, an empty last block.
  const std::string bytes("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  EXPECT_THAT(
      ReadLines(dir.Write("f", bytes)),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("128 MiB")));
}

TEST(LineReaderOpenTest, MissingFileIsNotFound) {
  EXPECT_THAT(
      LineReader::Open("/nonexistent/f"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent/f")));
}

TEST(LineReaderOpenTest, FolderIsAnError) {
  TempDir dir;
  EXPECT_FALSE(LineReader::Open(dir.path()).ok());
}

// In a child process, whose standard input can be replaced.
TEST(LineReaderDeathTest, DashIsStandardInput) {
  TempDir dir;
  const std::string path = dir.Write("f", Gzip("one\ntwo\n"));
  EXPECT_EXIT(
      {
        if (freopen(path.c_str(), "rb", stdin) == nullptr) exit(1);
        exit(ReadLines("-").value() == Lines{"one", "two"} ? 10 : 11);
      },
      ::testing::ExitedWithCode(10), "");
}

TEST(LineReaderPipeTest, WaitsForTheWriterAndReadsAllThatItWrites) {
  TempDir dir;
  const std::string path = dir.File("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text(300'000, 'x');
  std::thread writer([&] { std::ofstream(path) << "one\n" << text; });
  ASSERT_OK_AND_ASSIGN(const Lines lines, ReadLines(path));
  EXPECT_EQ(lines, (Lines{"one", text}));
  writer.join();
}

// In a child process: the flag outlives a test. Whether the signal comes before
// the reader waits or while it does, the reader stops.
TEST(LineReaderDeathTest, ASignalEndsTheReadingOfPipesAndEndlessDevices) {
  TempDir dir;
  ASSERT_EQ(mkfifo(dir.File("pipe").c_str(), 0600), 0);
  for (const std::string& path : {dir.File("pipe"), std::string("/dev/zero")}) {
    EXPECT_EXIT(
        {
          CatchInterrupts();
          std::thread signal([] { kill(getpid(), SIGINT); });
          const bool cancelled = absl::IsCancelled(ReadLines(path).status());
          signal.join();
          exit(cancelled ? 10 : 11);
        },
        ::testing::ExitedWithCode(10), "");
  }
}

}  // namespace
}  // namespace semrank
