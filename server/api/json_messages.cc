#include "server/api/json_messages.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "server/requests/error_status.h"

namespace semrank {

namespace util = google::protobuf::util;

namespace {

constexpr char kUrlPrefix[] = "type.googleapis.com";

// Returns the same name for all spellings of a field.
std::string FieldName(std::string_view member) {
  std::string name;
  for (const char c : member) {
    if (c != '_') name += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return name;
}

// Errors show the beginning of a name.
constexpr std::size_t kMaxShownBytes = 64;

absl::Status MemberError(std::string_view name, std::string_view member,
                         std::string_view reason) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat(
          "the body %s \"%s\"", reason,
          absl::CHexEscape(ToAbsl(member.substr(0, kMaxShownBytes)))),
      {{"message", std::string(name)}});
}

absl::Status OverLimit(std::string_view name, std::string_view message,
                       std::size_t limit) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason, message,
      {{"message", std::string(name)}, {"limit", std::to_string(limit)}});
}

// Lists the values of the enum that an error of Protobuf is about, which names
// only its type. Empty for other errors.
std::string EnumValues(const std::string& error) {
  const std::string before = absl::StrCat(" for type ", kUrlPrefix, "/");
  const std::size_t place = error.find(before);
  if (place == error.npos) return "";
  const auto* const type =
      google::protobuf::DescriptorPool::generated_pool()->FindEnumTypeByName(
          error.substr(place + before.size()));
  if (type == nullptr) return "";
  std::vector<std::string> names;
  // JsonFormat accepts these too.
  if (type->name() == "VectorEncoding") names = {"float", "base64"};
  for (int i = 1; i < type->value_count(); ++i) {  // 0 is "unspecified"
    names.push_back(type->value(i)->name());
  }
  return absl::StrCat("; it may be ", absl::StrJoin(names, ", "));
}

// Ends a word that Protobuf's parser takes without quotes.
constexpr std::string_view kSeparators = " \t\r\n{}[],:\"'";

}  // namespace

std::size_t EndOfString(std::string_view json, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < json.size() && json[end] != json[begin]) {
    // What follows a backslash may be a quote.
    end += json[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, json.size());
}

// Only brackets, commas and the names before colons count, outside of strings.
// Other mistakes are left to the parser that follows.
absl::Status CheckJson(std::string_view json, Spellings spellings,
                       std::size_t max_values, std::string_view name) {
  const bool fields = spellings == Spellings::kField;
  // The members of each open object; the set of an array stays empty.
  std::vector<absl::flat_hash_set<std::string>> open;
  std::size_t num_values = 1;  // a lower bound
  std::string_view last;       // string or word
  for (std::size_t i = 0, end = 0; i < json.size(); i = end) {
    end = i + 1;
    const char c = json[i];
    // Protobuf's parser takes strings in either kind of quotes.
    if (c == '"' || c == '\'') {
      end = EndOfString(json, i);
      last = json.substr(i + 1, std::max(end, i + 2) - i - 2);
    } else if (c == '{' || c == '[') {
      open.emplace_back();
      ++num_values;
      if (open.size() > kMaxBodyDepth) {
        return OverLimit(
            name,
            absl::StrFormat("the body is nested deeper than the limit of %d "
                            "levels",
                            kMaxBodyDepth),
            kMaxBodyDepth);
      }
    } else if (c == '}' || c == ']') {
      if (!open.empty()) open.pop_back();
    } else if (c == ',') {
      ++num_values;
    } else if (c == ':' && !open.empty()) {
      // An escape could spell the name of a member that is there already.
      if (fields && last.find('\\') != last.npos) {
        return MemberError(name, last, "has an escape in the name of");
      }
      const std::string member = fields ? FieldName(last) : std::string(last);
      if (!open.back().insert(member).second) {
        return MemberError(name, last, "repeats");
      }
    } else if (kSeparators.find(c) == kSeparators.npos) {
      end = std::min(json.find_first_of(kSeparators, i), json.size());
      last = json.substr(i, end - i);
    }
    if (num_values > max_values) {
      return OverLimit(
          name,
          absl::StrFormat("the body has over %d values, the limit", max_values),
          max_values);
    }
  }
  return absl::OkStatus();
}

// Default values are omitted, as in Protobuf's mapping; clients take an absent
// member for them.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::InternalError("cannot write the response as JSON");
  }
  return json;
}

absl::Status JsonToBytes(std::string_view json,
                         const google::protobuf::Descriptor& message,
                         std::string& bytes) {
  SEMRANK_RETURN_IF_ERROR(CheckJson(json, Spellings::kField,
                                    std::numeric_limits<std::size_t>::max(),
                                    message.full_name()));
  // Never destroyed: handlers may still run while the process exits.
  static util::TypeResolver& resolver = *util::NewTypeResolverForDescriptorPool(
      kUrlPrefix, google::protobuf::DescriptorPool::generated_pool());
  // Protobuf knows a message only by a URL of its type.
  const auto status = util::JsonToBinaryString(
      &resolver, absl::StrCat(kUrlPrefix, "/", message.full_name()),
      {json.data(), json.size()}, &bytes);
  if (status.ok()) return absl::OkStatus();
  const std::string problem(status.message());
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat("the body is no %s as JSON: %s%s", message.full_name(),
                      problem, EnumValues(problem)),
      {{"message", message.full_name()}});
}

std::string StatusToJson(const absl::Status& status) {
  // A busy server refuses with the same status again and again, and Protobuf
  // looks the types of the details up each time.
  thread_local absl::Status last;
  thread_local std::string json;
  if (json.empty() || status != last) {
    last = status;
    json = ToJson(ToRpcStatus(status))
               .value_or(absl::StrFormat("{\"code\":%d}",
                                         static_cast<int>(status.code())));
  }
  return json;
}

void AppendRows(std::string_view vectors, int dim, std::string& json) {
  const std::size_t row_bytes = dim * sizeof(float);
  // A number takes about twelve characters for its four bytes.
  json.reserve(json.size() + vectors.size() * 3);
  json += '[';
  for (std::size_t begin = 0; begin < vectors.size(); begin += row_bytes) {
    if (begin > 0) json += ',';
    AppendNumbers(vectors.substr(begin, row_bytes), json);
  }
  json += ']';
}

void AppendNumbers(std::string_view bytes, std::string& json) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  DecodeFloat32(bytes, numbers);
  json += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) json += ',';
    char digits[32];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), numbers[i]);
    json.append(std::begin(digits), end.ptr);
  }
  json += ']';
}

int ToHttpCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    // nginx's code for a client that closed the connection; HTTP has none.
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace semrank
