// Ids that nobody can guess. A process that forks without exec shares some with
// its child.
#ifndef SEMRANK_MODEL_BASE_RANDOM_ID_H_
#define SEMRANK_MODEL_BASE_RANDOM_ID_H_

#include <string>

namespace semrank {

// 128 bits from the kernel's random generator as 22 characters of base64url.
std::string MakeRandomId();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_RANDOM_ID_H_
