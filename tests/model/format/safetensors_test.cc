#include "model/format/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kLengthBytes = 8;

// Content with a given header; the length is put before it.
std::string File(std::string header, std::size_t data_bytes) {
  while (header.size() % 4 != 0) header += ' ';
  const std::uint64_t length = header.size();
  std::string content(kLengthBytes, '\0');
  std::memcpy(content.data(), &length, kLengthBytes);
  return content + header + std::string(data_bytes, '\0');
}

std::string Tensor(const std::string& name, const std::string& shape,
                   const std::string& offsets,
                   const std::string& dtype = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

auto IsDataLoss(const std::string& reason) {
  return StatusIs(
      absl::StatusCode::kDataLoss,
      ::testing::AllOf(HasSubstr("w.safetensors"), HasSubstr(reason)));
}

absl::Status Parse(const std::string& content) {
  // A copy of exactly this size on the heap, so that AddressSanitizer sees
  // every read behind it.
  std::unique_ptr<char[]> copy(new char[content.size()]);
  std::memcpy(copy.get(), content.data(), content.size());
  return ParseSafetensors({copy.get(), content.size()}, "w.safetensors")
      .status();
}

TEST(SafetensorsTest, ReadsWhatItWrites) {
  const TempDir dir;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {-7};
  ASSERT_THAT(
      WriteSafetensors(dir.File("w"),
                       std::vector<TensorView>{{"b", {1}, b.data()},
                                               {"a", {2, 3}, a.data()}}),
      IsOk());
  ASSERT_OK_AND_ASSIGN(const auto file, LoadedFile::Read(dir.File("w")));
  ASSERT_OK_AND_ASSIGN(const auto tensors,
                       ParseSafetensors(file->content(), "w"));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_THAT(tensors.at("a").shape, ElementsAre(2, 3));
  EXPECT_THAT(
      std::vector<float>(tensors.at("a").data, tensors.at("a").data + 6),
      ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(*tensors.at("b").data, -7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensors.at("b").data) % 64, 0u);
}

TEST(SafetensorsTest, WritesTheBytesOfTheLayout) {
  const TempDir dir;
  const std::vector<float> a = {1, -2};
  ASSERT_THAT(WriteSafetensors(dir.File("w"),
                               std::vector<TensorView>{{"a", {2}, a.data()}}),
              IsOk());
  const std::string header =
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
  std::string want = std::string("\x38\0\0\0\0\0\0\0", 8) + header;
  want.resize(64, ' ');
  want += std::string("\0\0\x80\x3F\0\0\0\xC0", 8);
  EXPECT_EQ(*ReadFile(dir.File("w"), 1000), want);
}

TEST(SafetensorsTest, TakesMetadataScalarsAndEmptyTensors) {
  EXPECT_THAT(Parse(File("{\"__metadata__\":{\"format\":\"pt\"}," +
                             Tensor("s", "[]", "[0,4]") + "," +
                             Tensor("e", "[0,5]", "[4,4]") + "," +
                             Tensor("v", "[1]", "[4,8]") + "}",
                         8)),
              IsOk());
  EXPECT_THAT(Parse(File("{}", 0)), IsOk());
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const std::string good = File("{" + Tensor("a", "[2,3]", "[0,24]") + "}", 24);
  EXPECT_THAT(Parse(good), IsOk());
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_THAT(Parse(good.substr(0, size)), IsDataLoss("")) << size;
  }
  EXPECT_THAT(Parse(good + std::string(4, '\0')),
              IsDataLoss("the tensors end at 24"));
}

struct BadHeader {
  std::string name, header, reason;
};

class BadHeaderTest : public ::testing::TestWithParam<BadHeader> {};

TEST_P(BadHeaderTest, IsDataLoss) {
  EXPECT_THAT(Parse(File(GetParam().header, 24)),
              IsDataLoss(GetParam().reason));
}

std::string One(const std::string& shape, const std::string& offsets) {
  return "{" + Tensor("a", shape, offsets) + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Headers, BadHeaderTest,
    ::testing::Values(
        BadHeader{"NotAnObject", "[1]", "not a JSON object"},
        BadHeader{"LeadingBlank", " " + One("[6]", "[0,24]"), "JSON object"},
        BadHeader{"NotJson", "{\"a\":}", "not valid JSON"},
        BadHeader{"RepeatedTensor",
                  "{" + Tensor("a", "[3]", "[0,12]") + "," +
                      Tensor("a", "[3]", "[12,24]") + "}",
                  "repeated"},
        BadHeader{"TensorIsNoObject", "{\"a\":[0,24]}", "dtype"},
        BadHeader{"UnknownMember",
                  "{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":"
                  "[0,24],\"x\":1}}",
                  "nothing else"},
        BadHeader{"OtherDtype", "{" + Tensor("a", "[6]", "[0,24]", "F16") + "}",
                  "F32"},
        BadHeader{"DtypeIsNoString",
                  "{\"a\":{\"dtype\":1,\"shape\":[6],\"data_offsets\":[0,24]}}",
                  "F32"},
        BadHeader{"NegativeDimension", One("[-6]", "[0,24]"), "shape"},
        BadHeader{"FractionalDimension", One("[6.0]", "[0,24]"), "shape"},
        BadHeader{"ShapeIsNoArray", One("6", "[0,24]"), "shape"},
        BadHeader{"TooManyDimensions", One("[6,1,1,1,1,1,1,1,1]", "[0,24]"),
                  "shape"},
        BadHeader{"ShapeOverflowsToFit",
                  One("[4294967296,4294967296,4]", "[0,0]"),
                  "impossible shape"},
        BadHeader{"ShapeTimesFourOverflows",
                  One("[4611686018427387910]", "[0,24]"), "impossible shape"},
        BadHeader{"DimensionBeyond63Bits",
                  One("[18446744073709551615]", "[0,24]"), "shape"},
        BadHeader{"ShapeIsNotTheSize", One("[5]", "[0,24]"), "20 bytes"},
        BadHeader{"OffsetsAreReversed", One("[6]", "[24,0]"), "begin and end"},
        BadHeader{"OffsetsAreThree", One("[6]", "[0,24,24]"), "begin and end"},
        BadHeader{"OffsetsAreNegative", One("[6]", "[-24,0]"), "data_offsets"},
        BadHeader{"OffsetsBehindTheEnd", One("[6]", "[24,48]"), "of 24"},
        BadHeader{"OffsetsWrapAround",
                  One("[6]", "[9223372036854775784,9223372036854775808]"),
                  "data_offsets"},
        BadHeader{"Gap",
                  "{" + Tensor("a", "[2]", "[0,8]") + "," +
                      Tensor("b", "[3]", "[12,24]") + "}",
                  "the one before ends at 8"},
        BadHeader{"Overlap",
                  "{" + Tensor("a", "[4]", "[0,16]") + "," +
                      Tensor("b", "[3]", "[12,24]") + "}",
                  "the one before ends at 16"},
        BadHeader{"SamePlaceTwice",
                  "{" + Tensor("a", "[6]", "[0,24]") + "," +
                      Tensor("b", "[6]", "[0,24]") + "}",
                  "the one before ends at 24"},
        BadHeader{"Unaligned",
                  "{" + Tensor("a", "[0]", "[2,2]") + "," +
                      Tensor("b", "[6]", "[0,24]") + "}",
                  "aligned"},
        BadHeader{"DataUnclaimed", One("[5]", "[0,20]"), "end at 20"},
        BadHeader{"NoTensorButData", "{}", "end at 0"}),
    [](const auto& header) { return header.param.name; });

TEST(SafetensorsTest, RefusesWrongHeaderLengths) {
  std::string content = File(One("[6]", "[0,24]"), 24);
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{content.size() - 7},
        std::uint64_t{kMaxSafetensorsHeaderBytes + 4}, UINT64_MAX,
        UINT64_MAX - 7, std::uint64_t{1} << 63}) {
    std::memcpy(content.data(), &length, kLengthBytes);
    EXPECT_THAT(Parse(content), IsDataLoss("")) << length;
  }
  // Longer than the limit and yet within the file.
  std::string large = File(
      One("[6]", "[0,24]") + std::string(kMaxSafetensorsHeaderBytes, ' '), 24);
  EXPECT_THAT(Parse(large), IsDataLoss("limit"));
}

TEST(SafetensorsTest, WriterRefusesWhatTheReaderWould) {
  const TempDir dir;
  const float one = 1;
  const auto write = [&](const std::vector<TensorView>& tensors) {
    return WriteSafetensors(dir.File("w"), tensors);
  };
  EXPECT_THAT(write({{"a", {1}, &one}, {"a", {1}, &one}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(write({{"__metadata__", {1}, &one}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(write({{"a", {-1}, &one}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(write({{"a", {1, 1, 1, 1, 1, 1, 1, 1, 1}, &one}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SafetensorsTest, WriterReportsAFullDisk) {
  const std::vector<float> values(100000, 1.0f);
  const TempDir dir;
  const FullDisk full_disk(1'024);
  const absl::Status written = WriteSafetensors(
      dir.File("w"), std::vector<TensorView>{{"a", {100000}, values.data()}});
  // EFBIG, as FullDisk makes it.
  EXPECT_THAT(written,
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("write")));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(SafetensorsTest, MetadataComesBackAsItWasWritten) {
  const TempDir dir;
  const float value = 1;
  const TensorView tensor = {.name = "a", .shape = {1}, .data = &value};
  const SafetensorsMetadata metadata = {{"x", "1 \"2\""}, {"y", ""}};
  const std::string path = dir.File("a.safetensors");
  ASSERT_THAT(WriteSafetensors(path, std::span(&tensor, 1), metadata), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto file, LoadedFile::Read(path));
  ASSERT_OK_AND_ASSIGN(const SafetensorsMetadata read,
                       ParseSafetensorsMetadata(file->content(), path));
  EXPECT_EQ(read, metadata);
  ASSERT_OK_AND_ASSIGN(const auto tensors,
                       ParseSafetensors(file->content(), path));
  EXPECT_EQ(tensors.size(), 1u);
}

TEST(SafetensorsTest, MetadataThatIsNoObjectOfTextsIsRefused) {
  for (const char* metadata : {"{\"x\":3}", "[]", "[\"x\"]", "\"x\"", "null"}) {
    const std::string file =
        File("{\"__metadata__\":" + std::string(metadata) + "}", 0);
    EXPECT_THAT(ParseSafetensorsMetadata(file, "f"),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("metadata")))
        << metadata;
    EXPECT_THAT(Parse(file), IsDataLoss("metadata")) << metadata;
  }
}

}  // namespace
}  // namespace semrank
