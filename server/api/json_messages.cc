#include "server/api/json_messages.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/base/json_vectors.h"
#include "model/text/utf8.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "server/requests/error_status.h"

namespace semrank {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Responses are written by reflection over the fields that are set. Protobuf's
// own printer goes through a type resolver, which looks every field up by name,
// and writes numbers one by one; a response may have a million of them. So long
// lists have paths of their own here, and everything else takes the general
// one.

// Appends the shortest digits that read back as the same number.
template <typename Number>
void AppendDigits(Number number, std::string& json) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number);
  json.append(std::begin(digits), end.ptr);
}

void AppendFinite(double number, std::string& json) {
  AppendDigits(number, json);
}
// As in lists: a score is the same text in every response.
void AppendFinite(float number, std::string& json) {
  std::string bytes;
  EncodeFloat32({&number, 1}, bytes);
  AppendJsonElements(bytes, json);
}

template <typename Number>
void AppendNumber(Number number, std::string& json) {
  if constexpr (std::is_same_v<Number, bool>) {
    json += number ? "true" : "false";
  } else if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
    // JavaScript has no integers of 64 bits, so they are texts.
    json += '"';
    AppendDigits(number, json);
    json += '"';
  } else if constexpr (std::is_floating_point_v<Number>) {
    if (std::isfinite(number)) return AppendFinite(number, json);
    // JSON has no such numbers; Protobuf's mapping writes these names.
    json += std::isnan(number)
                ? "\"NaN\""
                : (number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  } else {
    AppendDigits(number, json);
  }
}

void AppendEnum(const EnumDescriptor& type, int number, std::string& json) {
  const auto* const value = type.FindValueByNumber(number);
  if (value == nullptr) return AppendDigits(number, json);
  absl::StrAppend(&json, "\"", value->name(), "\"");
}

// Messages of Protobuf and gRPC have mappings of their own: times, details of
// errors.
bool HasOwnMapping(const Descriptor& message) {
  return message.full_name().starts_with("google.");
}

void AppendWithOwnMapping(const Message& message, std::string& json) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &text, options);
  // It fails for a detail of a type that is not linked in, of which the server
  // makes none.
  json += status.ok() ? text : "{}";
}

// Writes one message.
class Printer {
 public:
  Printer(const Message& message, VectorForm vectors, std::string& json)
      : message_(message),
        reflection_(*message.GetReflection()),
        ranking_(message.GetDescriptor() == v1::RankResponse::descriptor()
                     ? dynamic_cast<const v1::RankResponse*>(&message)
                     : nullptr),
        vectors_(vectors),
        json_(json) {}

  void AppendMessage() {
    if (HasOwnMapping(*message_.GetDescriptor())) {
      return AppendWithOwnMapping(message_, json_);
    }
    std::vector<const FieldDescriptor*> fields;
    reflection_.ListFields(message_, &fields);
    json_ += '{';
    for (const FieldDescriptor* const field : fields) {
      absl::StrAppend(&json_, json_.back() == '{' ? "\"" : ",\"", field->name(),
                      "\":");
      if (vectors_ == VectorForm::kNumbers && AppendVectorField(*field)) {
        continue;
      }
      if (field->is_repeated()) {
        AppendList(*field);
      } else {
        AppendValue(*field);
      }
    }
    json_ += '}';
  }

 private:
  // False if the field is written as any other.
  bool AppendVectorField(const FieldDescriptor& field);
  void AppendList(const FieldDescriptor& field);
  // Appends the value of a field, or one item of a list.
  void AppendValue(const FieldDescriptor& field, int item = -1);
  // Appends the indices of a RankResponse. False for all other fields.
  bool AppendIndices(const FieldDescriptor& field);
  // The numbers of a list, in `copy` if they cannot be read in place.
  std::span<const float> FloatsOf(const FieldDescriptor& field,
                                  std::vector<float>& copy) const;
  // A list at once: one by one its numbers take eight times as long. False if
  // one is not finite.
  bool AppendFloats(std::span<const float> numbers);
  void AppendText(const FieldDescriptor& field, const std::string& text) {
    if (field.type() == FieldDescriptor::TYPE_BYTES) {
      AppendBase64(text, json_);
    } else {
      AppendJsonString(text, json_);
    }
  }
  void AppendNested(const Message& message) {
    Printer(message, vectors_, json_).AppendMessage();
  }

  const Message& message_;
  const Reflection& reflection_;
  // The message as a RankResponse, whose long lists are read without
  // reflection, which would take half of the time; null for any other.
  const v1::RankResponse* const ranking_;
  const VectorForm vectors_;
  std::string& json_;
};

bool Printer::AppendVectorField(const FieldDescriptor& field) {
  const Descriptor& type = *message_.GetDescriptor();
  // Each message with vectors has their dimension in this field. A Model has
  // it, too, but neither of the fields below.
  const FieldDescriptor* const dim = type.FindFieldByName("embedding_dim");
  if (dim == nullptr) return false;
  if (field.name() == "encoding") {
    json_ += "\"float\"";
    return true;
  }
  if (field.name() != "vectors") return false;
  std::string scratch;
  AppendRows(reflection_.GetStringReference(message_, &field, &scratch),
             reflection_.GetUInt32(message_, dim) * sizeof(float),
             AppendFloatList, json_);
  return true;
}

bool Printer::AppendIndices(const FieldDescriptor& field) {
  if (ranking_ == nullptr ||
      field.number() != v1::RankResponse::kIndicesFieldNumber) {
    return false;
  }
  json_ += '[';
  for (const std::uint32_t index : ranking_->indices()) {
    AppendDigits(index, json_);
    json_ += ',';
  }
  // A field that is written has at least one item.
  json_.back() = ']';
  return true;
}

std::span<const float> Printer::FloatsOf(const FieldDescriptor& field,
                                         std::vector<float>& copy) const {
  using v1::RankResponse;
  const auto in_place = [](const auto& floats) {
    return std::span(floats.data(), static_cast<std::size_t>(floats.size()));
  };
  const int number = ranking_ == nullptr ? 0 : field.number();
  switch (number) {
    case RankResponse::kScoresFieldNumber:
      return in_place(ranking_->scores());
    case RankResponse::kSemanticScoresFieldNumber:
      return in_place(ranking_->semantic_scores());
    case RankResponse::kLexicalScoresFieldNumber:
      return in_place(ranking_->lexical_scores());
    default:
      break;
  }
  const auto items = reflection_.GetRepeatedFieldRef<float>(message_, &field);
  copy.resize(items.size());
  // Get is one virtual call. The iterators would make three for each item.
  for (int i = 0; i < items.size(); ++i) copy[i] = items.Get(i);
  return copy;
}

bool Printer::AppendFloats(std::span<const float> numbers) {
  if (!std::ranges::all_of(numbers, [](float n) { return std::isfinite(n); })) {
    return false;
  }
  std::string bytes;
  EncodeFloat32(numbers, bytes);
  AppendFloatList(bytes, json_);
  return true;
}

void Printer::AppendList(const FieldDescriptor& field) {
  if (AppendIndices(field)) return;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT) {
    std::vector<float> copy;
    if (AppendFloats(FloatsOf(field, copy))) return;
  }
  const int num_items = reflection_.FieldSize(message_, &field);
  json_ += '[';
  for (int item = 0; item < num_items; ++item) {
    if (item > 0) json_ += ',';
    AppendValue(field, item);
  }
  json_ += ']';
}

void Printer::AppendValue(const FieldDescriptor& field, int item) {
  using R = Reflection;
  const bool is_item = item >= 0;
  // Reflection has two functions for each type, one for a single field and one
  // for an item of a list. `get` calls the one that fits.
  const auto get = [&](auto get_value, auto get_item) {
    return is_item ? (reflection_.*get_item)(message_, &field, item)
                   : (reflection_.*get_value)(message_, &field);
  };
  const auto number = [&](auto get_value, auto get_item) {
    AppendNumber(get(get_value, get_item), json_);
  };
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return number(&R::GetInt32, &R::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return number(&R::GetInt64, &R::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return number(&R::GetUInt32, &R::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return number(&R::GetUInt64, &R::GetRepeatedUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(&R::GetDouble, &R::GetRepeatedDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return number(&R::GetFloat, &R::GetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return number(&R::GetBool, &R::GetRepeatedBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AppendEnum(*field.enum_type(),
                        get(&R::GetEnumValue, &R::GetRepeatedEnumValue), json_);
    case FieldDescriptor::CPPTYPE_STRING:
      return AppendText(field, is_item ? reflection_.GetRepeatedStringReference(
                                             message_, &field, item, &scratch)
                                       : reflection_.GetStringReference(
                                             message_, &field, &scratch));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AppendNested(
          is_item ? reflection_.GetRepeatedMessage(message_, &field, item)
                  : reflection_.GetMessage(message_, &field));
  }
}

}  // namespace

std::string ToJson(const Message& message, VectorForm vectors) {
  std::string json;
  Printer(message, vectors, json).AppendMessage();
  return json;
}

std::string StatusToJson(const absl::Status& status) {
  // A busy server refuses with the same status again and again, and Protobuf
  // looks the types of the details up each time.
  thread_local absl::Status last;
  thread_local std::string json;
  if (json.empty() || status != last) {
    last = status;
    json = ToJson(ToRpcStatus(status));
  }
  return json;
}

void AppendBase64(std::string_view bytes, std::string& json) {
  json += '"';
  AppendBase64Text(bytes, json);
  json += '"';
}

void AppendFloatList(std::string_view floats, std::string& json) {
  json += '[';
  AppendJsonElements(floats, json);
  json += ']';
}

void AppendRows(std::string_view rows, std::size_t row_bytes, AppendRow append,
                std::string& json) {
  json += '[';
  const std::size_t first = json.size();
  for (std::size_t begin = 0; begin < rows.size(); begin += row_bytes) {
    if (begin > 0) json += ',';
    append(rows.substr(begin, row_bytes), json);
    // The others are about as long: numbers have 10 to 14 characters.
    if (begin == 0) {
      json.reserve(first +
                   (json.size() - first + 1) * rows.size() / row_bytes * 9 / 8);
    }
  }
  json += ']';
}

// The codes are those that google/rpc/code.proto names beside each.
int ToHttpCode(const absl::Status& status) {
  switch (status.code()) {
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
      // Clients send a request with 429 again, and this one is never accepted.
      return ErrorReason(status) == "MESSAGE_TOO_LARGE" ? 413 : 429;
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
