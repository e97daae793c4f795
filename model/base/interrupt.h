// Turns Ctrl-C (SIGINT) and SIGTERM into a flag that long loops poll, so that
// they stop between two steps and keep what was finished. Reading a pipe or a
// device polls it too (FileDescriptor::Read).
#ifndef SEMRANK_MODEL_BASE_INTERRUPT_H_
#define SEMRANK_MODEL_BASE_INTERRUPT_H_

#include <initializer_list>

namespace semrank {

// From now on the first SIGINT or SIGTERM only sets the flag; a second one ends
// the process at once. Signals of `also` do the same.
void CatchInterrupts(std::initializer_list<int> also = {});
// True after the first signal. Costs one read of memory.
bool Interrupted();
// Sets the flag as a signal would, for programs that receive signals otherwise.
void Interrupt();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_INTERRUPT_H_
