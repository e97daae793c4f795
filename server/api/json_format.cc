// Bodies of the API itself: its messages as JSON (json_messages), with vectors
// that need no decoding.
//
//   Responses  "vectors" is an array of numbers a row. With "encoding":
//              "base64" in the request it is one text, the bytes of
//              VECTOR_ENCODING_FLOAT32; a name of that enum gives its bytes.
//   Requests   "vectors" is either.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/field_mask_util.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"

namespace semrank {
namespace {

// Protobuf's JSON parser reads the requests. Two conveniences are not in its
// mapping: vectors as arrays of numbers, and "float" and "base64" as encodings.
// Both are replaced in the text first, so that no tree is built of a body that
// may hold a million numbers.

std::size_t SkipBlanks(std::string_view json, std::size_t begin) {
  const std::size_t end = json.find_first_not_of(" \t\r\n", begin);
  return end == std::string_view::npos ? json.size() : end;
}

// The place of a value in a JSON text.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The value of a member of the outermost object, from its first character to
// the comma or bracket after it. Nothing is checked, since Protobuf's parser
// reads the text afterwards.
std::optional<Place> FindMember(std::string_view json, std::string_view name) {
  const std::string quoted = absl::StrCat("\"", ToAbsl(name), "\"");
  // Most requests have no such member, and one search of the text finds that
  // out.
  if (json.find(quoted) == std::string_view::npos) return std::nullopt;
  int depth = 0;
  std::optional<Place> place;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (place.has_value() && depth == 1 && (c == ',' || c == '}')) {
      place->end = i;
      return place;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c != '"' && c != '\'') continue;
    const std::size_t end = EndOfString(json, i);
    const std::size_t colon = SkipBlanks(json, end);
    if (depth == 1 && !place.has_value() && json.substr(i, end - i) == quoted &&
        colon < json.size() && json[colon] == ':') {
      place = Place{SkipBlanks(json, colon + 1), json.size()};
      // The value is scanned too: brackets in it count.
      i = place->begin - 1;
    } else {
      i = end - 1;
    }
  }
  return std::nullopt;
}

std::string_view At(std::string_view json, const Place& place) {
  std::string_view value = json.substr(place.begin, place.end - place.begin);
  return value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
}

// Collects an array of arrays of numbers. The tree of a million numbers that
// nlohmann::json would build takes 16 bytes for each.
class RowCollector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<float> numbers;
  std::size_t num_rows = 0;
  std::size_t row_size = 0;  // of the first row

  bool number_float(double value, const std::string& /*digits*/) override {
    return Add(value);
  }
  bool number_integer(std::int64_t value) override {
    return Add(static_cast<double>(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    return Add(static_cast<double>(value));
  }
  bool start_array(std::size_t /*size*/) override { return ++depth_ <= 2; }
  bool end_array() override {
    if (depth_-- == 1) return true;
    if (num_rows++ == 0) row_size = numbers.size();
    // Ends the parser at the first row of another length.
    return numbers.size() == num_rows * row_size;
  }
  bool null() override { return false; }
  bool boolean(bool /*value*/) override { return false; }
  bool string(std::string& /*value*/) override { return false; }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return false; }
  bool key(std::string& /*value*/) override { return false; }
  bool end_object() override { return false; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool Add(double value) {
    numbers.push_back(static_cast<float>(value));
    return depth_ == 2;
  }

  int depth_ = 0;
};

// Converts arrays of numbers, all of one length, to base64 of float32.
absl::StatusOr<std::string> EncodeRows(std::string_view json) {
  RowCollector rows;
  if (!nlohmann::json::sax_parse(json, &rows)) {
    return FieldError("BAD_VECTOR", "vectors",
                      absl::StrFormat("must be base64 or an array of arrays "
                                      "of numbers, all of one length; row %d "
                                      "is not",
                                      rows.num_rows));
  }
  std::string bytes;
  EncodeFloat32(rows.numbers, bytes);
  return absl::StrCat("\"", absl::Base64Escape(bytes), "\"");
}

std::string Replace(std::string_view json, const Place& place,
                    std::string_view value) {
  return absl::StrCat(ToAbsl(json.substr(0, place.begin)), ToAbsl(value),
                      ToAbsl(json.substr(place.end)));
}

// Writes the message without some fields, and without the last bracket. The
// caller appends these fields: Protobuf's printer would write them as base64.
absl::StatusOr<std::string> ToOpenJson(
    const google::protobuf::Message& message,
    std::initializer_list<std::string_view> without) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  google::protobuf::FieldMask mask;
  for (const auto* const field : fields) {
    if (std::ranges::find(without, field->name()) == without.end()) {
      mask.add_paths(field->name());
    }
  }
  const std::unique_ptr<google::protobuf::Message> rest(message.New());
  google::protobuf::util::FieldMaskUtil::MergeMessageTo(message, mask, {},
                                                        rest.get());
  SEMRANK_ASSIGN_OR_RETURN(std::string json, ToJson(*rest));
  json.pop_back();
  if (json.size() > 1) json += ',';
  return json;
}

// Response is one with vectors.
template <typename Response>
absl::StatusOr<std::string> WriteNumbers(const Response& response) {
  SEMRANK_ASSIGN_OR_RETURN(std::string json,
                           ToOpenJson(response, {"vectors", "encoding"}));
  json += "\"encoding\":\"float\",\"vectors\":";
  AppendRows(response.vectors(), response.embedding_dim(), json);
  return json + "}";
}

class JsonFormat final : public BodyFormat {
 public:
  explicit JsonFormat(const FormatInput& input)
      : request_(input.request_type) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    if (request.is_get && request.body.empty()) {
      return JsonToBytes("{}", request_, bytes);
    }
    std::string rewritten;
    std::string_view json = request.body;
    if (request_.FindFieldByName("encoding") != nullptr) {
      ReadEncoding(json, rewritten);
    }
    if (request_.FindFieldByName("vectors") != nullptr) {
      SEMRANK_RETURN_IF_ERROR(ReadVectors(json, rewritten));
    }
    return JsonToBytes(json, request_, bytes);
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& response) override {
    // Only these two responses have vectors.
    if (numbers_) {
      if (const auto* const embedded =
              dynamic_cast<const v1::EmbedTextsResponse*>(&response)) {
        return WriteNumbers(*embedded);
      }
      const auto* const found =
          dynamic_cast<const v1::GetDocumentsResponse*>(&response);
      if (found != nullptr && found->embedding_dim() > 0) {
        return WriteNumbers(*found);
      }
    }
    return ToJson(response);
  }

 private:
  // "float" and "base64" are not values of the enum. Without an encoding the
  // response has numbers, which every client can read without decoding.
  void ReadEncoding(std::string_view& json, std::string& rewritten) {
    const std::optional<Place> place = FindMember(json, "encoding");
    numbers_ = !place.has_value() || At(json, *place) == "\"float\"";
    if (!place.has_value()) return;
    if (!numbers_ && At(json, *place) != "\"base64\"") return;
    rewritten = Replace(json, *place, "\"VECTOR_ENCODING_FLOAT32\"");
    json = rewritten;
  }
  // Base64 is left as it is: Protobuf reads it as the field's bytes.
  static absl::Status ReadVectors(std::string_view& json,
                                  std::string& rewritten) {
    const std::optional<Place> place = FindMember(json, "vectors");
    if (!place.has_value() || !At(json, *place).starts_with('[')) {
      return absl::OkStatus();
    }
    SEMRANK_ASSIGN_OR_RETURN(const std::string base64,
                             EncodeRows(At(json, *place)));
    rewritten = Replace(json, *place, base64);
    json = rewritten;
    return absl::OkStatus();
  }

  const google::protobuf::Descriptor& request_;
  bool numbers_ = false;
};

}  // namespace

const FormatFunctions formats::kJson = {&MakeFormatOf<JsonFormat>,
                                        &WriteStatus};

}  // namespace semrank
