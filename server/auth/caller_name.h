// The names by which callers share the server (base/fair_share.h).
#ifndef SEMRANK_SERVER_AUTH_CALLER_NAME_H_
#define SEMRANK_SERVER_AUTH_CALLER_NAME_H_

#include <string>
#include <string_view>

namespace semrank {

class AccessControl;

// The client of a connected socket, as gRPC writes it: "ipv4:10.0.0.7:40312";
// empty if it has left.
std::string PeerOf(int socket);

// "key:" and the key's name in the log, where callers need keys (`access` is
// not null): all callers may come from the address of one proxy. Otherwise the
// address of `peer` ("ipv4:10.0.0.7:40312"), without its port; of an IPv6
// address only the network of 64 bits, since one host may have all of it.
std::string CallerName(const AccessControl* access,
                       std::string_view authorization, std::string_view peer);

// The key of a name that CallerName made; empty if the name is an address.
std::string_view KeyOfCaller(std::string_view caller);

}  // namespace semrank

#endif  // SEMRANK_SERVER_AUTH_CALLER_NAME_H_
