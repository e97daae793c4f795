// Reads one version folder, published or still being written.
//
//   Errors   NotFound: the folder has no manifest. DataLoss: a file is missing,
//            malformed, or of the wrong size or checksum. FailedPrecondition: a
//            newer format.
#ifndef SEMRANK_MODEL_FORMAT_VERSION_READER_H_
#define SEMRANK_MODEL_FORMAT_VERSION_READER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/format/int8_rows.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

// Ok if the folder's manifest can be read and parsed. Does not open the other
// files.
absl::Status CheckManifestOf(const std::string& folder);

// Reads and verifies the model in `folder`. Sets the identity of `version`.
// Returns Unimplemented for a tower that this release cannot compute.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> ReadVersion(
    const std::string& folder, ModelVersion version);

// Reads and verifies the weights of the version in `folder`, those of int8 as
// float32. Fails as ReadVersion.
absl::StatusOr<OwnedTensors> ReadWeights(const std::string& folder);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_VERSION_READER_H_
