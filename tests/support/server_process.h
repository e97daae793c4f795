// A real semrank-server on free ports, in a process of its own.
#ifndef SEMRANK_TESTS_SUPPORT_SERVER_PROCESS_H_
#define SEMRANK_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace semrank {

class ServerProcess {
 public:
  // Starts `program` with port 0 for both addresses and these flags, and waits
  // for its ready line. Aborts when there is none.
  ServerProcess(const std::string& program,
                const std::vector<std::string>& flags);
  // Waits only until it listens, which it says in its log: for a server that
  // cannot be ready yet.
  static std::unique_ptr<ServerProcess> StartListening(
      const std::string& program, const std::vector<std::string>& flags);
  // Kills it if it still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // HOST:PORT, out of that line.
  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& http_address() const { return http_address_; }
  // Empty without --health_address.
  const std::string& health_address() const { return health_address_; }
  pid_t pid() const { return pid_; }

  void Signal(int signal_number) const;
  // Waits for the end: exit code, or 128 + signal.
  int Wait();

 private:
  ServerProcess() = default;
  // Starts it with this descriptor for `stream`.
  void Start(const std::string& program, const std::vector<std::string>& flags,
             int stream, int fd);
  // Aborts when `line` has no addresses.
  void TakeAddresses(const std::string& program, const std::string& line);

  pid_t pid_ = -1;
  std::string grpc_address_;
  std::string http_address_;
  std::string health_address_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_SERVER_PROCESS_H_
