// Translates each TEXT: node translate.js HOST:PORT TEXT...

const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const ROOT = path.join(__dirname, '..', '..', '..');

const [server, ...contents] = process.argv.slice(2);
const {DRAGOMAN_TLS_CA: ca, DRAGOMAN_TOKEN: token} = process.env;

const definition = protoLoader.loadSync('dragoman/v1/translation.proto', {
  includeDirs: [path.join(ROOT, 'proto')],
});
const {TranslationService} = grpc.loadPackageDefinition(definition).dragoman.v1;
const credentials = ca ? grpc.credentials.createSsl(fs.readFileSync(ca))
                       : grpc.credentials.createInsecure();
const serviceConfig = fs.readFileSync(path.join(ROOT, 'deploy', 'service_config.json'), 'utf8');
const client = new TranslationService(server, credentials, {
  'grpc.service_config': serviceConfig,
});

const metadata = new grpc.Metadata();
if (token) metadata.set('authorization', `Bearer ${token}`);
const options = {deadline: Date.now() + 30_000};
client.translate({contents}, metadata, options, (error, response) => {
  client.close();
  if (error) {
    console.error(`${grpc.status[error.code]}: ${error.details}`);
    process.exitCode = 1;
    return;
  }
  for (const {hypotheses} of response.translations) console.log(hypotheses[0].text);
});
