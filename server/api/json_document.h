// The text of one body as JSON (RFC 8259), which simdjson reads in place.
//
//   Order    simdjson checks a value when it is read. So after Open the caller
//            reads each value once, in the order of the text, and stops at the
//            first error.
//   Memory   the text once more, and at most six bytes for each of its bytes.
//            Views of texts point into the document.
//   Errors   InvalidArgument MALFORMED_MESSAGE: the body is no NAME as JSON,
//            with the reason and the byte at which the value begins.
//   Threads  not thread-safe.
#ifndef SEMRANK_SERVER_API_JSON_DOCUMENT_H_
#define SEMRANK_SERVER_API_JSON_DOCUMENT_H_

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

class JsonDocument {
 public:
  using Value = simdjson::ondemand::value;
  using Object = simdjson::ondemand::object;

  // How deep the objects and arrays of OpenChecked may nest.
  static constexpr std::size_t kMaxDepth = 32;

  // `name` is what the body should be: "embeddings request".
  JsonDocument(std::string_view text, std::string_view name)
      : text_(text), name_(name) {}

  // The body's object, none of whose members is checked.
  absl::StatusOr<Object> Open();
  // The same, with all of its text checked: for a caller that reads only the
  // members it knows, in any order. An error also if objects and arrays nest
  // too deep, an object repeats a member, a name in the body's object has an
  // escape, or there are more values than `max_values`.
  absl::StatusOr<Object> OpenChecked(std::size_t max_values);
  // An error if text follows the object, whose members have been read.
  absl::Status CheckEnd();

  // Reads a text. An error if it is another value, or if its escapes are no
  // Unicode text.
  absl::StatusOr<std::string_view> Text(Value& value);

  // Errors about the value that is read.
  absl::Status Error(simdjson::error_code code);
  absl::Status Error(std::string_view problem);
  absl::Status RepeatedError(std::string_view member);

 private:
  absl::StatusOr<Object> Begin();
  absl::Status Check(Value value, std::size_t max_values, std::size_t depth);
  absl::Status CheckMembers(Object object, std::size_t max_values,
                            std::size_t depth);
  absl::Status ErrorOfText(std::string_view problem) const;
  absl::Status OverLimit(std::string_view problem, std::size_t limit) const;

  const simdjson::padded_string text_;
  const std::string name_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  std::size_t num_values_ = 0;  // that were checked
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_DOCUMENT_H_
