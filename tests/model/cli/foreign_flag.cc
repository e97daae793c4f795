// A flag such as libraries bring along.
#include "absl/flags/flag.h"

ABSL_FLAG(int, library_level, 0, "Not for the user of the program.");
