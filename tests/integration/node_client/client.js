// @grpc/grpc-js against a real server, over TLS and with a key. Exits 1 with
// what went wrong.
//
// usage: node client.js PROTO_DIR HOST:PORT CERTIFICATE KEY
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [protoDir, address, certificate, key] = process.argv.slice(2);
const TITLES = ['photo editor', 'mail reader', 'disk usage viewer'];

const {semrank} = grpc.loadPackageDefinition(protoLoader.loadSync(
    ['semrank/v1/ranking_service.proto', 'semrank/v1/embedding_service.proto'],
    {includeDirs: [protoDir], longs: Number, defaults: true}));

function credentials(apiKey) {
  const call = grpc.credentials.createFromMetadataGenerator((_, done) => {
    const metadata = new grpc.Metadata();
    metadata.set('authorization', `Bearer ${apiKey}`);
    done(null, metadata);
  });
  const tls = grpc.credentials.createSsl(fs.readFileSync(certificate));
  return grpc.credentials.combineChannelCredentials(tls, call);
}

function rank(client, query, titles = TITLES) {
  return new Promise((resolve, reject) => {
    client.rank({query, titles, withTitles: true}, {deadline: Date.now() + 30_000},
        (error, response) => error ? reject(error) : resolve(response));
  });
}

// Sends all messages, half-closes, and returns the answers.
async function exchange(stream, messages) {
  for (const message of messages) stream.write(message);
  stream.end();
  const answers = [];
  for await (const answer of stream) answers.push(answer);
  return answers;
}

async function vectors(client, side, texts) {
  const answers = await exchange(client.embedTextsStream(), texts.map((text) => ({side, texts: [text]})));
  assert.deepEqual(answers.map((answer) => answer.firstText), texts.map((_, i) => i));
  return answers.map((answer) => {
    const row = [];
    for (let i = 0; i < answer.embeddingDim; ++i) row.push(answer.vectors.readFloatLE(4 * i));
    return row;
  });
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

const checks = {
  async 'Rank orders the titles'({ranking}) {
    const response = await rank(ranking, 'edit photos');
    assert.deepEqual([...response.indices].sort(), [0, 1, 2]);
    assert.deepEqual(response.scores, [...response.scores].sort((a, b) => b - a));
    assert.deepEqual(response.titles, response.indices.map((i) => TITLES[i]));
  },

  async 'a stream of queries is answered as each alone'({ranking}) {
    const queries = Array.from({length: 50}, (_, i) => `photo number ${i}`);
    const answers = await exchange(ranking.rankStream(), queries.map(
        (query, i) => ({requestNumber: i, request: {query, titles: TITLES}})));
    assert.equal(answers.length, queries.length);
    const last = answers.find((answer) => answer.requestNumber === 49);
    assert.deepEqual(last.response.scores, (await rank(ranking, queries[49])).scores);
  },

  async 'streamed vectors give the scores of Rank'({ranking, embedding}) {
    const [query] = await vectors(embedding, 'SIDE_QUERY', ['edit photos']);
    const titles = await vectors(embedding, 'SIDE_DOCUMENT', TITLES);
    const response = await rank(ranking, 'edit photos');
    response.indices.forEach((index, i) => {
      assert.ok(Math.abs(dot(query, titles[index]) - response.scores[i]) < 1e-5);
    });
  },

  async 'a wrong key is UNAUTHENTICATED'() {
    const client = new semrank.v1.RankingService(address, credentials('stolen'));
    await assert.rejects(rank(client, 'q'), {code: grpc.status.UNAUTHENTICATED});
    client.close();
  },

  async 'over a limit is INVALID_ARGUMENT, which names it'({ranking}) {
    await assert.rejects(rank(ranking, 'q', Array(10_001).fill('title')),
        {code: grpc.status.INVALID_ARGUMENT, details: /10001 .*limit of 10000/});
  },
};

async function main() {
  const clients = {
    ranking: new semrank.v1.RankingService(address, credentials(key)),
    embedding: new semrank.v1.EmbeddingService(address, credentials(key)),
  };
  for (const [name, check] of Object.entries(checks)) {
    await check(clients);
    console.log(`ok: ${name}`);
  }
  clients.ranking.close();
  clients.embedding.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
