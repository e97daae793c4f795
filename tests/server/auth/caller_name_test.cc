#include "server/auth/caller_name.h"

#include <gtest/gtest.h>

#include "model/format/sha256.h"
#include "server/auth/access_control.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

std::string NameOfPeer(std::string_view peer) {
  return CallerName(/*access=*/nullptr, "Bearer some key", peer);
}

TEST(CallerNameTest, WithoutKeysItIsTheAddressWithoutThePort) {
  EXPECT_EQ(NameOfPeer("ipv4:10.0.0.7:40312"), "ipv4:10.0.0.7");
  EXPECT_EQ(NameOfPeer("unix:/run/socket"), "unix:/run/socket");
  EXPECT_EQ(NameOfPeer(""), "");
}

// One host may have every address of its network, and gRPC escapes brackets.
TEST(CallerNameTest, AnIpv6NetworkIsOneCaller) {
  const std::string name = NameOfPeer("ipv6:[2001:db8:0:1::7]:40312");
  EXPECT_EQ(name, "ipv6:20010db800000001");
  EXPECT_EQ(NameOfPeer("ipv6:%5B2001:db8:0:1:a:b:c:d%5D:1"), name);
  EXPECT_NE(NameOfPeer("ipv6:[2001:db8:0:2::7]:40312"), name);
}

TEST(CallerNameTest, WithKeysItIsTheNameOfTheKeyWhateverTheAddress) {
  const TempDir dir;
  const auto access =
      AccessControl::FromFile(
          dir.Write("keys", "read " + Sha256Hex("secret").value()))
          .value();
  const std::string name =
      CallerName(access.get(), "Bearer secret", "ipv4:10.0.0.7:40312");
  EXPECT_EQ(name, "key:" + AccessControl::NameOfKey("Bearer secret"));
  EXPECT_EQ(CallerName(access.get(), "Bearer secret", "ipv4:10.0.0.8:1"), name);
  EXPECT_EQ(KeyOfCaller(name), AccessControl::NameOfKey("Bearer secret"));
  EXPECT_EQ(KeyOfCaller("ipv4:10.0.0.7"), "");
}

}  // namespace
}  // namespace semrank
