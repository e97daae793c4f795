// The folder of a store on disk: PATH/FORMAT says that it is one and of which
// format, PATH/rocksdb is the database. A folder with anything else in it is
// refused and never written to.
//
//   Errors   FailedPrecondition for files of others or another format; else the
//            system's, with the name.
#ifndef SEMRANK_SERVER_STORES_STORE_FOLDER_H_
#define SEMRANK_SERVER_STORES_STORE_FOLDER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// The database's folder in `path`. When there is none, `create(folder)` makes
// one under another name, which is renamed once it is whole: a start that is
// killed leaves nothing that looks damaged. Makes `path` too, whose parent must
// exist. FailedPrecondition: files of others, or another format.
absl::StatusOr<std::string> StoreFolder(
    const std::string& path,
    const std::function<absl::Status(const std::string& folder)>& create);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_STORE_FOLDER_H_
