#include "server/auth/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_certificates.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    certificates_.Make("one");
    certificates_.Make("two");
  }
  TlsFiles Files(const std::string& cert, const std::string& key) const {
    return {certificates_.Cert(cert), certificates_.Key(key),
            certificates_.ca()};
  }

  const TestCertificates certificates_;
};

TEST_F(TlsFilesTest, AMatchingPairIsRead) {
  ASSERT_OK_AND_ASSIGN(const TlsContent content,
                       ReadTlsFiles(Files("one", "one")));
  EXPECT_THAT(content.cert, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(content.key, HasSubstr("PRIVATE KEY"));
  EXPECT_THAT(content.client_ca, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_GT(content.cert_expiry, absl::Now());
  EXPECT_LT(content.cert_expiry, absl::Now() + absl::Hours(24 * 365 * 20));
}

TEST_F(TlsFilesTest, FilesMayBeginWithAByteOrderMark) {
  const TlsFiles plain = Files("one", "one");
  const auto marked = [this](const std::string& path) {
    return certificates_.dir().Write(
        "marked." + path.substr(path.size() - 6),
        "\xef\xbb\xbf" + TestCertificates::Content(path));
  };
  ASSERT_OK_AND_ASSIGN(const TlsContent content,
                       ReadTlsFiles({marked(plain.cert), marked(plain.key),
                                     marked(plain.client_ca)}));
  EXPECT_THAT(content.cert, ::testing::StartsWith("-----BEGIN"));
}

TEST_F(TlsFilesTest, APairHalfOldHalfNewIsRefused) {
  EXPECT_THAT(
      ReadTlsFiles(Files("one", "two")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("two.key"), HasSubstr("not the key of"))));
}

TEST_F(TlsFilesTest, WhatIsNoPemIsRefusedByFileAndWithoutItsContent) {
  const std::string junk = certificates_.dir().Write("junk", "secret words");
  const TlsFiles good = Files("one", "one");
  for (const TlsFiles& files :
       {TlsFiles{junk, good.key, good.client_ca},
        TlsFiles{good.cert, junk, good.client_ca},
        TlsFiles{good.cert, good.key, junk},
        TlsFiles{good.cert, good.cert, good.client_ca}}) {
    EXPECT_THAT(ReadTlsFiles(files),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("PEM"), Not(HasSubstr("words")))));
  }
  EXPECT_THAT(ReadTlsFiles({good.cert, "/none.key"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none.key")));
}

TEST_F(TlsFilesTest, RenewedFilesBecomeCurrentAndBadOnesAreReportedOnce) {
  const TlsFiles files = Files("one", "one");
  ASSERT_OK_AND_ASSIGN(const auto certificates,
                       TlsCertificates::FromFiles(files));
  EXPECT_TRUE(certificates->asks_clients());
  const auto before = certificates->current();
  EXPECT_FALSE(certificates->Refresh().value());
  EXPECT_EQ(certificates->current(), before);

  certificates_.Make("one");
  EXPECT_TRUE(certificates->Refresh().value());
  const auto renewed = certificates->current();
  EXPECT_NE(renewed->cert, before->cert);

  certificates_.dir().Write("one.key", before->key);
  EXPECT_THAT(
      certificates->Refresh(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(files.key)));
  EXPECT_FALSE(certificates->Refresh().value());
  EXPECT_EQ(certificates->current(), renewed);
}

}  // namespace
}  // namespace semrank
