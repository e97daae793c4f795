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

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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
  // The members of an object that are texts: name and text.
  using Object = std::vector<std::pair<std::string_view, std::string_view>>;
  // An item of a list: a text, the place of an object in objects_, or another
  // value. Small and simple, since there may be many.
  using Item = std::variant<std::monostate, std::string_view, std::size_t>;
  // A member of the body that is not null. An object, and a number that
  // Number does not return, have no value.
  struct Member {
    std::string_view name;
    std::variant<std::monostate, std::string_view, bool, std::int64_t,
                 std::vector<Item>>
        value = {};
  };

  absl::Status ReadBody();
  absl::Status ReadMember(JsonDocument::Value& value, Member& member);
  absl::Status ReadItem(JsonDocument::Value& value, Item& item);
  // Reads the value of a member or item that is a text.
  absl::StatusOr<std::string_view> ReadText(JsonDocument::Value& value);
  // Null if the member is absent or null, and after an error.
  const Member* Find(std::string_view name) const;
  // False if the item has no text.
  bool TakeItem(const Item& item, const std::vector<std::string>& fields,
                TakeText take) const;
  // The value of a member, which should be of type T; null as for Find.
  template <typename T>
  const T* Get(const char* name, const char* expected);

  JsonDocument document_;
  std::vector<Member> members_;
  std::vector<Object> objects_;
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

// Appends an array with what `append` writes of each candidate, best first: its
// index and its score as text. `scores` are those of the response or made from
// them. If a document was not scored, the first one's error: a client of these
// APIs would not notice that one is missing.
using AppendCandidate =
    absl::FunctionRef<void(std::uint32_t index, absl::string_view score)>;
absl::Status AppendRanking(const v1::RankResponse& response,
                           std::span<const float> scores,
                           AppendCandidate append, std::string& json);

// Counts words between blanks, which are reported as tokens.
std::int64_t CountWords(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_THIRD_PARTY_JSON_H_
