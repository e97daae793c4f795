// The program that the tests of this folder start.
#ifndef SEMRANK_TESTS_INTEGRATION_SERVER_PROGRAM_H_
#define SEMRANK_TESTS_INTEGRATION_SERVER_PROGRAM_H_

#include <string>

namespace semrank {

inline const std::string kServer = SEMRANK_BINARY_DIR "/semrank-server";

}  // namespace semrank

#endif  // SEMRANK_TESTS_INTEGRATION_SERVER_PROGRAM_H_
