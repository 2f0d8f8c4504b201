// Compiler attributes, in one place.
//
// ARBORA_MULTIVERSION compiles a function once per instruction set and lets the loader choose, so
// that the portable build of pip still uses wide vectors. The functions it marks are thin wrappers
// of ARBORA_INLINE templates, because only what is inlined is compiled again.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define ARBORA_INLINE inline __attribute__((always_inline))
#define ARBORA_COLD __attribute__((noinline, cold))
#define ARBORA_PREFETCH(address) __builtin_prefetch(address)
#else
#define ARBORA_INLINE inline
#define ARBORA_COLD
#define ARBORA_PREFETCH(address) static_cast<void>(address)
#endif

// The resolver behind target_clones runs before a sanitizer's own start-up, hence the exception.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(ARBORA_SANITIZE)
#define ARBORA_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ARBORA_MULTIVERSION
#endif
