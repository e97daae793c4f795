// Bodies of other products' APIs: one JSON object with scalars and lists of
// texts. A member that is null counts as absent; members that these APIs did
// not have when the formats were written are ignored, since they grow.
//
//   Reading  one pass over the body notes where its members' texts are; the
//            functions find them there, in any order. After the first error
//            each function returns its value for an absent member, and status()
//            has the error.
//   Memory   a view of each text. A body may have 16 values for each text that
//            a request may have.
//   Errors   InvalidArgument MALFORMED_MESSAGE, INVALID_FIELD or
//            TOO_MANY_TEXTS, naming the member.
#ifndef SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_
#define SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/common.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/json_document.h"
#include "server/base/limits.h"

namespace semrank {

class ThirdPartyJson {
 public:
  // `body` must outlive this. `name` is what it is called in errors:
  // "embeddings request".
  ThirdPartyJson(const std::string& body, std::string_view name,
                 const Limits& limits);

  std::string Text(const char* name);
  bool Bool(const char* name, bool absent);
  // 0 to 2^31 - 1; absent = 0.
  std::int64_t Number(const char* name);
  // The place of the member among `words`, whatever its case; absent = 0.
  std::size_t Choice(const char* name,
                     std::initializer_list<std::string_view> words);
  // The side that a name means: "query", "search_query", "retrieval.query";
  // "document", "passage", "search_document", "retrieval.passage"; absent =
  // document.
  v1::Side Side(const char* name);
  // A text, or a list of texts.
  std::vector<std::string> Texts(const char* name);
  // Passes each of them to `take`. The list may also have objects, whose text
  // is that of their `fields`, joined by blanks.
  using TakeText = absl::FunctionRef<void(std::string_view text)>;
  void EachText(const char* name, TakeText take,
                const std::vector<std::string>& fields = {});
  // INVALID_FIELD if there is such a member; `reason` follows its name.
  void Refuse(const char* name, std::string_view reason);

  bool has(const char* name) const { return Find(name) != nullptr; }
  // Sets the error unless there is one.
  void Fail(const absl::Status& error) { status_.Update(error); }
  const absl::Status& status() const { return status_; }

 private:
  struct Field {
    std::string_view name;
    std::string_view text;
  };
  // An item of a list.
  struct Item {
    enum class Kind { kText, kObject, kOther };
    Kind kind = Kind::kOther;
    std::string_view text = {};  // of a text
    // The members of an object that are texts, in fields_.
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // A member of the body that is not null. An object has none of the values.
  struct Member {
    std::string_view name;
    std::optional<std::string_view> text = {};
    std::optional<bool> flag = {};
    std::optional<std::uint64_t> number = {};  // whole and not negative
    std::optional<std::vector<Item>> items = {};
  };

  absl::Status ReadBody();
  absl::Status ReadMember(std::string_view name, JsonDocument::Value& value);
  absl::Status ReadItem(JsonDocument::Value& value, std::vector<Item>& items);
  // Reads the value of a member or item that is a text.
  absl::StatusOr<std::string_view> ReadText(JsonDocument::Value& value);
  // Null if the member is absent or null, and after an error.
  const Member* Find(std::string_view name) const;
  void FailType(const char* name, const char* expected);
  // False if the item has no text.
  bool TakeItem(const Item& item, const std::vector<std::string>& fields,
                TakeText take) const;

  JsonDocument document_;
  std::vector<Member> members_;
  std::vector<Field> fields_;
  const Limits& limits_;
  absl::Status status_;
};

// Replaces our name of a field, with which the text of an error begins, by
// theirs: "texts[3]: empty" becomes "inputs[3]: empty".
std::string WithTheirName(std::string_view text, std::string_view ours,
                          std::string_view theirs);

// The end of a text that is cut off when the text is too long.
enum class Cut { kEnd, kStart, kNone };
// How much of a text is kept.
struct TextSize {
  std::int64_t max_bytes = 0;
  std::int64_t max_words = 0;  // 0 = any number
};
// The part of `text` that has that size, cut between two characters or words.
std::string_view Truncated(const TextSize& size, Cut cut,
                           std::string_view text);

// INVALID_FIELD about `field` unless the vectors have `wanted` elements; 0 =
// they may have any number. A client asks for what its own product's models
// have, and only the response says which model answered.
absl::Status CheckDimension(const char* field, std::int64_t wanted,
                            const v1::EmbedTextsResponse& response);

// OK when every document was scored, else the first one's error: a client of
// these APIs would not notice that one is missing.
absl::Status CheckAllRanked(const v1::RankResponse& response);

// Counts words between blanks, which are reported as tokens.
std::int64_t CountWords(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_
