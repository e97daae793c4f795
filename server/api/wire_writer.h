// Writes a serialised Protobuf message field by field, as WireReader reads it.
#ifndef SEMRANK_SERVER_API_WIRE_WRITER_H_
#define SEMRANK_SERVER_API_WIRE_WRITER_H_

#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semrank {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline void AppendVarint(std::uint64_t value, std::string& bytes) {
  std::uint8_t varint[10];
  const std::uint8_t* const end =
      google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value,
                                                                    varint);
  bytes.append(reinterpret_cast<const char*>(varint), end - varint);
}

// Little-endian. Number is of 4 or 8 bytes.
template <typename Number>
void AppendFixed(Number number, std::string& bytes) {
  static_assert(std::endian::native == std::endian::little);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline void AppendTag(int field_number, WireType type, std::string& bytes) {
  AppendVarint(static_cast<std::uint64_t>(field_number) << 3 |
                   static_cast<std::uint64_t>(type),
               bytes);
}

// A field of type string, bytes or a message that is serialised already.
inline void AppendBytesField(int field_number, std::string_view value,
                             std::string& bytes) {
  using google::protobuf::io::CodedOutputStream;
  std::uint8_t head[20];
  std::uint8_t* end = CodedOutputStream::WriteVarint32ToArray(
      static_cast<std::uint32_t>(field_number) << 3 |
          static_cast<std::uint32_t>(WireType::kBytes),
      head);
  end = CodedOutputStream::WriteVarint64ToArray(value.size(), end);
  bytes.append(reinterpret_cast<const char*>(head), end - head);
  bytes.append(value);
}

// A message or packed list whose length is not known before its end: reserves
// the five bytes of the longest length, which Protobuf reads like shorter ones.
class LengthPrefix {
 public:
  explicit LengthPrefix(std::string& bytes)
      : bytes_(bytes), begin_(bytes.size() + kSize) {
    bytes_.append(kSize, '\0');
  }
  // To call when all of the content is appended.
  void Finish() {
    std::size_t length = bytes_.size() - begin_;
    for (std::size_t i = begin_ - kSize; i < begin_; ++i, length >>= 7) {
      const bool continues = i + 1 < begin_;
      bytes_[i] = static_cast<char>((length & 0x7F) | (continues ? 0x80 : 0));
    }
  }

 private:
  static constexpr std::size_t kSize = 5;

  std::string& bytes_;
  const std::size_t begin_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_WIRE_WRITER_H_
