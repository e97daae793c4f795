#include "server/catalog/catalog_names.h"

#include <algorithm>
#include <string>

#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

// Of the first `num_bytes`, at most eight.
std::uint64_t MaskOf(std::size_t num_bytes) {
  if (num_bytes == 0) return 0;
  return ~std::uint64_t{0} << (8 * (kKeyBytes - num_bytes));
}

std::uint64_t KeyOf(std::string_view normalized) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    const char byte = i < normalized.size() ? normalized[i] : '\0';
    key = key << 8 | static_cast<unsigned char>(byte);
  }
  return key;
}

// The catalog holds only UTF-8; what is not would have no name.
std::string_view Normalized(std::string_view text, std::string& memory) {
  return NormalizeText(text, memory).ok() ? std::string_view(memory) : "";
}

std::string_view IdOf(const CatalogRecord& record) {
  const DocumentKeyView key = record.key();
  const auto* const name = std::get_if<std::string_view>(&key);
  return name == nullptr ? std::string_view() : *name;
}

}  // namespace

NameKeys NameKeysOf(const CatalogRecord& record) {
  thread_local std::string memory;
  return {KeyOf(Normalized(IdOf(record), memory)),
          KeyOf(Normalized(record.title(), memory))};
}

// An empty query has a key that no text has: no normalised text begins with
// this byte.
NameQuery::NameQuery(std::string_view query)
    : query_(query),
      key_(query.empty() ? ~std::uint64_t{0} : KeyOf(query)),
      mask_(query.empty() ? ~std::uint64_t{0}
                          : MaskOf(std::min(query.size(), kKeyBytes))) {}

NameMatch NameQuery::Match(const NameKeys& keys,
                           const CatalogRecord& record) const {
  if (!MayName(keys)) return NameMatch::kNone;
  thread_local std::string id;
  thread_local std::string title;
  if (query_.size() < kKeyBytes) {
    // The keys hold the query and the byte that follows it, which is all that
    // the rule asks for.
    const auto prefix_of = [&](std::uint64_t key, std::string& memory) {
      memory.clear();
      for (std::size_t i = 0; i <= query_.size(); ++i) {
        const auto byte = static_cast<char>(key >> (8 * (kKeyBytes - 1 - i)));
        if (byte == '\0') break;
        memory += byte;
      }
      return std::string_view(memory);
    };
    return MatchName(query_, prefix_of(keys.id, id),
                     prefix_of(keys.title, title));
  }
  return MatchName(query_, Normalized(IdOf(record), id),
                   Normalized(record.title(), title));
}

}  // namespace semrank
