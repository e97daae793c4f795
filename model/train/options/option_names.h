// The words for values that flags and messages share.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_

#include "model/cli/command_line.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

inline constexpr Named<v1::TowerKind> kTowerNames[] = {
    {"dssm", v1::TOWER_KIND_DSSM},
    {"linear", v1::TOWER_KIND_LINEAR},
    {"clsm", v1::TOWER_KIND_CLSM},
    {"ssi", v1::TOWER_KIND_SSI}};
inline constexpr Named<v1::SsiVariant> kSsiVariantNames[] = {
    {"low_rank", v1::SSI_VARIANT_LOW_RANK},
    {"symmetric", v1::SSI_VARIANT_SYMMETRIC},
    {"diagonal", v1::SSI_VARIANT_DIAGONAL},
    {"full", v1::SSI_VARIANT_FULL},
    {"low_rank_no_identity", v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY},
    {"full_no_identity", v1::SSI_VARIANT_FULL_NO_IDENTITY}};
inline constexpr Named<v1::CorrelatedPairing> kCorrelatedPairingNames[] = {
    {"all", v1::CORRELATED_PAIRING_ALL},
    {"same_rank", v1::CORRELATED_PAIRING_SAME_RANK}};
inline constexpr Named<v1::FeatureKind> kFeatureNames[] = {
    {"letters", v1::FEATURE_KIND_LETTERS},
    {"words", v1::FEATURE_KIND_WORDS},
    {"bigrams", v1::FEATURE_KIND_BIGRAMS},
    {"letters+words", v1::FEATURE_KIND_LETTERS_AND_WORDS},
    {"letters+bigrams", v1::FEATURE_KIND_LETTERS_AND_BIGRAMS},
    {"words+bigrams", v1::FEATURE_KIND_WORDS_AND_BIGRAMS},
    {"letters+words+bigrams", v1::FEATURE_KIND_LETTERS_WORDS_AND_BIGRAMS}};
inline constexpr Named<v1::Activation> kActivationNames[] = {
    {"linear", v1::ACTIVATION_IDENTITY}, {"tanh", v1::ACTIVATION_TANH}};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_OPTION_NAMES_H_
