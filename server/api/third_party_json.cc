#include "server/api/third_party_json.h"

#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "server/api/json_messages.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

// Enough for a document that is an object with members that are ignored.
constexpr std::size_t kMaxValuesPerText = 16;

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

ThirdPartyJson::ThirdPartyJson(std::string_view body, std::string_view name,
                               const Limits& limits)
    : limits_(limits) {
  const std::size_t max_values =
      kMaxValuesPerText *
      (static_cast<std::size_t>(limits.max_texts_per_request) + 1);
  // CheckJson comes before the tree is built, since a tree of small values
  // takes many times the bytes of the body.
  status_ = CheckJson(body, Spellings::kExact, max_values, name);
  if (!status_.ok()) return;
  // Without exceptions, text that is not JSON becomes a discarded value.
  object_ = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (object_.is_object()) return;
  Fail(MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                 absl::StrFormat("the body is no %s: it must be an object in "
                                 "JSON and UTF-8",
                                 name),
                 {{"message", std::string(name)}}));
}

const nlohmann::json* ThirdPartyJson::Find(const char* name) const {
  if (!status_.ok()) return nullptr;
  const auto value = object_.find(name);
  // Many clients send null for members that they do not use.
  return value == object_.end() || value->is_null() ? nullptr : &*value;
}

void ThirdPartyJson::FailType(const char* name, const char* expected) {
  Fail(FieldError("INVALID_FIELD", name, absl::StrCat("is not ", expected)));
}

std::string ThirdPartyJson::Text(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  FailType(name, "a string");
  return "";
}

bool ThirdPartyJson::Bool(const char* name, bool absent) {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return absent;
  if (value->is_boolean()) return value->get<bool>();
  FailType(name, "true or false");
  return absent;
}

std::int64_t ThirdPartyJson::Number(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return 0;
  // A larger number would wrap in the Protobuf request.
  constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= kMax) {
    return value->get<std::int64_t>();
  }
  FailType(name, "a number from 0 to 2147483647");
  return 0;
}

std::size_t ThirdPartyJson::Choice(
    const char* name, std::initializer_list<std::string_view> words) {
  const std::string text = Text(name);
  if (!has(name)) return 0;
  std::string known;
  for (const std::string_view& word : words) {
    if (absl::EqualsIgnoreCase(text, ToAbsl(word)))
      return &word - words.begin();
    absl::StrAppend(&known, known.empty() ? "" : ", ", ToAbsl(word));
  }
  Fail(FieldError("INVALID_FIELD", name, "must be one of " + known));
  return 0;
}

v1::Side ThirdPartyJson::Side(const char* name) {
  // The names are those of Cohere ("search_query"), Jina ("retrieval.query")
  // and of the prompts of E5 models ("query", "passage").
  const std::string side = Text(name);
  for (const char* const query : {"query", "search_query", "retrieval.query"}) {
    if (side == query) return v1::SIDE_QUERY;
  }
  for (const char* const document :
       {"", "document", "passage", "search_document", "retrieval.passage"}) {
    if (side == document) return v1::SIDE_DOCUMENT;
  }
  Fail(FieldError("INVALID_FIELD", name,
                  "must be query or document, or a name that other products "
                  "give these"));
  return v1::SIDE_DOCUMENT;
}

void ThirdPartyJson::Refuse(const char* name, std::string_view reason) {
  if (has(name)) Fail(FieldError("INVALID_FIELD", name, reason));
}

std::vector<std::string> ThirdPartyJson::Texts(
    const char* name, const std::vector<std::string>& fields) {
  std::vector<std::string> texts;
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return texts;
  // These APIs take one text in place of a list.
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) {
    FailType(name, "a string or an array");
  } else if (value->size() >
             static_cast<std::size_t>(limits_.max_texts_per_request)) {
    Fail(TooManyTexts(name, value->size(), limits_.max_texts_per_request));
  }
  if (!status_.ok()) return texts;
  for (const nlohmann::json& item : *value) {
    std::optional<std::string> text;
    if (item.is_string()) text = item.get<std::string>();
    // Cohere's documents may be objects, of which rank_fields are read.
    if (item.is_object()) text = JoinFields(item, fields);
    if (!text.has_value()) {
      Fail(FieldError("INVALID_FIELD", ItemName(name, texts.size()),
                      "is no text (token ids are not supported)"));
      break;
    }
    texts.push_back(*std::move(text));
  }
  return texts;
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
