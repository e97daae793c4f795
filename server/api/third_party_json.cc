#include "server/api/third_party_json.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

// Enough for a document that is an object with members that are ignored.
constexpr std::size_t kMaxValuesPerText = 16;

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Words are what stands between blanks: other products count tokens, which this
// server does not have.
bool BeginsWord(std::string_view text, std::size_t i) {
  return !IsBlank(text[i]) && (i == 0 || IsBlank(text[i - 1]));
}

std::string_view TruncatedWords(std::int64_t max_words, Cut cut,
                                std::string_view text) {
  std::int64_t num_words = CountWords(text);
  if (num_words <= max_words) return text;
  // The place of the first word that is kept or dropped.
  std::int64_t wanted = cut == Cut::kStart ? num_words - max_words : max_words;
  std::size_t i = 0;
  while (!BeginsWord(text, i) || wanted-- > 0) ++i;
  return cut == Cut::kStart ? text.substr(i) : text.substr(0, i);
}

}  // namespace

ThirdPartyJson::ThirdPartyJson(std::string_view body, std::string_view name,
                               const Limits& limits)
    : document_(body, name), limits_(limits) {
  const std::size_t max_values =
      kMaxValuesPerText *
      (static_cast<std::size_t>(limits.max_texts_per_request) + 1);
  absl::StatusOr<JsonDocument::Object> object =
      document_.OpenChecked(max_values);
  Fail(object.status());
  if (object.ok()) object_ = *object;
}

std::optional<JsonDocument::Value> ThirdPartyJson::Find(const char* name) {
  JsonDocument::Value value;
  if (!status_.ok() || object_.find_field_unordered(name).get(value)) {
    return std::nullopt;
  }
  // Many clients send null for members that they do not use.
  if (value.raw_json_token().starts_with('n')) return std::nullopt;
  return value;
}

void ThirdPartyJson::FailType(const char* name, const char* expected) {
  Fail(FieldError("INVALID_FIELD", name, absl::StrCat("is not ", expected)));
}

std::string ThirdPartyJson::Text(const char* name) {
  std::optional<JsonDocument::Value> value = Find(name);
  if (!value.has_value()) return "";
  const absl::StatusOr<std::string_view> text = document_.Text(*value);
  if (text.ok()) return std::string(*text);
  FailType(name, "a string");
  return "";
}

bool ThirdPartyJson::Bool(const char* name, bool absent) {
  std::optional<JsonDocument::Value> value = Find(name);
  bool is_true = absent;
  if (value.has_value() && value->get_bool().get(is_true)) {
    FailType(name, "true or false");
  }
  return is_true;
}

std::int64_t ThirdPartyJson::Number(const char* name) {
  std::optional<JsonDocument::Value> value = Find(name);
  if (!value.has_value()) return 0;
  // A larger number would wrap in the Protobuf request.
  constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();
  std::uint64_t number = 0;
  if (!value->get_uint64().get(number) && number <= kMax) {
    return static_cast<std::int64_t>(number);
  }
  FailType(name, "a number from 0 to 2147483647");
  return 0;
}

std::size_t ThirdPartyJson::Choice(
    const char* name, std::initializer_list<std::string_view> words) {
  const std::string text = Text(name);
  // An absent member is the empty text, which is no choice.
  if (text.empty() && !has(name)) return 0;
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

std::vector<std::string> ThirdPartyJson::Texts(const char* name) {
  std::vector<std::string> texts;
  EachText(name, [&](std::string_view text) { texts.emplace_back(text); });
  return texts;
}

void ThirdPartyJson::EachText(const char* name, TakeText take,
                              const std::vector<std::string>& fields) {
  std::optional<JsonDocument::Value> value = Find(name);
  if (!value.has_value()) return;
  // These APIs take one text in place of a list.
  if (TakeOne(*value, take)) return;
  simdjson::ondemand::array items;
  std::size_t size = 0;
  if (value->get_array().get(items) || items.count_elements().get(size)) {
    return FailType(name, "a string or an array");
  }
  if (size > static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return Fail(TooManyTexts(name, static_cast<std::int64_t>(size),
                             limits_.max_texts_per_request));
  }
  std::size_t i = 0;
  for (auto item : items) {
    JsonDocument::Value element;
    // OpenChecked has found no error.
    if (item.get(element)) break;
    // Cohere's documents may be objects.
    const bool is_text = element.raw_json_token().starts_with('{')
                             ? TakeFields(element, fields, take)
                             : TakeOne(element, take);
    if (!is_text) {
      return Fail(FieldError("INVALID_FIELD", ItemName(name, i),
                             "is no text (token ids are not supported)"));
    }
    ++i;
  }
}

bool ThirdPartyJson::TakeOne(JsonDocument::Value& value, TakeText take) {
  const absl::StatusOr<std::string_view> text = document_.Text(value);
  if (text.ok()) take(*text);
  return text.ok();
}

// An object need not have all of the fields, and other types are not text.
bool ThirdPartyJson::TakeFields(JsonDocument::Value& value,
                                const std::vector<std::string>& fields,
                                TakeText take) {
  JsonDocument::Object object;
  if (value.get_object().get(object)) return false;
  std::vector<std::optional<std::string_view>> texts(fields.size());
  for (auto member : object) {
    std::string_view name;
    JsonDocument::Value text;
    if (member.unescaped_key().get(name) || member.value().get(text)) break;
    const auto field = std::ranges::find(fields, name);
    if (field == fields.end()) continue;
    TakeOne(text, [&](std::string_view found) {
      texts[field - fields.begin()] = found;
    });
  }
  std::erase(texts, std::nullopt);
  if (texts.empty()) return false;
  take(absl::StrJoin(
      texts, " ",
      [](std::string* out, const std::optional<std::string_view>& text) {
        out->append(*text);
      }));
  return true;
}

std::string WithTheirName(std::string_view text, std::string_view ours,
                          std::string_view theirs) {
  const std::string_view rest =
      text.starts_with(ours) ? text.substr(ours.size()) : "?";
  const bool is_name = rest.empty() || rest[0] == ':' || rest[0] == '[';
  return is_name ? absl::StrCat(ToAbsl(theirs), ToAbsl(rest))
                 : std::string(text);
}

std::string_view Truncated(const TextSize& size, Cut cut,
                           std::string_view text) {
  if (cut == Cut::kNone) return text;
  if (size.max_words > 0) text = TruncatedWords(size.max_words, cut, text);
  const auto max_bytes = static_cast<std::size_t>(size.max_bytes);
  if (text.size() <= max_bytes) return text;
  // Less is kept rather than a part of a character.
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  if (cut == Cut::kStart) {
    std::size_t begin = text.size() - max_bytes;
    while (begin < text.size() && continues(begin)) ++begin;
    return text.substr(begin);
  }
  std::size_t end = max_bytes;
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end);
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

// These formats have no place for the problem of one candidate, so the first
// one fails the call.
absl::Status CheckAllRanked(const v1::RankResponse& response) {
  if (response.problems().empty()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                   response.problems(0).status().message());
}

std::int64_t CountWords(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) count += BeginsWord(text, i);
  return count;
}

}  // namespace semrank
