// The methods of CatalogService: from the bytes of a request to its response. A
// document and a key count as a text each.
#ifndef SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
#define SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "server/catalog/catalog_searcher.h"
#include "server/catalog/catalog_writer.h"
#include "server/requests/message_fields.h"
#include "server/requests/request_run.h"

namespace semrank {

// What PutDocuments and a message of PutDocumentsStream share.
class PutSteps {
 public:
  explicit PutSteps(const ServerParts& parts) : parts_(parts) {}

  // Reads a message of this type, which has nothing but documents.
  absl::StatusOr<RequestSize> Read(std::string_view bytes,
                                   const google::protobuf::Descriptor& type);
  // One slice; the response is complete after kDone.
  template <typename Response>
  absl::StatusOr<Progress> Advance(const RequestRun& run, Response& response);
  std::size_t num_documents() const { return documents_.size(); }

 private:
  absl::Status CheckTexts() const;

  const ServerParts& parts_;
  std::vector<NewDocument> documents_;
  bool checked_ = false;
  PutState progress_;
  PutResult result_;
};

class PutWork final : public RequestWork {
 public:
  explicit PutWork(const ServerParts& parts) : parts_(parts), steps_(parts) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  // Writing to the store may block.
  WorkerPool* pool() const override { return parts_.workers; }

 private:
  const ServerParts& parts_;
  PutSteps steps_;
  v1::PutDocumentsResponse response_;
};

// One message of a PutDocumentsStream.
class StreamedPutWork final : public RequestWork {
 public:
  // `num_before` counts the documents of the stream's messages before this one;
  // the work adds its own.
  StreamedPutWork(const ServerParts& parts, std::uint64_t& num_before)
      : parts_(parts), num_before_(num_before), steps_(parts) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  WorkerPool* pool() const override { return parts_.workers; }

 private:
  const ServerParts& parts_;
  std::uint64_t& num_before_;
  PutSteps steps_;
  v1::PutDocumentsStreamResponse response_;
};

// The keys of a request, read in place: numbers, then names.
class DocumentKeys {
 public:
  // The names of the two fields, for errors.
  DocumentKeys(std::string_view ids_field, std::string_view names_field)
      : ids_field_(ids_field), names_field_(names_field) {}

  void AppendIds(WireReader& reader) { reader.Append(ids_); }
  void AppendNames(WireReader& reader) { reader.Append(names_); }

  std::size_t size() const { return ids_.size() + names_.size(); }
  // INVALID_UTF8 of one of the names.
  absl::Status CheckNames() const;
  std::vector<DocumentKeyView> Views() const;
  // DOCUMENT_NOT_FOUND for key i.
  ItemProblem NotFound(std::size_t i) const;

 private:
  const std::string_view ids_field_;
  const std::string_view names_field_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::string_view> names_;
};

class GetWork final : public RequestWork {
 public:
  explicit GetWork(const ServerParts& parts) : parts_(parts) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  absl::Status CheckVectors(const ModelRefView& model,
                            std::int32_t encoding) const;
  // Adds the documents, and their vectors to `rows`.
  void AddDocuments(std::vector<float>& rows);

  const ServerParts& parts_;
  DocumentKeys keys_{"ids", "document_ids"};
  bool with_payloads_ = false;
  bool with_vectors_ = false;
  v1::VectorEncoding encoding_ = v1::VECTOR_ENCODING_FLOAT32;
  DocumentCatalog::Snapshot snapshot_;
  v1::GetDocumentsResponse response_;
};

class DeleteWork final : public RequestWork {
 public:
  explicit DeleteWork(const ServerParts& parts) : parts_(parts) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }
  // Writing to the store may block.
  WorkerPool* pool() const override { return parts_.workers; }

 private:
  const ServerParts& parts_;
  DocumentKeys keys_{"ids", "document_ids"};
  v1::DeleteDocumentsResponse response_;
};

class SearchWork final : public RequestWork {
 public:
  explicit SearchWork(const ServerParts& parts) : parts_(parts) {}

  // Size: what the catalog's scan costs (CatalogSearcher). Excluded keys are
  // bounded like texts and cost nothing.
  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> Advance(const RequestRun& run) override;
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  absl::Status ReadMessage(std::string_view bytes);
  void AddHits();

  const ServerParts& parts_;
  DocumentKeys excluded_keys_{"exclude_ids", "exclude_document_ids"};
  std::vector<DocumentKeyView> excluded_;
  bool with_titles_ = false;
  bool with_payloads_ = false;
  SearchInput input_;
  bool begun_ = false;
  SearchResult result_;
  SearchState progress_;
  v1::SearchDocumentsResponse response_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_CATALOG_WORK_H_
