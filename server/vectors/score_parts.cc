#include "server/vectors/score_parts.h"

#include "server/base/errors.h"

namespace semrank {

absl::Status CheckParts(const TwoTowerModel& model, Parts parts) {
  if (parts == Parts::kLexical && model.lexical() == nullptr) {
    return FieldError("INVALID_FIELD", "parts",
                      "the model has no lexical part");
  }
  if (parts == Parts::kSemantic &&
      model.config().tower() == v1::TOWER_KIND_SSI) {
    return FieldError("INVALID_FIELD", "parts",
                      "the parts of an SSI model are no cosines");
  }
  return absl::OkStatus();
}

}  // namespace semrank
