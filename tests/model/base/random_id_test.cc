#include "model/base/random_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace semrank {
namespace {

using ::testing::MatchesRegex;
using ::testing::SizeIs;

TEST(RandomIdTest, FitsUrls) {
  EXPECT_THAT(MakeRandomId(), MatchesRegex("[-_a-zA-Z0-9]{22}"));
}

TEST(RandomIdTest, AllAreDifferentInAllThreads) {
  std::set<std::string> others;
  std::thread([&others] {
    for (int i = 0; i < 100; ++i) others.insert(MakeRandomId());
  }).join();
  std::set<std::string> ids = others;
  for (int i = 0; i < 100; ++i) ids.insert(MakeRandomId());
  EXPECT_THAT(ids, SizeIs(200));
}

}  // namespace
}  // namespace semrank
