// What a fuzzer promises about every input: FUZZ_CHECK(condition) stops the
// process with the place and the condition, in every build type.
#ifndef SEMRANK_TESTS_FUZZ_FUZZ_CHECK_H_
#define SEMRANK_TESTS_FUZZ_FUZZ_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define FUZZ_CHECK(condition)                                                 \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, \
                   #condition);                                               \
      std::abort();                                                           \
    }                                                                         \
  } while (false)

#endif  // SEMRANK_TESTS_FUZZ_FUZZ_CHECK_H_
