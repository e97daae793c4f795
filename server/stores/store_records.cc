#include "server/stores/store_records.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/vector_encoding.h"

namespace semrank {
namespace {

// Numbers and vectors are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);

constexpr char kNumberedKey = 'n';
constexpr char kNamedKey = 's';
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

template <typename Number>
requires std::is_arithmetic_v<Number>
void Append(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Removes a number from the front of `bytes`, which must be long enough.
template <typename Number>
Number Take(std::string_view& bytes) {
  Number number;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

std::string_view TakeBytes(std::size_t count, std::string_view& bytes) {
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

void Append(const Fingerprint& fingerprint, std::string& bytes) {
  Append(fingerprint.hi, bytes);
  Append(fingerprint.lo, bytes);
}

void Append(std::span<const float> vector, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(vector.data()),
               vector.size_bytes());
}

std::uint64_t RecordChecksum(std::string_view key, std::string_view content) {
  // Hashed separately: joined, another split of the same bytes would have the
  // same checksum.
  const std::array<std::uint64_t, 2> parts = {BytesFingerprint(key).lo,
                                              BytesFingerprint(content).lo};
  return BytesFingerprint(
             {reinterpret_cast<const char*>(parts.data()), sizeof(parts)})
      .lo;
}

// Writes the checksum over the first bytes of the value, which are reserved for
// it.
std::string Sealed(std::string_view key, std::string value) {
  const std::uint64_t checksum =
      RecordChecksum(key, std::string_view(value).substr(kChecksumBytes));
  std::memcpy(value.data(), &checksum, sizeof(checksum));
  return value;
}

// Removes the checksum from the front of `value` and compares it.
bool TakeChecksum(std::string_view key, std::string_view& value) {
  return value.size() >= kChecksumBytes &&
         Take<std::uint64_t>(value) == RecordChecksum(key, value);
}

}  // namespace

VectorKeys::VectorKeys(const Fingerprinter& fingerprint,
                       const VectorSpace& space,
                       std::span<const std::string_view> normalized_texts) {
  // The fingerprint of the identity, which has 64 digits, makes all keys
  // equally long.
  const Fingerprint model = fingerprint(space.model);
  bytes_.reserve(normalized_texts.size() * kKeyBytes);
  for (const std::string_view text : normalized_texts) {
    Append(model, bytes_);
    bytes_ += space.side == Side::kQuery ? 'q' : 'd';
    Append(fingerprint(text), bytes_);
  }
}

std::string VectorValue(std::string_view key, std::span<const float> vector) {
  std::string value(kChecksumBytes, '\0');
  Append(static_cast<std::uint32_t>(vector.size()), value);
  Append(vector, value);
  return Sealed(key, std::move(value));
}

bool ReadVectorValue(std::string_view key, std::string_view value,
                     std::span<float> row) {
  const std::size_t num_bytes =
      kChecksumBytes + sizeof(std::uint32_t) + row.size_bytes();
  if (value.size() != num_bytes || !TakeChecksum(key, value) ||
      Take<std::uint32_t>(value) != row.size()) {
    return false;
  }
  // Only now, since a value that fails a check must not change the row.
  DecodeFloat32(value, row);
  return true;
}

// The first byte distinguishes kinds: a name of eight bytes could equal a
// number.
std::string DocumentKeyBytes(const DocumentKeyView& key) {
  std::string bytes;
  if (const auto* number = std::get_if<std::uint64_t>(&key)) {
    bytes += kNumberedKey;
    Append(*number, bytes);
  } else {
    bytes += kNamedKey;
    bytes += std::get<std::string_view>(key);
  }
  return bytes;
}

absl::StatusOr<DocumentKeyView> ReadDocumentKey(std::string_view key) {
  std::string_view rest = key.substr(key.empty() ? 0 : 1);
  if (key.starts_with(kNamedKey)) return DocumentKeyView(rest);
  if (key.starts_with(kNumberedKey) && rest.size() == sizeof(std::uint64_t)) {
    return DocumentKeyView(Take<std::uint64_t>(rest));
  }
  return absl::DataLossError(
      absl::StrFormat("\"%s\" is not a document's key",
                      absl::CHexEscape({key.data(), key.size()})));
}

std::string DescribeKey(const DocumentKeyView& key) {
  if (const auto* number = std::get_if<std::uint64_t>(&key)) {
    return std::to_string(*number);
  }
  const std::string_view name = std::get<std::string_view>(key);
  return "\"" + absl::Utf8SafeCEscape({name.data(), name.size()}) + "\"";
}

std::string DocumentValue(std::string_view key,
                          const StoredDocument& document) {
  std::string value(kChecksumBytes, '\0');
  for (const std::size_t size :
       {document.title.size(), document.payload.size(), document.model.size(),
        document.vector.size()}) {
    Append(static_cast<std::uint32_t>(size), value);
  }
  value += document.title;
  value += document.payload;
  value += document.model;
  Append(document.vector, value);
  value += document.packed_tags;
  return Sealed(key, std::move(value));
}

// Checks sizes before it uses them: the checksum excludes accidents, but not a
// value that another program has written with care.
absl::StatusOr<StoredDocument> ReadDocument(std::string_view key,
                                            std::string_view value,
                                            std::vector<float>& vector) {
  StoredDocument document;
  SEMRANK_ASSIGN_OR_RETURN(document.key, ReadDocumentKey(key));
  const auto damaged = [&] {
    return absl::DataLossError(
        absl::StrFormat("document %s is damaged", DescribeKey(document.key)));
  };
  std::array<std::uint32_t, 4> sizes;
  if (!TakeChecksum(key, value) || value.size() < sizeof(sizes))
    return damaged();
  std::size_t num_bytes = 0;
  for (std::uint32_t& size : sizes) {
    size = Take<std::uint32_t>(value);
    num_bytes += size;
  }
  // The 64-bit sum of four 32-bit sizes cannot overflow. The last size counts
  // floats, not bytes.
  num_bytes += std::size_t{sizes[3]} * (sizeof(float) - 1);
  // The remaining bytes are the tags, so a longer value is valid.
  if (value.size() < num_bytes) return damaged();
  document.title = TakeBytes(sizes[0], value);
  document.payload = TakeBytes(sizes[1], value);
  document.model = TakeBytes(sizes[2], value);
  vector.resize(sizes[3]);
  DecodeFloat32(TakeBytes(std::size_t{sizes[3]} * sizeof(float), value),
                vector);
  document.vector = vector;
  // Empty for documents without tags, also for those of the time before tags.
  document.packed_tags = value;
  return document;
}

}  // namespace semrank
