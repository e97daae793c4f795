#include <string_view>
#include <utility>
#include <vector>

#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/catalog/sync/catalog_writer.h"
#include "server/requests/handlers.h"
#include "server/requests/message_fields.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

using v1::Document;

// The key is a oneof: the last one on the wire counts, as in Protobuf. A
// document without a key stays without one and becomes a problem of its own in
// CatalogWriter.
void ReadDocumentField(WireReader& reader, NewDocument& document) {
  std::uint64_t id = 0;
  std::string_view name;
  switch (reader.field()) {
    case Document::kIdFieldNumber:
      if (reader.ReadFixed64(id)) document.key = id;
      return;
    case Document::kDocumentIdFieldNumber:
      if (reader.Read(name)) document.key = name;
      return;
    case Document::kTitleFieldNumber:
      reader.Read(document.title);
      return;
    case Document::kPayloadFieldNumber:
      reader.Read(document.payload);
      return;
    case Document::kTagsFieldNumber:
      AppendBounded(reader, kMaxTagsPerDocument, document.tags);
      return;
    default:
      reader.Skip();
  }
}

// PutDocuments, or one message of a PutDocumentsStream.
template <typename Request, typename Response>
class PutHandler final : public HandlerOf<Response> {
 public:
  // `num_before` counts the documents of the stream's messages before this one,
  // and the handler adds its own; null for PutDocuments.
  PutHandler(const ServerParts& parts, std::uint64_t* num_before)
      : HandlerOf<Response>(parts), num_before_(num_before) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    WireReader reader(bytes, parts_.limits.max_texts_per_request);
    while (reader.Next()) {
      if (reader.field() == Request::kDocumentsFieldNumber) {
        reader.Append(documents_, [&](NewDocument& document) {
          ReadDocumentField(reader, document);
        });
      } else {
        reader.Skip();
      }
    }
    SEMRANK_RETURN_IF_ERROR(reader.Finish(*Request::descriptor()));
    // An empty message of a stream is answered with counts of 0, so that every
    // message has one response; an empty unary call is more likely a client's
    // mistake.
    if (documents_.empty() && num_before_ == nullptr) {
      return FieldError("NO_DOCUMENTS", "documents",
                        "the request has no document");
    }
    return RequestSize{static_cast<std::int64_t>(documents_.size()),
                       bytes.size()};
  }

  void EachText(RequestHandler::TakeText take) const override {
    for (const NewDocument& document : documents_) {
      take(document.title);
      // Searches compare names normalised, too.
      if (!document.key.has_value()) continue;
      const auto* const name = std::get_if<std::string_view>(&*document.key);
      if (name != nullptr) take(*name);
    }
  }

  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override {
    // In the first slice rather than in Read: it costs a pass over every text,
    // which only admitted requests get.
    if (!std::exchange(checked_, true)) SEMRANK_RETURN_IF_ERROR(CheckTexts());
    SEMRANK_ASSIGN_OR_RETURN(
        const Progress progress,
        parts_.catalog->writer.PutSlice(documents_, run, progress_, result_));
    if (progress == Progress::kMore) return progress;
    response_.set_num_created(result_.counts.num_created);
    response_.set_num_replaced(result_.counts.num_replaced);
    SetProblems(result_.problems, response_);
    SetModel(*result_.counts.model, response_);
    SetTimings(run, result_.times, response_);
    // Only PutDocumentsStreamResponse has the field.
    if constexpr (requires { response_.set_first_document(0); }) {
      response_.set_first_document(*num_before_);
      *num_before_ += documents_.size();
    }
    return Progress::kDone;
  }

 private:
  using HandlerOf<Response>::parts_;
  using HandlerOf<Response>::response_;

  // Text that is not UTF-8 fails the whole call, because Protobuf's own parser
  // would refuse the message too, and clients could not parse a response that
  // repeats it. Everything else that is wrong with a document is a problem of
  // that document alone.
  absl::Status CheckTexts() const {
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      const NewDocument& document = documents_[i];
      SEMRANK_RETURN_IF_ERROR(
          CheckUtf8(ItemName("documents", i) + ".title", document.title));
      for (std::size_t tag = 0; tag < document.tags.size(); ++tag) {
        SEMRANK_RETURN_IF_ERROR(
            CheckUtf8(ItemName(ItemName("documents", i) + ".tags", tag),
                      document.tags[tag]));
      }
      if (!document.key.has_value()) continue;
      const auto* const name = std::get_if<std::string_view>(&*document.key);
      if (name == nullptr) continue;
      SEMRANK_RETURN_IF_ERROR(
          CheckUtf8(ItemName("documents", i) + ".document_id", *name));
    }
    return absl::OkStatus();
  }

  std::uint64_t* const num_before_;
  std::vector<NewDocument> documents_;
  bool checked_ = false;
  PutState progress_;
  PutResult result_;
};

}  // namespace

std::unique_ptr<RequestHandler> MakePutDocumentsHandler(
    const ServerParts& parts) {
  return std::make_unique<
      PutHandler<v1::PutDocumentsRequest, v1::PutDocumentsResponse>>(
      parts, /*num_before=*/nullptr);
}
StreamHandlers MakePutDocumentsStream(const ServerParts& parts) {
  return [&parts, num_before = std::make_shared<std::uint64_t>(0)] {
    return std::make_unique<PutHandler<v1::PutDocumentsStreamRequest,
                                       v1::PutDocumentsStreamResponse>>(
        parts, num_before.get());
  };
}

}  // namespace semrank
