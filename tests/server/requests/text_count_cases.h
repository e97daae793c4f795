// Random requests of every method, and what is to be counted in them: by
// Protobuf's parser, field by field.
#ifndef SEMRANK_TESTS_SERVER_REQUESTS_TEXT_COUNT_CASES_H_
#define SEMRANK_TESTS_SERVER_REQUESTS_TEXT_COUNT_CASES_H_

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/requests/text_count.h"

namespace semrank {

// Views `message`.
inline TextCount CountOf(const v1::RankRequest& message) {
  return {.num_items = message.titles_size() + message.ids_size() +
                       message.document_ids_size(),
          .vector_bytes = message.vectors().size(),
          .model_name = message.model().name(),
          .model_version = message.model().version()};
}
inline TextCount CountOf(const v1::RankStreamRequest& message) {
  TextCount count = CountOf(message.request());
  count.has_request = message.has_request();
  count.request_number = message.request_number();
  return count;
}
inline TextCount CountOf(const v1::ExplainRequest& message) {
  TextCount count = {.query = message.query()};
  if (message.has_title()) count.title = message.title();
  if (message.has_id()) count.key = message.id();
  if (message.has_document_id()) {
    count.key = std::string_view(message.document_id());
  }
  return count;
}
template <typename Message>
requires requires(Message message) { message.texts_size(); }
TextCount CountOf(const Message& message) {
  return {.num_items = message.texts_size()};
}
template <typename Message>
requires requires(Message message) { message.documents_size(); }
TextCount CountOf(const Message& message) {
  return {.num_items = message.documents_size()};
}
template <typename Message>
requires requires(Message message) { message.ids_size(); }
TextCount CountOf(const Message& message) {
  return {.num_items = message.ids_size() + message.document_ids_size()};
}
inline TextCount CountOf(const v1::SearchDocumentsRequest& message) {
  return {.num_items =
              message.exclude_ids_size() + message.exclude_document_ids_size()};
}

inline void ExpectSameCount(const TextCount& got, const TextCount& want) {
  EXPECT_EQ(got.num_items, want.num_items);
  EXPECT_EQ(got.vector_bytes, want.vector_bytes);
  EXPECT_EQ(got.model_name, want.model_name);
  EXPECT_EQ(got.model_version, want.model_version);
  EXPECT_EQ(got.query, want.query);
  EXPECT_EQ(got.title, want.title);
  EXPECT_EQ(got.key, want.key);
  EXPECT_EQ(got.has_request, want.has_request);
  EXPECT_EQ(got.request_number, want.request_number);
}

// Sets about half of the fields, lists to up to five items.
inline void FillRandomly(std::mt19937& random,
                         google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& fields = *message.GetReflection();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const auto text = [&] { return std::string(random() % 200, 'a'); };
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    for (std::uint32_t n = random() % (field->is_repeated() ? 6 : 2); n > 0;
         --n) {
      const bool repeated = field->is_repeated();
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
          repeated ? fields.AddString(&message, field, text())
                   : fields.SetString(&message, field, text());
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          repeated ? fields.AddUInt64(&message, field, random())
                   : fields.SetUInt64(&message, field, random());
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          fields.SetInt64(&message, field, random() % 1'000);
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          fields.SetUInt32(&message, field, random() % 1'000);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          fields.SetBool(&message, field, true);
          break;
        case FieldDescriptor::CPPTYPE_FLOAT:
          fields.SetFloat(&message, field, 0.5f);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          fields.SetEnumValue(&message, field, random() % 3);
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE:
          FillRandomly(random, repeated
                                   ? *fields.AddMessage(&message, field)
                                   : *fields.MutableMessage(&message, field));
          break;
        default:
          ADD_FAILURE() << "a type that no request had: " << field->full_name();
      }
    }
  }
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_REQUESTS_TEXT_COUNT_CASES_H_
