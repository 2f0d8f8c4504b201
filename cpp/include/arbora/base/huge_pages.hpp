// Memory for large tables that are read in random order: in huge pages where the system has them,
// which saves TLB misses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "arbora/layers.hpp"

namespace arbora::base {

template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class Other>
  HugePages(const HugePages<Other>&) {}

  T* allocate(std::size_t count) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t kPage = std::size_t{1} << 21;
    if (const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
        bytes >= 2 * kPage) {
      void* const room = std::aligned_alloc(kPage, bytes);
      if (room == nullptr) throw std::bad_alloc();
      madvise(room, bytes, MADV_HUGEPAGE);  // a hint
      return static_cast<T*>(room);
    }
#endif
    void* const room = std::malloc(count * sizeof(T));
    if (room == nullptr) throw std::bad_alloc();
    return static_cast<T*>(room);
  }
  void deallocate(T* room, std::size_t) { std::free(room); }

  bool operator==(const HugePages&) const { return true; }
};

}  // namespace arbora::base
