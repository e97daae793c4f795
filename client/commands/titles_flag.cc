// A flag of several commands; each reads its value with ABSL_DECLARE_FLAG.
#include <string>

#include "absl/flags/flag.h"

ABSL_FLAG(
    std::string, titles, "",
    "File of titles, one a line, alone or after an id and a tab: \"title\" "
    "or \"doc_id<TAB>title\"; plain, .gz or .zst; - = standard input. "
    "Empty lines are left out.");
