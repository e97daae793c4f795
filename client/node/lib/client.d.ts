// Client of a semrank server.
//
//   Deadline  covers a call with all its attempts and chunks.
//   Retries   a call that the server rejects for now is repeated after the delay
//             that the server asks for, or after a backoff; reloadModel and
//             checkHealth are not.
//   Size      any number of texts and documents: what exceeds the server's limits
//             is sent in chunks, and responses of any size are received.
//   Errors    SemrankError; RangeError for an option or field that does not exist.
import {
  Document, DocumentHit, EmbedTextsResponse, EmbedTextsStreamResponse, ExplainResponse, Limits, Model, Problem,
  RankResponse, ReloadModelResponse, SearchDocumentsResponse, TagFilter,
} from './messages';

export * from './messages';

export interface ClientOptions {
  /** For each call with all its attempts and chunks, and for each 1,000 items of a stream. Default: 30,000; Infinity = none. */
  deadlineMs?: number;
  /** Sent with each call; without TLS the network can read it. Default: the environment variable SEMRANK_API_KEY. */
  apiKey?: string;
  /** PEM text; turns TLS on. */
  tlsCa?: string | Uint8Array;
  /** PEM texts, for mutual TLS. */
  tlsCert?: string | Uint8Array;
  tlsKey?: string | Uint8Array;
  /** With the first; 1 = no retries. Default: 4. */
  maxAttempts?: number;
  /** Doubles up to the maximum. Default: 100. */
  initialBackoffMs?: number;
  /** Default: 2,000. */
  maxBackoffMs?: number;
}

/** A number is Document.id, a text Document.documentId. */
export type Key = number | bigint | string;
export type Parts = 'both' | 'semantic' | 'lexical';
export type Side = 'query' | 'document';
export type Encoding = 'float32' | 'float16' | 'int8';
/** As in a response, or with a number; version 0 = the current one. */
export interface ModelName {
  name?: string;
  version?: number | string;
}

/** The fields of RankRequest. */
export interface RankFields {
  query: string;
  titles?: string[];
  ids?: (number | string)[];
  documentIds?: string[];
  vectors?: Float32Array | Uint8Array;
  topK?: number;
  minScore?: number;
  model?: ModelName;
  withTitles?: boolean;
  parts?: Parts;
  withParts?: boolean;
  filter?: Partial<TagFilter>;
  nameMatch?: boolean;
}

/** The fields of SearchDocumentsRequest. Default of topK: 10; of withTitles: true. */
export interface SearchFields {
  query: string;
  topK?: number;
  offset?: number;
  minScore?: number;
  exclude?: Iterable<Key>;
  model?: ModelName;
  withTitles?: boolean;
  withPayloads?: boolean;
  parts?: Parts;
  withParts?: boolean;
  filter?: Partial<TagFilter>;
  nameMatch?: boolean;
}

/** Exactly one of title, id and documentId. */
export interface ExplainFields {
  query: string;
  title?: string;
  id?: number | string;
  documentId?: string;
  model?: ModelName;
  maxPoolingUnits?: number;
  parts?: Parts;
}

export interface EmbedFields {
  side: Side;
  encoding?: Encoding;
  model?: ModelName;
}

/** Exactly one of id and documentId. */
export interface NewDocument {
  id?: number | string;
  documentId?: string;
  title: string;
  payload?: Uint8Array;
  tags?: string[];
}

export interface PutResult {
  numCreated: number;
  numReplaced: number;
  /** index counts through all documents. */
  problems: Problem[];
}

export type StreamedRanking = {index: number; response: RankResponse; error?: undefined} |
    {index: number; response?: undefined; error: SemrankError};

export class SemrankClient {
  /** Does not connect yet. RangeError, naming the option and its value, if one is bad. */
  constructor(address?: string, options?: ClientOptions);
  close(): void;

  /** Orders candidates: position i of the response is candidate indices[i] with scores[i]. */
  rank(request: RankFields): Promise<RankResponse>;
  /**
   * Many queries over one stream, which costs the server less per query than rank. In any order; a failed request has an
   * error. Requests are not split.
   */
  rankStream(requests: Iterable<RankFields>): AsyncGenerator<StreamedRanking, void>;
  /** Which words make the score of one title, or of one document of the catalog. */
  explain(request: ExplainFields): Promise<ExplainResponse>;
  /** One vector per text, in order; vectors() decodes them. */
  embed(request: EmbedFields & {texts: string[]}): Promise<EmbedTextsResponse>;
  /**
   * Any number of texts in bounded memory, with one version of the model: responses in the order of the texts, zeros for
   * the texts in `problems`.
   */
  embedStream(texts: Iterable<string> | AsyncIterable<string>, fields: EmbedFields):
      AsyncGenerator<Omit<EmbedTextsStreamResponse, 'firstText'> & {firstText: number}, void>;
  /** Any number of documents in bounded memory. A known key is replaced, so repeating is safe. */
  put(documents: Iterable<NewDocument> | AsyncIterable<NewDocument>): Promise<PutResult>;
  /** In the order of the keys; null = there is no such document. */
  get(keys: Iterable<Key>, options?: {withPayloads?: boolean}): Promise<(Document | null)[]>;
  /** How many there were; repeating is safe. */
  delete(keys: Iterable<Key>): Promise<number>;
  /** The best documents of the whole catalog, best first. */
  search(request: SearchFields): Promise<SearchDocumentsResponse>;
  getModel(model?: ModelName): Promise<Model>;
  listModels(name?: string): Promise<Model[]>;
  /** Loads a version and makes it current; needs the admin role. */
  reloadModel(model?: ModelName): Promise<ReloadModelResponse>;
  getLimits(): Promise<Limits>;
  /** Whether the server accepts calls; by default of all its services, else of one, 'semrank.v1.RankingService'. Not repeated: for probes. */
  checkHealth(service?: string): Promise<boolean>;
}

export class SemrankError extends Error {
  /** A number of grpc.status. */
  code: number;
  /** 'NOT_FOUND'. */
  codeName: string;
  /** Machine-readable, as in proto/README.md; '' if the server was not reached. */
  reason: string;
  metadata: Record<string, string>;
  retryDelayMs?: number;
}

/** The vectors of a response of embed or embedStream. */
export function vectors(response: {
  vectors: Uint8Array; embeddingDim: number; encoding: EmbedTextsResponse['encoding']; scales: number[];
}): Float32Array[];
