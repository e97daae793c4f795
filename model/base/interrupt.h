// Turns Ctrl-C (SIGINT), SIGTERM and the hangup of a terminal (SIGHUP) into a
// flag that long loops poll, so that they stop between two steps and keep what
// was finished. Reading a pipe or a device polls it too (FileDescriptor::Read).
#ifndef SEMRANK_MODEL_BASE_INTERRUPT_H_
#define SEMRANK_MODEL_BASE_INTERRUPT_H_

#include <initializer_list>

namespace semrank {

// Clears the flag. From now on the first of these signals, or of `also`, only
// sets it; a second one, except SIGHUP, ends the process. An ignored SIGHUP
// stays ignored.
void CatchInterrupts(std::initializer_list<int> also = {});
// True after the first signal. Costs one read of memory.
bool Interrupted();
// Sets the flag as a signal would, for programs that receive signals otherwise.
void Interrupt();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_INTERRUPT_H_
