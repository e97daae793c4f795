// How RocksDB is set up for a document store: bounded memory, bounded vectors,
// and no damage passed over in silence.
#ifndef SEMRANK_SERVER_STORES_ROCKSDB_OPTIONS_H_
#define SEMRANK_SERVER_STORES_ROCKSDB_OPTIONS_H_

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <vector>

namespace semrank {

// `create`: make a new database, where there must be none; otherwise open the
// one that is there, and never make one.
rocksdb::DBOptions DatabaseOptions(bool create);

// Of everything else, of the vectors and of the documents, in this order; they
// share one cache. Beyond `max_vector_bytes` the oldest vectors leave.
std::vector<rocksdb::ColumnFamilyDescriptor> StoreFamilies(
    std::int64_t max_vector_bytes);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_ROCKSDB_OPTIONS_H_
