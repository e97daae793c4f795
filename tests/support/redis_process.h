// A real redis-server on a free port of this machine, in a process of its own,
// that keeps nothing on disk.
#ifndef SEMRANK_TESTS_SUPPORT_REDIS_PROCESS_H_
#define SEMRANK_TESTS_SUPPORT_REDIS_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace semrank {

class RedisProcess {
 public:
  // Further arguments: "--requirepass", "secret". Aborts when it does not
  // become ready.
  explicit RedisProcess(std::vector<std::string> arguments = {});
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  int port() const { return port_; }
  // "redis://127.0.0.1:PORT".
  std::string url() const;

  void Freeze() const;
  void Thaw() const;
  // Ends it at once; its data is gone.
  void Kill();
  // After Kill: an empty one on the same port.
  void StartAgain();

 private:
  // False when it ended before it was ready, as when the port was taken.
  bool Start();

  const std::vector<std::string> arguments_;
  const TempDir dir_;
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_REDIS_PROCESS_H_
