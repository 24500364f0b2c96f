// The service definitions and google.rpc's messages, from the protos in this package.

'use strict';

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

const PROTO = path.join(__dirname, '..', 'proto');

const definition = protoLoader.loadSync('dragoman/v1/translation.proto', {
  includeDirs: [PROTO],
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});
const {TranslationService, ModelService} = grpc.loadPackageDefinition(definition).dragoman.v1;

const root = new protobuf.Root();
root.resolvePath = (_, target) => path.join(PROTO, target);
root.loadSync('google/rpc/error_details.proto');
const rpc = (name) => root.lookupType(`google.rpc.${name}`);

module.exports = {
  TranslationService,
  ModelService,
  Status: rpc('Status'),
  details: {BadRequest: rpc('BadRequest'), RetryInfo: rpc('RetryInfo')},
};
