#include "server/requests/request_reader.h"

#include <bit>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using v1::EmbedTextsRequest;
using v1::EmbedTextsStreamRequest;
using v1::RankRequest;
using v1::RankStreamRequest;

// The reader's types, shorter.
constexpr auto kVarint = WireReader::kVarint;
constexpr auto kBytes = WireReader::kBytes;
constexpr auto kFixed32 = WireReader::kFixed32;
constexpr auto kFixed64 = WireReader::kFixed64;

bool ReadText(WireReader& reader, std::vector<std::string_view>& texts) {
  return reader.ReadBytes(texts.emplace_back());
}

bool ReadNumber(WireReader& reader, std::vector<std::uint64_t>& numbers) {
  return reader.ReadFixed64(numbers.emplace_back());
}

bool ReadPackedNumbers(WireReader& reader,
                       std::vector<std::uint64_t>& numbers) {
  std::string_view bytes;
  if (!reader.ReadBytes(bytes) || bytes.size() % sizeof(std::uint64_t) != 0) {
    return false;
  }
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t number = 0;
    for (std::size_t i = sizeof(number); i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    numbers.push_back(number);
  }
  return true;
}

bool ReadModelRef(WireReader& reader, v1::ModelRef& model) {
  std::string_view bytes;
  if (!reader.ReadBytes(bytes)) return false;
  // Field by field, so that a message that comes in pieces is merged, and a
  // name that is not UTF-8 is one for CheckModelName.
  WireReader fields(bytes);
  while (fields.Next()) {
    std::string_view name;
    std::uint64_t version = 0;
    if (fields.field() == v1::ModelRef::kNameFieldNumber &&
        fields.type() == kBytes) {
      if (fields.ReadBytes(name)) model.set_name(std::string(name));
    } else if (fields.field() == v1::ModelRef::kVersionFieldNumber &&
               fields.type() == kVarint) {
      fields.ReadVarint(version);
      model.set_version(static_cast<std::int64_t>(version));
    } else {
      fields.Skip();
    }
  }
  return fields.ok();
}

absl::Status CheckModelName(const v1::ModelRef& model) {
  return CheckUtf8("model.name", model.name());
}

bool ReadUint32(WireReader& reader, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (!reader.ReadVarint(wide)) return false;
  value = static_cast<std::uint32_t>(wide);  // as Protobuf does
  return true;
}

// One field of a RankRequest; false once the bytes are no message.
bool ReadRankField(WireReader& reader, RankMessage& message) {
  const int field = reader.field();
  const auto type = reader.type();
  if (field == RankRequest::kTitlesFieldNumber && type == kBytes) {
    return ReadText(reader, message.titles);
  }
  if (field == RankRequest::kQueryFieldNumber && type == kBytes) {
    return reader.ReadBytes(message.input.query);
  }
  if (field == RankRequest::kVectorsFieldNumber && type == kBytes) {
    return reader.ReadBytes(message.input.vectors);
  }
  if (field == RankRequest::kModelFieldNumber && type == kBytes) {
    return ReadModelRef(reader, message.model);
  }
  if (field == RankRequest::kTopKFieldNumber && type == kVarint) {
    return ReadUint32(reader, message.input.top_k);
  }
  if (field == RankRequest::kWithTitlesFieldNumber && type == kVarint) {
    std::uint64_t value = 0;
    if (!reader.ReadVarint(value)) return false;
    message.with_titles = value != 0;
    return true;
  }
  if (field == RankRequest::kMinScoreFieldNumber && type == kFixed32) {
    std::uint32_t bits = 0;
    if (!reader.ReadFixed32(bits)) return false;
    message.input.min_score = std::bit_cast<float>(bits);
    return true;
  }
  if (field == RankRequest::kIdsFieldNumber && type == kBytes) {
    return ReadPackedNumbers(reader, message.ids);
  }
  if (field == RankRequest::kIdsFieldNumber && type == kFixed64) {
    return ReadNumber(reader, message.ids);
  }
  if (field == RankRequest::kDocumentIdsFieldNumber && type == kBytes) {
    return ReadText(reader, message.document_ids);
  }
  return reader.Skip();
}

bool ReadRankStreamField(WireReader& reader, RankStreamMessage& message) {
  if (reader.field() != RankStreamRequest::kRequestFieldNumber ||
      reader.type() != kBytes) {
    return reader.Skip();
  }
  std::string_view piece;
  if (!reader.ReadBytes(piece)) return false;
  if (message.has_request) {
    // Messages are merged by joining their bytes.
    message.merged = std::string(message.request).append(piece);
    piece = message.merged;
  }
  message.request = piece;
  message.has_request = true;
  return true;
}

// EmbedTextsRequest and EmbedTextsStreamRequest have the same fields.
constexpr bool Same(int field, int stream_field) {
  return field == stream_field;
}
static_assert(Same(EmbedTextsRequest::kTextsFieldNumber,
                   EmbedTextsStreamRequest::kTextsFieldNumber) &&
              Same(EmbedTextsRequest::kSideFieldNumber,
                   EmbedTextsStreamRequest::kSideFieldNumber) &&
              Same(EmbedTextsRequest::kEncodingFieldNumber,
                   EmbedTextsStreamRequest::kEncodingFieldNumber) &&
              Same(EmbedTextsRequest::kModelFieldNumber,
                   EmbedTextsStreamRequest::kModelFieldNumber));

bool ReadEmbedField(WireReader& reader, std::vector<std::string_view>& texts,
                    std::uint32_t& side, std::uint32_t& encoding,
                    v1::ModelRef& model) {
  const int field = reader.field();
  const auto type = reader.type();
  if (field == EmbedTextsRequest::kTextsFieldNumber && type == kBytes) {
    return ReadText(reader, texts);
  }
  if (field == EmbedTextsRequest::kModelFieldNumber && type == kBytes) {
    return ReadModelRef(reader, model);
  }
  if (field == EmbedTextsRequest::kSideFieldNumber && type == kVarint) {
    return ReadUint32(reader, side);
  }
  if (field == EmbedTextsRequest::kEncodingFieldNumber && type == kVarint) {
    return ReadUint32(reader, encoding);
  }
  return reader.Skip();
}

absl::Status UnknownValue(std::string_view field, std::uint32_t value) {
  return FieldError("INVALID_FIELD", field,
                    absl::StrFormat("%d is no value of this field",
                                    static_cast<std::int32_t>(value)),
                    {{"value", std::to_string(value)}});
}

absl::Status ReadEmbedFields(std::string_view bytes,
                             std::string_view message_name,
                             std::vector<std::string_view>& texts,
                             EmbedSettings& settings) {
  std::uint32_t side = 0;
  std::uint32_t encoding = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!ReadEmbedField(reader, texts, side, encoding, settings.model)) {
      return MalformedMessage(message_name);
    }
  }
  if (!reader.ok()) return MalformedMessage(message_name);
  SEMRANK_RETURN_IF_ERROR(CheckModelName(settings.model));
  if (!v1::Side_IsValid(static_cast<int>(side))) {
    return UnknownValue("side", side);
  }
  if (!v1::VectorEncoding_IsValid(static_cast<int>(encoding))) {
    return UnknownValue("encoding", encoding);
  }
  settings.side = static_cast<v1::Side>(side);
  settings.encoding = static_cast<v1::VectorEncoding>(encoding);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadRankRequest(std::string_view bytes, std::size_t num_texts,
                             RankMessage& message) {
  // Nearly always they are all titles.
  message.titles.reserve(num_texts);
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!ReadRankField(reader, message)) {
      return MalformedMessage("semrank.v1.RankRequest");
    }
  }
  if (!reader.ok()) return MalformedMessage("semrank.v1.RankRequest");
  SEMRANK_RETURN_IF_ERROR(CheckModelName(message.model));
  message.input.titles = message.titles;
  message.input.ids = message.ids;
  message.input.document_ids = message.document_ids;
  return absl::OkStatus();
}

absl::Status ReadRankStreamRequest(std::string_view bytes,
                                   RankStreamMessage& message) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!ReadRankStreamField(reader, message)) break;
  }
  return reader.ok() ? absl::OkStatus()
                     : MalformedMessage("semrank.v1.RankStreamRequest");
}

absl::Status ReadEmbedTextsRequest(std::string_view bytes,
                                   std::size_t num_texts,
                                   EmbedMessage& message) {
  message.texts.reserve(num_texts);
  SEMRANK_RETURN_IF_ERROR(ReadEmbedFields(bytes, "semrank.v1.EmbedTextsRequest",
                                          message.texts, message.settings));
  SEMRANK_RETURN_IF_ERROR(CompleteSettings(message.settings));
  message.input.side =
      message.settings.side == v1::SIDE_QUERY ? Side::kQuery : Side::kDocument;
  message.input.texts = message.texts;
  return absl::OkStatus();
}

absl::Status ReadEmbedStreamRequest(std::string_view bytes,
                                    std::size_t num_texts,
                                    EmbedStreamMessage& message) {
  message.texts.reserve(num_texts);
  return ReadEmbedFields(bytes, "semrank.v1.EmbedTextsStreamRequest",
                         message.texts, message.settings);
}

absl::Status CompleteSettings(EmbedSettings& settings) {
  if (settings.side == v1::SIDE_UNSPECIFIED) {
    return FieldError("INVALID_FIELD", "side",
                      "is not set: say SIDE_QUERY or SIDE_DOCUMENT");
  }
  if (settings.encoding == v1::VECTOR_ENCODING_UNSPECIFIED) {
    settings.encoding = v1::VECTOR_ENCODING_FLOAT32;
  }
  return absl::OkStatus();
}

}  // namespace semrank
