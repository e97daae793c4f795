// The text of one body as JSON (RFC 8259), which simdjson reads in place.
//
//   Order    simdjson checks a value when it is read. So after Open the caller
//            reads each value once, in the order of the text, and stops at the
//            first error.
//   Memory   at most six bytes for each byte of the text, in a parser that each
//            thread keeps for its next body unless it has grown large. A text
//            without room for simdjson's reads behind its end is copied. Views
//            of texts are valid as long as the document.
//   Errors   InvalidArgument MALFORMED_MESSAGE: the body is not JSON of a NAME,
//            with the reason and the byte at which the value begins.
//   Threads  not thread-safe. A thread has one document at a time, which no
//            other thread uses.
#ifndef SEMRANK_SERVER_API_JSON_DOCUMENT_H_
#define SEMRANK_SERVER_API_JSON_DOCUMENT_H_

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "model/base/strings.h"

namespace semrank {

class JsonDocument {
 public:
  using Value = simdjson::ondemand::value;
  using Object = simdjson::ondemand::object;

  // How deep objects and arrays may nest where Skip reads them.
  static constexpr std::size_t kMaxDepth = 32;
  // Bytes behind a text's end that simdjson may read, whatever they are.
  static constexpr std::size_t kPadding = simdjson::SIMDJSON_PADDING;

  // `text` must outlive the document. `name` is what it should be: "embeddings
  // request". CountValue and Skip count up to `max_values`.
  JsonDocument(const std::string& text, std::string_view name,
               std::size_t max_values = 0);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  // The body's object, none of whose members is checked.
  absl::StatusOr<Object> Open();
  // The first byte of the value, which shows its type; 0 = there is none.
  static char FirstByte(Value& value);
  // Passes name and value of each member to `take`, which reads the value.
  // EachMember is an error if the object repeats a member; EachMaybeRepeated
  // leaves that to `take`, and allocates nothing.
  using TakeMember =
      absl::FunctionRef<absl::Status(std::string_view name, Value& value)>;
  absl::Status EachMaybeRepeated(Object object, TakeMember take);
  absl::Status EachMember(Object object, TakeMember take);
  absl::Status EachMember(Value& value, TakeMember take);
  // Passes each item of an array to `take`, which reads it.
  using TakeItem = absl::FunctionRef<absl::Status(Value& item)>;
  absl::Status EachItem(Value& value, TakeItem take);
  // An error if text follows the object, whose members have been read.
  absl::Status CheckEnd();

  // Counts a value that is read otherwise than by Skip. An error above the
  // largest number of values.
  absl::Status CountValue();
  // Checks a value of any type, in which objects and arrays nest as deep as
  // `depth` of them around it allow, and counts it and all that it holds.
  absl::Status Skip(Value& value, std::size_t depth);
  // Reads a text without escapes, as most are. Nothing for any other value,
  // which is still to be read.
  static std::optional<std::string_view> PlainText(Value& value);
  // Reads a text. An error if it is another value, or if its escapes are no
  // Unicode text.
  absl::StatusOr<std::string_view> Text(Value& value);

  // Reads a number, or a text with one, since JavaScript has no integers of 64
  // bits. Nothing for another value, and for a number that T does not have.
  template <typename T>
  std::optional<T> Number(Value& value);
  // Reads null. False for another value.
  static bool Null(Value& value);

  // Errors about the value that is read.
  absl::Status Error(simdjson::error_code code);
  absl::Status Error(std::string_view problem);
  absl::Status RepeatedError(std::string_view member);

 private:
  absl::Status ErrorOfText(std::string_view problem) const;
  absl::Status OverLimit(std::string_view problem, std::size_t limit) const;

  const simdjson::padded_string copy_;  // empty if the text has the padding
  const simdjson::padded_string_view text_;
  const std::string name_;
  const std::size_t max_values_;
  std::size_t num_values_ = 0;
  simdjson::ondemand::parser& parser_;
  simdjson::ondemand::document document_;
};

inline char JsonDocument::FirstByte(Value& value) {
  const std::string_view token = value.raw_json_token();
  return token.empty() ? '\0' : token[0];
}

// The text is used where it stands: simdjson would copy it byte by byte. Its
// first pass over the body has checked UTF-8 and control characters.
inline std::optional<std::string_view> JsonDocument::PlainText(Value& value) {
  const std::string_view token = value.raw_json_token();
  if (!token.starts_with('"') || token.find('\\') != token.npos) return {};
  if (value.get_raw_json_string().error()) return {};
  // Blanks may follow the closing quote.
  return token.substr(1, token.rfind('"') - 1);
}

template <typename T>
bool TextToNumber(std::string_view text, T& number) {
  if constexpr (std::is_same_v<T, float>) {
    return absl::SimpleAtof(ToAbsl(text), &number);
  } else if constexpr (std::is_same_v<T, double>) {
    return absl::SimpleAtod(ToAbsl(text), &number);
  } else {
    // "007" is a name, not the number 7: a document would replace another one.
    return absl::SimpleAtoi(ToAbsl(text), &number) &&
           std::to_string(number) == text;
  }
}

// False for a number that T does not have. A float keeps what it can of the
// digits; an integer may be written as 3.0 or 3e2.
template <typename T>
bool JsonToNumber(simdjson::ondemand::number& json, T& number) {
  if constexpr (std::is_floating_point_v<T>) {
    number = static_cast<T>(json.as_double());
    return std::isfinite(number);
  } else if (json.is_int64()) {
    number = static_cast<T>(json.get_int64());
    return std::in_range<T>(json.get_int64());
  } else if (json.is_uint64()) {
    number = static_cast<T>(json.get_uint64());
    return std::in_range<T>(json.get_uint64());
  } else {
    const double wide = json.get_double();
    // From 2^53 on the double may be another number than the text. Below, the
    // bound as a double may be one more than T's largest value.
    const double end =
        std::ldexp(1.0, std::min(53, std::numeric_limits<T>::digits));
    const double begin = std::is_signed_v<T> ? -end : 0;
    if (!(wide >= begin && wide < end) || wide != std::trunc(wide))
      return false;
    number = static_cast<T>(wide);
    return true;
  }
}

template <typename T>
std::optional<T> JsonDocument::Number(Value& value) {
  T number = 0;
  if (FirstByte(value) == '"') {
    const auto text = Text(value);
    if (!text.ok() || !TextToNumber(*text, number)) return {};
    return number;
  }
  simdjson::ondemand::number json;
  if (value.get_number().get(json) || !JsonToNumber(json, number)) return {};
  return number;
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_DOCUMENT_H_
