// The request on the page as a command or a program.

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(request, secret) {
  const header = secret ? `    -H ${quote('Authorization: Bearer $DRAGOMAN_TOKEN').replaceAll("'", '"')} \\\n` : '';
  return `curl ${location.origin}/v1/translate \\\n${header}    -H 'Content-Type: application/json' \\\n    -d ${quote(JSON.stringify(request))}`;
}

function grpcurl(request, secret) {
  const plain = location.protocol === 'https:' ? '' : '-plaintext ';
  const header = secret ? '-H "authorization: Bearer $DRAGOMAN_TOKEN" ' : '';
  return `grpcurl ${plain}${header}-d ${quote(JSON.stringify(request))} \\\n    ${location.hostname}:50051 dragoman.v1.TranslationService/Translate`;
}

function python({contents, sourceLanguage, targetLanguage, model, options, markup}, secret) {
  const fields = {source_language: sourceLanguage, target_language: targetLanguage, model, markup};
  const given = Object.entries(fields).filter(([, value]) => value).map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`);
  if (options) given.push(`    options={"beam_size": ${options.beamSize}, "num_hypotheses": ${options.numHypotheses}},\n`);
  const extra = secret ? ', token=os.environ["DRAGOMAN_TOKEN"]' : '';
  return `${secret ? 'import os\n\n' : ''}import dragoman  # pip install ./clients/python

client = dragoman.Client("${location.hostname}:50051"${extra})
response = client.translate(
    ${JSON.stringify(contents[0])},
${given.join('')})
for hypothesis in response.translations[0].hypotheses:
    print(hypothesis.score, hypothesis.text)`;
}

// {curl, grpcurl, python}; `secret`: the server requires a token, which is not shown.
export function snippets(request, secret) {
  return {curl: curl(request, secret), grpcurl: grpcurl(request, secret), python: python(request, secret)};
}
