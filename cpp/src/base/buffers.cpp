#include "arbora/base/buffers.hpp"

#include <iterator>
#include <mutex>
#include <new>
#include <vector>

namespace arbora::base {
namespace {

constexpr std::size_t kMostKept = std::size_t{128} << 20;  // bytes
constexpr std::size_t kHeader = 8;                         // doubles: 64 bytes before the buffer

struct Pool {
  std::mutex lock;
  std::vector<double*> blocks;
  std::size_t bytes = 0;
};

Pool& pool() {
  static Pool* const only = new Pool;  // never destroyed: arrays may outlive everything else
  return *only;
}

// A block starts with its size, the header included, in doubles.
std::size_t& size_of(double* block) { return *reinterpret_cast<std::size_t*>(block); }

}  // namespace

double* acquire_buffer(std::size_t count) {
  const std::size_t need = count + kHeader;
  Pool& kept = pool();
  // Never blocks: after a fork, the lock may be held by a thread that no longer exists.
  if (const std::unique_lock<std::mutex> guard(kept.lock, std::try_to_lock); guard.owns_lock()) {
    for (auto it = kept.blocks.rbegin(); it != kept.blocks.rend(); ++it) {
      const std::size_t size = size_of(*it);
      if (size < need || size > 2 * need) continue;
      double* block = *it;
      kept.bytes -= size * sizeof(double);
      kept.blocks.erase(std::next(it).base());
      return block + kHeader;
    }
  }
  auto* block = static_cast<double*>(::operator new(need * sizeof(double)));
  size_of(block) = need;
  return block + kHeader;
}

void release_buffer(double* buffer) noexcept {
  double* block = buffer - kHeader;
  Pool& kept = pool();
  const std::size_t bytes = size_of(block) * sizeof(double);
  if (const std::unique_lock<std::mutex> guard(kept.lock, std::try_to_lock);
      guard.owns_lock() && bytes <= kMostKept / 2) {
    try {
      kept.blocks.push_back(block);
    } catch (const std::bad_alloc&) {
      ::operator delete(block);
      return;
    }
    kept.bytes += bytes;
    while (kept.bytes > kMostKept) {  // the oldest goes first
      kept.bytes -= size_of(kept.blocks.front()) * sizeof(double);
      ::operator delete(kept.blocks.front());
      kept.blocks.erase(kept.blocks.begin());
    }
    return;
  }
  ::operator delete(block);
}

}  // namespace arbora::base
