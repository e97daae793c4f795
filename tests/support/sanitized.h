// Whether this program runs with a sanitizer, which makes it ten times slower:
// a test that tries every input of a large space then tries a part of it.
#ifndef SEMRANK_TESTS_SUPPORT_SANITIZED_H_
#define SEMRANK_TESTS_SUPPORT_SANITIZED_H_

namespace semrank {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_SANITIZED_H_
