// Files that are part of the program: assets/ of this folder and openapi.json.
#ifndef SEMRANK_SERVER_PAGES_EMBEDDED_FILES_H_
#define SEMRANK_SERVER_PAGES_EMBEDDED_FILES_H_

#include <string_view>
#include <vector>

namespace semrank {

// The content of "index.html" and the like, for the life of the program; empty
// = there is no such file.
std::string_view EmbeddedFile(std::string_view name);

// The names of all of them.
std::vector<std::string_view> EmbeddedFileNames();

}  // namespace semrank

#endif  // SEMRANK_SERVER_PAGES_EMBEDDED_FILES_H_
