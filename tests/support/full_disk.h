// While it lives, writes to files beyond a number of bytes fail as on a full
// disk.
#ifndef SEMRANK_TESTS_SUPPORT_FULL_DISK_H_
#define SEMRANK_TESTS_SUPPORT_FULL_DISK_H_

#include <signal.h>
#include <sys/resource.h>

namespace semrank {

class FullDisk {
 public:
  explicit FullDisk(rlim_t max_file_bytes) {
    old_handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {max_file_bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  sighandler_t old_handler_;
  rlimit old_limit_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_FULL_DISK_H_
