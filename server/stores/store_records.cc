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

static_assert(std::endian::native == std::endian::little);

constexpr char kNumberedKey = 'n';
constexpr char kNamedKey = 's';
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

template <typename Number>
requires std::is_arithmetic_v<Number>
void Append(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Takes a number off the front; `bytes` must be long enough.
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

// Writes the checksum into the room that the value begins with.
std::string Sealed(std::string_view key, std::string value) {
  const std::uint64_t checksum =
      RecordChecksum(key, std::string_view(value).substr(kChecksumBytes));
  std::memcpy(value.data(), &checksum, sizeof(checksum));
  return value;
}

// Takes the checksum off and compares it.
bool TakeChecksum(std::string_view key, std::string_view& value) {
  return value.size() >= kChecksumBytes &&
         Take<std::uint64_t>(value) == RecordChecksum(key, value);
}

}  // namespace

VectorKeys::VectorKeys(const Fingerprinter& fingerprint,
                       const VectorSpace& space,
                       std::span<const std::string_view> normalized_texts) {
  // The same for all keys.
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
  // Only what has passed all checks may change the row.
  DecodeFloat32(value, row);
  return true;
}

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
      absl::StrFormat("\"%s\" is no document's key",
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
  // The last is in numbers.
  num_bytes += std::size_t{sizes[3]} * (sizeof(float) - 1);
  if (value.size() < num_bytes) return damaged();
  document.title = TakeBytes(sizes[0], value);
  document.payload = TakeBytes(sizes[1], value);
  document.model = TakeBytes(sizes[2], value);
  vector.resize(sizes[3]);
  DecodeFloat32(TakeBytes(std::size_t{sizes[3]} * sizeof(float), value),
                vector);
  document.vector = vector;
  // Documents without tags, and those written before there were tags, end here.
  document.packed_tags = value;
  return document;
}

}  // namespace semrank
