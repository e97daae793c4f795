#include "server/requests/text_count.h"

#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

bool CountNumbers(WireReader& reader, TextCount& count) {
  const int field = reader.field();
  if (reader.type() == WireReader::kFixed64) {
    count.AddItems(field, 1);
    return reader.Skip();
  }
  std::string_view packed;
  if (!reader.ReadBytes(packed)) return false;
  count.AddItems(field, packed.size() / sizeof(std::uint64_t));
  return packed.size() % sizeof(std::uint64_t) == 0;
}

bool ReadModelRef(std::string_view bytes, TextCount& count) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == v1::ModelRef::kNameFieldNumber &&
        reader.type() == WireReader::kBytes) {
      reader.ReadBytes(count.model_name);
    } else if (reader.field() == v1::ModelRef::kVersionFieldNumber &&
               reader.type() == WireReader::kVarint) {
      std::uint64_t version = 0;
      reader.ReadVarint(version);
      count.model_version = static_cast<std::int64_t>(version);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool IsExpected(TextRole role, WireReader::WireType type) {
  switch (role) {
    case TextRole::kNone:
      return false;
    case TextRole::kNumbers:
      return type == WireReader::kFixed64 || type == WireReader::kBytes;
    case TextRole::kId:
      return type == WireReader::kFixed64;
    case TextRole::kRequestNumber:
      return type == WireReader::kVarint;
    default:
      return type == WireReader::kBytes;
  }
}

bool CountFields(std::string_view bytes, const MessageTexts& texts,
                 TextCount& count);

bool ReadTitle(WireReader& reader, TextCount& count) {
  count.key.reset();
  return reader.ReadBytes(count.title.emplace());
}

bool ReadId(WireReader& reader, TextCount& count) {
  std::uint64_t id = 0;
  if (!reader.ReadFixed64(id)) return false;
  count.title.reset();
  count.key = id;
  return true;
}

bool ReadDocumentId(WireReader& reader, TextCount& count) {
  std::string_view name;
  if (!reader.ReadBytes(name)) return false;
  count.title.reset();
  count.key = name;
  return true;
}

// The field that the reader is at; false once the bytes are no message.
bool CountField(WireReader& reader, const MessageTexts& texts,
                TextCount& count) {
  const TextRole role = texts.role(reader.field());
  if (!IsExpected(role, reader.type())) return reader.Skip();
  std::string_view bytes;
  switch (role) {
    case TextRole::kItems:
      count.AddItems(reader.field(), 1);
      return reader.Skip();
    case TextRole::kNumbers:
      return CountNumbers(reader, count);
    case TextRole::kVectors:
      if (!reader.ReadBytes(bytes)) return false;
      count.vector_bytes = bytes.size();
      return true;
    case TextRole::kQuery:
      return reader.ReadBytes(count.query);
    case TextRole::kTitle:
      return ReadTitle(reader, count);
    case TextRole::kId:
      return ReadId(reader, count);
    case TextRole::kDocumentId:
      return ReadDocumentId(reader, count);
    case TextRole::kModel:
      return reader.ReadBytes(bytes) && ReadModelRef(bytes, count);
    case TextRole::kRequest:
      count.has_request = true;
      return reader.ReadBytes(bytes) &&
             CountFields(bytes, *texts.request(), count);
    case TextRole::kRequestNumber:
      return reader.ReadVarint(count.request_number);
    case TextRole::kNone:
      break;
  }
  return reader.Skip();
}

bool CountFields(std::string_view bytes, const MessageTexts& texts,
                 TextCount& count) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!CountField(reader, texts, count)) return false;
  }
  return reader.ok();
}

}  // namespace

absl::Status CountTexts(std::string_view bytes, const MessageTexts& texts,
                        TextCount& count) {
  count.num_bytes = bytes.size();
  if (CountFields(bytes, texts, count)) return absl::OkStatus();
  return MalformedMessage(texts.message().full_name());
}

absl::Status CheckNumItems(const TextCount& count, const MessageTexts& texts,
                           std::int64_t max_texts_per_request) {
  if (count.num_items <= max_texts_per_request) return absl::OkStatus();
  return TooManyTexts(texts.FieldName(count.first_item_field), count.num_items,
                      max_texts_per_request);
}

}  // namespace semrank
