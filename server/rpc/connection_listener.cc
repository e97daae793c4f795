#include "server/rpc/connection_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "server/auth/caller_name.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// One thread waits with epoll for three kinds of events: a request of the owner
// (eventfd), a listening socket with connections, and the end of an accepted
// connection. gRPC owns the accepted descriptor and closes it without notice,
// so the listener watches a duplicate of it. shutdown(2) and a reset concern
// the socket, not a descriptor, hence the duplicate reports EPOLLHUP when gRPC
// ends the connection.

// A limit, so that ends of connections are noticed among many new ones.
constexpr int kMaxAcceptsAtOnce = 64;
constexpr std::chrono::milliseconds kPauseTime(100);

// epoll returns 64 bits of the caller's with each event: here a kind and, below
// it, a descriptor.
enum class Kind : std::uint64_t { kWake, kListener, kConnection };
std::uint64_t Source(Kind kind, int fd) {
  return (static_cast<std::uint64_t>(kind) << 32) |
         static_cast<std::uint32_t>(fd);
}

bool Watch(int epoll, int operation, int fd, Kind kind, std::uint32_t events) {
  epoll_event event = {.events = events, .data = {.u64 = Source(kind, fd)}};
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

// accept(2) passes network errors of the new connection on to the caller; Linux
// wants them treated like EAGAIN. All others mean that accepting is not
// possible at the moment, and to try again at once would be a busy loop.
bool ConcernsOneConnection(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPERM:  // a firewall
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Listen(
    const std::string& address, ConnectionCount* count) {
  SEMRANK_ASSIGN_OR_RETURN(ListeningSockets listening, ListenAt(address));
  FileDescriptor epoll = FileDescriptor::Own(epoll_create1(EPOLL_CLOEXEC), "");
  if (epoll.get() < 0) return ErrnoStatus(errno, "epoll_create", address);
  FileDescriptor wake =
      FileDescriptor::Own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "");
  if (wake.get() < 0) return ErrnoStatus(errno, "eventfd", address);
  Watch(epoll.get(), EPOLL_CTL_ADD, wake.get(), Kind::kWake, EPOLLIN);
  std::unique_ptr<ConnectionListener> listener(new ConnectionListener(
      std::move(listening), std::move(epoll), std::move(wake), count));
  listener->WatchListeners(EPOLL_CTL_ADD, EPOLLIN);
  return listener;
}

ConnectionListener::ConnectionListener(ListeningSockets listening,
                                       FileDescriptor epoll,
                                       FileDescriptor wake,
                                       ConnectionCount* count)
    : listening_(std::move(listening)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      count_(count) {}

// The thread is joined first: kept_ belongs to it.
ConnectionListener::~ConnectionListener() {
  if (thread_.joinable()) {
    Ask(Asked::kEnd);
    thread_.join();
  }
  transfer_.reset();
  for (const int kept : kept_) {
    close(kept);
    count_->Leave(callers_[kept]);
  }
}

void ConnectionListener::Start(SocketTransfer::Accept accept,
                               std::unique_ptr<MemoryWatchdog> watchdog) {
  transfer_ = std::make_unique<SocketTransfer>(std::move(accept));
  watchdog_ = std::move(watchdog);
  thread_ = std::thread([this] { Run(); });
}

// The thread closes the sockets, because it may be about to accept from them.
// Once the latch is down, nothing is transferred.
void ConnectionListener::StopListening() {
  if (!thread_.joinable()) return listening_.sockets.clear();
  Ask(Asked::kStopListening);
  closed_.wait();
}

void ConnectionListener::ResetAllAt(
    std::chrono::steady_clock::time_point time) {
  reset_time_ = time;
  eventfd_write(wake_.get(), 1);
}

void ConnectionListener::Ask(Asked what) {
  // The store comes before the wake-up, so the thread that wakes up sees it.
  asked_ = what;
  eventfd_write(wake_.get(), 1);
}

void ConnectionListener::Run() {
  std::array<epoll_event, kMaxAcceptsAtOnce> events;
  for (;;) {
    const int count =
        epoll_wait(epoll_.get(), events.data(), events.size(), MillisToWait());
    if (asked_ == Asked::kEnd) return;
    ResumeIfTime();
    for (int i = 0; i < count; ++i) {
      Handle(events[i].data.u64, events[i].events);
    }
    ResetIfStuck();
    ResetAllIfTime();
    if (watchdog_ != nullptr) CloseFloods();
    // This comes after the events, which may name the listening sockets.
    if (asked_ == Asked::kStopListening) CloseListeners();
  }
}

void ConnectionListener::CloseListeners() {
  if (listening_.sockets.empty()) return;
  listening_.sockets.clear();
  resume_time_.reset();
  transfer_->Stop();
  closed_.count_down();
}

void ConnectionListener::Handle(std::uint64_t source, std::uint32_t events) {
  const int fd = static_cast<int>(source & 0xffffffff);
  switch (static_cast<Kind>(source >> 32)) {
    case Kind::kWake: {
      eventfd_t unused;
      // Resets the counter; otherwise epoll would report it again and again.
      eventfd_read(fd, &unused);
      return;
    }
    // The sockets are level-triggered: what is not accepted is reported once
    // more.
    case Kind::kListener:
      return AcceptSome(fd);
    case Kind::kConnection:
      if ((events & EPOLLHUP) != 0) Remove(fd);
      return;
  }
}

void ConnectionListener::AcceptSome(int listener) {
  for (int i = 0; i < kMaxAcceptsAtOnce && !resume_time_.has_value(); ++i) {
    const int fd =
        accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Register(fd);
    } else if (errno == EAGAIN) {
      return;
    } else if (!ConcernsOneConnection(errno)) {
      Pause(errno);
    }
  }
}

void ConnectionListener::Register(int fd) {
  // Probes connect and reset at once. gRPC asks for the peer's address too, and
  // would log an error for each of them.
  std::string caller =
      CallerName(/*access=*/nullptr, /*authorization=*/"", PeerOf(fd));
  if (caller.empty()) {
    close(fd);
    return;
  }
  if (!count_->Enter(caller)) {
    close(fd);
    Warn(absl::StrFormat(
        "a connection of %s to %s was refused: %s connections are open, and "
        "either --max_connections or the share of this address "
        "(--max_share_per_caller) is reached",
        caller, address(), GroupDigits(count_->num_open())));
    return;
  }
  const int kept = KeepAndWatch(fd);
  if (kept < 0) {
    const int error = errno;
    count_->Leave(caller);
    close(fd);
    return Pause(error);
  }
  kept_.insert(kept);
  callers_[kept] = std::move(caller);
  transfer_->Add(fd, kept);
}

int ConnectionListener::KeepAndWatch(int fd) const {
  const int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (kept < 0) return kept;
  // Hang-ups and errors are reported without being asked for; edges, so that an
  // error that is not the end is reported once.
  if (Watch(epoll_.get(), EPOLL_CTL_ADD, kept, Kind::kConnection, EPOLLET)) {
    return kept;
  }
  const int error = errno;
  close(kept);
  errno = error;
  return -1;
}

void ConnectionListener::Remove(int kept) {
  transfer_->Remove(kept);
  // While the other descriptor is open, closing this one does not end the
  // watch.
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, kept, nullptr);
  close(kept);
  kept_.erase(kept);
  count_->Leave(callers_[kept]);
  callers_.erase(kept);
}

void ConnectionListener::ResetIfStuck() {
  if (!transfer_->ResetIfStuck()) return;
  Warn(absl::StrFormat(
      "a connection to %s was closed: it sent without a pause for %d ms while "
      "other connections waited to be accepted",
      address(), SocketTransfer::kMaxTime.count()));
}

void ConnectionListener::ResetAllIfTime() {
  if (std::chrono::steady_clock::now() < reset_time_.load()) return;
  reset_time_ = kNever;
  for (const int kept : kept_) ResetConnection(kept);
}

void ConnectionListener::CloseFloods() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + MemoryWatchdog::kInterval;
  for (const int kept : watchdog_->Choose(kept_)) {
    count_->CountFlood();
    ResetConnection(kept);
    Warn(absl::StrFormat(
        "a connection to %s was closed: the server needs more than %s bytes of "
        "memory (--max_memory_bytes), and it brought the most",
        address(), GroupDigits(watchdog_->limit_bytes())));
  }
}

void ConnectionListener::Pause(int error) {
  count_->CountAcceptFailure();
  // Without this, epoll would report the waiting connections again and again.
  WatchListeners(EPOLL_CTL_MOD, 0);
  resume_time_ = std::chrono::steady_clock::now() + kPauseTime;
  Warn(absl::StrFormat("cannot accept connections to %s, they wait: %s",
                       address(), std::generic_category().message(error)));
}

void ConnectionListener::ResumeIfTime() {
  if (!resume_time_.has_value() ||
      std::chrono::steady_clock::now() < *resume_time_) {
    return;
  }
  resume_time_.reset();
  WatchListeners(EPOLL_CTL_MOD, EPOLLIN);
}

int ConnectionListener::MillisToWait() const {
  const auto now = std::chrono::steady_clock::now();
  auto wake = std::min(resume_time_.value_or(kNever), reset_time_.load());
  if (watchdog_ != nullptr) wake = std::min(wake, next_look_);
  if (transfer_->busy()) wake = std::min(wake, now + kPauseTime);
  if (wake == kNever) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - now);
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void ConnectionListener::WatchListeners(int operation,
                                        std::uint32_t events) const {
  for (const FileDescriptor& socket : listening_.sockets) {
    Watch(epoll_.get(), operation, socket.get(), Kind::kListener, events);
  }
}

void ConnectionListener::Warn(const std::string& message) {
  Log(LogLevel::kWarning, message, log_);
}

}  // namespace semrank
