#include "model/events/keyed_hash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

KeyedHash::Key CountingKey() {
  KeyedHash::Key key;
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<unsigned char>(i);
  }
  return key;
}

// Python computed the values:
// base64.urlsafe_b64encode(hmac.digest(bytes(range(32)), b"u" + b"ann",
// "sha256")[:16]).
TEST(KeyedHashTest, IsHmacSha256InBase64Url) {
  const KeyedHash hash(CountingKey());
  EXPECT_EQ(hash(HashedKind::kUser, "ann"), "yBPNFmWyGlm4f6J-P_sTTg");
  EXPECT_EQ(hash(HashedKind::kSession, "ann"), "8f67C4Dur1tzMA4E9fRLbA");
}

TEST(KeyedHashTest, KeepsWhatIsNotNamedEmpty) {
  EXPECT_EQ(KeyedHash(CountingKey())(HashedKind::kUser, ""), "");
}

TEST(KeyedHashTest, FolderKeepsItsKey) {
  const TempDir folder;
  EXPECT_THAT(KeyedHash::Open(folder.path()),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK_AND_ASSIGN(const auto made, KeyedHash::OpenOrCreate(folder.path()));
  ASSERT_OK_AND_ASSIGN(const auto again,
                       KeyedHash::OpenOrCreate(folder.path()));
  EXPECT_EQ(made(HashedKind::kUser, "ann"), again(HashedKind::kUser, "ann"));
  struct stat file;
  ASSERT_EQ(stat(folder.File("key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
}

TEST(KeyedHashTest, OtherFoldersHaveOtherKeys) {
  const TempDir one, other;
  ASSERT_OK_AND_ASSIGN(const auto a, KeyedHash::OpenOrCreate(one.path()));
  ASSERT_OK_AND_ASSIGN(const auto b, KeyedHash::OpenOrCreate(other.path()));
  EXPECT_NE(a(HashedKind::kUser, "ann"), b(HashedKind::kUser, "ann"));
}

// A damaged key is never replaced: the records could not be found again.
TEST(KeyedHashTest, DamagedKeyIsAnError) {
  const TempDir folder;
  folder.Write("key", "secret\n");
  EXPECT_THAT(KeyedHash::OpenOrCreate(folder.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("64 hex digits")));
}

}  // namespace
}  // namespace semrank
