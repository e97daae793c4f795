// Reads a serialised Protobuf message in place: strings are views into its
// bytes and nothing is copied, so a request that is refused costs one pass over
// its bytes. (Protobuf's own parser copies every string before admission could
// be asked.)
//
//   Reading  for each Next() one Read, Append, ReadField or Skip. As in
//            Protobuf, the last value of a singular field counts, the values of
//            a repeated field add up, and a field of another wire type is
//            skipped. Strings are not checked for UTF-8; the caller does that
//            by name.
//   Memory   16 bytes for each item of a repeated field; at most `max_items`
//            are kept, while all of them are counted.
//   Errors   after the first malformed byte everything returns false. Finish
//            reports it, or more than `max_items` items.
#ifndef SEMRANK_SERVER_REQUESTS_WIRE_READER_H_
#define SEMRANK_SERVER_REQUESTS_WIRE_READER_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

// A field of a message and where its value goes.
template <typename Target>
struct WireField {
  WireField(int field_number, Target& place)
      : number(field_number), target(place) {}

  const int number;
  Target& target;
};

class WireReader {
 public:
  // `message` must outlive the reader and the views; at most 2 GiB.
  explicit WireReader(
      std::string_view message,
      std::int64_t max_items = std::numeric_limits<std::int64_t>::max());

  // Moves to the next field. False at the end of the message and after an
  // error.
  bool Next();
  int field() const { return static_cast<int>(tag_ >> 3); }

  // True when the value was read, false when the field was skipped or is
  // malformed; `value` is unchanged then.
  bool Read(std::string_view& value);  // string, bytes
  bool Read(std::optional<float>& value);
  // bool, enums (as std::int32_t), int32, int64, uint32, uint64. Wider values
  // lose their upper bits, as in Protobuf.
  template <std::integral T>
  bool Read(T& value) {
    std::uint64_t wide = 0;
    if (!ReadVarint(wide)) return false;
    value = static_cast<T>(wide);
    return true;
  }
  bool ReadFixed64(std::uint64_t& value);

  // Read one field of a list. Numbers are fixed64, packed or not.
  void Append(std::vector<std::string_view>& items);
  void Append(std::vector<std::uint64_t>& items);

  // Reads the field into the one of `fields` with its number, or skips it. A
  // target is a variable that Read accepts, a vector that Append accepts, a
  // function to call, or of a type with ReadFrom(WireReader&, T&).
  template <typename... Targets>
  void ReadField(const WireField<Targets>&... fields) {
    const bool known =
        ((fields.number == field() && (Take(fields.target), true)) || ...);
    if (!known) Skip();
  }

  // Calls `read_field()` for each field of the message in this field. Returns
  // what Read returns.
  template <typename ReadField>
  bool ReadMessage(ReadField read_field) {
    Limit end;
    if (!BeginMessage(end)) return false;
    while (Next()) read_field();
    EndMessage(end);
    return ok_;
  }
  // Appends an item that is a message: calls `read_field(item)` for each of its
  // fields.
  template <typename Item, typename ReadField>
  void Append(std::vector<Item>& items, ReadField read_field) {
    Limit end;
    if (!BeginMessage(end)) return;
    if (CountItems(1) == 1) {
      Item& item = items.emplace_back();
      while (Next()) read_field(item);
    } else {
      SkipRest();
    }
    EndMessage(end);
  }

  void Skip();

  // To call after the last Next. MALFORMED_MESSAGE, or TOO_MANY_TEXTS with the
  // name of the first item's field. `items` is the message with the repeated
  // fields, if it is not the outermost one.
  absl::Status Finish(const google::protobuf::Descriptor& message) const {
    return Finish(message, message);
  }
  absl::Status Finish(const google::protobuf::Descriptor& message,
                      const google::protobuf::Descriptor& items) const;

 private:
  using Limit = google::protobuf::io::CodedInputStream::Limit;
  enum WireType {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,
    kStartGroup = 3,
    kEndGroup = 4,
    kFixed32 = 5
  };

  template <typename Target>
  void Take(Target& target) {
    if constexpr (requires { target(); }) {
      target();
    } else if constexpr (requires { Append(target); }) {
      Append(target);
    } else if constexpr (requires { Read(target); }) {
      Read(target);
    } else {
      ReadFrom(*this, target);
    }
  }
  int type() const { return static_cast<int>(tag_ & 7); }
  bool Check(bool success) { return ok_ = ok_ && success; }
  // Skips the field and returns false when its type is another one.
  bool Expect(WireType type);
  // Reads further items of the field that was just read, if its number is
  // small.
  void AppendSameField(std::vector<std::string_view>& items);
  bool ReadVarint(std::uint64_t& value);
  bool BeginMessage(Limit& end);
  void EndMessage(Limit end);
  void SkipRest();
  bool SkipField(std::uint32_t tag, int depth);
  // Counts further items; returns how many of them to keep.
  std::int64_t CountItems(std::int64_t count);

  const std::size_t num_bytes_;
  const std::int64_t max_items_;
  google::protobuf::io::CodedInputStream input_;
  std::uint32_t tag_ = 0;
  bool ok_ = true;
  std::int64_t num_items_ = 0;
  int first_item_field_ = 0;
};

// Reads a whole Message with these fields; others are skipped. Errors are those
// of Finish.
template <typename Message, typename... Targets>
absl::Status ReadFields(std::string_view bytes, std::int64_t max_items,
                        const WireField<Targets>&... fields) {
  WireReader reader(bytes, max_items);
  while (reader.Next()) reader.ReadField(fields...);
  return reader.Finish(*Message::descriptor());
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_WIRE_READER_H_
