// Bytes and ids from the kernel's random generator: an attacker cannot guess
// them.
#ifndef SEMRANK_MODEL_BASE_RANDOM_ID_H_
#define SEMRANK_MODEL_BASE_RANDOM_ID_H_

#include <span>
#include <string>

namespace semrank {

// Fills `bytes`, at most 256: for keys and salts.
void FillWithRandomBytes(std::span<unsigned char> bytes);

// 128 bits as 22 characters of base64url. A process that forks without exec
// shares some ids with its child.
std::string MakeRandomId();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_RANDOM_ID_H_
