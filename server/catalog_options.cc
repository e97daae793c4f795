#include "server/catalog_options.h"

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/option_checks.h"

ABSL_FLAG(std::int64_t, max_catalog_documents,
          semrank::CatalogOptions().max_documents,
          "Documents that the catalog holds in memory; further ones are "
          "RESOURCE_EXHAUSTED. With vectors of 128 numbers a million takes "
          "about 600 MB and its own text.");
ABSL_FLAG(std::int64_t, max_document_id_bytes,
          semrank::Limits().max_document_id_bytes,
          "Bytes of one document_id; more are INVALID_ARGUMENT for it.");
ABSL_FLAG(std::int64_t, max_payload_bytes, semrank::Limits().max_payload_bytes,
          "Bytes of one document's payload; more are INVALID_ARGUMENT for it.");
ABSL_FLAG(std::int64_t, max_top_k, semrank::Limits().max_top_k,
          "Documents that one search of the catalog returns; more are "
          "INVALID_ARGUMENT.");

namespace semrank {

CatalogOptions CatalogOptionsFromFlags(Limits& limits) {
  limits.max_document_id_bytes = absl::GetFlag(FLAGS_max_document_id_bytes);
  limits.max_payload_bytes = absl::GetFlag(FLAGS_max_payload_bytes);
  limits.max_top_k = absl::GetFlag(FLAGS_max_top_k);
  return {.max_documents = absl::GetFlag(FLAGS_max_catalog_documents)};
}

absl::Status ValidateCatalogOptions(const CatalogOptions& options,
                                    const Limits& limits) {
  constexpr std::int64_t kMaxDocuments = std::int64_t{64} << 20;
  constexpr std::int64_t kMaxBytes = 1 << 20;
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_catalog_documents",
                                     options.max_documents, 0, kMaxDocuments));
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "max_document_id_bytes", limits.max_document_id_bytes, 1, kMaxBytes));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("max_payload_bytes", limits.max_payload_bytes, 0, kMaxBytes));
  return CheckRange("max_top_k", limits.max_top_k, 1, 1'000'000);
}

std::string DescribeCatalogOptions(const CatalogOptions& options,
                                   const Limits& limits) {
  return absl::StrFormat(
      "max_catalog_documents=%d\nmax_document_id_bytes=%d\n"
      "max_payload_bytes=%d\nmax_top_k=%d\n",
      options.max_documents, limits.max_document_id_bytes,
      limits.max_payload_bytes, limits.max_top_k);
}

}  // namespace semrank
