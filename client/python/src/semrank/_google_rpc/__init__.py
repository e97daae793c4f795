"""google.rpc: of googleapis-common-protos if it is installed, else our own copy.
Protobuf refuses two copies of one .proto file in a process."""
try:
    from google.rpc import error_details_pb2 as error_details, status_pb2 as status
except ImportError:
    from semrank._google_rpc import error_details_pb2 as error_details, status_pb2 as status

__all__ = ["error_details", "status"]
