// Scratch memory of one thread: a bump allocator whose blocks are released together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "arbora/layers.hpp"

namespace arbora::base {

class Workspace {
 public:
  // Uninitialised memory, aligned for any vector; valid until reset().
  void* bytes(std::size_t size) {
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (blocks_.empty() || used_ + size > blocks_.back().size) {
      // Doubling keeps the number of blocks small while a sentence is sized up for the first time.
      const std::size_t grown = blocks_.empty() ? 0 : blocks_.back().size;
      blocks_.emplace_back(std::max(size, grown));
      used_ = 0;
    }
    std::byte* result = blocks_.back().first + used_;
    used_ += size;
    return result;
  }

  // Releases everything; several blocks are merged into one for the next sentence.
  void reset() {
    used_ = 0;
    if (blocks_.size() < 2) return;
    std::size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    blocks_.clear();
    blocks_.emplace_back(size);
  }

 private:
  static constexpr std::size_t kAlignment = 64;

  struct Block {
    explicit Block(std::size_t bytes)
        : memory(new std::byte[bytes + kAlignment]), first(memory.get()), size(bytes) {
      void* aligned = memory.get();
      std::size_t space = bytes + kAlignment;
      first = static_cast<std::byte*>(std::align(kAlignment, bytes, aligned, space));
    }
    std::unique_ptr<std::byte[]> memory;
    std::byte* first;
    std::size_t size;
  };

  std::vector<Block> blocks_;
  std::size_t used_ = 0;
};

}  // namespace arbora::base
