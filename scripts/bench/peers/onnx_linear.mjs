#!/usr/bin/env node
// A linear tower in ONNX Runtime, to measure semrank's against: Gather of the rows of a text's
// features, ReduceSum, LpNormalization.
//
//     npm install --prefix build/peers --ignore-scripts onnxruntime-node
//     scripts/bench/peers/onnx_linear.mjs
//     build/release/bench/tower_bench --benchmark_filter=ColdPass_Linear
//
// One thread, CPU of this process. It gets the features as numbers, of one count for all texts, and
// so neither splits texts into features nor pads lists, which tower_bench's figure includes. The
// package takes 288 MB.
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const require = createRequire(path.join(ROOT, 'build/peers/'));
const onnx = require('onnxruntime-node');

const NUM_FEATURES = 50_000;
const DIM = 256;
const TEXTS = 100;
// Letter trigrams, words and bigrams of a title of seven words.
const FEATURES_OF_TEXT = 58;
const RUNS = 300;

// Protobuf's wire format: a field is a number, or bytes with their length before them.
function varint(number) {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push(number % 128 + 128);
  return Buffer.from([...bytes, number]);
}
function field(number, value) {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}
const message = (...fields) => Buffer.concat(fields);

// onnx.proto: messages of the same names.
const FLOAT = 1;
const INT64 = 7;
const tensor = (name, type, dims, values) => message(
    ...dims.map(dim => field(1, dim)), field(2, type), field(8, name),
    field(9, Buffer.from(values.buffer)));
const node = (type, inputs, output, ...attributes) => message(
    ...inputs.map(input => field(1, input)), field(2, output), field(4, type),
    ...attributes.map(attribute => field(5, attribute)));
const integer = (name, value) => message(field(1, name), field(3, value), field(20, 2));
const value = (name, type, dims) => message(field(1, name), field(2, field(1, message(
    field(1, type), field(2, message(...dims.map(dim => field(1, field(1, dim)))))))));

function linearModel() {
  const table = new Float32Array(NUM_FEATURES * DIM).map(() => Math.random() - 0.5);
  const graph = message(
      field(1, node('Gather', ['table', 'features'], 'rows')),
      field(1, node('ReduceSum', ['rows', 'axes'], 'sums', integer('keepdims', 0))),
      field(1, node('LpNormalization', ['sums'], 'vectors', integer('axis', 1), integer('p', 2))),
      field(2, 'linear'),
      field(5, tensor('table', FLOAT, [NUM_FEATURES, DIM], table)),
      field(5, tensor('axes', INT64, [1], new BigInt64Array([1n]))),
      field(11, value('features', INT64, [TEXTS, FEATURES_OF_TEXT])),
      field(12, value('vectors', FLOAT, [TEXTS, DIM])));
  return message(field(1, 8), field(7, graph), field(8, field(2, 13)));
}

const session = await onnx.InferenceSession.create(
    linearModel(), {intraOpNumThreads: 1, interOpNumThreads: 1});
const features = () => new onnx.Tensor('int64', new BigInt64Array(TEXTS * FEATURES_OF_TEXT).map(
    () => BigInt(Math.floor(Math.random() * NUM_FEATURES))), [TEXTS, FEATURES_OF_TEXT]);
const batches = Array.from({length: RUNS}, features);
const {vectors} = await session.run({features: batches[0]});
const norm = Math.hypot(...vectors.data.subarray(0, DIM));
if (Math.abs(norm - 1) > 1e-5) throw new Error(`a vector has the length ${norm}`);
const begin = process.cpuUsage();
for (const batch of batches) await session.run({features: batch});
const {user, system} = process.cpuUsage(begin);
console.log(`ONNX Runtime ${require('onnxruntime-node/package.json').version}: ` +
            `${((user + system) / RUNS).toFixed(0)} us of CPU for ${TEXTS} texts`);
