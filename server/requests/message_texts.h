// Which fields of a method's message its texts are counted by; one table for
// gRPC and JSON.
#ifndef SEMRANK_SERVER_REQUESTS_MESSAGE_TEXTS_H_
#define SEMRANK_SERVER_REQUESTS_MESSAGE_TEXTS_H_

#include <google/protobuf/descriptor.h>

#include <array>
#include <initializer_list>
#include <string>

namespace semrank {

// What a field is to the one who counts.
enum class TextRole {
  kNone,
  // Items of a list, which is bounded by Limits.max_texts_per_request: each
  // string or message of a repeated field, each of repeated fixed64 numbers.
  kItems,
  kNumbers,
  // Vectors, by their bytes.
  kVectors,
  // Texts of which the words count: a query, and a title or the key under
  // which the catalog has it. Of title and key the last one said is meant.
  kQuery,
  kTitle,
  kId,
  kDocumentId,
  // A ModelRef: by its dimension vectors are told apart.
  kModel,
  // A message with a table of its own, and what its answer repeats.
  kRequest,
  kRequestNumber,
};

struct TextField {
  int number = 0;  // in the message
  TextRole role = TextRole::kNone;
};

class MessageTexts {
 public:
  using GetDescriptor = const google::protobuf::Descriptor* (*)();

  // Numbers under kMaxFields. `request_texts` is the table of the field with
  // kRequest.
  constexpr MessageTexts(GetDescriptor get_message,
                         std::initializer_list<TextField> fields,
                         const MessageTexts* request_texts = nullptr)
      : message_(get_message), request_(request_texts) {
    for (const TextField& field : fields) roles_[field.number] = field.role;
  }

  // `field` is positive.
  TextRole role(int field) const {
    return field < kMaxFields ? roles_[field] : TextRole::kNone;
  }
  const google::protobuf::Descriptor& message() const { return *message_(); }
  const MessageTexts* request() const { return request_; }
  // The name of a list's field, here or in the request.
  const std::string& FieldName(int field) const {
    const MessageTexts& holder = request_ != nullptr ? *request_ : *this;
    return holder.message().FindFieldByNumber(field)->name();
  }

 private:
  static constexpr int kMaxFields = 16;

  const GetDescriptor message_;
  const MessageTexts* const request_;
  std::array<TextRole, kMaxFields> roles_ = {};
};

extern const MessageTexts kRankTexts;
extern const MessageTexts kRankStreamTexts;
extern const MessageTexts kExplainTexts;
extern const MessageTexts kEmbedTexts;
extern const MessageTexts kEmbedStreamTexts;
extern const MessageTexts kPutTexts;
extern const MessageTexts kPutStreamTexts;
extern const MessageTexts kGetTexts;
extern const MessageTexts kDeleteTexts;
// What is left out; how many texts a search is depends on the catalog.
extern const MessageTexts kSearchTexts;

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_MESSAGE_TEXTS_H_
