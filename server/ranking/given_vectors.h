// Candidate vectors that a caller brings along: checked, and made comparable
// with the model's own.
#ifndef SEMRANK_SERVER_RANKING_GIVEN_VECTORS_H_
#define SEMRANK_SERVER_RANKING_GIVEN_VECTORS_H_

#include <span>

namespace semrank {

// Scales a vector to length 1; zero stays zero, and one whose length is 1 up
// to float32 rounding stays as it is, so that a vector from EmbedTexts scores
// what its text scores, to the last bit. False, and the vector left alone, when
// it holds NaN or infinity.
bool ScaleToUnitLength(std::span<float> vector);

// For scores that are dot products of vectors of any length: false when the
// vector holds NaN, or a number beyond +-1e15, with which a score could leave
// single precision.
bool HasUsableValues(std::span<const float> vector);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_GIVEN_VECTORS_H_
