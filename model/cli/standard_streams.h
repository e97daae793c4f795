// Standard input, output and error as a program finds them: a service manager
// may have closed them, and the program that reads them may end first.
#ifndef SEMRANK_MODEL_CLI_STANDARD_STREAMS_H_
#define SEMRANK_MODEL_CLI_STANDARD_STREAMS_H_

namespace semrank {

// Opens those of the descriptors 0, 1 and 2 that are closed on /dev/null, so
// that no file or socket of the program gets their numbers, and with it what is
// printed. Reading or writing them fails as before. Each main calls this first;
// where the system allows it, it also runs before libraries are initialized.
void ReserveStandardStreams();

// From now on, writing to a pipe without a reader is an error (EPIPE) and does
// not end the program. For programs whose work is more than what they print.
void IgnoreBrokenPipes();

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_STANDARD_STREAMS_H_
