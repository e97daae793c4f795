// Memory for tables that are read all over: each place read costs a TLB miss on
// 4 KiB pages, which takes longer than the read where page tables are nested
// (virtual machines).
#ifndef SEMRANK_MODEL_BASE_HUGE_PAGES_H_
#define SEMRANK_MODEL_BASE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace semrank {

// Zeros, in huge pages where the system has them; null without memory. Pages
// take memory when they are first written. Freed by munmap.
inline void* MapHugePages(std::size_t num_bytes) {
  void* const memory = mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // A refusal costs speed alone.
  madvise(memory, num_bytes, MADV_HUGEPAGE);
  return memory;
}

// Of std::vector. Elements are default-initialised, so pages of trivial ones
// are not touched until they are written.
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
