#include "server/requests/message_texts.h"

#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

using enum TextRole;

constinit const MessageTexts kRankTexts = {
    &v1::RankRequest::descriptor,
    {{v1::RankRequest::kTitlesFieldNumber, kItems},
     {v1::RankRequest::kIdsFieldNumber, kNumbers},
     {v1::RankRequest::kDocumentIdsFieldNumber, kItems},
     {v1::RankRequest::kVectorsFieldNumber, kVectors},
     {v1::RankRequest::kModelFieldNumber, kModel}}};

constinit const MessageTexts kRankStreamTexts = {
    &v1::RankStreamRequest::descriptor,
    {{v1::RankStreamRequest::kRequestNumberFieldNumber, kRequestNumber},
     {v1::RankStreamRequest::kRequestFieldNumber, kRequest}},
    &kRankTexts};

constinit const MessageTexts kExplainTexts = {
    &v1::ExplainRequest::descriptor,
    {{v1::ExplainRequest::kQueryFieldNumber, kQuery},
     {v1::ExplainRequest::kTitleFieldNumber, kTitle},
     {v1::ExplainRequest::kIdFieldNumber, kId},
     {v1::ExplainRequest::kDocumentIdFieldNumber, kDocumentId}}};

constinit const MessageTexts kEmbedTexts = {
    &v1::EmbedTextsRequest::descriptor,
    {{v1::EmbedTextsRequest::kTextsFieldNumber, kItems}}};

constinit const MessageTexts kEmbedStreamTexts = {
    &v1::EmbedTextsStreamRequest::descriptor,
    {{v1::EmbedTextsStreamRequest::kTextsFieldNumber, kItems}}};

constinit const MessageTexts kPutTexts = {
    &v1::PutDocumentsRequest::descriptor,
    {{v1::PutDocumentsRequest::kDocumentsFieldNumber, kItems}}};

constinit const MessageTexts kPutStreamTexts = {
    &v1::PutDocumentsStreamRequest::descriptor,
    {{v1::PutDocumentsStreamRequest::kDocumentsFieldNumber, kItems}}};

constinit const MessageTexts kGetTexts = {
    &v1::GetDocumentsRequest::descriptor,
    {{v1::GetDocumentsRequest::kIdsFieldNumber, kNumbers},
     {v1::GetDocumentsRequest::kDocumentIdsFieldNumber, kItems}}};

constinit const MessageTexts kDeleteTexts = {
    &v1::DeleteDocumentsRequest::descriptor,
    {{v1::DeleteDocumentsRequest::kIdsFieldNumber, kNumbers},
     {v1::DeleteDocumentsRequest::kDocumentIdsFieldNumber, kItems}}};

constinit const MessageTexts kSearchTexts = {
    &v1::SearchDocumentsRequest::descriptor,
    {{v1::SearchDocumentsRequest::kExcludeIdsFieldNumber, kNumbers},
     {v1::SearchDocumentsRequest::kExcludeDocumentIdsFieldNumber, kItems}}};

}  // namespace semrank
