#include "server/http/json_text_count.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

using Json = nlohmann::json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// By the name in the .proto file or its JSON spelling; null = no such field.
const FieldDescriptor* FindField(const Descriptor& message,
                                 const std::string& name) {
  const FieldDescriptor* const field = message.FindFieldByName(name);
  return field != nullptr ? field : message.FindFieldByCamelcaseName(name);
}

// Padding or not, either alphabet.
std::size_t NumBase64Bytes(std::string_view text) {
  constexpr std::size_t kCharsPerGroup = 4;
  constexpr std::size_t kBytesPerGroup = 3;
  return std::ranges::count_if(text,
                               [](char c) {
                                 return absl::ascii_isalnum(c) || c == '+' ||
                                        c == '/' || c == '-' || c == '_';
                               }) *
         kBytesPerGroup / kCharsPerGroup;
}

// Gets the pieces of the body one by one; true = go on.
class TextCounter final : public nlohmann::json_sax<Json> {
 public:
  TextCounter(const MessageTexts& texts, TextCount& count,
              std::deque<std::string>& held)
      : texts_(texts), count_(count), held_(held) {}
  std::size_t error_position() const { return error_position_; }
  bool too_deep() const { return depth_ > kMaxJsonDepth; }

  bool key(std::string& name) override {
    if (depth_ == 1) {
      field_ = FindField(texts_.message(), name);
      role_ =
          field_ == nullptr ? TextRole::kNone : texts_.role(field_->number());
    } else if (depth_ == 2 && role_ == TextRole::kModel) {
      model_field_ = FindField(*v1::ModelRef::descriptor(), name);
    }
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t value) override {
    return Number(static_cast<std::uint64_t>(value));
  }
  bool number_unsigned(std::uint64_t value) override { return Number(value); }
  bool number_float(double value, const std::string&) override {
    constexpr double kTwoTo64 = 18446744073709551616.0;
    return Number(
        value >= 0 && value < kTwoTo64 ? static_cast<std::uint64_t>(value) : 0);
  }
  bool string(std::string& value) override;
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_position_ = position;
    return false;
  }

 private:
  // Depth 1 is the outermost object, 2 an array or a message in it.
  bool Enter() {
    ++depth_;
    return !too_deep();
  }
  bool Leave() {
    --depth_;
    return true;
  }
  // However deep: the parser takes arrays within arrays for one list.
  bool IsItem() const {
    return role_ == TextRole::kItems || role_ == TextRole::kNumbers;
  }
  bool IsOfModel(int field) const {
    return depth_ == 2 && role_ == TextRole::kModel &&
           model_field_ != nullptr && model_field_->number() == field;
  }
  bool Number(std::uint64_t value);
  void SetText(std::string& value);
  void SetTitle(std::string_view title) {
    count_.key.reset();
    count_.title = title;
  }
  void SetKey(DocumentKeyView key) {
    count_.title.reset();
    count_.key = key;
  }
  std::string_view Hold(std::string& value) {
    return held_.emplace_back(std::move(value));
  }

  const MessageTexts& texts_;
  TextCount& count_;
  std::deque<std::string>& held_;
  int depth_ = 0;
  // Of the outermost object, and of the ModelRef in it.
  const FieldDescriptor* field_ = nullptr;
  const FieldDescriptor* model_field_ = nullptr;
  TextRole role_ = TextRole::kNone;
  std::size_t error_position_ = 0;
};

bool TextCounter::Number(std::uint64_t value) {
  if (IsItem()) {
    count_.AddItems(field_->number(), 1);
  } else if (IsOfModel(v1::ModelRef::kVersionFieldNumber)) {
    count_.model_version = static_cast<std::int64_t>(value);
  } else if (depth_ == 1 && role_ == TextRole::kId) {
    SetKey(value);
  }
  return true;
}

// 64-bit numbers may come as strings.
bool TextCounter::string(std::string& value) {
  std::uint64_t id = 0;
  if (IsItem()) {
    count_.AddItems(field_->number(), 1);
  } else if (IsOfModel(v1::ModelRef::kNameFieldNumber)) {
    count_.model_name = Hold(value);
  } else if (IsOfModel(v1::ModelRef::kVersionFieldNumber)) {
    std::int64_t version = 0;
    if (absl::SimpleAtoi(value, &version)) count_.model_version = version;
  } else if (depth_ == 1 && role_ != TextRole::kId) {
    SetText(value);
  } else if (depth_ == 1 && absl::SimpleAtoi(value, &id)) {
    SetKey(id);
  }
  return true;
}

void TextCounter::SetText(std::string& value) {
  switch (role_) {
    case TextRole::kVectors:
      count_.vector_bytes = NumBase64Bytes(value);
      break;
    case TextRole::kQuery:
      count_.query = Hold(value);
      break;
    case TextRole::kTitle:
      SetTitle(Hold(value));
      break;
    case TextRole::kDocumentId:
      SetKey(Hold(value));
      break;
    default:
      break;
  }
}

}  // namespace

absl::Status CountJsonTexts(std::string_view json, const MessageTexts& texts,
                            TextCount& count, std::deque<std::string>& held) {
  count.num_bytes = json.size();
  TextCounter counter(texts, count, held);
  if (Json::sax_parse(json.begin(), json.end(), &counter)) {
    return absl::OkStatus();
  }
  const std::string& name = texts.message().full_name();
  if (counter.too_deep()) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kMalformedReason,
        absl::StrFormat("the body is nested deeper than the limit "
                        "of %d levels",
                        kMaxJsonDepth),
        {{"message", name}, {"limit", absl::StrCat(kMaxJsonDepth)}});
  }
  return MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                   absl::StrFormat("the body is no %s as JSON: syntax error at "
                                   "byte %d",
                                   name, counter.error_position()),
                   {{"message", name}});
}

}  // namespace semrank
