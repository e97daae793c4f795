#include "model/redis/redis_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Files are read again when they change (Refresh), so that a certificate can be
// renewed while the server runs. A session keeps the context of its start.

// OpenSSL's queue of errors belongs to the thread and is emptied, because an
// entry left behind would be taken for the failure of a later operation.
std::string LastError() {
  std::array<char, 256> text = {};
  ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

absl::Status FileError(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s", path, LastError()));
}

// Without a callback OpenSSL would ask on the terminal for the password of an
// encrypted key.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/,
               void* /*data*/) {
  return -1;
}

std::vector<std::string> Paths(const RedisTlsFiles& files) {
  std::vector<std::string> paths;
  for (const std::string& path : {files.ca, files.cert, files.key}) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

// Certificates name IP addresses in another field than host names, and OpenSSL
// has another function for each.
bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address = {};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

}  // namespace

RedisTls::RedisTls(const RedisTlsFiles& files)
    : context_(Paths(files), [files] { return ReadFiles(files); }) {}

absl::StatusOr<RedisTls::Context> RedisTls::ReadFiles(
    const RedisTlsFiles& files) {
  const Context context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (context == nullptr) return absl::ResourceExhaustedError(LastError());
  SSL_CTX* const handle = context.get();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_passwd_cb(handle, &NoPassword);
  // A call that is repeated may have another buffer.
  SSL_CTX_set_mode(handle, SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Redis may end without notice, and a reply that is cut off is incomplete.
  SSL_CTX_set_options(handle, SSL_OP_IGNORE_UNEXPECTED_EOF);
  if (files.ca.empty()) {
    SSL_CTX_set_default_verify_paths(handle);
  } else if (SSL_CTX_load_verify_locations(handle, files.ca.c_str(), nullptr) !=
             1) {
    return FileError(files.ca);
  }
  if (files.cert.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(handle, files.cert.c_str()) != 1) {
    return FileError(files.cert);
  }
  // Also fails while only one of the two files has been replaced.
  if (SSL_CTX_use_PrivateKey_file(handle, files.key.c_str(),
                                  SSL_FILETYPE_PEM) != 1) {
    return FileError(files.key);
  }
  return context;
}

absl::StatusOr<TlsSession> RedisTls::NewSession(int socket,
                                                const std::string& host) {
  std::shared_ptr<const Context> context;
  {
    const MutexLock lock(refresh_mutex_);
    const absl::Status refreshed = context_.Refresh().status();
    context = context_.current();
    if (context == nullptr) {
      return refreshed.ok()
                 ? absl::UnavailableError("its TLS files could not be read")
                 : refreshed;
    }
  }
  TlsSession session(SSL_new(context->get()));
  if (session == nullptr || SSL_set_fd(session.get(), socket) != 1) {
    return absl::ResourceExhaustedError(LastError());
  }
  // SSL_VERIFY_PEER alone accepts a valid certificate of any other server. The
  // name is also sent (SNI), but never an address: RFC 6066 forbids that.
  SSL_set_connect_state(session.get());
  const bool is_set =
      IsAddress(host)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()),
                                          host.c_str()) == 1
          : SSL_set1_host(session.get(), host.c_str()) == 1 &&
                SSL_set_tlsext_host_name(session.get(), host.c_str()) == 1;
  if (!is_set) return absl::InvalidArgumentError(LastError());
  return session;
}

std::string TlsErrorText(const SSL& session) {
  const std::string text = LastError();
  const long verified = SSL_get_verify_result(&session);
  return verified == X509_V_OK
             ? text
             : absl::StrFormat("its certificate is refused: %s",
                               X509_verify_cert_error_string(verified));
}

}  // namespace semrank
