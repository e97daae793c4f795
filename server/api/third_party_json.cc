#include "server/api/third_party_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/json_vectors.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/base/vector_encoding.h"

namespace semrank {
namespace {

// A format asks for its members in an order of its own, and simdjson reads a
// text only forwards. So one pass notes every member, with views of its texts,
// and the functions look members up there. A body has a few members, so a
// linear search among them is enough.

// Enough for a document that is an object with members that are ignored.
constexpr std::size_t kMaxValuesPerText = 16;

// 1 or 0. Without a branch, which the ends of words would make hard to predict.
std::uint8_t IsBlank(char c) {
  return static_cast<std::uint8_t>(c == ' ') |
         static_cast<std::uint8_t>(static_cast<unsigned char>(c - '\t') < 5);
}

// Words are what stands between blanks: other products count tokens, which this
// server does not have.
bool BeginsWord(std::string_view text, std::size_t i) {
  return (~IsBlank(text[i]) & (i == 0 ? 1 : IsBlank(text[i - 1]))) != 0;
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

ThirdPartyJson::ThirdPartyJson(const std::string& body, std::string_view name,
                               const Limits& limits)
    : document_(
          body, name,
          kMaxValuesPerText *
              (static_cast<std::size_t>(limits.max_texts_per_request) + 1)),
      limits_(limits),
      status_(ReadBody()) {}

absl::Status ThirdPartyJson::ReadBody() {
  SEMRANK_ASSIGN_OR_RETURN(const JsonDocument::Object object, document_.Open());
  SEMRANK_RETURN_IF_ERROR(document_.EachMember(
      object, [this](std::string_view name, JsonDocument::Value& value) {
        // Many clients send null for members that they do not use.
        if (JsonDocument::FirstByte(value) == 'n') {
          return document_.Skip(value, /*depth=*/0);
        }
        return ReadMember(value, members_.emplace_back(Member{.name = name}));
      }));
  return document_.CheckEnd();
}

absl::Status ThirdPartyJson::ReadMember(JsonDocument::Value& value,
                                        Member& member) {
  const char type = JsonDocument::FirstByte(value);
  if (type == '{') return document_.Skip(value, /*depth=*/0);
  if (type == '"') {
    SEMRANK_ASSIGN_OR_RETURN(member.value, ReadText(value));
    return absl::OkStatus();
  }
  SEMRANK_RETURN_IF_ERROR(document_.CountValue());
  if (type == '[') {
    auto& items = member.value.emplace<std::vector<Item>>();
    return document_.EachItem(value, [&](JsonDocument::Value& item) {
      return ReadItem(item, items.emplace_back());
    });
  }
  // The first byte says which type the value must have; reading it checks
  // the rest.
  if (type == 't' || type == 'f') {
    const auto error = value.get_bool().get(member.value.emplace<bool>());
    return error ? document_.Error(error) : absl::OkStatus();
  }
  simdjson::ondemand::number number;
  if (const auto error = value.get_number().get(number)) {
    return document_.Error(error);
  }
  // The numbers that these formats read are counts. A larger one would wrap in
  // the Protobuf request; it stays without a value, and Number names the range.
  const double wide = number.as_double();
  if (wide >= 0 && wide <= std::numeric_limits<std::int32_t>::max() &&
      wide == std::trunc(wide)) {
    member.value = static_cast<std::int64_t>(wide);
  }
  return absl::OkStatus();
}

absl::Status ThirdPartyJson::ReadItem(JsonDocument::Value& value, Item& item) {
  // Nearly all items are plain texts, so these take a path without StatusOr.
  if (const auto text = JsonDocument::PlainText(value)) {
    item = *text;
    return document_.CountValue();
  }
  const char type = JsonDocument::FirstByte(value);
  if (type == '"') {
    SEMRANK_ASSIGN_OR_RETURN(item, ReadText(value));
    return absl::OkStatus();
  }
  if (type != '{') return document_.Skip(value, /*depth=*/1);
  SEMRANK_RETURN_IF_ERROR(document_.CountValue());
  item = objects_.size();
  Object& object = objects_.emplace_back();
  return document_.EachMember(
      value, [&](std::string_view name, JsonDocument::Value& member) {
        if (JsonDocument::FirstByte(member) != '"') {
          return document_.Skip(member, /*depth=*/2);
        }
        const auto text = ReadText(member);
        if (text.ok()) object.emplace_back(name, *text);
        return text.status();
      });
}

absl::StatusOr<std::string_view> ThirdPartyJson::ReadText(
    JsonDocument::Value& value) {
  SEMRANK_RETURN_IF_ERROR(document_.CountValue());
  return document_.Text(value);
}

const ThirdPartyJson::Member* ThirdPartyJson::Find(
    std::string_view name) const {
  // After the first error nothing is found, so the error that the client gets
  // is about the first mistake.
  if (!status_.ok()) return nullptr;
  const auto found = std::ranges::find(members_, name, &Member::name);
  return found == members_.end() ? nullptr : &*found;
}

template <typename T>
const T* ThirdPartyJson::Get(const char* name, const char* expected) {
  const Member* const member = Find(name);
  if (member == nullptr) return nullptr;
  const T* const value = std::get_if<T>(&member->value);
  if (value == nullptr) {
    Fail(FieldError("INVALID_FIELD", name, absl::StrCat("is not ", expected)));
  }
  return value;
}

std::string ThirdPartyJson::Text(const char* name) {
  const auto* const text = Get<std::string_view>(name, "a string");
  return std::string(text == nullptr ? "" : *text);
}

bool ThirdPartyJson::Bool(const char* name, bool absent) {
  const bool* const flag = Get<bool>(name, "true or false");
  return flag == nullptr ? absent : *flag;
}

std::int64_t ThirdPartyJson::Number(const char* name) {
  const auto* const number =
      Get<std::int64_t>(name, "a number from 0 to 2147483647");
  return number == nullptr ? 0 : *number;
}

std::size_t ThirdPartyJson::Choice(
    const char* name, std::initializer_list<std::string_view> words) {
  const std::string text = Text(name);
  // An absent member is the empty text, which is not a choice.
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
  const Member* const member = Find(name);
  if (member == nullptr) return;
  // These APIs take one text in place of a list.
  if (const auto* const text = std::get_if<std::string_view>(&member->value)) {
    return take(*text);
  }
  const auto* const items =
      Get<std::vector<Item>>(name, "a string or an array");
  if (items == nullptr) return;
  const auto num_items = static_cast<std::int64_t>(items->size());
  if (num_items > limits_.max_texts_per_request) {
    return Fail(TooManyTexts(name, num_items, limits_.max_texts_per_request));
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    if (!TakeItem((*items)[i], fields, take)) {
      return Fail(FieldError("INVALID_FIELD", ItemName(name, i),
                             "is not text (token ids are not supported)"));
    }
  }
}

// The texts are joined in the order of `fields`, whatever that of the object
// is. It need not have all of them.
bool ThirdPartyJson::TakeItem(const Item& item,
                              const std::vector<std::string>& fields,
                              TakeText take) const {
  if (const auto* const text = std::get_if<std::string_view>(&item)) {
    take(*text);
    return true;
  }
  const auto* const place = std::get_if<std::size_t>(&item);
  if (place == nullptr) return false;
  const Object& object = objects_[*place];
  std::vector<std::string> texts;
  for (const std::string& name : fields) {
    const auto found =
        std::ranges::find(object, name, &Object::value_type::first);
    if (found != object.end()) texts.emplace_back(found->second);
  }
  if (!texts.empty()) take(absl::StrJoin(texts, " "));
  return !texts.empty();
}

std::string WithTheirName(std::string_view text, std::string_view ours,
                          std::string_view theirs) {
  // Only a whole name at the beginning is replaced: titles of callers and other
  // words of the message may contain it.
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
  // Less is kept rather than a part of a character: a byte 10xxxxxx continues
  // one in UTF-8.
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

absl::Status AppendRanking(const v1::RankResponse& response,
                           std::span<const float> scores,
                           AppendCandidate append, std::string& json) {
  // These formats have no place for the problem of one candidate.
  if (!response.problems().empty()) {
    return MakeError(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                     response.problems(0).status().message());
  }
  // The texts of all scores at once take an eighth of the time.
  std::string bytes;
  std::string texts;
  EncodeFloat32(scores, bytes);
  AppendJsonElements(bytes, texts);
  // An item without its document takes about 50 bytes.
  json.reserve(json.size() + scores.size() * 64);
  json += '[';
  std::string_view rest = texts;
  for (const std::uint32_t index : response.indices()) {
    if (json.back() != '[') json += ',';
    // Elements have no commas, so the next comma ends the text of this one.
    const std::size_t end = std::min(rest.find(','), rest.size());
    append(index, ToAbsl(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  json += ']';
  return absl::OkStatus();
}

std::int64_t CountWords(std::string_view text) {
  constexpr std::size_t kBlock = 16;
  std::int64_t count = 0;
  std::size_t i = 0;
  const std::size_t num_single = text.size() > kBlock ? 1 : text.size();
  for (; i < num_single; ++i) count += BeginsWord(text, i);
  // Blocks, which the compiler turns into SIMD instructions. The last one also
  // holds bytes of the block before it.
  for (; i < text.size(); i += kBlock) {
    const std::size_t first = std::min(i, text.size() - kBlock);
    std::uint8_t begins[2 * kBlock] = {};
    for (std::size_t j = 0; j < kBlock; ++j) {
      begins[j] = IsBlank(text[first + j - 1]) & ~IsBlank(text[first + j]);
    }
    std::array<std::uint64_t, kBlock / sizeof(std::uint64_t)> sums;
    std::memcpy(sums.data(), begins + (i - first), kBlock);
    // The product's highest byte is the sum of the bytes.
    count += (sums[0] + sums[1]) * 0x0101010101010101 >> 56;
  }
  return count;
}

}  // namespace semrank
