#include "model/train/distributed/communicator.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// All collective calls are built from two, AllGather and AllToAll, which
// process_launch.cc implements with MPI. Sums are added in the order of ranks
// in each process, so all of them get the same bits.

class SingleProcessCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int num_processes() const override { return 1; }
  void AllToAll(std::span<const float> sent, std::span<const int>,
                std::span<float> received, std::span<const int>) override {
    std::copy(sent.begin(), sent.end(), received.begin());
  }

 private:
  void GatherWords(const void* own, std::span<const int> sizes,
                   void* all) override {
    if (sizes[0] > 0) std::memcpy(all, own, std::size_t{4} * sizes[0]);
  }
};

// The same number of words from each process.
std::vector<std::uint32_t> GatherEqual(Communicator& communicator,
                                       std::span<const std::uint32_t> own) {
  const int n = communicator.num_processes();
  const std::vector<int> sizes(n, static_cast<int>(own.size()));
  std::vector<std::uint32_t> all(own.size() * n);
  communicator.AllGather<std::uint32_t>(own, sizes, all);
  return all;
}

// One value from each process. It travels as two words, because messages have
// words of four bytes.
std::vector<std::uint64_t> GatherValues(Communicator& communicator,
                                        std::uint64_t own) {
  const std::uint32_t words[] = {static_cast<std::uint32_t>(own),
                                 static_cast<std::uint32_t>(own >> 32)};
  const std::vector<std::uint32_t> all = GatherEqual(communicator, words);
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    values.push_back(std::uint64_t{all[i + 1]} << 32 | all[i]);
  }
  return values;
}

// Calls visit(slice) for one slice of the values after another, each small
// enough for one message.
template <typename T, typename Visit>
void ForEachSlice(std::span<T> values, Visit visit) {
  constexpr std::size_t kSlice = std::size_t{1} << 20;
  for (std::size_t first = 0; first < values.size(); first += kSlice) {
    visit(values.subspan(first, std::min(kSlice, values.size() - first)));
  }
}

// Replaces the values by those of rank 0.
template <typename T>
void BroadcastSlices(Communicator& communicator, std::span<T> values) {
  std::vector<T> slice;
  std::vector<int> sizes(communicator.num_processes());
  ForEachSlice(values, [&](std::span<T> part) {
    // An AllGather to which only rank 0 contributes. MPI forbids that sent and
    // received memory overlap, hence the slice beside the values.
    slice.resize(part.size());
    sizes[0] = static_cast<int>(part.size());
    communicator.AllGather<T>(part, sizes, slice);
    std::copy(slice.begin(), slice.end(), part.begin());
  });
}

// Status messages are truncated to this length, and padded with zeros.
constexpr std::size_t kMessageWords = 256;

}  // namespace

Communicator& SingleProcess() {
  static auto* const communicator = new SingleProcessCommunicator;
  return *communicator;
}

void Communicator::AllReduceSum(std::span<float> values) {
  if (is_alone()) return;
  ForEachSlice(values, [this](std::span<float> part) { SumSlice(part); });
}

// Reduce-scatter, then all-gather: each process sums one part of the elements
// and sends the sums to the others.
void Communicator::SumSlice(std::span<float> values) {
  const int n = num_processes();
  std::vector<int> part_sizes(n);
  // Parts differ by at most one element.
  for (int p = 0; p < n; ++p) {
    part_sizes[p] = SliceOf({0, static_cast<int>(values.size())}, p, n).size();
  }
  const std::size_t own_size = part_sizes[rank()];
  // Each process receives n copies of its part, one from each rank, and adds
  // them in the order of ranks.
  const std::vector<int> own_sizes(n, part_sizes[rank()]);
  std::vector<float> got(own_size * n);
  AllToAll(values, part_sizes, got, own_sizes);
  std::vector<float> sums(got.begin(), got.begin() + own_size);
  for (int p = 1; p < n; ++p) {
    const float* part = got.data() + own_size * p;
    for (std::size_t i = 0; i < own_size; ++i) sums[i] += part[i];
  }
  AllGather<float>(sums, part_sizes, values);
}

absl::Status Communicator::Agree(const absl::Status& own) {
  if (is_alone()) return own;
  // Codes are sent first: nearly every step succeeds everywhere, and then each
  // process sends four bytes and no text.
  const std::uint32_t own_code = static_cast<std::uint32_t>(own.code());
  const std::vector<std::uint32_t> codes = GatherEqual(*this, {&own_code, 1});
  const auto failed = std::find_if(
      codes.begin(), codes.end(), [](std::uint32_t code) { return code != 0; });
  if (failed == codes.end()) return absl::OkStatus();
  std::vector<std::uint32_t> message(kMessageWords);
  if (!own.message().empty()) {
    std::memcpy(message.data(), own.message().data(),
                std::min(own.message().size(), 4 * kMessageWords - 1));
  }
  const std::vector<std::uint32_t> messages = GatherEqual(*this, message);
  const int first = static_cast<int>(failed - codes.begin());
  // The process that failed keeps its own status, which is not truncated.
  if (first == rank()) return own;
  const std::string text(
      reinterpret_cast<const char*>(&messages[first * kMessageWords]));
  const std::string from =
      first == 0
          ? ""
          : absl::StrFormat("process %d of %d: ", first + 1, num_processes());
  return absl::Status(static_cast<absl::StatusCode>(*failed), from + text);
}

absl::Status Communicator::CheckSame(std::uint64_t fingerprint,
                                     std::string_view what) {
  if (is_alone()) return absl::OkStatus();
  const std::vector<std::uint64_t> all = GatherValues(*this, fingerprint);
  for (int p = 1; p < num_processes(); ++p) {
    if (all[p] == all[0]) continue;
    return absl::InternalError(
        absl::StrFormat("process %d of %d has other %s than process 1", p + 1,
                        num_processes(), what));
  }
  return absl::OkStatus();
}

double Communicator::Sum(double own) {
  double sum = 0;
  for (const std::uint64_t bits :
       GatherValues(*this, std::bit_cast<std::uint64_t>(own))) {
    sum += std::bit_cast<double>(bits);
  }
  return sum;
}

double Communicator::Broadcast(double value) {
  return std::bit_cast<double>(
      GatherValues(*this, std::bit_cast<std::uint64_t>(value)).front());
}

std::string Communicator::Broadcast(std::string_view text) {
  // A double holds the size exactly: no text has 2^53 bytes.
  const auto size =
      static_cast<std::size_t>(Broadcast(static_cast<double>(text.size())));
  std::vector<std::uint32_t> words((size + 3) / 4);
  if (is_first() && size > 0) {
    std::memcpy(words.data(), text.data(), size);
  }
  BroadcastSlices<std::uint32_t>(*this, words);
  return std::string(reinterpret_cast<const char*>(words.data()), size);
}

void Communicator::Broadcast(std::span<float> values) {
  if (!is_alone()) BroadcastSlices(*this, values);
}

}  // namespace semrank
