// The messages and services of the API, from the .proto files of the package.
'use strict';
const path = require('node:path');
const protoLoader = require('@grpc/proto-loader');

const services = ['ranking', 'embedding', 'catalog', 'event', 'model'].map((name) => `semrank/v1/${name}_service.proto`);

// 64-bit integers as strings: a number would round ids above 2^53.
const definitions = protoLoader.loadSync([...services, 'google/rpc/status.proto', 'google/rpc/error_details.proto',
                                           'grpc/health/v1/health.proto'],
    {includeDirs: [path.join(__dirname, '../proto')], longs: String, enums: String, defaults: true});

module.exports = {definitions};
