// The package `semrank` against a real server, over TLS and with keys, and
// against a server that misbehaves. Exits 1 with what went wrong.
//
// usage: node client.js HOST:PORT CERTIFICATE READ_KEY WRITE_KEY MAX_TEXTS HTTP_HOST:PORT EVENTS_KEY
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const grpc = require('@grpc/grpc-js');
const {SemrankClient, SemrankError, vectors} = require('semrank');
const {definitions} = require('semrank/lib/protos.js');

const [address, certificate, readKey, writeKey, maxTexts, httpAddress, eventsKey] = process.argv.slice(2);
const TITLES = ['photo editor', 'mail reader', 'disk usage viewer'];
const MANY_TITLES = Array.from({length: Number(maxTexts) + 2_000}, (_, i) => `${TITLES[i % 3]} number ${i}`);

const tlsCa = fs.readFileSync(certificate);
const client = new SemrankClient(address, {tlsCa, apiKey: readKey});
const writer = new SemrankClient(address, {tlsCa, apiKey: writeKey});
const reporter = new SemrankClient(address, {tlsCa, apiKey: eventsKey});

async function collect(iterable) {
  const all = [];
  for await (const item of iterable) all.push(item);
  return all;
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

const withRealServer = {
  async 'rank orders the titles'() {
    const response = await client.rank({query: 'edit photos', titles: TITLES, withTitles: true});
    assert.deepEqual([...response.indices].sort(), [0, 1, 2]);
    assert.deepEqual(response.scores, [...response.scores].sort((a, b) => b - a));
    assert.deepEqual(response.titles, response.indices.map((i) => TITLES[i]));
  },

  async 'more titles than the limit are ranked as by one call'() {
    const whole = await client.rank({query: 'edit photos', titles: MANY_TITLES, withTitles: true});
    assert.deepEqual(whole.titles, whole.indices.map((i) => MANY_TITLES[i]));
    const scores = Object.fromEntries(whole.indices.map((index, i) => [index, whole.scores[i]]));
    assert.deepEqual(whole.indices, [...MANY_TITLES.keys()].sort((a, b) => scores[b] - scores[a] || a - b));
    const first = MANY_TITLES.length - 100;
    const last = await client.rank({query: 'edit photos', titles: MANY_TITLES.slice(first)});
    assert.deepEqual(last.scores, last.indices.map((i) => scores[first + i]));
    const best = await client.rank({query: 'edit photos', titles: MANY_TITLES, topK: 5});
    assert.deepEqual(best.indices, whole.indices.slice(0, 5));
  },

  async 'a stream of queries is answered as each alone'() {
    const requests = Array.from({length: 50}, (_, i) => ({query: `photo number ${i}`, titles: TITLES}));
    const answers = await collect(client.rankStream(requests));
    assert.deepEqual(answers.map(({index}) => index).sort((a, b) => a - b), [...requests.keys()]);
    const last = answers.find(({index}) => index === 49);
    assert.deepEqual(last.response.scores, (await client.rank(requests[49])).scores);
  },

  async 'vectors give the scores of rank in each encoding'() {
    const response = await client.rank({query: 'edit photos', titles: TITLES});
    for (const [encoding, tolerance] of [['float32', 1e-5], ['float16', 1e-2], ['int8', 1e-1]]) {
      const [query] = vectors(await client.embed({texts: ['edit photos'], side: 'query', encoding}));
      const titles = vectors(await client.embed({texts: TITLES, side: 'document', encoding}));
      response.indices.forEach((index, i) => assert.ok(Math.abs(dot(query, titles[index]) - response.scores[i]) < tolerance));
    }
    const embedded = await client.embed({texts: TITLES, side: 'document'});
    assert.deepEqual((await client.rank({query: 'edit photos', vectors: embedded.vectors})).indices, response.indices);
  },

  async 'streamed vectors are those of embed'() {
    const whole = await client.embed({texts: MANY_TITLES, side: 'document'});
    const parts = await collect(client.embedStream(MANY_TITLES, {side: 'document'}));
    assert.deepEqual(parts.map(({firstText}) => firstText), parts.map((_, i) => 1_000 * i));
    assert.ok(Buffer.concat(parts.map((part) => part.vectors)).equals(whole.vectors));
  },

  async 'documents are put, found and deleted'() {
    const documents = MANY_TITLES.map((title, i) => ({documentId: `d${i}`, title}));
    documents.push({id: 7, title: 'numbered', tags: ['x']}, {title: 'no key'});
    const result = await writer.put(documents);
    assert.equal(result.numCreated + result.numReplaced, MANY_TITLES.length + 1);
    assert.deepEqual(result.problems.map(({index}) => index), [MANY_TITLES.length + 1]);
    const {hits: [hit]} = await client.search({query: 'photo editor number 0', topK: 1});
    assert.deepEqual([hit.documentId, hit.title], ['d0', MANY_TITLES[0]]);
    const left = {filter: {includeTags: ['x'], excludeTags: undefined}, model: {version: null}};
    const tagged = await client.search({query: 'photo', ...left});
    assert.deepEqual(tagged.hits.map(({title}) => title), ['numbered']);
    const found = await client.get(['d1', 7, 'none', 8n]);
    assert.deepEqual(found.map((document) => document?.title), [MANY_TITLES[1], 'numbered', undefined, undefined]);
    assert.equal((await client.explain({query: 'photo', documentId: 'd0'})).title, MANY_TITLES[0]);
    const keys = [7, 'none', ...MANY_TITLES.keys()].map((key) => typeof key === 'number' && key !== 7 ? `d${key}` : key);
    assert.equal(await writer.delete([...keys, 'd7']), MANY_TITLES.length + 1);
    assert.ok((await client.get(keys)).every((document) => document === null));
  },

  async 'events of rankings are reported'() {
    const {impressionId} = await client.rank({query: 'edit photos', titles: TITLES, impression: {}});
    assert.match(impressionId, /^[\w-]{22}$/);
    assert.equal((await client.rank({query: 'edit photos', titles: TITLES})).impressionId, '');
    await writer.put([{documentId: 'shown', title: 'photo editor'}]);
    const found = await client.search({query: 'edit photos', impression: {session: 's', user: 'u'}});
    await writer.delete(['shown']);
    assert.match(found.impressionId, /^[\w-]{22}$/);
    const [{response}] = await collect(client.rankStream([{query: 'q', titles: TITLES, impression: {}}]));
    assert.match(response.impressionId, /^[\w-]{22}$/);
    const done = await reporter.reportEvents({events: [
      {impressionId, kind: 'click', position: 1, timeMs: Date.now(), value: 0.5},
      {impressionId: found.impressionId, kind: 'conversion', document: 'shown'},
      {impressionId: 'elsewhere', kind: 'click', position: 1},
    ]});
    assert.deepEqual(done, {accepted: 3, impressionIds: [], unknownImpressions: 1, duplicates: 0});
  },

  async 'lists of other systems are reported'() {
    const impressions = [{query: 'edit photos', results: [{document: 'gimp', title: 'photo editor'}]}];
    const {accepted, impressionIds: [impressionId]} = await reporter.reportEvents({impressions});
    assert.equal(accepted, 1);
    const events = [{impressionId, kind: 'click', document: 'gimp', eventId: 'e-1'}];
    assert.equal((await reporter.reportEvents({events})).accepted, 1);
    assert.equal((await reporter.reportEvents({events})).duplicates, 1);
  },

  async 'two rankings are interleaved'() {
    for (const interleave of [{requestOrder: true}, {a: {version: 0}, b: {}}]) {
      const response = await client.rank({query: 'edit photos', titles: TITLES, impression: {}, interleave});
      assert.deepEqual([...response.indices].sort(), [0, 1, 2]);
      assert.match(response.impressionId, /^[\w-]{22}$/);
    }
    await assert.rejects(client.rank({query: 'q', titles: TITLES, interleave: {b: {}}}), /interleave/);
  },

  async 'one list is not split'() {
    for (const fields of [{impression: {}}, {interleave: {requestOrder: true}}]) {
      await assert.rejects(client.rank({query: 'q', titles: MANY_TITLES, ...fields}), new RangeError(
          'a request with impression or interleave is one list, and this one exceeds a message: send fewer candidates'));
    }
    const whole = await client.rank({query: 'q', titles: MANY_TITLES.slice(0, maxTexts), impression: {}});
    assert.deepEqual([whole.indices.length, whole.impressionId.length], [Number(maxTexts), 22]);
  },

  async 'a response over the 4 MB of gRPC arrives'() {
    const titles = MANY_TITLES.slice(0, maxTexts).map((title) => title + ' '.repeat(500));
    const response = await client.rank({query: 'edit photos', titles, withTitles: true});
    assert.ok(response.titles.join('').length > 5e6);
  },

  async 'models and limits are listed'() {
    const model = await client.getModel();
    assert.ok((await client.listModels()).some(({name, version}) => name === model.name && version === model.version));
    assert.equal((await client.getLimits()).maxTextsPerRequest, Number(maxTexts));
  },

  async 'health is that of the server or of a service'() {
    assert.equal(await client.checkHealth(), true);
    assert.equal(await client.checkHealth('semrank.v1.RankingService'), true);
    await assert.rejects(client.checkHealth('no.such.Service'), {codeName: 'NOT_FOUND'});
  },

  async 'an error has the code, the message and the reason'() {
    const thief = new SemrankClient(address, {tlsCa, apiKey: 'stolen'});
    await assert.rejects(thief.rank({query: 'q', titles: TITLES}), {codeName: 'UNAUTHENTICATED', reason: 'UNKNOWN_KEY'});
    thief.close();
    await assert.rejects(client.put([{id: 1, title: 't'}]), {reason: 'ROLE_REQUIRED'});
    const [{index, error}] = await collect(client.rankStream([{query: 'q', titles: Array(Number(maxTexts) + 1).fill('t')}]));
    assert.deepEqual([index, error.reason], [0, 'TOO_MANY_TEXTS']);
    await assert.rejects(client.rank({query: '', titles: TITLES}), (failed) =>
      failed instanceof SemrankError && failed.message.startsWith(`${address}: query: `));
    await assert.rejects(client.embed({texts: [...MANY_TITLES.slice(0, Number(maxTexts) + 20), 'x'.repeat(1e5)], side: 'document'}),
        {message: new RegExp(`texts\\[20\\].*counted from number ${maxTexts}`)});
    await assert.rejects(client.rank({query: 'q', title: 't'}), new RangeError("rank: no field 'title'"));
  },
};

// Runs `use` with a client of a server that has these handlers.
async function withFakeServer(handlers, use, options = {}) {
  const server = new grpc.Server();
  for (const service of ['semrank.v1.RankingService', 'semrank.v1.EmbeddingService', 'semrank.v1.CatalogService',
                         'semrank.v1.EventService', 'semrank.v1.ModelService', 'grpc.health.v1.Health']) {
    const definition = definitions[service];
    const ours = Object.fromEntries(Object.entries(handlers).filter(([name]) => name in definition));
    server.addService(definition, ours);
  }
  const port = await new Promise((resolve, reject) => server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
      (error, bound) => error ? reject(error) : resolve(bound)));
  const fake = new SemrankClient(`127.0.0.1:${port}`, {initialBackoffMs: 10, ...options});
  try {
    await use(fake);
  } finally {
    fake.close();
    server.forceShutdown();
  }
}

const unavailable = {code: grpc.status.UNAVAILABLE, details: 'restarting'};
const limits = (_, done) => done(null, {limits: {maxTextsPerRequest: 2}});

const withFakes = {
  async 'a rejected call is repeated after the pushback'() {
    let attempts = 0;
    const Rank = (_, done) => {
      const metadata = new grpc.Metadata();
      metadata.set('grpc-retry-pushback-ms', '10');
      if (++attempts % 3 !== 0) done({code: grpc.status.RESOURCE_EXHAUSTED, details: 'busy', metadata});
      else done(null, {indices: [0], scores: [1]});
    };
    const request = {query: 'q', titles: ['t']};
    await withFakeServer({Rank}, async (fake) => assert.deepEqual((await fake.rank(request)).indices, [0]));
    assert.equal(attempts, 3);
    await withFakeServer({Rank}, (fake) => assert.rejects(fake.rank(request), /busy \(tried 2 times\)$/), {maxAttempts: 2});
  },

  async 'a client of another protocol learns it'() {
    const others = [new SemrankClient(address), new SemrankClient(httpAddress, {tlsCa})];
    await assert.rejects(others[0].getLimits(), /speaks TLS does so, set tlsCa/);
    await assert.rejects(others[1].getLimits(), /not a gRPC port but perhaps one for HTTP/);
    await withFakeServer({}, (fake) => assert.rejects(fake.getLimits(), /does not speak TLS there: leave tlsCa out/), {tlsCa});
    for (const other of others) other.close();
  },

  async 'a server that does not accept calls is not healthy'() {
    const Check = (_, done) => done(null, {status: 'NOT_SERVING'});
    await withFakeServer({Check}, async (fake) => assert.equal(await fake.checkHealth(), false));
  },

  async 'a failure without pushback is not repeated'() {
    let attempts = 0;
    const Rank = (_, done) => {
      ++attempts;
      done({code: grpc.status.RESOURCE_EXHAUSTED, details: 'full'});
    };
    await withFakeServer({Rank}, (fake) => assert.rejects(fake.rank({query: 'q', titles: ['t']}), /full$/));
    assert.equal(attempts, 1);
  },

  async 'a repeated report has the same ids'() {
    const reports = [];
    const ReportEvents = ({request}, done) => {
      reports.push(request);
      if (reports.length === 1) done(unavailable);
      else done(null, {accepted: 3});
    };
    const report = {events: [{impressionId: 'list', kind: 'click', position: 1}, {impressionId: 'list', kind: 'buy', eventId: 'own'}],
                    impressions: [{query: 'q'}]};
    await withFakeServer({ReportEvents}, (fake) => fake.reportEvents(report));
    assert.equal(reports.length, 2);
    assert.deepEqual(reports[0], reports[1]);
    const {events, impressions} = reports[0];
    assert.match(events[0].eventId, /^[\w-]{22}$/);
    assert.equal(events[1].eventId, 'own');
    assert.match(impressions[0].impressionId, /^[\w-]{22}$/);
  },

  async 'broken streams continue with what has no response'() {
    const received = [];
    // The fake server breaks the stream at its third message.
    const handler = (answer) => (stream) => {
      let number = 0;
      stream.on('data', (request) => {
        if (number === 2) stream.emit('error', unavailable);
        if (number++ < 2) stream.write(answer(request, number - 1));
      });
      stream.on('end', () => number <= 2 && stream.end());
    };
    const PutDocumentsStream = handler(({documents}, number) => {
      received.push(...documents.map(({id}) => Number(id)));
      return {firstDocument: 2 * number, numCreated: documents.length};
    });
    const EmbedTextsStream = handler(({texts, model}, number) => {
      received.push([number, Number(model.version)]);
      return {firstText: 2 * number, numTexts: texts.length, embeddingDim: 1, vectors: Buffer.alloc(4 * texts.length),
              encoding: 'VECTOR_ENCODING_FLOAT32', model: {name: 'm', version: 5}};
    });
    await withFakeServer({PutDocumentsStream, EmbedTextsStream, GetLimits: limits}, async (fake) => {
      const documents = Array.from({length: 9}, (_, id) => ({id, title: 't'}));
      assert.equal((await fake.put(documents)).numCreated, 9);
      assert.deepEqual(received, [...documents.keys()]);
      received.length = 0;
      const parts = await collect(fake.embedStream(Array(9).fill('t'), {side: 'query'}));
      assert.deepEqual(parts.map(({firstText}) => firstText), [0, 2, 4, 6, 8]);
      // From the second stream on, requests name the version of the first
      // response.
      assert.deepEqual(received, [[0, 0], [1, 0], [0, 5], [1, 5], [0, 5]]);
    });
  },

  async 'a stream sends rejected queries again'() {
    const received = [];
    const retryInfo = definitions['google.rpc.RetryInfo'].serialize({retryDelay: {nanos: 10_000_000}});
    const details = [{type_url: 'type.googleapis.com/google.rpc.RetryInfo', value: retryInfo}];
    const RankStream = (stream) => {
      stream.on('data', ({requestNumber}) => {
        received.push(Number(requestNumber));
        const rejected = requestNumber === '1' && received.filter((number) => number === 1).length % 3 !== 0;
        stream.write({requestNumber, ...(rejected ? {status: {code: 8, message: 'busy', details}} : {response: {}})});
      });
      stream.on('end', () => stream.end());
    };
    const requests = Array(3).fill({query: 'q', titles: ['t']});
    await withFakeServer({RankStream}, async (fake) => {
      assert.deepEqual((await collect(fake.rankStream(requests))).map(({index}) => index), [0, 2, 1]);
      assert.deepEqual(received, [0, 1, 2, 1, 1]);
    });
    await withFakeServer({RankStream}, async (fake) => {
      const {index, error} = (await collect(fake.rankStream(requests))).at(-1);
      assert.deepEqual([index, error.message], [1, 'busy (tried 2 times)']);
    }, {maxAttempts: 2});
  },

  async 'a stream of many items has more time, and its error says so'() {
    const requests = Array(1_000).fill({query: 'q', titles: ['t']});
    const begin = Date.now();
    await withFakeServer({RankStream: () => {}}, (fake) => assert.rejects(collect(fake.rankStream(requests)),
        /no answer before the deadline \(100 ms; in a stream, for each 1,000 items\)$/), {deadlineMs: 100});
    assert.ok(Date.now() - begin >= 190);
  },

  async 'a response that contradicts the request is refused'() {
    const Rank = (_, done) => done(null, {indices: [9], scores: [1]});
    await withFakeServer({Rank}, (fake) => assert.rejects(fake.rank({query: 'q', titles: ['t']}),
        /invalid response from the server: a candidate number is 9, of candidates 1/));
  },

  async 'a list of one message keeps the order of the server'() {
    const Rank = (_, done) => done(null, {indices: [1, 0], scores: [0.25, 0.5], impressionId: 'i'});
    const GetLimits = (_, done) => done(null, {limits: {maxTextsPerRequest: 5_000}});
    await withFakeServer({Rank, GetLimits}, async (fake) => {
      const response = await fake.rank({query: 'q', titles: Array(2_000).fill('t'), impression: {}});
      assert.deepEqual([response.indices, response.scores, response.impressionId], [[1, 0], [0.25, 0.5], 'i']);
    });
  },

  async 'an argument of the wrong kind is an error that says how'() {
    const client = new SemrankClient('127.0.0.1:1');
    const wrong = [
      [() => client.rank('q', TITLES), 'rank: want rank({query: ...}), not a string there'],
      [() => client.rank({query: 'q', titles: 'abc'}), 'titles: want an array, not a string'],
      [() => client.search('q'), 'search: want search({query: ...}), not a string there'],
      [() => client.explain('q', 't'), 'explain: want explain({query: ...}), not a string there'],
      [() => client.embed(['t'], {side: 'query'}), 'embed: want embed({texts: ...}), not an array there'],
      [() => collect(client.embedStream({texts: ['t'], side: 'query'})), 'texts: want an array or another iterable, not an object'],
      [() => collect(client.embedStream(['t'])), 'embedStream: want embedStream(texts, {side: ...}), not undefined there'],
      [() => client.put({documents: []}), 'documents: want an array or another iterable, not an object'],
      [() => client.get('d1'), 'keys: want an array or another iterable, not a string'],
      [() => client.delete({id: 7}), 'keys: want an array or another iterable, not an object'],
      [() => client.get([{id: 7}]), 'keys: want numbers and texts, not an object'],
      [() => client.get(['d1'], true), 'get: want get(keys, {withPayloads: ...}), not a boolean there'],
      [() => client.rank({query: 'q', titles: [{title: 't'}]}), 'titles[0]: want a text, not an object'],
      [() => client.rank({query: ['q'], titles: TITLES}), 'query: want a text, not an array'],
      [() => client.embed({texts: ['t', {}], side: 'query'}), 'texts[1]: want a text, not an object'],
      [() => collect(client.embedStream([7], {side: 'query'})), 'texts[0]: want a text, not a number'],
      [() => client.put(['d1']), "documents[0]: want {documentId: ...}, not a string"],
      [() => client.listModels({name: 'shop'}), 'name: want a text, not an object'],
      [() => client.checkHealth({service: ''}), 'service: want a text, not an object'],
      [() => client.reloadModel('shop'), "model: want an object, {name: 'shop'}, not a string"],
      [() => client.reportEvents([{impressionId: 'i'}]), 'reportEvents: want reportEvents({events: ...}), not an array there'],
      [() => client.reportEvents({events: {impressionId: 'i'}}), 'events: want an array or another iterable, not an object'],
      [() => client.reportEvents({events: ['i']}), 'events[0]: want {impressionId: ...}, not a string'],
      [() => client.rank({query: 'q', titles: TITLES, impression: true}), 'impression: want {session: ...}, not a boolean'],
      [() => client.search({query: 'q', impression: {user: 7}}), 'impression.user: want a text, not a number'],
      [() => client.search({query: 'q', interleave: {b: 'shop'}}), "model: want an object, {name: 'shop'}, not a string"],
      [() => client.getModel('shop'), "model: want an object, {name: 'shop'}, not a string"],
      [() => client.search({query: 'q', filter: {includeTags: 'dev'}}), 'filter.includeTags: want an array, not a string'],
      [() => client.put([{documentId: 'd1', title: 't', tags: 'dev'}]), 'documents[0].tags: want an array, not a string'],
    ];
    for (const [call, message] of wrong) await assert.rejects(call, new TypeError(message));
    client.close();
    assert.throws(() => new SemrankClient({address}), TypeError);
    assert.throws(() => new SemrankClient('127.0.0.1:1', {tlsCA: ''}), new RangeError("SemrankClient: no option 'tlsCA'"));
    await assert.rejects(client.explain({query: 'q', text: 't'}), new RangeError("explain: no field 'text'"));
    await assert.rejects(client.reportEvents({events: [{id: 'i'}]}), new RangeError("events[0]: no field 'id'"));
    await assert.rejects(client.reportEvents({impressions: [{results: [{id: 'i'}]}]}),
        new RangeError("impressions[0].results[0]: no field 'id'"));
    await assert.rejects(client.put([{id: 7, name: 't'}]), new RangeError("documents[0]: no field 'name'"));
  },

  async 'a number that Protobuf would change is an error'() {
    const client = new SemrankClient(address);
    const id = 'want a whole number from 0 to 2^64 - 1, above 2^53 as bigint or text';
    const count = 'want a whole number from 0 to 4294967295';
    const wrong = [
      [() => client.delete([2.9]), `keys[0] 2.9: ${id}`],
      [() => client.get(['d1', -1]), `keys[1] -1: ${id}`],
      [() => client.put([{id: 'abc', title: 't'}]), `documents[0].id abc: ${id}`],
      [() => client.put([{id: 2 ** 60, title: 't'}]), `documents[0].id ${2 ** 60}: ${id}`],
      [() => client.rank({query: 'q', ids: [7, 1.5]}), `ids[1] 1.5: ${id}`],
      [() => client.rank({query: 'q', titles: TITLES, topK: -1}), `topK -1: ${count}`],
      [() => client.search({query: 'q', offset: 1.5}), `offset 1.5: ${count}`],
      [() => client.search({query: 'q', model: {version: 1.5}}), `model.version 1.5: ${id}`],
      [() => client.reportEvents({events: [{impressionId: 'i', position: 1.5}]}), `events[0].position 1.5: ${count}`],
    ];
    for (const [call, message] of wrong) await assert.rejects(call, new RangeError(message));
    client.close();
  },

  async 'a bad option is named with its value'() {
    assert.throws(() => new SemrankClient('http://localhost:8080'), /is a URL: leave http:\/\/ out, and name the gRPC port/);
    for (const bad of ['localhost', 'localhost:0', '::1:50051', 'http://a:80', ':50051']) {
      assert.throws(() => new SemrankClient(bad), {message: new RegExp(`^server address '${bad}': `)});
    }
    for (const other of ['search-1:1', '10.0.0.7:1', '127.evil.test:1', 'dns:///search-1:1']) {
      assert.throws(() => new SemrankClient(other), /is on another machine: want tlsCa, or plainText: true/);
      new SemrankClient(other, {plainText: true}).close();
      new SemrankClient(other, {tlsCa}).close();
    }
    for (const local of ['127.0.0.1:1', '[::1]:1', 'localhost:1', 'unix:/run/semrank']) new SemrankClient(local).close();
    assert.throws(() => new SemrankClient('a:1', {tlsCa, plainText: true}), /plainText: excludes tlsCa/);
    assert.throws(() => new SemrankClient('a:1', {maxAttempts: 0}), /maxAttempts 0: must be at least 1/);
    const nowhere = new SemrankClient('127.0.0.1:1', {maxAttempts: 2, initialBackoffMs: 10});
    await assert.rejects(nowhere.getLimits(), /^SemrankError: cannot reach 127\.0\.0\.1:1: .*tried 2 times/);
    nowhere.close();
  },
};

async function main() {
  for (const [name, check] of Object.entries({...withRealServer, ...withFakes})) {
    await check().catch((error) => { throw new Error(name, {cause: error}); });
    console.log(`ok: ${name}`);
  }
  client.close();
  writer.close();
  reporter.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
