// The public clients of OpenAI and Cohere, unchanged, against a semrank server.
//
// usage: node public_clients.js http://HOST:PORT   (modules by NODE_PATH)
'use strict';
const assert = require('node:assert');
const { CohereClient, CohereClientV2 } = require('cohere-ai');
const { OpenAI } = require('openai');

const base = process.argv[2];
const documents = ['desk lamp', 'running shoes', 'garden hose'];

async function openAi() {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'unused', maxRetries: 0 });
  const models = await client.models.list();
  assert.deepEqual(models.data.map((model) => model.id).sort(), ['news', 'shop']);
  assert.equal((await client.models.retrieve('shop')).id, 'shop');
  await assert.rejects(client.models.retrieve('none'),
    (error) => error instanceof OpenAI.NotFoundError && error.code === 'MODEL_NOT_FOUND');
  await assert.rejects(client.chat.completions.create({ model: 'shop', messages: [{ role: 'user', content: 'a' }] }),
    (error) => error instanceof OpenAI.NotFoundError && /no call \/v1\/chat\/completions/.test(error.message));
  await assert.rejects(client.models.delete('shop'), (error) => error.status === 405 && /GET, POST/.test(error.message));
  // Without encoding_format the client asks for base64 and decodes it.
  const decoded = await client.embeddings.create({ model: 'shop', input: documents });
  const numbers = await client.embeddings.create({ model: 'shop', input: documents, encoding_format: 'float' });
  assert.equal(decoded.data.length, 3);
  decoded.data.forEach((row, i) => {
    assert.equal(row.index, i);
    assert.deepEqual(Array.from(row.embedding), numbers.data[i].embedding.map(Math.fround));
  });
  // The model "news" has two towers.
  const [document, query] = await Promise.all(['document', 'query'].map((input_type) =>
    client.embeddings.create({ model: 'news', input: documents[0], encoding_format: 'float', input_type })));
  assert.notDeepEqual(query.data[0].embedding, document.data[0].embedding);
  await assert.rejects(client.embeddings.create({ model: 'none', input: 'a' }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === 'MODEL_NOT_FOUND');
  await assert.rejects(client.embeddings.create({ model: 'shop', input: [1, 2] }), OpenAI.BadRequestError);
}

async function cohere() {
  const options = { environment: base, token: 'unused' };
  const query = 'cheap shoes';
  const second = await new CohereClientV2(options).rerank({ model: 'shop', query, documents, topN: 2 });
  assert.equal(second.results.length, 2);
  assert.ok(second.results[0].relevanceScore >= second.results[1].relevanceScore);
  const first = await new CohereClient(options).rerank(
    { model: 'shop', query, documents: documents.map((text) => ({ text })), topN: 2, returnDocuments: true });
  assert.deepEqual(first.results.map(({ index, relevanceScore }) => ({ index, relevanceScore })),
    second.results.map(({ index, relevanceScore }) => ({ index, relevanceScore })));
  assert.equal(first.results[0].document.text, documents[first.results[0].index]);
  const embed = { model: 'shop', inputType: 'search_document', texts: documents };
  const vectors = await new CohereClientV2(options).embed({ ...embed, embeddingTypes: ['float', 'int8', 'base64'] });
  assert.deepEqual(vectors.texts, documents);
  assert.equal(vectors.embeddings.float.length, 3);
  vectors.embeddings.float.forEach((row, i) => {
    assert.deepEqual(Array.from(new Float32Array(Uint8Array.from(Buffer.from(vectors.embeddings.base64[i], 'base64')).buffer)),
      row.map(Math.fround));
    assert.equal(vectors.embeddings.int8[i].length, row.length);
  });
  await assert.rejects(new CohereClientV2(options).embed({ ...embed, embeddingTypes: ['ubinary'] }, { maxRetries: 0 }),
    (error) => error.statusCode === 400 && /embedding_types\[0\]/.test(error.body.message));
  await assert.rejects(new CohereClientV2(options).rerank({ model: 'shop', query: '', documents }, { maxRetries: 0 }),
    (error) => error.statusCode === 400 && /query/.test(error.body.message));
}

openAi().then(cohere).then(() => console.log('openai and cohere-ai: ok'));
