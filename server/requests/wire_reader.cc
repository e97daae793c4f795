#include "server/requests/wire_reader.h"

namespace semrank {

using google::protobuf::internal::WireFormatLite;

WireReader::WireReader(std::string_view message)
    : input_(reinterpret_cast<const std::uint8_t*>(message.data()),
             static_cast<int>(message.size())) {
  // A limit makes "at the end" differ from "tag 0", which is no field.
  input_.PushLimit(static_cast<int>(message.size()));
}

bool WireReader::Next() {
  if (!ok_) return false;
  tag_ = input_.ReadTag();
  if (tag_ != 0) return Check(WireFormatLite::GetTagFieldNumber(tag_) > 0);
  Check(input_.ConsumedEntireMessage());
  return false;
}

int WireReader::field() const {
  return WireFormatLite::GetTagFieldNumber(tag_);
}

WireReader::WireType WireReader::type() const {
  return WireFormatLite::GetTagWireType(tag_);
}

bool WireReader::ReadBytes(std::string_view& value) {
  int size = 0;
  if (!Check(input_.ReadVarintSizeAsInt(&size))) return false;
  const void* data = nullptr;
  int available = 0;
  input_.GetDirectBufferPointerInline(&data, &available);
  if (!Check(size <= available)) return false;
  value = std::string_view(static_cast<const char*>(data), size);
  return Check(input_.Skip(size));
}

bool WireReader::ReadVarint(std::uint64_t& value) {
  return Check(input_.ReadVarint64(&value));
}

bool WireReader::ReadFixed32(std::uint32_t& value) {
  return Check(input_.ReadLittleEndian32(&value));
}

bool WireReader::ReadFixed64(std::uint64_t& value) {
  return Check(input_.ReadLittleEndian64(&value));
}

bool WireReader::Skip() {
  return Check(WireFormatLite::SkipField(&input_, tag_));
}

}  // namespace semrank
