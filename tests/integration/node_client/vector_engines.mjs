// The exact top 10 of a vector engine that runs in Node, for a file of vectors
// that `semrank embed` wrote. Prints one JSON array of ids per query.
//
// usage: node vector_engines.mjs pgvector DOCS.pgvector QUERIES.jsonl
//        node vector_engines.mjs lancedb DOCS.jsonl QUERIES.jsonl   (modules by NODE_PATH)
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const [engine, documents, queries] = process.argv.slice(2);
const read = (file) => readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

async function pgvector() {
  const { PGlite } = require('@electric-sql/pglite');
  const { vector } = require('@electric-sql/pglite-pgvector');
  const database = await PGlite.create({ extensions: { vector } });
  await database.exec('CREATE EXTENSION vector; CREATE TABLE documents (id text PRIMARY KEY, text text, embedding vector);');
  const blob = new Blob([readFileSync(documents)]);
  await database.query("COPY documents FROM '/dev/blob'", [], { blob });
  for (const { vector: query } of read(queries)) {
    const { rows } = await database.query('SELECT id FROM documents ORDER BY embedding <=> $1 LIMIT 10', [JSON.stringify(query)]);
    console.log(JSON.stringify(rows.map(({ id }) => id)));
  }
  await database.close();
}

async function lancedb() {
  const lance = require('@lancedb/lancedb');
  const folder = mkdtempSync(join(tmpdir(), 'lancedb-'));
  try {
    const database = await lance.connect(folder);
    const table = await database.createTable('documents', read(documents));
    for (const { vector: query } of read(queries)) {
      const rows = await table.query().nearestTo(query).distanceType('cosine').limit(10).toArray();
      console.log(JSON.stringify(rows.map(({ id }) => id)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await { pgvector, lancedb }[engine]();
