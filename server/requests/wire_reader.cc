#include "server/requests/wire_reader.h"

#include <algorithm>
#include <bit>
#include <span>

#include "server/base/errors.h"

namespace semrank {
namespace {

using google::protobuf::io::CodedInputStream;

// Nested groups of an unknown field recurse in SkipField, so a client could
// otherwise choose the depth of the stack. 100 is the limit of Protobuf's
// parser.
constexpr int kMaxGroupDepth = 100;
// Most titles take at least as many bytes on the wire, and the views of all of
// them then take less memory than the message itself.
constexpr std::size_t kLikelyTextBytes = 24;

}  // namespace

WireReader::WireReader(std::string_view message, std::int64_t max_items)
    : num_bytes_(message.size()),
      max_items_(max_items),
      input_(reinterpret_cast<const std::uint8_t*>(message.data()),
             static_cast<int>(message.size())) {
  // A limit makes "at the end" differ from "tag 0", which is not a field.
  input_.PushLimit(static_cast<int>(message.size()));
}

bool WireReader::Next() {
  if (!ok_) return false;
  // ReadTag returns 0 at the end, after an error, and for a zero byte;
  // ConsumedEntireMessage is true at the end alone. Field number 0 with a wire
  // type is an error as well.
  tag_ = input_.ReadTag();
  if (tag_ != 0) return Check(field() > 0);
  Check(input_.ConsumedEntireMessage());
  return false;
}

bool WireReader::Expect(WireType expected) {
  if (type() == expected) return true;
  Skip();
  return false;
}

bool WireReader::Read(std::string_view& value) {
  if (!Expect(kBytes)) return false;
  int size = 0;
  if (!Check(input_.ReadVarintSizeAsInt(&size))) return false;
  const void* data = nullptr;
  int available = 0;
  // The stream is over one flat array, so its current buffer is all that is
  // left up to the innermost limit: one comparison bounds the string, and the
  // view stays valid as long as the message.
  input_.GetDirectBufferPointerInline(&data, &available);
  if (!Check(size <= available)) return false;
  value = std::string_view(static_cast<const char*>(data), size);
  return Check(input_.Skip(size));
}

bool WireReader::ReadVarint(std::uint64_t& value) {
  return Expect(kVarint) && Check(input_.ReadVarint64(&value));
}

bool WireReader::Read(std::optional<float>& value) {
  std::uint32_t bits = 0;
  if (!Expect(kFixed32) || !Check(input_.ReadLittleEndian32(&bits))) {
    return false;
  }
  value = std::bit_cast<float>(bits);
  return true;
}

bool WireReader::ReadFixed64(std::uint64_t& value) {
  return Expect(kFixed64) && Check(input_.ReadLittleEndian64(&value));
}

void WireReader::Append(std::vector<std::string_view>& items) {
  std::string_view text;
  // Items over the limit are read and counted, but not kept: the error then
  // names their true number, and a hostile message takes no memory.
  if (!Read(text) || CountItems(1) == 0) return;
  if (items.empty()) {
    // Nearly always one allocation for all of them.
    items.reserve(
        std::min<std::size_t>(num_bytes_ / kLikelyTextBytes + 1, max_items_));
  }
  items.push_back(text);
  AppendSameField(items);
}

// Titles follow each other: their one-byte tags and sizes are read from the
// bytes, at a third of what the stream's functions cost.
void WireReader::AppendSameField(std::vector<std::string_view>& items) {
  const void* data = nullptr;
  int available = 0;
  input_.GetDirectBufferPointerInline(&data, &available);
  const char* const begin = static_cast<const char*>(data);
  const char* const end = begin + available;
  // `next` only moves past complete items, so whatever the loop does not
  // understand is left for Next and Read, which report what is malformed.
  const char* next = begin;
  // The loop reads sizes of one byte or two, before it knows which, hence 3.
  // Sizes from 16 KiB on, another field or the end leave it.
  while (end - next >= 3 && static_cast<std::uint8_t>(*next) == tag_) {
    const auto low = static_cast<std::uint8_t>(next[1]);
    const auto high = static_cast<std::uint8_t>(next[2]);
    if (low >= 0x80 && high >= 0x80) break;
    const std::ptrdiff_t size = low < 0x80 ? low : (low & 0x7f) | high << 7;
    const char* const text = next + (low < 0x80 ? 2 : 3);
    if (size > end - text) break;
    next = text + size;
    if (CountItems(1) == 1) {
      items.emplace_back(text, static_cast<std::size_t>(size));
    }
  }
  Check(input_.Skip(static_cast<int>(next - begin)));
}

void WireReader::Append(std::vector<std::uint64_t>& items) {
  std::uint64_t number = 0;
  if (type() == kFixed64) {
    if (ReadFixed64(number) && CountItems(1) == 1) items.push_back(number);
    return;
  }
  // A packed list is one length-delimited value; its size was checked to be a
  // multiple of 8, so reading from the array cannot run past it.
  std::string_view packed;
  if (!Read(packed) || !Check(packed.size() % sizeof(number) == 0)) return;
  const std::int64_t count = CountItems(packed.size() / sizeof(number));
  const std::size_t first = items.size();
  items.resize(first + count);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.data());
  for (std::uint64_t& item : std::span(items).subspan(first)) {
    bytes = CodedInputStream::ReadLittleEndian64FromArray(bytes, &item);
  }
}

std::int64_t WireReader::CountItems(std::int64_t count) {
  if (num_items_ == 0) first_item_field_ = field();
  const std::int64_t room = std::max<std::int64_t>(max_items_ - num_items_, 0);
  num_items_ += count;
  return std::min(count, room);
}

// Limits nest like the messages: the inner Next returns false at the end of the
// inner message, and EndMessage restores the outer limit.
bool WireReader::BeginMessage(Limit& end) {
  if (!Expect(kBytes)) return false;
  int size = 0;
  if (!Check(input_.ReadVarintSizeAsInt(&size)) ||
      !Check(size <= input_.BytesUntilLimit())) {
    return false;
  }
  end = input_.PushLimit(size);
  return true;
}

void WireReader::EndMessage(Limit end) { input_.PopLimit(end); }

void WireReader::SkipRest() { Check(input_.Skip(input_.BytesUntilLimit())); }

void WireReader::Skip() { Check(SkipField(tag_, 0)); }

bool WireReader::SkipField(std::uint32_t tag, int depth) {
  std::uint64_t number = 0;
  std::uint32_t half = 0;
  int size = 0;
  switch (tag & 7) {
    case kVarint:
      return input_.ReadVarint64(&number);
    case kFixed64:
      return input_.ReadLittleEndian64(&number);
    case kFixed32:
      return input_.ReadLittleEndian32(&half);
    case kBytes:
      return input_.ReadVarintSizeAsInt(&size) && input_.Skip(size);
    case kStartGroup:
      if (depth >= kMaxGroupDepth) return false;
      // A group has no length: it ends with an end tag of its own number. Any
      // other end tag, and the end of the message, is malformed.
      for (;;) {
        const std::uint32_t inner = input_.ReadTag();
        if (inner >> 3 == 0) return false;
        if ((inner & 7) == kEndGroup) return inner >> 3 == tag >> 3;
        if (!SkipField(inner, depth + 1)) return false;
      }
    default:
      return false;
  }
}

absl::Status WireReader::Finish(
    const google::protobuf::Descriptor& message,
    const google::protobuf::Descriptor& items) const {
  if (!ok_) return MalformedMessage(message.full_name());
  if (num_items_ <= max_items_) return absl::OkStatus();
  return TooManyTexts(items.FindFieldByNumber(first_item_field_)->name(),
                      num_items_, max_items_);
}

}  // namespace semrank
