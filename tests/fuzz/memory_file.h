// A file in memory, for readers that take a path.
#ifndef SEMRANK_TESTS_FUZZ_MEMORY_FILE_H_
#define SEMRANK_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_check.h"

namespace semrank {

class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    FUZZ_CHECK(fd_ >= 0);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // In place of what it held.
  void Write(std::string_view content) const {
    FUZZ_CHECK(ftruncate(fd_, 0) == 0);
    FUZZ_CHECK(pwrite(fd_, content.data(), content.size(), 0) ==
               static_cast<ssize_t>(content.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_FUZZ_MEMORY_FILE_H_
