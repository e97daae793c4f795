#include "server/auth/access_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "absl/status/status.h"
#include "model/format/sha256.h"
#include "server/base/errors.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// `printf %s reader-key | sha256sum`, and so on.
constexpr char kFile[] =
    "# who may call\n"
    "read  ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080ab1b02aa3b2\n"
    "\n"
    "write 3AEC1946AFB01344AE0065F3B123820A2144E455C13E5816DBD439E6634F7F26 "
    "# nightly\r\n"
    "admin\t69a5265506c94c77b787a7d7377b7685a0eff82e33920a71e7ee22cd6154953e";

// While it lives, this process can open no file.
class NoNewDescriptors {
 public:
  NoNewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoNewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoNewDescriptors(const NoNewDescriptors&) = delete;
  NoNewDescriptors& operator=(const NoNewDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

std::string ReasonOf(const absl::Status& status) { return ErrorReason(status); }

TEST(ApiKeysTest, EachRoleMayDoWhatTheOnesBeforeItMay) {
  ASSERT_OK_AND_ASSIGN(const ApiKeys keys, ApiKeys::Parse(kFile));
  EXPECT_EQ(keys.size(), 3u);
  const char* const names[] = {"Bearer reader-key", "bearer writer-key",
                               "Bearer admin-key"};
  for (int has = 0; has < 3; ++has) {
    for (int needs = 0; needs < 3; ++needs) {
      const absl::Status status =
          keys.Check(names[has], static_cast<Role>(needs));
      if (has >= needs) {
        EXPECT_THAT(status, IsOk()) << has << needs;
      } else {
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
        EXPECT_EQ(ReasonOf(status), "ROLE_REQUIRED");
      }
    }
  }
}

TEST(ApiKeysTest, AKeyThatReportsEventsMayDoNothingElse) {
  const std::string events = Sha256Hex("events-key").value();
  ASSERT_OK_AND_ASSIGN(const ApiKeys keys,
                       ApiKeys::Parse(kFile + ("\nwrite-events " + events)));
  const auto may = [&](const char* header, Role role) {
    return keys.Check(header, role).ok();
  };
  EXPECT_TRUE(may("Bearer events-key", Role::kWriteEvents));
  for (const Role role : {Role::kRead, Role::kWrite, Role::kAdmin}) {
    EXPECT_FALSE(may("Bearer events-key", role));
  }
  EXPECT_FALSE(may("Bearer reader-key", Role::kWriteEvents));
  EXPECT_FALSE(may("Bearer writer-key", Role::kWriteEvents));
  EXPECT_TRUE(may("Bearer admin-key", Role::kWriteEvents));
}

TEST(ApiKeysTest, AByteOrderMarkBeforeTheFirstKeyIsSkipped) {
  ASSERT_OK_AND_ASSIGN(
      const ApiKeys keys,
      ApiKeys::Parse("\xef\xbb\xbfread " + std::string(64, 'a')));
  EXPECT_EQ(keys.size(), 1u);
}

TEST(ApiKeysTest, MissingAndUnknownKeysAreUnauthenticatedAndNotRepeated) {
  ASSERT_OK_AND_ASSIGN(const ApiKeys keys, ApiKeys::Parse(kFile));
  for (const auto& [header, reason] :
       {std::pair{"", "MISSING_KEY"},
        {"reader-key", "MISSING_KEY"},
        {"Basic cmVhZGVyLWtleQ==", "MISSING_KEY"},
        {"Bearer ", "UNKNOWN_KEY"},
        {"Bearer reader-kez", "UNKNOWN_KEY"},
        {"Bearer ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080ab1b02aa"
         "3b2",
         "UNKNOWN_KEY"}}) {
    const absl::Status status = keys.Check(header, Role::kRead);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnauthenticated,
                                 Not(HasSubstr("kez"))));
    EXPECT_EQ(ReasonOf(status), reason) << header;
  }
}

TEST(ApiKeysTest, BadLinesAreRefusedByNumberWithoutTheirContent) {
  for (const std::string& line :
       {std::string("reader abc"), std::string("read abc"), std::string("read"),
        std::string("read ") + std::string(64, 'x'),
        std::string("read ") + std::string(64, 'a') + " abc"}) {
    EXPECT_THAT(ApiKeys::Parse("# keys\n" + line),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("line 2"), Not(HasSubstr("abc")))));
  }
  EXPECT_THAT(
      ApiKeys::Parse("# none\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no key")));
}

TEST(AccessControlTest, AChangedFileIsReadAgainAndABadOneIsNot) {
  const TempDir dir;
  const std::string path = dir.Write("keys", kFile);
  ASSERT_OK_AND_ASSIGN(const auto access, AccessControl::FromFile(path));
  EXPECT_THAT(access->Refresh().value(), false);
  const auto may_read = [&] {
    return access->Check("Bearer reader-key", Role::kRead).ok();
  };
  EXPECT_TRUE(may_read());
  dir.Write("keys", "read nonsense");
  EXPECT_THAT(access->Refresh(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path)));
  EXPECT_THAT(access->Refresh().value(), false);  // reported once
  EXPECT_TRUE(may_read());
  dir.Write("keys", "read " + std::string(64, 'a'));
  EXPECT_THAT(access->Refresh().value(), true);
  EXPECT_FALSE(may_read());
}

TEST(AccessControlTest, AChangeThatCouldNotBeReadIsReadLater) {
  const TempDir dir;
  const std::string path = dir.Write("keys", kFile);
  ASSERT_OK_AND_ASSIGN(const auto access, AccessControl::FromFile(path));
  dir.Write("keys", "read " + std::string(64, 'a'));
  absl::Status unread;
  {
    // Alone: the sanitizers' checks of what EXPECT_THAT does need descriptors.
    const NoNewDescriptors none;
    unread = access->Refresh().status();
  }
  EXPECT_THAT(unread, Not(IsOk()));
  EXPECT_TRUE(access->Check("Bearer reader-key", Role::kRead).ok());
  EXPECT_THAT(access->Refresh().value(), true);
  EXPECT_FALSE(access->Check("Bearer reader-key", Role::kRead).ok());
}

TEST(AccessControlTest, AMissingFileIsNamed) {
  EXPECT_THAT(AccessControl::FromFile("/none/keys").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/keys")));
}

}  // namespace
}  // namespace semrank
