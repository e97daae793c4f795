// Memory for tables that are read at random places. On 4 KiB pages each of
// these reads is a TLB miss, which takes longer than the read itself where page
// tables are nested (virtual machines).
#ifndef SEMRANK_MODEL_BASE_HUGE_PAGES_H_
#define SEMRANK_MODEL_BASE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace semrank {

// Returns zeros, in huge pages where the system has them, or null if there is
// no memory. Pages take memory when they are first written. The caller frees
// them by munmap.
inline void* MapHugePages(std::size_t num_bytes) {
  void* const memory = mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // If the system refuses, the memory is only slower.
  madvise(memory, num_bytes, MADV_HUGEPAGE);
  return memory;
}

// An allocator for std::vector. Elements are default-initialised, so pages of
// trivial ones are not touched until they are written.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    void* const memory = MapHugePages(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    munmap(memory, count * sizeof(T));
  }

  template <typename U, typename... Args>
  void construct(U* element, Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(element)) U;
    } else {
      ::new (static_cast<void*>(element)) U(std::forward<Args>(args)...);
    }
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) {
    return true;
  }
};

template <typename T>
using HugePageVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_HUGE_PAGES_H_
