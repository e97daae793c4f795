// How much the catalog of documents known by id may hold.
#ifndef SEMRANK_SERVER_CATALOG_OPTIONS_H_
#define SEMRANK_SERVER_CATALOG_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/base/limits.h"

namespace semrank {

struct CatalogOptions {
  std::int64_t max_documents = 10'000'000;
};

// From flags; those of the catalog's limits go into `limits`.
CatalogOptions CatalogOptionsFromFlags(Limits& limits);

// FlagError naming the flag.
absl::Status ValidateCatalogOptions(const CatalogOptions& options,
                                    const Limits& limits);

// "name=value" a line, as --flagfile takes it.
std::string DescribeCatalogOptions(const CatalogOptions& options,
                                   const Limits& limits);

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_OPTIONS_H_
