#include "client/bulk/embedding_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace semrank {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// (1, -2) and (0, 0.5).
const TextList kTexts = {{"photo\teditor", "mail"}, {"a", "b"}};
v1::EmbedTextsResponse Vectors() {
  v1::EmbedTextsResponse response;
  response.set_embedding_dim(2);
  response.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  response.set_vectors(
      std::string("\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\0\x3f", 16));
  return response;
}

std::string EmbeddingFileRows(EmbeddingFileFormat format, const TextList& texts,
                              const v1::EmbedTextsResponse& response) {
  RowParts rows;
  AppendEmbeddingFileRows(format, AllEmbedded(texts, response), {}, nullptr,
                          rows);
  return rows.Join();
}

std::string JsonlRows(const JsonlForm& form, const TextList& texts,
                      const v1::EmbedTextsResponse& response,
                      ThreadPool* pool = nullptr) {
  RowParts rows;
  AppendJsonlRows(form, AllEmbedded(texts, response), pool, rows);
  return rows.Join();
}

EmbeddingFileFacts Facts(EmbeddingFileFormat format) {
  return {.format = format,
          .embedding_dim = 128,
          .model = "shop \"x\"",
          .version = 7,
          .side = "document"};
}

TEST(EmbeddingFileTest, NpyAndSafetensorsRowsAreOnlyElements) {
  for (const auto format :
       {EmbeddingFileFormat::kNpy, EmbeddingFileFormat::kSafetensors}) {
    EXPECT_EQ(EmbeddingFileRows(format, kTexts, Vectors()),
              Vectors().vectors());
  }
}

TEST(EmbeddingFileTest, FvecsRowsStartWithTheirDimension) {
  const std::string vectors = Vectors().vectors();
  const std::string length("\2\0\0\0", 4);
  EXPECT_EQ(EmbeddingFileRows(EmbeddingFileFormat::kFvecs, kTexts, Vectors()),
            length + vectors.substr(0, 8) + length + vectors.substr(8));
}

TEST(EmbeddingFileTest, TextFormatsHaveIdAndText) {
  EXPECT_EQ(EmbeddingFileRows(EmbeddingFileFormat::kTsv, kTexts, Vectors()),
            "a\tphoto editor\t1 -2\nb\tmail\t0 0.5\n");
  EXPECT_THAT(EmbeddingFileRows(EmbeddingFileFormat::kJsonl, kTexts, Vectors()),
              StartsWith("{\"id\":\"a\",\"text\":\"photo\\teditor\",\"vector\":"
                         "[1.0,-2.0]}\n"));
}

TEST(EmbeddingFileTest, PgvectorEscapesAsCopyDoes) {
  EXPECT_EQ(
      EmbeddingFileRows(EmbeddingFileFormat::kPgvector,
                        {{"photo\teditor \\.", "mail"}, {"a", "b"}}, Vectors()),
      "a\tphoto\\teditor \\\\.\t[1.0,-2.0]\nb\tmail\t[0.0,0.50000000]\n");
}

TEST(EmbeddingFileTest, SqlIsOneTransactionOfBlobs) {
  EXPECT_EQ(EmbeddingFileRows(EmbeddingFileFormat::kSql,
                              {{"it's", std::string("a\0b", 3)}, {"a", "b"}},
                              Vectors()),
            "BEGIN;\n"
            "INSERT OR REPLACE INTO documents VALUES('a','it''s',"
            "X'0000803f000000c0');\n"
            "INSERT OR REPLACE INTO documents VALUES('b','a b',"
            "X'000000000000003f');\n"
            "COMMIT;\n");
}

std::string Jsonl(const JsonlForm& form, const std::string& id) {
  return JsonlRows(form, {{"photo editor"}, {id}}, Vectors());
}

TEST(JsonlFormTest, ThreadsDoNotChangeTheRows) {
  TextList texts;
  v1::EmbedTextsResponse response = Vectors();
  response.clear_vectors();
  for (int i = 0; i < 1'000; ++i) {
    texts.ids.push_back(std::to_string(i));
    texts.texts.push_back("title");
    response.mutable_vectors()->append(Vectors().vectors(), 0, 8);
  }
  ThreadPool pool(3);
  EXPECT_EQ(JsonlRows({}, texts, response, &pool),
            JsonlRows({}, texts, response));
}

// docs.opensearch.org/latest/api-reference/document-apis/bulk and Elastic's
// Bulk API: an action line with _id of at most 512 bytes, a document line, and
// "\n" after the last; the index is in the URL.
TEST(JsonlFormTest, ElasticsearchTakesAnActionAndADocument) {
  EXPECT_EQ(Jsonl({.style = JsonlStyle::kElasticsearch, .text_field = "title"},
                  "a\"b"),
            "{\"index\":{\"_id\":\"a\\\"b\"}}\n"
            "{\"title\":\"photo editor\",\"vector\":[1.0,-2.0]}\n");
}

// docs.vespa.ai/en/reference/schemas/document-json-format: "put" with
// id:NAMESPACE:TYPE::ID, "fields", and the short form of indexed tensors.
TEST(JsonlFormTest, VespaTakesAPutOfFields) {
  EXPECT_EQ(Jsonl({.style = JsonlStyle::kVespa,
                   .vector_field = "embedding",
                   .vespa_type = "shop:product"},
                  "a"),
            "{\"put\":\"id:shop:product::a\",\"fields\":{\"text\":"
            "\"photo editor\",\"embedding\":[1.0,-2.0]}}\n");
}

// qdrant.tech/documentation/concepts/points: "id", a 64-bit unsigned integer or
// a UUID, "vector" and "payload".
TEST(JsonlFormTest, QdrantTakesPointsWithNumbersOrUuidsForIds) {
  const JsonlForm form{.style = JsonlStyle::kQdrant};
  EXPECT_EQ(Jsonl(form, "18446744073709551615"),
            "{\"id\":18446744073709551615,\"vector\":[1.0,-2.0],\"payload\":"
            "{\"id\":\"18446744073709551615\",\"text\":\"photo editor\"}}\n");
  const std::string uuid = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26";
  EXPECT_THAT(Jsonl(form, uuid), StartsWith("{\"id\":\"" + uuid + "\""));
  for (const char* id : {"a", "007", "-1", "18446744073709551616", ""}) {
    EXPECT_THAT(Jsonl(form, id),
                ::testing::ContainsRegex(
                    "^.\"id\":\"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab]"
                    "[0-9a-f]{3}-[0-9a-f]{12}\""))
        << id;
  }
}

TEST(EmbeddingFileTest, HeaderSizeDoesNotDependOnRows) {
  for (const auto format :
       {EmbeddingFileFormat::kNpy, EmbeddingFileFormat::kFvecs,
        EmbeddingFileFormat::kJsonl, EmbeddingFileFormat::kTsv,
        EmbeddingFileFormat::kSafetensors}) {
    const std::string header = EmbeddingFileHeader(Facts(format), 0);
    EXPECT_EQ(header.size() % 64, 0u) << NameOf(format);
    for (const std::int64_t num_rows : {9LL, 1'000'000LL, 1LL << 50}) {
      EXPECT_EQ(EmbeddingFileHeader(Facts(format), num_rows).size(),
                header.size())
          << NameOf(format) << ' ' << num_rows;
    }
  }
}

TEST(EmbeddingFileTest, NpyHeaderEqualsThatOfNumPy) {
  const std::string header =
      EmbeddingFileHeader(Facts(EmbeddingFileFormat::kNpy), 63'000);
  EXPECT_THAT(header, StartsWith(std::string("\x93NUMPY\1\0", 8)));
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256 * header[9],
            static_cast<int>(header.size()) - 10);
  EXPECT_THAT(header, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (63000, 128), }"));
  EXPECT_THAT(header, EndsWith(" \n"));
}

}  // namespace
}  // namespace semrank
