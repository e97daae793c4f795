#include "server/auth/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A bundle of all public CAs has about 200 kB.
constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Free>;

// OpenSSL reads PEM from a BIO. This one reads `pem` in place, which must
// outlive it.
Bio BioOf(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// OpenSSL and gRPC do not find the first block behind a byte order mark.
absl::StatusOr<std::string> ReadPem(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path, kMaxPemBytes));
  return std::string(WithoutByteOrderMark(content));
}

// OpenSSL's queue of errors belongs to the thread: an entry left behind would
// be taken for the failure of a later TLS operation.
absl::Status FileError(const std::string& path, std::string_view reason) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s", path, reason));
}

// An encrypted key is an error: without this callback OpenSSL would ask for the
// password on the terminal and block the start.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/,
               void* /*data*/) {
  return -1;
}

absl::StatusOr<Certificate> FirstCertificate(const std::string& path,
                                             const std::string& pem) {
  Certificate certificate(
      PEM_read_bio_X509(BioOf(pem).get(), nullptr, &NoPassword, nullptr));
  if (certificate == nullptr) return FileError(path, "no PEM certificate");
  return certificate;
}

absl::Time ExpiryOf(const X509& certificate) {
  std::tm utc = {};
  // An unreadable date counts as expired, so that monitoring shows it.
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &utc) != 1) {
    return absl::InfinitePast();
  }
  return absl::FromTM(utc, absl::UTCTimeZone());
}

std::vector<std::string> Paths(const TlsFiles& files) {
  std::vector<std::string> paths = {files.cert, files.key};
  if (!files.client_ca.empty()) paths.push_back(files.client_ca);
  return paths;
}

}  // namespace

absl::StatusOr<TlsContent> ReadTlsFiles(const TlsFiles& files) {
  TlsContent content;
  SEMRANK_ASSIGN_OR_RETURN(content.cert, ReadPem(files.cert));
  SEMRANK_ASSIGN_OR_RETURN(content.key, ReadPem(files.key));
  SEMRANK_ASSIGN_OR_RETURN(const Certificate certificate,
                           FirstCertificate(files.cert, content.cert));
  const PrivateKey key(PEM_read_bio_PrivateKey(BioOf(content.key).get(),
                                               nullptr, &NoPassword, nullptr));
  if (key == nullptr) {
    return FileError(files.key, "no PEM private key without a password");
  }
  // Renewal replaces two files, one after the other. Between the two they do
  // not match; the old pair then stays in use until the next look.
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return FileError(files.key, "not the key of " + files.cert);
  }
  content.cert_expiry = ExpiryOf(*certificate);
  if (files.client_ca.empty()) return content;
  SEMRANK_ASSIGN_OR_RETURN(content.client_ca, ReadPem(files.client_ca));
  // Without any certificate in this file, every client would be refused.
  SEMRANK_RETURN_IF_ERROR(
      FirstCertificate(files.client_ca, content.client_ca).status());
  return content;
}

TlsCertificates::TlsCertificates(const TlsFiles& files)
    : WatchedFiles(Paths(files), [files] { return ReadTlsFiles(files); }),
      asks_clients_(!files.client_ca.empty()) {}

absl::StatusOr<std::unique_ptr<TlsCertificates>> TlsCertificates::FromFiles(
    const TlsFiles& files) {
  std::unique_ptr<TlsCertificates> certificates(new TlsCertificates(files));
  SEMRANK_RETURN_IF_ERROR(certificates->Refresh().status());
  return certificates;
}

}  // namespace semrank
