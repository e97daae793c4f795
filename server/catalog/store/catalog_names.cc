#include "server/catalog/store/catalog_names.h"

#include <algorithm>
#include <string>

#include "model/text/normalizer.h"

namespace semrank {
namespace {

using Start = NameKey::Start;

// A letter has at most four bytes in UTF-8.
constexpr std::size_t kMaxLetterBytes = 4;

Start StartOf(std::string_view normalized) {
  Start start = {};
  normalized.copy(start.data(), start.size());
  return start;
}

std::string_view TextOf(const Start& start) {
  return {start.data(), static_cast<std::size_t>(
                            std::ranges::find(start, '\0') - start.begin())};
}

// The bits of the first `num_bytes` bytes are set.
std::uint64_t MaskOf(std::size_t num_bytes) {
  Start start = {};
  std::fill_n(start.begin(), std::min(num_bytes, start.size()), '\xff');
  return std::bit_cast<std::uint64_t>(start);
}

std::uint8_t LastWordOf(std::string_view normalized) {
  const std::size_t blank = normalized.rfind(' ');
  return blank == std::string_view::npos
             ? 0
             : std::min<std::size_t>(blank + 1, 255);
}

// Returns a text that MatchName judges like the whole name, for queries shorter
// than a Start: the first bytes, and a blank if another word follows them.
std::string_view ShortNameOf(const NameKey& key, std::string& memory) {
  memory = TextOf(key.start);
  if (key.last_word > memory.size()) memory += ' ';
  return memory;
}

// The catalog holds only valid UTF-8; any other text would have no name.
std::string_view Normalized(std::string_view text, std::string& memory) {
  return NormalizeName(text, memory).ok() ? std::string_view(memory) : "";
}

std::string_view IdOf(const CatalogRecord& record) {
  const DocumentKeyView key = record.key();
  const auto* const name = std::get_if<std::string_view>(&key);
  return name == nullptr ? std::string_view() : *name;
}

}  // namespace

NameKeys NameKeysOf(const CatalogRecord& record) {
  thread_local std::string id_memory;
  thread_local std::string title_memory;
  // Without further words, as MatchName compares names.
  const std::string_view id = MainWords(Normalized(IdOf(record), id_memory));
  const std::string_view title =
      MainWords(Normalized(record.title(), title_memory));
  return {{StartOf(id), LastWordOf(id)}, {StartOf(title), LastWordOf(title)}};
}

// The key of an empty query matches no name, since no normalised text contains
// the byte 0xff.
NameQuery::NameQuery(std::string_view text, std::string_view name)
    : text_(text),
      name_(name),
      words_(MainWords(name)),
      key_(words_.empty() ? MaskOf(sizeof(Start))
                          : std::bit_cast<std::uint64_t>(StartOf(words_))),
      mask_(MaskOf(words_.empty() ? sizeof(Start) : words_.size())),
      may_mask_(ForgivesEdit(words_) ? MaskOf(1) : mask_) {}

// Most titles are longer than the query by more than one letter and thus no
// typo of it, which the offset of their last word shows. This is only a filter:
// MatchName decides on the texts themselves.
bool NameQuery::MayBeTypoOf(const NameKey& key) const {
  return may_mask_ != mask_ && Agree(key.start, may_mask_) &&
         key.last_word < words_.size() + kMaxLetterBytes &&
         MayBeOneEditApart(words_, TextOf(key.start));
}

// Where the last word begins shows that most names that begin with the query
// are longer. Such a name is not the query itself, whatever its other bytes.
NameMatch NameQuery::MaxMatch(const NameKey& key) const {
  if (!Agree(key.start, mask_)) {
    return MayBeTypoOf(key) ? NameMatch::kOneEdit : NameMatch::kNone;
  }
  const bool is_longer =
      key.last_word > words_.size() ||
      (words_.size() < sizeof(Start) && key.start[words_.size()] != '\0');
  return is_longer ? NameMatch::kLeadingWords : NameMatch::kSameText;
}

NameMatch NameQuery::Match(const NameKeys& keys,
                           const CatalogRecord& record) const {
  if (!MayName(keys)) return NameMatch::kNone;
  thread_local std::string id;
  thread_local std::string title;
  if (Agree(keys.id.start, mask_) || Agree(keys.title.start, mask_)) {
    // The start is longer than the query, so it shows whether the name ends or
    // continues there.
    if (words_.size() < sizeof(Start)) {
      const NameMatch match = MatchName(words_, ShortNameOf(keys.id, id),
                                        ShortNameOf(keys.title, title));
      // Only the texts show how a name is spelled.
      if (match < NameMatch::kName) return match;
    }
  } else if (!MayBeTypoOf(keys.id) && !MayBeTypoOf(keys.title)) {
    return NameMatch::kNone;
  }
  return MatchTexts(IdOf(record), record.title());
}

NameMatch NameQuery::MatchTexts(std::string_view id,
                                std::string_view title) const {
  thread_local std::string id_memory;
  thread_local std::string title_memory;
  const NameMatch match = MatchName(name_, Normalized(id, id_memory),
                                    Normalized(title, title_memory));
  return match == NameMatch::kSameSpelling &&
                 (IsSameText(text_, id) || IsSameText(text_, title))
             ? NameMatch::kSameText
             : match;
}

}  // namespace semrank
