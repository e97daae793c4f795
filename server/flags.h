// The flags of semrank-server. Each is bound to a field of ServerOptions, whose
// initial value is the default that --help shows.
#ifndef SEMRANK_SERVER_FLAGS_H_
#define SEMRANK_SERVER_FLAGS_H_

#include <string>

#include "server/options.h"

namespace semrank {

class CommandLine;

// `options` must outlive the parsing of `command_line`.
void AddServerFlags(CommandLine& command_line, ServerOptions& options);

// The effective configuration after parsing: "name=value" a line, as --config
// reads it, with passwords hidden.
std::string DescribeConfig(const CommandLine& command_line);

}  // namespace semrank

#endif  // SEMRANK_SERVER_FLAGS_H_
