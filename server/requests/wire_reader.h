// Walks the fields of a serialised message in place: strings come out as views
// into it, nothing is copied, and a string that is not UTF-8 is handed out as
// it is, so that the caller can say which one. (Protobuf's own parser copies
// each string and only says that something was wrong.)
//
//   Reading  for each Next(), one Read that fits the field, or Skip().
//   Errors   once a byte is no message, everything returns false and ok() is
//            false for good.
#ifndef SEMRANK_SERVER_REQUESTS_WIRE_READER_H_
#define SEMRANK_SERVER_REQUESTS_WIRE_READER_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string_view>

namespace semrank {

class WireReader {
 public:
  using WireType = google::protobuf::internal::WireFormatLite::WireType;
  static constexpr WireType kVarint =
      google::protobuf::internal::WireFormatLite::WIRETYPE_VARINT;
  static constexpr WireType kBytes =
      google::protobuf::internal::WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  static constexpr WireType kFixed32 =
      google::protobuf::internal::WireFormatLite::WIRETYPE_FIXED32;
  static constexpr WireType kFixed64 =
      google::protobuf::internal::WireFormatLite::WIRETYPE_FIXED64;

  // `message` must outlive the reader and the views; at most 2 GiB.
  explicit WireReader(std::string_view message);

  // Moves to the next field. False at the end and at the first error.
  bool Next();
  bool ok() const { return ok_; }

  int field() const;
  // A known field with an unexpected type is skipped, as Protobuf does.
  WireType type() const;

  bool ReadBytes(std::string_view& value);
  bool ReadVarint(std::uint64_t& value);
  bool ReadFixed32(std::uint32_t& value);
  bool ReadFixed64(std::uint64_t& value);
  bool Skip();

 private:
  bool Check(bool success) { return ok_ = ok_ && success; }

  google::protobuf::io::CodedInputStream input_;
  std::uint32_t tag_ = 0;
  bool ok_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_WIRE_READER_H_
