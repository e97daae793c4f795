#include "server/api/json_request.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/near_match.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "semrank/v1/common.pb.h"
#include "server/api/json_document.h"
#include "server/api/wire_writer.h"
#include "server/base/errors.h"
#include "server/http/http_responses.h"

namespace semrank {
namespace {

// The reader walks the JSON and appends each value to the bytes of a Protobuf
// message at once, by the descriptor of its field. No message is built, so that
// one reader of requests, WireReader, checks fields and limits whatever brought
// them, and a text is copied once. Fields stand in the order of the JSON, which
// Protobuf's format allows.

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using Value = JsonDocument::Value;

bool IsEncoding(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_ENUM &&
         field.enum_type() == v1::VectorEncoding_descriptor();
}

// The bytes that may also be arrays of numbers; payloads may not.
bool IsVectors(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_BYTES &&
         field.name() == "vectors";
}

// "PARTS_SEMANTIC, PARTS_LEXICAL"; value 0 is "unspecified".
std::string NamesOf(const EnumDescriptor& type) {
  std::vector<std::string> names;
  if (&type == v1::VectorEncoding_descriptor()) names = {"float", "base64"};
  for (int i = 1; i < type.value_count(); ++i) {
    names.push_back(type.value(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

class RequestReader {
 public:
  RequestReader(JsonDocument& document, JsonRequest& request)
      : document_(document), request_(request), bytes_(request.bytes) {}

  absl::Status ReadMembers(JsonDocument::Object object,
                           const Descriptor& message);

 private:
  // A field and, in a list, the place of the item that is read.
  struct Step {
    const FieldDescriptor& field;
    int item = -1;
  };

  absl::StatusOr<const FieldDescriptor*> FindField(const Descriptor& message,
                                                   const std::string& name);
  absl::Status ReadField(Value& value, const FieldDescriptor& field);
  absl::Status ReadList(Value& value, const FieldDescriptor& field);
  // Appends a value or an item of a list.
  absl::Status ReadValue(Value& value, const FieldDescriptor& field);
  absl::Status ReadTextField(Value& value, const FieldDescriptor& field);
  absl::Status ReadMessage(Value& value, const Descriptor& message);
  absl::StatusOr<bool> ReadBool(Value& value);
  absl::StatusOr<std::int32_t> ReadEnum(Value& value,
                                        const FieldDescriptor& field);
  absl::Status ReadBytes(Value& value);
  absl::Status ReadRows(Value& value);
  template <typename T>
  absl::StatusOr<T> ReadNumber(Value& value);
  absl::StatusOr<std::string_view> ReadText(Value& value);
  // Names the field that is read, and where.
  absl::Status Error(std::string_view problem);

  JsonDocument& document_;
  JsonRequest& request_;
  std::string& bytes_;
  std::vector<Step> path_;
};

absl::Status RequestReader::Error(std::string_view problem) {
  std::string path;
  for (const Step& step : path_) {
    absl::StrAppend(&path, path.empty() ? "" : ".", step.field.name());
    if (step.item >= 0) absl::StrAppend(&path, "[", step.item, "]");
  }
  return document_.Error(absl::StrCat(path, ": ", ToAbsl(problem)));
}

absl::StatusOr<const FieldDescriptor*> RequestReader::FindField(
    const Descriptor& message, const std::string& name) {
  const FieldDescriptor* field = message.FindFieldByName(name);
  if (field == nullptr) field = message.FindFieldByCamelcaseName(name);
  if (field != nullptr) return field;
  // Protobuf's own parser can ignore what it does not know. Here a misspelt
  // "top_k" would silently return all results.
  std::vector<std::string> known;
  known.reserve(message.field_count());
  for (int i = 0; i < message.field_count(); ++i) {
    known.push_back(message.field(i)->name());
  }
  return document_.Error(absl::StrFormat("unknown field \"%s\"%s", Shown(name),
                                         Hint(name, known, /*prefix=*/"")));
}

absl::Status RequestReader::ReadMembers(JsonDocument::Object object,
                                        const Descriptor& message) {
  // One flag for each field, followed by one for each oneof. Protobuf would
  // keep the last of several values; in JSON a second value is an error of the
  // client. real_containing_oneof() skips the synthetic oneofs of optional
  // fields.
  std::vector<bool> seen(message.field_count() + message.oneof_decl_count());
  return document_.EachMaybeRepeated(
      object, [&](std::string_view name, Value& value) -> absl::Status {
        SEMRANK_ASSIGN_OR_RETURN(const FieldDescriptor* const field,
                                 FindField(message, std::string(name)));
        if (seen[field->index()]) return document_.RepeatedError(name);
        seen[field->index()] = true;
        path_.push_back({*field});
        if (const auto* const oneof = field->real_containing_oneof()) {
          const int place = message.field_count() + oneof->index();
          if (seen[place]) {
            return Error(absl::StrCat("another field of \"", oneof->name(),
                                      "\" is given, too"));
          }
          seen[place] = true;
        }
        // After an error the path stays as it is: Error has used it already.
        SEMRANK_RETURN_IF_ERROR(ReadField(value, *field));
        path_.pop_back();
        return absl::OkStatus();
      });
}

absl::Status RequestReader::ReadField(Value& value,
                                      const FieldDescriptor& field) {
  // Protobuf's mapping takes null for an absent field.
  if (JsonDocument::FirstByte(value) == 'n') {
    return JsonDocument::Null(value) ? absl::OkStatus()
                                     : Error("not a value of JSON");
  }
  return field.is_repeated() ? ReadList(value, field) : ReadValue(value, field);
}

absl::Status RequestReader::ReadList(Value& value,
                                     const FieldDescriptor& field) {
  if (JsonDocument::FirstByte(value) != '[') return Error("want a list");
  // A packed list is one field with a length, which is known after its last
  // item. Other items are a field each.
  std::optional<LengthPrefix> packed;
  if (field.is_packed()) {
    AppendTag(field.number(), WireType::kBytes, bytes_);
    packed.emplace(bytes_);
  }
  SEMRANK_RETURN_IF_ERROR(document_.EachItem(value, [&](Value& item) {
    ++path_.back().item;
    return ReadValue(item, field);
  }));
  if (packed.has_value()) packed->Finish();
  return absl::OkStatus();
}

absl::Status RequestReader::ReadValue(Value& value,
                                      const FieldDescriptor& field) {
  // A packed list has one tag before all of its items.
  const auto append_tag = [&](WireType type) {
    if (!field.is_packed()) AppendTag(field.number(), type, bytes_);
  };
  const auto varint = [&](auto number) {
    if (!number.ok()) return number.status();
    append_tag(WireType::kVarint);
    AppendVarint(static_cast<std::uint64_t>(*number), bytes_);
    return absl::OkStatus();
  };
  const auto fixed = [&](WireType type, auto number) {
    if (!number.ok()) return number.status();
    append_tag(type);
    AppendFixed(*number, bytes_);
    return absl::OkStatus();
  };
  switch (field.type()) {
    case FieldDescriptor::TYPE_STRING:
      return ReadTextField(value, field);
    case FieldDescriptor::TYPE_BYTES:
      append_tag(WireType::kBytes);
      return IsVectors(field) && JsonDocument::FirstByte(value) == '['
                 ? ReadRows(value)
                 : ReadBytes(value);
    case FieldDescriptor::TYPE_MESSAGE:
      append_tag(WireType::kBytes);
      return ReadMessage(value, *field.message_type());
    case FieldDescriptor::TYPE_ENUM:
      // Enums and signed numbers are extended to 64 bits: a negative one has
      // ten bytes, as Protobuf writes it.
      return varint(ReadEnum(value, field));
    case FieldDescriptor::TYPE_BOOL:
      return varint(ReadBool(value));
    case FieldDescriptor::TYPE_INT32:
      return varint(ReadNumber<std::int32_t>(value));
    case FieldDescriptor::TYPE_UINT32:
      return varint(ReadNumber<std::uint32_t>(value));
    case FieldDescriptor::TYPE_INT64:
      return varint(ReadNumber<std::int64_t>(value));
    case FieldDescriptor::TYPE_UINT64:
      return varint(ReadNumber<std::uint64_t>(value));
    case FieldDescriptor::TYPE_FIXED64:
      return fixed(WireType::kFixed64, ReadNumber<std::uint64_t>(value));
    case FieldDescriptor::TYPE_FLOAT:
      return fixed(WireType::kFixed32, ReadNumber<float>(value));
    case FieldDescriptor::TYPE_DOUBLE:
      return fixed(WireType::kFixed64, ReadNumber<double>(value));
    default:
      return absl::InternalError(
          absl::StrCat("requests have no fields like ", field.full_name()));
  }
}

absl::Status RequestReader::ReadTextField(Value& value,
                                          const FieldDescriptor& field) {
  // Most values of a request are texts without escapes, so these take a path
  // without a Status.
  std::optional<std::string_view> text = JsonDocument::PlainText(value);
  if (!text.has_value()) {
    SEMRANK_ASSIGN_OR_RETURN(text, ReadText(value));
  }
  AppendBytesField(field.number(), *text, bytes_);
  return absl::OkStatus();
}

absl::Status RequestReader::ReadMessage(Value& value,
                                        const Descriptor& message) {
  JsonDocument::Object object;
  if (value.get_object().get(object)) return Error("want an object");
  LengthPrefix length(bytes_);
  SEMRANK_RETURN_IF_ERROR(ReadMembers(object, message));
  length.Finish();
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RequestReader::ReadText(Value& value) {
  if (JsonDocument::FirstByte(value) != '"') return Error("want a text");
  return document_.Text(value);
}

template <typename T>
absl::StatusOr<T> RequestReader::ReadNumber(Value& value) {
  const std::optional<T> number = document_.Number<T>(value);
  if (number.has_value()) return *number;
  if constexpr (std::is_floating_point_v<T>) {
    return Error("want a number");
  } else {
    return Error(absl::StrFormat("want a whole number from %d to %d",
                                 std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
  }
}

absl::StatusOr<bool> RequestReader::ReadBool(Value& value) {
  bool is_true = false;
  if (value.get_bool().get(is_true)) return Error("want true or false");
  return is_true;
}

absl::StatusOr<std::int32_t> RequestReader::ReadEnum(
    Value& value, const FieldDescriptor& field) {
  // A request that names an encoding gets encoded bytes, except for "float",
  // which gets arrays of numbers.
  if (IsEncoding(field)) request_.wants_numbers = false;
  if (JsonDocument::FirstByte(value) != '"') {
    return ReadNumber<std::int32_t>(value);
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string_view name, document_.Text(value));
  const EnumDescriptor& type = *field.enum_type();
  const auto* const known = type.FindValueByName(std::string(name));
  if (known != nullptr) return known->number();
  if (IsEncoding(field) && (name == "float" || name == "base64")) {
    request_.wants_numbers = name == "float";
    return v1::VECTOR_ENCODING_FLOAT32;
  }
  return Error(absl::StrFormat("unknown value \"%s\"; it may be %s",
                               Shown(name), NamesOf(type)));
}

absl::Status RequestReader::ReadBytes(Value& value) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string_view base64, ReadText(value));
  // Both alphabets of RFC 4648 are read, as by Protobuf's own parser.
  std::string decoded;
  if (!absl::Base64Unescape(ToAbsl(base64), &decoded) &&
      !absl::WebSafeBase64Unescape(ToAbsl(base64), &decoded)) {
    return Error("want bytes in base64");
  }
  AppendVarint(decoded.size(), bytes_);
  bytes_ += decoded;
  return absl::OkStatus();
}

// Reads simdjson's arrays directly, without a Status for each number: a request
// may have millions.
absl::Status RequestReader::ReadRows(Value& value) {
  const auto bad_row = [](std::size_t row) {
    return FieldError("BAD_VECTOR", "vectors",
                      absl::StrFormat("must be base64 or an array of arrays "
                                      "of numbers, all of one length; row %d "
                                      "is not",
                                      row));
  };
  LengthPrefix length(bytes_);
  std::size_t num_rows = 0;
  std::size_t row_bytes = 0;  // of the first row
  for (auto item : value.get_array()) {
    simdjson::ondemand::array row;
    if (item.get_array().get(row)) return bad_row(num_rows);
    const std::size_t begin = bytes_.size();
    for (auto element : row) {
      double number = 0;
      if (element.get_double().get(number)) return bad_row(num_rows);
      AppendFixed(static_cast<float>(number), bytes_);
    }
    if (num_rows == 0) row_bytes = bytes_.size() - begin;
    if (bytes_.size() - begin != row_bytes) return bad_row(num_rows);
    ++num_rows;
  }
  length.Finish();
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadJsonRequest(const std::string& json, const Descriptor& message,
                             JsonRequest& request) {
  JsonDocument document(json, message.full_name());
  // JSON is longer than Protobuf's form in nearly all cases, so this is the
  // only allocation.
  request.bytes.reserve(json.size());
  SEMRANK_ASSIGN_OR_RETURN(const JsonDocument::Object object, document.Open());
  RequestReader reader(document, request);
  SEMRANK_RETURN_IF_ERROR(reader.ReadMembers(object, message));
  return document.CheckEnd();
}

}  // namespace semrank
