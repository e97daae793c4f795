// Whether this program runs with a sanitizer, which makes it ten times slower:
// a test that tries every input of a large space then tries a part of it.
#ifndef SEMRANK_TESTS_SUPPORT_SANITIZED_H_
#define SEMRANK_TESTS_SUPPORT_SANITIZED_H_

namespace semrank {

// GCC first: some libraries give it a __has_feature that says no to everything.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__clang__)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_SANITIZED_H_
