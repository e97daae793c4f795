#include "model/redis/redis_client.h"

#include <netdb.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

// hiredis formats commands and parses replies. Its own blocking functions limit
// each read, not a call: a server that sends a byte now and then would hold a
// caller for ever. So the sockets do not block, and Wait, the only function
// that does, gets the deadline of the whole call.
namespace semrank {
namespace {

absl::Status TooLarge() {
  return absl::UnavailableError(
      "what it answers is larger than what was asked for");
}

}  // namespace

absl::Status UnexpectedReply() {
  return absl::UnavailableError("what it answers does not fit the question");
}

absl::Status RedisError(const redisReply& reply) {
  const std::string_view message = TextOf(reply);
  const auto begins_with = [&](std::initializer_list<std::string_view> codes) {
    for (const std::string_view code : codes) {
      if (message.starts_with(code)) return true;
    }
    return false;
  };
  // By default Unavailable, which callers retry: LOADING, READONLY and
  // CLUSTERDOWN pass.
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  if (begins_with({"WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH",
                   "ERR invalid password"})) {
    code = absl::StatusCode::kPermissionDenied;
  } else if (begins_with({"OOM"})) {
    code = absl::StatusCode::kResourceExhausted;
  }
  return {code, std::string(message)};
}

RedisConnection::RedisConnection(redisContext* context, std::string address)
    : context_(context),
      address_(std::move(address)),
      functions_(*context->reader->fn),
      create_array_(functions_.createArray) {
  // hiredis allocates an array when its length arrives, whatever that is.
  // CreateArray can refuse it.
  // The reader has only a pointer to the table of functions, which is shared by
  // all connections of the process; this one gets a copy.
  functions_.createArray = &CreateArray;
  context->reader->fn = &functions_;
  context->reader->privdata = this;
}

void* RedisConnection::CreateArray(const redisReadTask* task,
                                   int num_elements) {
  auto& connection = *static_cast<RedisConnection*>(task->privdata);
  const auto wanted = static_cast<std::size_t>(std::max(num_elements, 0));
  // hiredis then reports that it is out of memory.
  if (wanted > connection.left_.max_elements) return nullptr;
  connection.left_.max_elements -= wanted;
  return connection.create_array_(task, num_elements);
}

absl::StatusOr<std::unique_ptr<RedisConnection>> RedisConnection::Connect(
    const RedisUrl& url, const std::string& address, Deadline deadline,
    RedisTls* tls) {
  redisContext* const context = redisConnectNonBlock(address.c_str(), url.port);
  if (context == nullptr) {
    return absl::ResourceExhaustedError("no memory for a connection");
  }
  std::unique_ptr<RedisConnection> connection(
      new RedisConnection(context, address));
  if (context->err != 0) return connection->Broken();
  SEMRANK_RETURN_IF_ERROR(connection->Wait(POLLOUT, deadline));
  // A non-blocking connect ends when the socket becomes writable; SO_ERROR has
  // its result.
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(context->fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return absl::UnavailableError(std::strerror(error));
  if (tls != nullptr) {
    SEMRANK_ASSIGN_OR_RETURN(connection->tls_,
                             tls->NewSession(context->fd, url.host));
  }
  SEMRANK_RETURN_IF_ERROR(connection->LogIn(url, deadline));
  return connection;
}

// Sends both commands together, in one round trip.
absl::Status RedisConnection::LogIn(const RedisUrl& url, Deadline deadline) {
  const std::string db = std::to_string(url.db);
  std::vector<RedisCommand> commands;
  if (!url.user.empty()) {
    commands.push_back({"AUTH", url.user, url.password});
  } else if (!url.password.empty()) {
    commands.push_back({"AUTH", url.password});
  }
  if (url.db != 0) commands.push_back({"SELECT", db});
  return Call(commands, deadline).status();
}

absl::StatusOr<std::vector<RedisReply>> RedisConnection::Call(
    std::span<const RedisCommand> commands, Deadline deadline,
    const ReplyLimits& limits) {
  // Until all replies are read, nothing else may be sent.
  usable_ = false;
  std::vector<const char*> arguments;
  std::vector<std::size_t> sizes;
  for (const RedisCommand& command : commands) {
    arguments.clear();
    sizes.clear();
    for (const std::string_view argument : command) {
      arguments.push_back(argument.data());
      sizes.push_back(argument.size());
    }
    // Only appends to a buffer; Send sends all commands together.
    if (redisAppendCommandArgv(context_.get(),
                               static_cast<int>(arguments.size()),
                               arguments.data(), sizes.data()) != REDIS_OK) {
      return Broken();
    }
  }
  SEMRANK_RETURN_IF_ERROR(Send(deadline));
  std::vector<RedisReply> replies;
  absl::Status status;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    // Each reply has its own limits.
    left_ = limits;
    SEMRANK_ASSIGN_OR_RETURN(RedisReply reply, Receive(deadline));
    if (reply->type == REDIS_REPLY_ERROR) {
      status.Update(RedisError(*reply));
      // After a failover the old master may stay there as a replica of the new
      // one, and keeps its connections.
      is_replica_ |= TextOf(*reply).starts_with("READONLY");
    }
    replies.push_back(std::move(reply));
  }
  // After an error of one command the connection can be used again, because all
  // replies have been read.
  usable_ = !is_replica_;
  SEMRANK_RETURN_IF_ERROR(status);
  return replies;
}

absl::Status RedisConnection::Send(Deadline deadline) {
  if (tls_ != nullptr) return SendTls(deadline);
  for (;;) {
    int done = 0;
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return Broken();
    if (done != 0) return absl::OkStatus();
    SEMRANK_RETURN_IF_ERROR(Wait(POLLOUT, deadline));
  }
}

absl::StatusOr<RedisReply> RedisConnection::Receive(Deadline deadline) {
  for (;;) {
    void* reply = nullptr;
    if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) {
      if (context_->reader->err == REDIS_ERR_OOM) return TooLarge();
      return absl::UnavailableError(absl::StrFormat(
          "what it answers is not Redis: %s", context_->reader->errstr));
    }
    if (reply != nullptr) return RedisReply(static_cast<redisReply*>(reply));
    const std::size_t size_before = context_->reader->len;
    SEMRANK_RETURN_IF_ERROR(Read(deadline));
    const std::size_t num_read = context_->reader->len - size_before;
    // Counts the bytes received, all of which the parser keeps until the reply
    // is complete.
    if (num_read > left_.max_bytes) return TooLarge();
    left_.max_bytes -= num_read;
  }
}

absl::Status RedisConnection::Read(Deadline deadline) {
  if (tls_ != nullptr) return ReadTls(deadline);
  SEMRANK_RETURN_IF_ERROR(Wait(POLLIN, deadline));
  return redisBufferRead(context_.get()) == REDIS_OK ? absl::OkStatus()
                                                     : Broken();
}

// The first write makes the handshake, too.
absl::Status RedisConnection::SendTls(Deadline deadline) {
  std::string_view rest(context_->obuf, sdslen(context_->obuf));
  while (!rest.empty()) {
    ERR_clear_error();
    const int size =
        static_cast<int>(std::min<std::size_t>(rest.size(), INT_MAX));
    const int written = SSL_write(tls_.get(), rest.data(), size);
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else {
      SEMRANK_RETURN_IF_ERROR(WaitTls(written, deadline));
    }
  }
  sdsclear(context_->obuf);
  return absl::OkStatus();
}

// Reads before it waits: decrypted bytes may be in the session, of which the
// socket knows nothing.
absl::Status RedisConnection::ReadTls(Deadline deadline) {
  std::array<char, 16'384> bytes;
  for (;;) {
    ERR_clear_error();
    const int count =
        SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (count > 0) {
      return redisReaderFeed(context_->reader, bytes.data(),
                             static_cast<std::size_t>(count)) == REDIS_OK
                 ? absl::OkStatus()
                 : TooLarge();
    }
    SEMRANK_RETURN_IF_ERROR(WaitTls(count, deadline));
  }
}

absl::Status RedisConnection::WaitTls(int result, Deadline deadline) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Wait(POLLIN, deadline);
    case SSL_ERROR_WANT_WRITE:
      return Wait(POLLOUT, deadline);
    case SSL_ERROR_SSL:
      return absl::UnavailableError(TlsErrorText(*tls_));
    default:
      // The other side has ended or reset the connection.
      ERR_clear_error();
      tls_closed_ = true;
      return absl::UnavailableError("Server closed the connection");
  }
}

// The only function that blocks: the socket itself does not, so one deadline
// limits a whole call.
absl::Status RedisConnection::Wait(short events, Deadline deadline) {
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left);
    pollfd event = {.fd = context_->fd, .events = events, .revents = 0};
    const int count = left <= left.zero()
                          ? 0
                          : poll(&event, 1, static_cast<int>(wait.count()));
    if (count > 0) return absl::OkStatus();
    if (count == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) return absl::UnavailableError(std::strerror(errno));
  }
}

absl::Status RedisConnection::Broken() const {
  return absl::UnavailableError(context_->errstr);
}

std::string FirstAddress(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  // Without it, each address is listed once for each kind of socket.
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return "";
  std::array<char, NI_MAXHOST> text = {};
  const int error = getnameinfo(list->ai_addr, list->ai_addrlen, text.data(),
                                text.size(), nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(list);
  return error == 0 ? text.data() : "";
}

void RedisPool::LookUpAddress() {
  {
    // Before the look-up: a call that fails during it needs another one.
    MutexLock lock(mutex_);
    has_failed_ = false;
  }
  std::string found = resolve_(url_.host);
  MutexLock lock(mutex_);
  if (found.empty() || found == address_) return;
  address_ = std::move(found);
  idle_.clear();
}

bool RedisPool::LookUpAfterFailure() {
  {
    MutexLock lock(mutex_);
    if (!has_failed_) return false;
  }
  LookUpAddress();
  return true;
}

absl::Status RedisPool::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  return {status.code(), absl::StrFormat("%s: %s", name_, status.message())};
}

absl::StatusOr<std::vector<RedisReply>> RedisPool::Call(
    std::span<const RedisCommand> commands, Deadline deadline,
    const ReplyLimits& limits) {
  Replies replies = TryCall(commands, deadline, limits);
  if (replies.ok()) return replies;
  if (absl::IsUnavailable(replies.status()) ||
      absl::IsDeadlineExceeded(replies.status())) {
    MutexLock lock(mutex_);
    has_failed_ = true;
  }
  return Named(replies.status());
}

RedisPool::Replies RedisPool::TryCall(std::span<const RedisCommand> commands,
                                      Deadline deadline,
                                      const ReplyLimits& limits) {
  SEMRANK_ASSIGN_OR_RETURN(ConnectionPtr connection, Take(deadline));
  if (connection != nullptr) {
    Replies replies = connection->Call(commands, deadline, limits);
    // Servers close idle connections. Then the commands are sent again on a new
    // connection; all of them may be executed twice. An invalid reply or one
    // that is too large would only come again.
    if (!connection->should_reconnect()) {
      Return(std::move(connection));
      return replies;
    }
    const MutexLock lock(mutex_);
    // The idle ones have most likely the same fault. Only this attempt is
    // repeated: an error of the fresh connection is the caller's.
    idle_.clear();
  }
  absl::StatusOr<ConnectionPtr> fresh = Connect(deadline);
  if (!fresh.ok()) {
    // Frees the place that Take has reserved.
    Return(nullptr);
    return fresh.status();
  }
  Replies replies = (*fresh)->Call(commands, deadline, limits);
  Return(*std::move(fresh));
  return replies;
}

absl::StatusOr<RedisPool::ConnectionPtr> RedisPool::Connect(
    Deadline deadline) const {
  return RedisConnection::Connect(url_, address(), deadline, tls_.get());
}

// Prefers the connection that was used last: the others become idle, and the
// server may close them.
absl::StatusOr<RedisPool::ConnectionPtr> RedisPool::Take(Deadline deadline) {
  MutexLock lock(mutex_);
  if (address_.empty()) {
    return absl::UnavailableError("the name of the server has no address");
  }
  while (num_in_use_ == max_connections_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      return absl::DeadlineExceededError("all connections are in use");
    }
    one_is_free_.WaitFor(mutex_, left);
  }
  ++num_in_use_;
  if (idle_.empty()) return nullptr;
  ConnectionPtr connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void RedisPool::Return(ConnectionPtr connection) {
  // An unusable connection is closed here. Its place becomes free, and the next
  // caller opens another one.
  {
    MutexLock lock(mutex_);
    --num_in_use_;
    // LookUpAddress may have found another address during the call.
    if (connection != nullptr && connection->usable() &&
        connection->address() == address_) {
      idle_.push_back(std::move(connection));
    }
  }
  one_is_free_.NotifyOne();
}

// Returns a copy: LookUpAddress may replace the address in the meantime.
std::string RedisPool::address() const {
  MutexLock lock(mutex_);
  return address_;
}

}  // namespace semrank
