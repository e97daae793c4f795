// Reads one version folder, wherever it stands: a published one, or one that
// is about to be.
//
//   Threads  free functions, from any thread.
#ifndef SEMRANK_MODEL_FORMAT_VERSION_READER_H_
#define SEMRANK_MODEL_FORMAT_VERSION_READER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// Ok when the folder's manifest can be read and parsed. NotFound: there is
// none. DataLoss: damaged. FailedPrecondition: of a newer format.
absl::Status CheckManifestOf(const std::string& folder);

// The model in `folder`, checked in full; `version` gets its identity here.
// Errors as LoadModel.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ReadVersion(
    const std::string& folder, ModelVersion version);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_VERSION_READER_H_
