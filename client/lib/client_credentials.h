// How a client knows its server, and shows who it is itself.
#ifndef SEMRANK_CLIENT_LIB_CLIENT_CREDENTIALS_H_
#define SEMRANK_CLIENT_LIB_CLIENT_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace semrank {

// PEM texts and a key; all empty = plain text, nobody in particular.
struct ClientCredentials {
  // Who signs the server's certificate; with it the channel is TLS.
  std::string tls_ca = {};
  // The client's own certificate and its key, where the server asks for one.
  std::string tls_cert = {};
  std::string tls_key = {};
  // Sent with each call as "authorization: Bearer KEY". Over plain text it can
  // be read on the way.
  std::string api_key = {};
};

// Paths of files that hold them; empty = none. An empty api_key_file takes the
// key from the environment variable SEMRANK_API_KEY.
struct CredentialFiles {
  std::string tls_ca = {};
  std::string tls_cert = {};
  std::string tls_key = {};
  std::string api_key_file = {};
};

// The file's error, with its path; blanks around a key are no part of it.
absl::StatusOr<ClientCredentials> ReadCredentials(const CredentialFiles& files);

// InvalidArgument for parts that do not go together and for a key that no
// header can carry. Never repeats a key.
absl::Status CheckCredentials(const ClientCredentials& credentials);

std::shared_ptr<grpc::ChannelCredentials> ToChannelCredentials(
    const ClientCredentials& credentials);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_CLIENT_CREDENTIALS_H_
