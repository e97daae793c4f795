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
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/base64.h"
#include "model/base/json_elements.h"
#include "model/base/strings.h"
#include "model/text/utf8.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/vector_encoding.h"
#include "server/requests/error_status.h"

namespace semrank {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

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
  AppendFloat(number, json);
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
        vectors_(vectors),
        json_(json) {}

  void AppendMessage() {
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
  void AppendValue(const FieldDescriptor& field);
  void AppendList(const FieldDescriptor& field);
  // The long lists of RankResponse, without reflection, which would take half
  // of the time. False for all other fields.
  bool AppendRanking(const FieldDescriptor& field);
  template <typename Items, typename AppendItem>
  void AppendItems(const Items& items, AppendItem append) {
    json_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) json_ += ',';
      append(item);
    }
    json_ += ']';
  }
  template <typename T>
  auto ItemsOf(const FieldDescriptor& field) const {
    return reflection_.GetRepeatedFieldRef<T>(message_, &field);
  }
  template <typename T>
  void AppendNumbersOf(const FieldDescriptor& field) {
    AppendItems(ItemsOf<T>(field), [&](T item) { AppendNumber(item, json_); });
  }
  // Scores and the like, all at once: one by one they take eight times as long.
  void AppendFloats(std::span<const float> numbers);
  void AppendText(const FieldDescriptor& field, const std::string& text) {
    if (field.type() == FieldDescriptor::TYPE_BYTES) {
      AppendBase64(text, json_);
    } else {
      AppendJsonString(text, json_);
    }
  }
  void AppendNested(const Message& message) {
    if (HasOwnMapping(*message.GetDescriptor())) {
      AppendWithOwnMapping(message, json_);
    } else {
      Printer(message, vectors_, json_).AppendMessage();
    }
  }

  const Message& message_;
  const Reflection& reflection_;
  const VectorForm vectors_;
  std::string& json_;
};

bool Printer::AppendVectorField(const FieldDescriptor& field) {
  const Descriptor& type = *message_.GetDescriptor();
  const FieldDescriptor* const dim = type.FindFieldByName("embedding_dim");
  if (dim == nullptr) return false;
  if (field.name() == "encoding") {
    json_ += "\"float\"";
    return true;
  }
  if (field.name() != "vectors") return false;
  std::string scratch;
  AppendRows(reflection_.GetStringReference(message_, &field, &scratch),
             static_cast<int>(reflection_.GetUInt32(message_, dim)), json_);
  return true;
}

void Printer::AppendFloats(std::span<const float> numbers) {
  if (!std::ranges::all_of(numbers, [](float n) { return std::isfinite(n); })) {
    return AppendItems(numbers, [&](float n) { AppendNumber(n, json_); });
  }
  std::string bytes;
  EncodeFloat32(numbers, bytes);
  AppendNumbers(bytes, json_);
}

bool Printer::AppendRanking(const FieldDescriptor& field) {
  if (message_.GetDescriptor() != v1::RankResponse::descriptor()) return false;
  const auto& ranking = dynamic_cast<const v1::RankResponse&>(message_);
  if (field.number() == v1::RankResponse::kScoresFieldNumber) {
    AppendFloats({ranking.scores().data(),
                  static_cast<std::size_t>(ranking.scores_size())});
    return true;
  }
  if (field.number() != v1::RankResponse::kIndicesFieldNumber) return false;
  AppendItems(ranking.indices(),
              [&](std::uint32_t index) { AppendDigits(index, json_); });
  return true;
}

void Printer::AppendValue(const FieldDescriptor& field) {
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return AppendNumber(reflection_.GetInt32(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_INT64:
      return AppendNumber(reflection_.GetInt64(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_UINT32:
      return AppendNumber(reflection_.GetUInt32(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_UINT64:
      return AppendNumber(reflection_.GetUInt64(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AppendNumber(reflection_.GetDouble(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return AppendNumber(reflection_.GetFloat(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_BOOL:
      return AppendNumber(reflection_.GetBool(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AppendEnum(*field.enum_type(),
                        reflection_.GetEnumValue(message_, &field), json_);
    case FieldDescriptor::CPPTYPE_STRING:
      return AppendText(
          field, reflection_.GetStringReference(message_, &field, &scratch));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AppendNested(reflection_.GetMessage(message_, &field));
  }
}

void Printer::AppendList(const FieldDescriptor& field) {
  if (AppendRanking(field)) return;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return AppendNumbersOf<google::protobuf::int32>(field);
    case FieldDescriptor::CPPTYPE_INT64:
      return AppendNumbersOf<google::protobuf::int64>(field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return AppendNumbersOf<google::protobuf::uint32>(field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return AppendNumbersOf<google::protobuf::uint64>(field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AppendNumbersOf<double>(field);
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const auto items = ItemsOf<float>(field);
      return AppendFloats(std::vector<float>(items.begin(), items.end()));
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return AppendNumbersOf<bool>(field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AppendItems(
          ItemsOf<google::protobuf::int32>(field),
          [&](int number) { AppendEnum(*field.enum_type(), number, json_); });
    case FieldDescriptor::CPPTYPE_STRING:
      return AppendItems(
          ItemsOf<std::string>(field),
          [&](const std::string& text) { AppendText(field, text); });
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AppendItems(ItemsOf<Message>(field), [&](const Message& message) {
        AppendNested(message);
      });
  }
}

}  // namespace

std::string ToJson(const Message& message, VectorForm vectors) {
  std::string json;
  if (HasOwnMapping(*message.GetDescriptor())) {
    AppendWithOwnMapping(message, json);
  } else {
    Printer(message, vectors, json).AppendMessage();
  }
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

void AppendFloat(float number, std::string& json) {
  std::string bytes;
  EncodeFloat32({&number, 1}, bytes);
  AppendJsonElements(bytes, json);
}

void AppendIndex(std::uint32_t index, std::string& json) {
  AppendDigits(index, json);
}

FloatTexts::FloatTexts(std::span<const float> numbers) {
  std::string bytes;
  EncodeFloat32(numbers, bytes);
  AppendJsonElements(bytes, texts_);
  texts_ += ',';
}

std::string_view FloatTexts::Next() {
  const std::size_t begin = begin_;
  const std::size_t end = texts_.find(',', begin);
  begin_ = end + 1;
  return std::string_view(texts_).substr(begin, end - begin);
}

void AppendBase64(std::string_view bytes, std::string& json) {
  json += '"';
  AppendBase64Text(bytes, json);
  json += '"';
}

void AppendRows(std::string_view vectors, int dim, std::string& json) {
  const std::size_t row_bytes = dim * sizeof(float);
  // A number takes 12 to 14 characters for its four bytes.
  json.reserve(json.size() + vectors.size() / sizeof(float) * 14);
  json += '[';
  for (std::size_t begin = 0; begin < vectors.size(); begin += row_bytes) {
    if (begin > 0) json += ',';
    AppendNumbers(vectors.substr(begin, row_bytes), json);
  }
  json += ']';
}

void AppendNumbers(std::string_view bytes, std::string& json) {
  json += '[';
  AppendJsonElements(bytes, json);
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
