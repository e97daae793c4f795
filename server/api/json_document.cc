#include "server/api/json_document.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/utf8.h"
#include "server/base/errors.h"
#include "server/http/http_exchange.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

// simdjson reads in two steps. Its first pass over the whole text, with SIMD
// instructions, checks UTF-8 and the quotes, and notes where values begin. A
// value itself is checked only when it is read, so an unread value may be
// malformed. Skip therefore also reads the values that a format ignores, and
// CheckEnd checks that no text follows the object.

// Names an encoding that is not UTF-8 by the first bytes; empty if these may be
// UTF-8.
std::string_view OtherEncoding(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return "it begins with a byte order mark";
  }
  // JSON begins with an ASCII character, so a zero byte among the first two
  // bytes means UTF-16 or UTF-32.
  const bool has_zero = text.size() > 1 && (text[0] == '\0' || text[1] == '\0');
  if (has_zero || text.starts_with("\xFF\xFE") ||
      text.starts_with("\xFE\xFF")) {
    return "it is UTF-16 or UTF-32; send UTF-8";
  }
  return "";
}

std::string_view Describe(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::UNCLOSED_STRING:
      return "a string has no closing quote";
    case simdjson::UNESCAPED_CHARS:
      return "a string has a control character that is not escaped";
    case simdjson::STRING_ERROR:
      return "a string has an escape that JSON does not have";
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return "not a number of JSON with at most 64 bits";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "an object or array is not closed";
    case simdjson::INCORRECT_TYPE:
      return "a value of another type is wanted";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return "it is too large";
    default:
      return "names and texts must be in \"\", members and items separated by "
             "commas";
  }
}

// Allocating a parser's tables anew for each body, and clearing their pages,
// takes as long as finding what is in it.
simdjson::ondemand::parser& ParserOfThread() {
  thread_local simdjson::ondemand::parser parser;
  return parser;
}

// A parser that has grown beyond it is freed: there are some fifty threads, and
// its tables take up to six bytes for each byte of its largest body.
constexpr std::size_t kMaxKeptCapacity = std::size_t{1} << 17;

// Otherwise each body would be copied.
static_assert(HttpBody::kPadding >= JsonDocument::kPadding);

bool HasPadding(const std::string& text) {
  return text.capacity() - text.size() >= JsonDocument::kPadding;
}

}  // namespace

JsonDocument::JsonDocument(const std::string& text, std::string_view name,
                           std::size_t max_values)
    : copy_(HasPadding(text) ? "" : text),
      // simdjson reads up to kPadding bytes past the end of the text. Their
      // values do not matter, so the unused capacity of the string is
      // sufficient.
      text_(HasPadding(text)
                ? simdjson::padded_string_view(text, text.capacity())
                : simdjson::padded_string_view(copy_)),
      name_(name),
      max_values_(max_values),
      parser_(ParserOfThread()) {}

JsonDocument::~JsonDocument() {
  if (parser_.capacity() > kMaxKeptCapacity) {
    parser_ = simdjson::ondemand::parser();
  }
}

absl::StatusOr<JsonDocument::Object> JsonDocument::Open() {
  const std::string_view encoding = OtherEncoding(text_);
  if (!encoding.empty()) return ErrorOfText(encoding);
  if (const auto error = parser_.iterate(text_).get(document_)) {
    // simdjson says that the text is not UTF-8 but not where.
    const std::size_t num_valid = ValidUtf8Bytes(text_);
    if (num_valid == text_.size()) return ErrorOfText(Describe(error));
    return ErrorOfText(
        absl::StrFormat("it is not UTF-8 at byte %d", num_valid));
  }
  Object object;
  const auto error = document_.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) {
    return ErrorOfText("it must be an object");
  }
  if (error) return Error(error);
  return object;
}

absl::Status JsonDocument::EachMaybeRepeated(Object object, TakeMember take) {
  for (auto member : object) {
    simdjson::ondemand::field field;
    std::string_view name;
    // The name is a view into the text, or into the parser if it has escapes;
    // both stay until the document ends.
    if (const auto error = std::move(member).get(field)) return Error(error);
    if (const auto error = field.unescaped_key().get(name)) return Error(error);
    SEMRANK_RETURN_IF_ERROR(take(name, field.value()));
  }
  return absl::OkStatus();
}

// Parsers differ in which of two equal names counts (RFC 8259, section 4), so a
// proxy that checks bodies could see another value than the server uses.
absl::Status JsonDocument::EachMember(Object object, TakeMember take) {
  absl::flat_hash_set<std::string_view> names;
  return EachMaybeRepeated(object, [&](std::string_view name, Value& value) {
    return names.insert(name).second ? take(name, value) : RepeatedError(name);
  });
}

absl::Status JsonDocument::EachMember(Value& value, TakeMember take) {
  Object object;
  if (const auto error = value.get_object().get(object)) return Error(error);
  return EachMember(object, take);
}

absl::Status JsonDocument::EachItem(Value& value, TakeItem take) {
  simdjson::ondemand::array items;
  if (const auto error = value.get_array().get(items)) return Error(error);
  for (auto item : items) {
    Value element;
    if (const auto error = item.get(element)) return Error(error);
    SEMRANK_RETURN_IF_ERROR(take(element));
  }
  return absl::OkStatus();
}

// At the end of the text there is no current place.
absl::Status JsonDocument::CheckEnd() {
  if (document_.current_location().error() == simdjson::OUT_OF_BOUNDS) {
    return absl::OkStatus();
  }
  return Error("text follows the object");
}

absl::StatusOr<std::string_view> JsonDocument::Text(Value& value) {
  if (const auto plain = PlainText(value)) return *plain;
  if (!value.raw_json_token().starts_with('"')) return Error("want a text");
  std::string_view text;
  if (const auto error = value.get_string().get(text)) return Error(error);
  // simdjson lets half of a surrogate pair pass.
  if (!IsValidUtf8(text)) return Error("a text has half of a surrogate pair");
  return text;
}

absl::Status JsonDocument::CountValue() {
  if (++num_values_ <= max_values_) return absl::OkStatus();
  return OverLimit(
      absl::StrFormat("the body has over %d values, the limit", max_values_),
      max_values_);
}

absl::Status JsonDocument::Skip(Value& value, std::size_t depth) {
  // kMaxDepth bounds the recursion, so nested input cannot overflow the stack.
  if (depth >= kMaxDepth) {
    return OverLimit(absl::StrFormat("the body is nested deeper than the limit "
                                     "of %d levels",
                                     kMaxDepth),
                     kMaxDepth);
  }
  SEMRANK_RETURN_IF_ERROR(CountValue());
  simdjson::ondemand::json_type type;
  if (const auto error = value.type().get(type)) return Error(error);
  simdjson::error_code error = simdjson::SUCCESS;
  switch (type) {
    case simdjson::ondemand::json_type::array:
      return EachItem(value,
                      [&](Value& item) { return Skip(item, depth + 1); });
    case simdjson::ondemand::json_type::object:
      return EachMember(value, [&](std::string_view, Value& member) {
        return Skip(member, depth + 1);
      });
    case simdjson::ondemand::json_type::string:
      return Text(value).status();
    case simdjson::ondemand::json_type::number:
      error = value.get_number().error();
      break;
    case simdjson::ondemand::json_type::boolean:
      error = value.get_bool().error();
      break;
    case simdjson::ondemand::json_type::null:
      if (!Null(value)) error = simdjson::N_ATOM_ERROR;
  }
  return error ? Error(error) : absl::OkStatus();
}

bool JsonDocument::Null(Value& value) {
  bool is_null = false;
  return !value.is_null().get(is_null) && is_null;
}

absl::Status JsonDocument::Error(simdjson::error_code code) {
  return Error(Describe(code));
}

absl::Status JsonDocument::Error(std::string_view problem) {
  const char* place = nullptr;
  if (document_.current_location().get(place)) return ErrorOfText(problem);
  return ErrorOfText(
      absl::StrFormat("%s (byte %d)", problem, place - text_.data()));
}

absl::Status JsonDocument::RepeatedError(std::string_view member) {
  return Error(absl::StrFormat("the body repeats \"%s\"", Shown(member)));
}

absl::Status JsonDocument::ErrorOfText(std::string_view problem) const {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat("the body is not a valid %s as JSON: %s", name_, problem),
      {{"message", name_}});
}

absl::Status JsonDocument::OverLimit(std::string_view problem,
                                     std::size_t limit) const {
  return MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                   problem,
                   {{"message", name_}, {"limit", std::to_string(limit)}});
}

}  // namespace semrank
