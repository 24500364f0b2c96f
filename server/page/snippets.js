// The request on the page as a command or a program.

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(request, secret) {
  const header = secret ? `    -H ${quote('Authorization: Bearer $DRAGOMAN_TOKEN').replaceAll("'", '"')} \\\n` : '';
  return `curl ${location.origin}/v1/translate \\\n${header}    -H 'Content-Type: application/json' \\\n    -d ${quote(JSON.stringify(request))}`;
}

function grpcurl(request, secret, server) {
  const plain = location.protocol === 'https:' ? '' : '-plaintext ';
  const header = secret ? '-H "authorization: Bearer $DRAGOMAN_TOKEN" ' : '';
  return `grpcurl ${plain}${header}-d ${quote(JSON.stringify(request))} \\\n    ${server} dragoman.v1.TranslationService/Translate`;
}

function python({contents, sourceLanguage, targetLanguage, model, options, markup, glossaryIds, memoryIds}, secret, server) {
  const fields = {source_language: sourceLanguage, target_language: targetLanguage, model, markup, glossary_ids: glossaryIds, memory_ids: memoryIds};
  const given = Object.entries(fields).filter(([, value]) => value).map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`);
  if (options) given.push(`    options={"beam_size": ${options.beamSize}, "num_hypotheses": ${options.numHypotheses}},\n`);
  const extra = secret ? ', token=os.environ["DRAGOMAN_TOKEN"]' : '';
  return `${secret ? 'import os\n\n' : ''}import dragoman  # pip install ./clients/python

client = dragoman.Client("${server}"${extra})
response = client.translate(
    ${JSON.stringify(contents[0])},
${given.join('')})
for hypothesis in response.translations[0].hypotheses:
    print(hypothesis.score, hypothesis.text)`;
}

function node({contents, ...fields}, secret, server) {
  return `import {Client} from 'dragoman-client'; // npm install ./clients/node

const client = new Client('${server}'${secret ? ', {token: process.env.DRAGOMAN_TOKEN}' : ''});
const {translations} = await client.translate(${JSON.stringify(contents)}, ${JSON.stringify(fields, null, 2)});
for (const {score, text} of translations[0].hypotheses) console.log(score, text);
client.close();`;
}

function go(request, secret, server) {
  const options = secret ? '{\n\t\tToken: func(context.Context) (string, error) { return os.Getenv("DRAGOMAN_TOKEN"), nil },\n\t}' : '{}';
  return `package main

import (
\t"context"
\t"fmt"
\t"log"
${secret ? '\t"os"\n' : ''}
\tdragoman "dragoman.internal/go" // clients/go
\t"dragoman.internal/go/dragomanv1"
\t"google.golang.org/protobuf/encoding/protojson"
)

func main() {
\tclient, err := dragoman.Dial("${server}", dragoman.Options${options})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tdefer client.Close()
\trequest := &dragomanv1.TranslateRequest{}
\tif err := protojson.Unmarshal([]byte(\`${JSON.stringify(request).replaceAll('`', '\\u0060')}\`), request); err != nil {
\t\tlog.Fatal(err)
\t}
\tresponse, err := client.Translate(context.Background(), request)
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfor _, hypothesis := range response.Translations[0].Hypotheses {
\t\tfmt.Println(hypothesis.Score, hypothesis.Text)
\t}
}`;
}

// The request for each tool; `secret`: the server requires a token, which is not shown.
export function snippets(request, secret, grpcPort) {
  const server = `${location.hostname}:${grpcPort}`;
  return {
    curl: curl(request, secret), grpcurl: grpcurl(request, secret, server), python: python(request, secret, server),
    node: node(request, secret, server), go: go(request, secret, server),
  };
}
