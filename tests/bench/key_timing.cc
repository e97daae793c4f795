// Times ApiKeys::Check of wrong keys whose SHA-256 agrees with those of the
// file in all digits but the last ("near"), or in none ("far"), in random
// order. Each also by a comparison that ends at the first difference, which
// shows that the samples are fine enough to see one. A line a sample:
//
//   check|control near|far NANOSECONDS
//
// tests/chaos/key_timing.py judges them.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/sha256.h"
#include "server/auth/access_control.h"

namespace semrank {
namespace {

constexpr int kKeys = 2'000;  // small differences of one call add up
constexpr int kSamples = 8'000;

std::string Digest(std::string_view key) { return Sha256Hex(key).value(); }

// Whether `digests` contains `digest`, by a comparison that ends early.
bool ContainsPlainly(const std::vector<std::string>& digests,
                     std::string_view digest) {
  bool found = false;
  for (const std::string& one : digests) {
    std::size_t i = 0;
    while (i < digest.size() && one[i] == digest[i]) ++i;
    found |= i == digest.size();
  }
  return found;
}

template <typename Function>
long Nanoseconds(Function&& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start)
      .count();
}

void Run() {
  const std::string near = "key 1", far = "key 2";
  std::string listed = Digest(near);
  listed.back() = listed.back() == '0' ? '1' : '0';
  const std::vector<std::string> digests(kKeys, listed);
  std::string file;
  for (const std::string& digest : digests) file += "read " + digest + "\n";
  const ApiKeys keys = ApiKeys::Parse(file).value();
  if (Digest(far).front() == listed.front()) std::abort();

  std::minstd_rand random(1);
  for (int i = 0; i < kSamples; ++i) {
    const bool is_near = random() % 2 == 0;
    const std::string header = "Bearer " + (is_near ? near : far);
    const std::string digest = Digest(is_near ? near : far);
    const char* kind = is_near ? "near" : "far";
    bool accepted = false;
    const long check =
        Nanoseconds([&] { accepted = keys.Check(header, Role::kRead).ok(); });
    const long control =
        Nanoseconds([&] { accepted |= ContainsPlainly(digests, digest); });
    if (accepted) std::abort();
    std::cout << "check " << kind << ' ' << check << "\ncontrol " << kind << ' '
              << control << '\n';
  }
}

}  // namespace
}  // namespace semrank

int main() { semrank::Run(); }
