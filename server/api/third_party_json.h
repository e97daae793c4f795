// Bodies of other products' APIs: one JSON object with scalars and lists of
// texts. A member that is null counts as absent; members that these APIs did
// not have when the formats were written are ignored, since they grow.
//
//   Memory   a body may have 16 values for each text that a request may have.
//   Errors   InvalidArgument MALFORMED_MESSAGE, INVALID_FIELD or
//            TOO_MANY_TEXTS, naming the member.
#ifndef SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_
#define SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "semrank/v1/common.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/limits.h"

namespace semrank {

class ThirdPartyJson {
 public:
  // `name` is what the body is called in errors: "embeddings request".
  static absl::StatusOr<ThirdPartyJson> Parse(std::string_view body,
                                              std::string_view name,
                                              const Limits& limits);

  // Each returns the member's value, or `absent`.
  absl::StatusOr<std::string> Text(const char* name,
                                   std::string absent = "") const;
  absl::StatusOr<bool> Bool(const char* name, bool absent) const;
  // 0 to 2^31 - 1.
  absl::StatusOr<std::int64_t> Number(const char* name,
                                      std::int64_t absent) const;
  // INVALID_FIELD if there is such a member; `reason` follows its name.
  absl::Status CheckAbsent(const char* name, const char* reason) const;
  // A text, or a list of texts or of objects. The text of an object is that of
  // its `fields`, joined by blanks.
  absl::StatusOr<std::vector<std::string>> Texts(
      const char* name, const std::vector<std::string>& fields = {}) const;

 private:
  ThirdPartyJson(nlohmann::json object, const Limits& limits)
      : object_(std::move(object)), limits_(limits) {}
  // Null = absent.
  const nlohmann::json* Find(const char* name) const;

  nlohmann::json object_;
  Limits limits_;
};

// The side that a name of such an API means: "query", "search_query",
// "retrieval.query"; "document", "passage", "search_document",
// "retrieval.passage"; empty = document. INVALID_FIELD for others.
absl::StatusOr<v1::Side> SideOf(const char* field, std::string_view name);

// Replaces our name of a field, with which the text of an error begins, by
// theirs: "texts[3]: empty" becomes "inputs[3]: empty".
std::string WithTheirName(std::string_view text, std::string_view ours,
                          std::string_view theirs);

// The end of a text that is cut off when the text is too long.
enum class Cut { kNone, kStart, kEnd };
// How much of a text is kept.
struct TextSize {
  std::int64_t max_bytes = 0;
  std::int64_t max_words = 0;  // 0 = any number
};
// Cuts `text` to that size, between two characters or two words.
void Truncate(const TextSize& size, Cut cut, std::string& text);

// INVALID_FIELD about `field` unless the vectors have `wanted` elements; 0 =
// they may have any number. A client asks for what its own product's models
// have, and only the response says which model answered.
absl::Status CheckDimension(const char* field, std::int64_t wanted,
                            const v1::EmbedTextsResponse& response);

// The double that is written with the shortest digits of `value`: 0.1f as 0.1.
double ToShortDouble(float value);

// OK when every document was scored, else the first one's error: a client of
// these APIs would not notice that one is missing.
absl::Status CheckAllRanked(const v1::RankResponse& response);

// Counts words between blanks, which are reported as tokens.
std::int64_t CountWords(std::string_view text);
std::int64_t CountWords(const std::vector<std::string>& texts);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_
