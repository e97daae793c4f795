#include "model/base/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Only for the secret that XXH3 uses when it is given none.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

Fingerprinter::Secret DefaultSecret() {
  static_assert(sizeof(XXH3_kSecret) == Fingerprinter::kSecretBytes);
  Fingerprinter::Secret secret;
  std::copy_n(XXH3_kSecret, secret.size(), secret.begin());
  return secret;
}

Fingerprinter::Secret CountingSecret() {
  Fingerprinter::Secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = 37 * i + 11;
  return secret;
}

std::string Hex(const Fingerprint& fingerprint) {
  return absl::StrFormat("%016x%016x", fingerprint.hi, fingerprint.lo);
}

// The first `length` bytes of "good good good ...".
std::string Text(std::size_t length) {
  std::string text;
  while (text.size() < length) text += "good ";
  text.resize(length);
  return text;
}

// XXH3 has code of its own for each of these ranges of lengths.
struct GoldenCase {
  std::size_t length;
  std::string_view with_default_secret;
  std::string_view with_counting_secret;
};

class FingerprintGoldenTest : public ::testing::TestWithParam<GoldenCase> {};

// Values printed by the xxhsum program (xxhsum -H2).
TEST_P(FingerprintGoldenTest, WithTheDefaultSecretIsPlainXxh3) {
  EXPECT_EQ(Hex(Fingerprinter(DefaultSecret())(Text(GetParam().length))),
            GetParam().with_default_secret);
}

// Stored fingerprints depend on these values: they never change.
TEST_P(FingerprintGoldenTest, WithAnotherSecretIsTheSameInEveryRelease) {
  EXPECT_EQ(Hex(Fingerprinter(CountingSecret())(Text(GetParam().length))),
            GetParam().with_counting_secret);
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, FingerprintGoldenTest,
    ::testing::Values(GoldenCase{0, "99aa06d3014798d86001c324468d497f",
                                 "f3029ddce5fb903f004ed27f7fcccfe3"},
                      GoldenCase{1, "6c55a0c73e6b89e1aa19e6ddf2f9b697",
                                 "6ce7c385ca7b12141ba8c3fca09a213c"},
                      GoldenCase{4, "c35c17be97b426c294505e3b981a04d7",
                                 "6eea41dae1ace2cb8471df7ba190aa23"},
                      GoldenCase{9, "12f9b01f6d762056837a2afaf7a97c5c",
                                 "de0a2bd417ca3e2eae50dab954aa713f"},
                      GoldenCase{17, "46d6f0ac454664da35668ce8aa60cf24",
                                 "91d42940999db76d1c0932be2b8e5bd7"},
                      GoldenCase{129, "d31dfc600348eb86443036dea86729d7",
                                 "16eca3a8f95896cb67b5cfc6c0928677"},
                      GoldenCase{241, "b98dd9a686fa06fd7b5f3173de42a768",
                                 "e69a34920871f731d38c24d10f4c7f2a"},
                      GoldenCase{1025, "39a1b2ce2cfd7281764bb98962a29dd8",
                                 "ab1e55f5e94ba232e6de841549188900"}),
    [](const auto& test) { return absl::StrFormat("%d", test.param.length); });

TEST(FingerprintTest, SecretsFromTheSystemDiffer) {
  const Fingerprinter::Secret a = Fingerprinter::RandomSecret();
  const Fingerprinter::Secret b = Fingerprinter::RandomSecret();
  EXPECT_NE(a, b);
  EXPECT_NE(Fingerprinter(a)("good"), Fingerprinter(b)("good"));
}

TEST(FingerprintTest, ZeroBytesCount) {
  const Fingerprinter fingerprint(CountingSecret());
  EXPECT_NE(fingerprint(std::string_view("a\0b", 3)),
            fingerprint(std::string_view("a\0c", 3)));
  EXPECT_NE(fingerprint(std::string_view("", 0)),
            fingerprint(std::string_view("\0", 1)));
}

TEST(FileFingerprintTest, DependsOnTheBytesAlone) {
  const TempDir dir;
  const std::string content(3'000'000, 'x');
  ASSERT_OK_AND_ASSIGN(const std::string a,
                       FileFingerprint(dir.Write("a", content)));
  ASSERT_OK_AND_ASSIGN(const std::string b,
                       FileFingerprint(dir.Write("b", content)));
  ASSERT_OK_AND_ASSIGN(const std::string c,
                       FileFingerprint(dir.Write("c", content + "y")));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(FormatFingerprint(BytesFingerprint(content)), a);
  // XXH3-128 of no bytes, as the specification gives it.
  ASSERT_OK_AND_ASSIGN(const std::string empty,
                       FileFingerprint(dir.Write("d", "")));
  EXPECT_EQ(empty, "99aa06d3014798d86001c324468d497f");
  EXPECT_THAT(FileFingerprint(dir.File("missing")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace semrank
