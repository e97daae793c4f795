// PostgreSQL with pgvector for clients in other processes. Prints its port on 127.0.0.1.
//
// usage: node pglite_server.mjs   (modules by NODE_PATH)
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { PGlite } = require('@electric-sql/pglite');
const { vector } = require('@electric-sql/pglite-pgvector');
const { PGLiteSocketServer } = require('@electric-sql/pglite-socket');

const server = new PGLiteSocketServer({ db: await PGlite.create({ extensions: { vector } }), port: 0, host: '127.0.0.1' });
server.addEventListener('listening', ({ detail }) => console.log(detail.port));
await server.start();
