// Client of a semrank server.
//
//   Deadline  covers a call with all its attempts, chunks and streams.
//   Retries   a call that the server rejects for now is retried after the delay
//             that the server asks for, or after a backoff. reloadModel and
//             checkHealth are not retried.
//   Size      any number of texts and documents: rank sends larger requests in
//             chunks, but not one with impression or interleave; embed, put and
//             embedStream use streams. Responses of any size are received.
//   Errors    SemrankError; TypeError for an argument of the wrong kind; RangeError
//             for an option or field that does not exist.
import {
  Document, DocumentHit, EmbedTextsResponse, EmbedTextsStreamResponse, ExplainResponse, Limits, Model, Problem,
  RankResponse, ReloadModelResponse, ReportEventsResponse, SearchDocumentsResponse, TagFilter,
} from './messages';

export * from './messages';

export interface ClientOptions {
  /**
   * Bounds each call with all its attempts, chunks and streams, and each 1,000 items of rankStream, embedStream and put.
   * Default: 30,000; Infinity = none.
   */
  deadlineMs?: number;
  /** Every call carries the key; without TLS the network can read it. Default: the environment variable SEMRANK_API_KEY. */
  apiKey?: string;
  /** PEM text of the authorities that may sign the server's certificate. Turns TLS on. */
  tlsCa?: string | Uint8Array;
  /** PEM texts of the client's own certificate and key, for mutual TLS. */
  tlsCert?: string | Uint8Array;
  tlsKey?: string | Uint8Array;
  /** Allows plain text to a server on another machine: the network between can read texts and the key. Default: false. */
  plainText?: boolean;
  /** Attempts per call, including the first; 1 = no retries. Default: 4. */
  maxAttempts?: number;
  /** Delay before the second attempt; it doubles with each further one. Default: 100. */
  initialBackoffMs?: number;
  /** Upper bound of the delay. Default: 2,000. */
  maxBackoffMs?: number;
}

/** A number is Document.id, a text Document.documentId. */
export type Key = number | bigint | string;
export type Parts = 'both' | 'semantic' | 'lexical';
export type Side = 'query' | 'document';
export type Encoding = 'float32' | 'float16' | 'int8';
/** The model of a response, or a name and a number. Without a name, the default model; version 0 = the current one. */
export interface ModelName {
  name?: string;
  version?: number | string;
}

/** Asks the server to keep a list as an impression, to which reportEvents refers: {} at least. */
export interface Impression {
  session?: string;
  user?: string;
}

/** Two rankings in one list: that of `a` and either that of `b` or the order of the request. */
export interface Interleaved {
  a?: ModelName;
  b?: ModelName;
  requestOrder?: boolean;
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
  impression?: Impression;
  interleave?: Interleaved;
}

/** What a user did with a result: the fields of Event. timeMs counts from 1970; 0 = now. */
export interface NewEvent {
  impressionId: string;
  /** 'click', 'conversion', 'dismissal' or a name of your own. */
  kind: string;
  /** From 1, in the list as returned. A click has a position or a document. */
  position?: number;
  document?: string;
  timeMs?: number | string;
  /** A second event with this id is not kept. */
  eventId?: string;
  value?: number;
}

/** A list that another system showed: the fields of ShownList. */
export interface NewShownList {
  impressionId?: string;
  query?: string;
  session?: string;
  user?: string;
  timeMs?: number | string;
  results?: {document?: string; title?: string; score?: number}[];
  ranker?: string;
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
  impression?: Impression;
  interleave?: Interleaved;
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

  /**
   * Orders candidates: position i of the response is candidate indices[i] with scores[i]. A ranking with `impression` or
   * `interleave` is one list: RangeError if it exceeds a message. A retry may keep it twice.
   */
  rank(request: RankFields): Promise<RankResponse>;
  /**
   * Ranks many queries over one stream, which costs the server less per query than rank. Results come in any order; that
   * of a failed request has an error. Requests are not split.
   */
  rankStream(requests: Iterable<RankFields>): AsyncGenerator<StreamedRanking, void>;
  /** Says which words make the score of one title, or of one document of the catalog. */
  explain(request: ExplainFields): Promise<ExplainResponse>;
  /** Embeds all texts or none: one vector per text, in order, which vectors() decodes. */
  embed(request: EmbedFields & {texts: string[]}): Promise<EmbedTextsResponse>;
  /**
   * Embeds any number of texts in bounded memory, with one version of the model. Responses come in the order of the texts,
   * with zeros for the texts in `problems`.
   */
  embedStream(texts: Iterable<string> | AsyncIterable<string>, fields: EmbedFields):
      AsyncGenerator<Omit<EmbedTextsStreamResponse, 'firstText'> & {firstText: number}, void>;
  /** Puts any number of documents, in bounded memory. A known key is replaced, so repeating is safe. */
  put(documents: Iterable<NewDocument> | AsyncIterable<NewDocument>): Promise<PutResult>;
  /** Returns documents in the order of the keys; null = there is no such document. */
  get(keys: Iterable<Key>, options?: {withPayloads?: boolean}): Promise<(Document | null)[]>;
  /** Deletes documents and returns how many there were; repeating is safe. */
  delete(keys: Iterable<Key>): Promise<number>;
  /** Finds the best documents of the whole catalog, best first. */
  search(request: SearchFields): Promise<SearchDocumentsResponse>;
  /**
   * Reports what users did with lists of results, and lists that other systems showed. Resolves once they are kept. Events
   * without an eventId and lists without an impressionId get one, so that what a retry keeps twice is counted once in
   * training. Reports are not split; one that is rejected as UNAVAILABLE may be kept in part.
   */
  reportEvents(report: {events?: Iterable<NewEvent>; impressions?: Iterable<NewShownList>}): Promise<ReportEventsResponse>;
  getModel(model?: ModelName): Promise<Model>;
  listModels(name?: string): Promise<Model[]>;
  /** Loads a version and makes it current; needs the admin role. */
  reloadModel(model?: ModelName): Promise<ReloadModelResponse>;
  getLimits(): Promise<Limits>;
  /**
   * Whether the server accepts calls, for all its services or for one, such as 'semrank.v1.RankingService'. Suits probes:
   * the call is not retried.
   */
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
