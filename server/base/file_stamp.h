// Tells whether a file is another one than it was.
#ifndef SEMRANK_SERVER_BASE_FILE_STAMP_H_
#define SEMRANK_SERVER_BASE_FILE_STAMP_H_

#include <string>

namespace semrank {

// Changes when the content does, or when another file takes the name, also
// through a symbolic link on the way; "none" for no file.
std::string FileStamp(const std::string& path);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_FILE_STAMP_H_
