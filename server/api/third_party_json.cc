#include "server/api/third_party_json.h"

#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/api/json_messages.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// Enough for a document that is an object with members that are ignored.
constexpr std::size_t kMaxValuesPerText = 16;

absl::Status WrongType(const char* name, const char* expected) {
  return FieldError("INVALID_FIELD", name, absl::StrCat("is not ", expected));
}

// The texts of these fields of an object; nullopt when it has none of them.
std::optional<std::string> JoinFields(const nlohmann::json& object,
                                      const std::vector<std::string>& fields) {
  std::optional<std::string> text;
  for (const std::string& field : fields) {
    // A document need not have all of them, and other types are not text.
    const auto value = object.find(field);
    if (value == object.end() || !value->is_string()) continue;
    if (text.has_value()) *text += ' ';
    text = text.value_or("") + value->get_ref<const std::string&>();
  }
  return text;
}

// Where each word begins. Other products count tokens, which this server does
// not have.
std::vector<std::size_t> WordBegins(std::string_view text) {
  std::vector<std::size_t> begins;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool blank = absl::ascii_isspace(static_cast<unsigned char>(text[i]));
    if (!blank && !in_word) begins.push_back(i);
    in_word = !blank;
  }
  return begins;
}

void TruncateWords(std::int64_t max_words, Cut cut, std::string& text) {
  const std::vector<std::size_t> begins = WordBegins(text);
  const auto num_kept = static_cast<std::size_t>(max_words);
  if (begins.size() <= num_kept) return;
  if (cut == Cut::kStart) {
    text.erase(0, begins[begins.size() - num_kept]);
  } else {
    text.resize(begins[num_kept]);
  }
}

}  // namespace

absl::StatusOr<ThirdPartyJson> ThirdPartyJson::Parse(std::string_view body,
                                                     std::string_view name,
                                                     const Limits& limits) {
  const std::size_t max_values =
      kMaxValuesPerText *
      (static_cast<std::size_t>(limits.max_texts_per_request) + 1);
  // CheckJson comes before the tree is built, since a tree of small values
  // takes many times the bytes of the body.
  SEMRANK_RETURN_IF_ERROR(CheckJson(body, Spellings::kExact, max_values, name));
  // Without exceptions, text that is not JSON becomes a discarded value.
  nlohmann::json object =
      nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (object.is_object()) return ThirdPartyJson(std::move(object), limits);
  return MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                   absl::StrFormat("the body is no %s: it must be an object in "
                                   "JSON and UTF-8",
                                   name),
                   {{"message", std::string(name)}});
}

const nlohmann::json* ThirdPartyJson::Find(const char* name) const {
  const auto value = object_.find(name);
  // Many clients send null for members that they do not use.
  return value == object_.end() || value->is_null() ? nullptr : &*value;
}

absl::StatusOr<std::string> ThirdPartyJson::Text(const char* name,
                                                 std::string absent) const {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return absent;
  if (!value->is_string()) return WrongType(name, "a string");
  return value->get<std::string>();
}

absl::StatusOr<bool> ThirdPartyJson::Bool(const char* name, bool absent) const {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return absent;
  if (!value->is_boolean()) return WrongType(name, "true or false");
  return value->get<bool>();
}

absl::StatusOr<std::int64_t> ThirdPartyJson::Number(const char* name,
                                                    std::int64_t absent) const {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return absent;
  // A larger number would wrap in the Protobuf request.
  if (!value->is_number_unsigned() ||
      value->get<std::uint64_t>() >
          static_cast<std::uint64_t>(
              std::numeric_limits<std::int32_t>::max())) {
    return WrongType(name, "a number from 0 to 2147483647");
  }
  return value->get<std::int64_t>();
}

absl::Status ThirdPartyJson::CheckAbsent(const char* name,
                                         const char* reason) const {
  if (Find(name) == nullptr) return absl::OkStatus();
  return FieldError("INVALID_FIELD", name, reason);
}

absl::StatusOr<std::vector<std::string>> ThirdPartyJson::Texts(
    const char* name, const std::vector<std::string>& fields) const {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return std::vector<std::string>();
  // These APIs take one text in place of a list.
  if (value->is_string()) {
    return std::vector<std::string>{value->get<std::string>()};
  }
  if (!value->is_array()) return WrongType(name, "a string or an array");
  if (value->size() > static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts(name, value->size(), limits_.max_texts_per_request);
  }
  std::vector<std::string> texts;
  for (const nlohmann::json& item : *value) {
    std::optional<std::string> text;
    if (item.is_string()) text = item.get<std::string>();
    // Cohere's documents may be objects, of which rank_fields are read.
    if (item.is_object()) text = JoinFields(item, fields);
    if (!text.has_value()) {
      return FieldError("INVALID_FIELD",
                        absl::StrFormat("%s[%d]", name, texts.size()),
                        "is no text (token ids are not supported)");
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

absl::StatusOr<v1::Side> SideOf(const char* field, std::string_view name) {
  // The names are those of Cohere ("search_query"), Jina ("retrieval.query")
  // and of the prompts of E5 models ("query", "passage").
  for (const std::string_view query :
       {"query", "search_query", "retrieval.query"}) {
    if (name == query) return v1::SIDE_QUERY;
  }
  for (const std::string_view document :
       {"", "document", "passage", "search_document", "retrieval.passage"}) {
    if (name == document) return v1::SIDE_DOCUMENT;
  }
  return FieldError("INVALID_FIELD", field,
                    "must be query or document, or a name that other products "
                    "give these");
}

std::string WithTheirName(std::string_view text, std::string_view ours,
                          std::string_view theirs) {
  const std::string_view rest =
      text.starts_with(ours) ? text.substr(ours.size()) : "?";
  const bool is_name = rest.empty() || rest[0] == ':' || rest[0] == '[';
  return is_name ? absl::StrCat(ToAbsl(theirs), ToAbsl(rest))
                 : std::string(text);
}

void Truncate(const TextSize& size, Cut cut, std::string& text) {
  if (cut == Cut::kNone) return;
  if (size.max_words > 0) TruncateWords(size.max_words, cut, text);
  const auto max_bytes = static_cast<std::size_t>(size.max_bytes);
  if (text.size() <= max_bytes) return;
  // Less is kept rather than a part of a character.
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  if (cut == Cut::kStart) {
    std::size_t begin = text.size() - max_bytes;
    while (begin < text.size() && continues(begin)) ++begin;
    text.erase(0, begin);
  } else {
    std::size_t end = max_bytes;
    while (end > 0 && continues(end)) --end;
    text.resize(end);
  }
}

absl::Status CheckDimension(const char* field, std::int64_t wanted,
                            const v1::EmbedTextsResponse& response) {
  if (wanted == 0 || wanted == response.embedding_dim()) {
    return absl::OkStatus();
  }
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("%d is not %d, which the vectors of model %s have",
                      wanted, response.embedding_dim(),
                      response.model().name()));
}

// The float 0.1 as a double would be written as 0.10000000149011612.
double ToShortDouble(float value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value);
  double result = 0;
  std::from_chars(std::begin(digits), end.ptr, result);
  return result;
}

// These formats have no place for the problem of one candidate, so the first
// one fails the call.
absl::Status CheckAllRanked(const v1::RankResponse& response) {
  if (response.problems().empty()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                   response.problems(0).status().message());
}

std::int64_t CountWords(std::string_view text) {
  return static_cast<std::int64_t>(WordBegins(text).size());
}

std::int64_t CountWords(const std::vector<std::string>& texts) {
  std::int64_t count = 0;
  for (const std::string& text : texts) count += CountWords(text);
  return count;
}

}  // namespace semrank
