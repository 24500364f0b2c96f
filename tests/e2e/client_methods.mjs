// Calls every method of the clients that npm has for other translation APIs and prints what came, as client_methods.py:
//
//   node client_methods.mjs DIR GRPC_ADDRESS HTTP_ADDRESS DRAGOMAN
//
// DIR has the clients (tests/e2e/compat_test.py has their versions; azure-1 is the older one of Azure's).  The server has the
// model en-de and a store; DRAGOMAN is the command, which serves MCP.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const [directory, grpcAddress, httpAddress, dragoman] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(directory), "package.json"));
const base = `http://${httpAddress}`;
const MODEL = "en-de";
const TEXTS = ["The old house is small.", "Good morning."];
const QUESTION = "Wo ist der Bahnhof?";
// What is no call of the API: ends, settings, names of resources; and other forms of a method that is called.
const LOCAL = new RegExp("^(?:constructor|_.*|initialize|close|warn|on[A-Z].*|.*(?:Handler|Path|Name|Stream|Async|Progress|_)|" +
  "getProjectId|apiEndpoint|universeDomain|request|notification|getRequestInterceptors|internal.*|constructUserAgentString|" +
  "makeAuthenticatedRequest|getCredentials|transport|registerCapabilities|assert.*|buildContext|getServer.*|" +
  "getNegotiated.*|getInstructions|enforceStrictCapabilities|sendRootsListChanged|.*Task.*|.*Tool(?:Metadata|OutputValidator))$");

const rows = new Map(); // section: {method: {column: what came}}
const called = new Map(); // client: names of its methods

const versionOf = (name) => JSON.parse(fs.readFileSync(path.join(directory, "node_modules", name, "package.json"))).version;

/** What an error says, in one line, and whether it says that there is no such path or call. */
function outcomeOf(error) {
  const text = String(error.message ?? error).split("\n")[0];
  const code = error.status ?? error.httpStatusCode ?? error.code;
  const isMissing = [404, 405, 501, 12, -32601].includes(Number(code)) || /^(Not found|.*status code: 40[45])/.test(text);
  return isMissing ? "not there" : `refused: ${text}`;
}

/** Returns a function that calls a method of the client, and notes what came in the section's table. */
function caller(section, column, client) {
  called.set(client, new Set());
  return async (method, args = [], { row = method, good = () => true } = {}) => {
    called.get(client).add(method);
    const methods = rows.get(section) ?? rows.set(section, new Map()).get(section);
    const cells = methods.get(row) ?? methods.set(row, {}).get(row);
    try {
      const value = await client[method](...args);
      const isGood = await good(value);
      cells[column] = isGood ? "works" : `**wrong**: ${JSON.stringify(value)?.slice(0, 60)} ...`;
      return value;
    } catch (error) {
      if (process.env.VERBOSE) console.error(section, row, error);
      cells[column] = outcomeOf(error);
      return undefined;
    }
  };
}

function notCalled() {
  const left = [];
  for (const [client, methods] of called) {
    for (let type = client; type && type !== Object.prototype; type = Object.getPrototypeOf(type)) {
      for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
        if (typeof property.value !== "function" || methods.has(name) || LOCAL.test(name)) continue;
        left.push(`${client.constructor.name}.${name}`);
      }
    }
  }
  return left;
}

const same = (value, wanted) => JSON.stringify(value) === JSON.stringify(wanted);

async function callDeepL(german) {
  const deepl = require("deepl-node");
  const client = new deepl.DeepLClient("any", { serverUrl: base, maxRetries: 0 });
  const call = caller("DeepL, Node.js", `deepl-node ${versionOf("deepl-node")}`, client);
  const entries = new deepl.GlossaryEntries({ entries: { house: "Haus" } });
  const csv = "cat,Katze\n";
  const good = (result) => result.text === german[0];
  await call("translateText", [TEXTS, null, "de", { modelType: "quality_optimized" }],
    { good: (results) => same(results.map((each) => [each.text, each.detectedSourceLang]), german.map((each) => [each, "en"])) });
  for (const [option, value] of [["formality", "more"], ["styleRule", "any"], ["customInstructions", ["Be brief."]]]) {
    await call("translateText", [TEXTS[0], null, "de", { [option]: value }], { row: `translateText, ${option}` });
  }
  const codes = (wanted) => (languages) => same(languages.map((each) => each.code), [wanted]);
  await call("getSourceLanguages", [], { good: codes("en") });
  await call("getTargetLanguages", [], { good: codes("de") });
  await call("getUsage", [], { good: (usage) => usage.character.count > 0 });
  await call("getGlossaryLanguagePairs", [], { good: (pairs) => pairs.length === 1 });

  const names = (...wanted) => ({ good: (found) => same(found.map((each) => each.name).sort(), wanted) });
  const glossary = await call("createGlossary", ["Houses", "en", "de", entries]);
  const other = await call("createGlossaryWithCsv", ["Cats", "en", "de", Buffer.from(csv)]);
  await call("translateText", [TEXTS[0], "en", "de", { glossary }], { row: "translateText, glossary", good });
  await call("getGlossary", [glossary.glossaryId], { good: (found) => found.name === "Houses" });
  await call("listGlossaries", [], names("Cats", "Houses"));
  await call("getGlossaryEntries", [other], { good: (found) => same(found.entries(), { cat: "Katze" }) });
  await call("deleteGlossary", [glossary]);
  await call("deleteGlossary", [other]);

  const dictionary = { sourceLangCode: "en", targetLangCode: "de", entries };
  const several = await call("createMultilingualGlossary", ["Houses", [dictionary]]);
  const animals = await call("createMultilingualGlossaryWithCsv", ["Cats", "en", "de", csv]);
  const count = (wanted) => ({ good: (changed) => (changed.dictionaries?.[0] ?? changed).entryCount === wanted });
  await call("updateMultilingualGlossaryName", [animals, "Animals"], { good: (changed) => changed.name === "Animals" });
  await call("updateMultilingualGlossaryDictionary", [animals, dictionary], count(2));
  await call("updateMultilingualGlossaryDictionaryWithCsv", [animals, "en", "de", "dog,Hund\n"], count(3));
  await call("replaceMultilingualGlossaryDictionary", [animals, dictionary], count(1));
  await call("replaceMultilingualGlossaryDictionaryWithCsv", [animals, "en", "de", csv], count(1));
  await call("getMultilingualGlossary", [animals.glossaryId], { good: (found) => found.name === "Animals" });
  await call("listMultilingualGlossaries", [], names("Animals", "Houses"));
  await call("getMultilingualGlossaryDictionaryEntries", [animals, "en", "de"],
    { good: (found) => same(found.entries.entries(), { cat: "Katze" }) });
  await call("deleteMultilingualGlossaryDictionary", [animals, "en", "de"]);
  await call("deleteMultilingualGlossary", [several]);
  await call("deleteMultilingualGlossary", [animals]);

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "deepl-"));
  const [input, output, tmx, exported] = ["in.txt", "out.txt", "in.tmx", "out.tmx"].map((name) => path.join(folder, name));
  fs.writeFileSync(input, TEXTS[0]);
  fs.writeFileSync(tmx, '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>The cat sleeps.</seg></tuv>' +
    '<tuv xml:lang="de"><seg>Die Katze ruht.</seg></tuv></tu></body></tmx>');
  const holds = (file, wanted) => fs.readFileSync(file, "utf8").includes(wanted);
  await call("translateDocument", [input, output, null, "de"], { good: (status) => status.done() && holds(output, german[0]) });
  const handle = await call("uploadDocument", [input, null, "de"]);
  await call("getDocumentStatus", [handle], { good: (status) => status.ok() });
  await call("isDocumentTranslationComplete", [handle], { good: ({ status }) => status.done() });
  const again = path.join(folder, "again.txt");
  await call("downloadDocument", [handle, again], { good: () => holds(again, german[0]) });

  const begun = await call("createTranslationMemoryImport", ["in.tmx", fs.statSync(tmx).size, { displayName: "Cats" }]);
  await call("uploadTranslationMemoryFile", [begun, fs.readFileSync(tmx)]);
  await call("getTranslationMemoryJob", [begun.jobId]);
  await call("isTranslationMemoryJobComplete", [begun.jobId]);
  const job = await call("importTranslationMemoryFromFilepath", [tmx, { displayName: "More" }]);
  const id = job?.results?.[0]?.translationMemoryId ?? job?.result?.translationMemoryId;
  const memory = await call("getTranslationMemory", [id], { good: (found) => found.name === "More" });
  await call("listTranslationMemories", [], { good: (found) => JSON.stringify(found).includes("More") });
  await call("listTranslationMemorySegments", [id], { good: (found) => JSON.stringify(found).includes("The cat sleeps.") });
  await call("translateText", ["The cat sleeps.", "en", "de", { translationMemory: memory }],
    { row: "translateText, translationMemory", good: (result) => result.text === "Die Katze ruht." });
  const ready = await call("createTranslationMemoryExport", [id]);
  const done = ready && (await client.getTranslationMemoryJob(ready.jobId));
  await call("downloadTranslationMemoryExport", [done, `${exported}.tmx`], { good: () => holds(`${exported}.tmx`, "<tu") });
  await call("exportTranslationMemoryToFilepath", [id, exported], { good: () => holds(exported, "Die Katze ruht.") });
  await call("deleteTranslationMemory", [id]);

  await call("rephraseText", [TEXTS[0]]);
  await call("getAllStyleRules");
  await call("createStyleRule", [{ name: "Brief", language: "de" }]);
  for (const [method, ...args] of [["getStyleRule"], ["updateStyleRuleName", "Short"], ["updateStyleRuleConfiguredRules", {}],
    ["createStyleRuleCustomInstruction", { label: "Brief", prompt: "Be brief." }], ["getStyleRuleCustomInstruction", "any"],
    ["updateStyleRuleCustomInstruction", "any", { label: "Brief", prompt: "Be brief." }], ["deleteStyleRuleCustomInstruction", "any"],
    ["deleteStyleRule"]]) {
    await call(method, ["any", ...args]);
  }
  fs.rmSync(folder, { recursive: true });
}

async function callGoogle(german) {
  const column = `@google-cloud/translate ${versionOf("@google-cloud/translate")}`;
  process.env.GOOGLE_CLOUD_TRANSLATE_ENDPOINT = `${base}/language/translate/v2`;
  const { v2, v3 } = require("@google-cloud/translate");
  const basic = caller("Google v2, Node.js", column, new v2.Translate({ key: "any" }));
  await basic("translate", [TEXTS, { to: "de", format: "text" }], { good: ([texts]) => same(texts, german) });
  await basic("detect", [QUESTION], { good: ([found]) => found.language === "de" });
  await basic("getLanguages", [], { good: ([languages]) => same(languages.map((each) => each.code), ["de", "en"]) });

  const { grpc } = require("google-gax");
  const [host, port] = httpAddress.split(":");
  const [grpcHost, grpcPort] = grpcAddress.split(":");
  await callGoogleV3(`${column}, gRPC`, new v3.TranslationServiceClient({
    apiEndpoint: grpcHost, port: Number(grpcPort), sslCreds: grpc.credentials.createInsecure(),
  }), german);
  await callGoogleV3(`${column}, REST`, new v3.TranslationServiceClient({
    fallback: true, apiKey: "any", apiEndpoint: host, port: Number(port), protocol: "http",
  }), german);
}

async function callGoogleV3(column, client, german) {
  const call = caller("Google v3, Node.js", column, client);
  const parent = "projects/any/locations/global";
  const [glossary, dataset, adaptive, model] = ["glossaries", "datasets", "adaptiveMtDatasets", "models"]
    .map((kind) => `${parent}/${kind}/any`);
  const file = `${adaptive}/adaptiveMtFiles/any`;
  const texts = { parent, contents: TEXTS, mimeType: "text/plain", targetLanguageCode: "de" };
  const document = {
    parent, targetLanguageCode: "de", documentInputConfig: { content: Buffer.from(TEXTS[0]), mimeType: "text/plain" },
  };
  await call("translateText", [texts], {
    good: ([answer]) => same(answer.translations.map((each) => [each.translatedText, each.detectedLanguageCode]),
      german.map((each) => [each, "en"])),
  });
  await call("detectLanguage", [{ parent, content: QUESTION }], { good: ([answer]) => answer.languages[0].languageCode === "de" });
  await call("getSupportedLanguages", [{ parent }],
    { good: ([answer]) => same(answer.languages.map((each) => each.languageCode), ["de", "en"]) });
  const decoded = (translation) => Buffer.from(translation.byteStreamOutputs[0], "base64").toString();
  await call("translateDocument", [document], { good: ([answer]) => decoded(answer.documentTranslation) === german[0] });

  const pair = { sourceLanguageCode: "en", targetLanguageCode: "de" };
  const made = async ([operation]) => (await operation.promise())[0].name === glossary;
  await call("createGlossary", [{ parent, glossary: { name: glossary, languagePair: pair } }], { good: made });
  const terms = (source, target) => ({
    termsPair: { sourceTerm: { languageCode: "en", text: source }, targetTerm: { languageCode: "de", text: target } },
  });
  const added = await call("createGlossaryEntry", [{ parent: glossary, glossaryEntry: terms("house", "Hütte") }]);
  const name = added?.[0].name;
  const names = (wanted) => ({ good: ([found]) => same(found.map((each) => each.name), [wanted]) });
  await call("listGlossaries", [{ parent }], names(glossary));
  await call("getGlossary", [{ name: glossary }], { good: ([found]) => found.entryCount === 1 });
  await call("listGlossaryEntries", [{ parent: glossary }], names(name));
  await call("getGlossaryEntry", [{ name }], { good: ([found]) => found.termsPair.sourceTerm.text === "house" });
  const glossaryConfig = { glossary };
  await call("translateText", [{ ...texts, glossaryConfig }], {
    row: "translateText, glossaryConfig", good: ([answer]) => answer.glossaryTranslations[0].translatedText.includes("Hütte"),
  });
  await call("translateDocument", [{ ...document, glossaryConfig }], {
    row: "translateDocument, glossaryConfig", good: ([answer]) => decoded(answer.glossaryDocumentTranslation).includes("Hütte"),
  });
  await call("updateGlossaryEntry", [{ glossaryEntry: { name, ...terms("house", "Bude") } }],
    { good: ([changed]) => changed.termsPair.targetTerm.text === "Bude" });
  await call("deleteGlossaryEntry", [{ name }]);
  await call("updateGlossary", [{ glossary: { name: glossary, displayName: "Houses" } }]);
  await call("deleteGlossary", [{ name: glossary }], { good: made });

  const source = { gcsSource: { inputUri: "gs://any" } };
  const outputConfig = { gcsDestination: { outputUriPrefix: "gs://any" } };
  const batch = { parent, sourceLanguageCode: "en", targetLanguageCodes: ["de"], inputConfigs: [source], outputConfig };
  for (const [method, request] of [["romanizeText", { parent, contents: TEXTS }], ["batchTranslateText", batch],
    ["batchTranslateDocument", batch], ["createDataset", { parent, dataset: {} }], ["getDataset", { name: dataset }],
    ["listDatasets", { parent }], ["deleteDataset", { name: dataset }],
    ["createAdaptiveMtDataset", { parent, adaptiveMtDataset: {} }], ["deleteAdaptiveMtDataset", { name: adaptive }],
    ["getAdaptiveMtDataset", { name: adaptive }], ["listAdaptiveMtDatasets", { parent }],
    ["adaptiveMtTranslate", { parent, dataset: adaptive, content: TEXTS }], ["getAdaptiveMtFile", { name: file }],
    ["deleteAdaptiveMtFile", { name: file }], ["importAdaptiveMtFile", { parent: adaptive }],
    ["listAdaptiveMtFiles", { parent: adaptive }], ["listAdaptiveMtSentences", { parent: file }],
    ["importData", { dataset, inputConfig: {} }], ["exportData", { dataset, outputConfig: {} }],
    ["listExamples", { parent: dataset }], ["createModel", { parent, model: {} }], ["listModels", { parent }],
    ["getModel", { name: model }], ["deleteModel", { name: model }], ["getOperation", { name: `${parent}/operations/any` }],
    ["cancelOperation", { name: `${parent}/operations/any` }], ["deleteOperation", { name: `${parent}/operations/any` }],
    ["getLocation", { name: parent }], ["getIamPolicy", { resource: glossary }],
    ["setIamPolicy", { resource: glossary, policy: {} }], ["testIamPermissions", { resource: glossary, permissions: [] }]]) {
    await call(method, [request]);
  }
  await client.close();
}

/** A method of Azure's client for REST is a path. */
async function callAzure(german) {
  const credential = { key: "any", region: "global" };
  for (const name of ["@azure-rest/ai-translation-text", "azure-1"]) {
    const module = require(name);
    const client = module.default(base, credential, { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
    const paths = {
      async call(verb, place, request) {
        const response = await client.path(place)[verb](request);
        if (!module.isUnexpected(response)) return response.body;
        const { error } = typeof response.body === "object" ? response.body : { error: { message: response.body } };
        throw Object.assign(new Error(`(${error?.code}) ${error?.message}`), { status: response.status });
      },
    };
    const call = caller("Azure text, Node.js", `@azure-rest/ai-translation-text ${versionOf(name)}`, paths);
    const at = (verb, place, request, rest = {}) => call("call", [verb, place, request], { row: `${verb} ${place}`, ...rest });
    const texts = TEXTS.map((text) => ({ text }));
    const read = (items) => same(items.map((each) => [each.translations[0].text, each.detectedLanguage.language]),
      german.map((each) => [each, "en"]));
    if (versionOf(name).startsWith("1.")) {
      await at("post", "/translate", { body: texts, queryParameters: { to: "de" } }, { good: read });
      await at("post", "/breaksentence", { body: [{ text: TEXTS.join(" ") }] },
        { good: ([found]) => found.sentLen.reduce((a, b) => a + b) === TEXTS.join(" ").length });
      const queryParameters = { from: "en", to: "de" };
      await at("post", "/dictionary/lookup", { body: [{ text: "house" }], queryParameters });
      await at("post", "/dictionary/examples", { body: [{ text: "house", translation: "Haus" }], queryParameters });
    } else {
      const inputs = TEXTS.map((text) => ({ text, targets: [{ language: "de" }] }));
      await at("post", "/translate", { body: { inputs } }, { good: (body) => read(body.value) });
    }
    await at("get", "/languages", {}, { good: (found) => same(Object.keys(found.translation).sort(), ["de", "en"]) });
    await at("post", "/transliterate", {
      body: versionOf(name).startsWith("1.") ? [{ text: "Доброе утро" }] : { inputs: [{ text: "Доброе утро" }] },
      queryParameters: { language: "ru", fromScript: "Cyrl", toScript: "Latn" },
    });
  }
}

async function callOpenAI(german) {
  const { default: OpenAI } = await import(pathToFileURL(require.resolve("openai")));
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "any", maxRetries: 0 });
  const column = `openai ${versionOf("openai")}`;
  const text = { model: `${MODEL}:${MODEL}`, messages: [{ role: "user", content: TEXTS[0] }] };
  const good = (answer) => answer.choices[0].message.content === german[0];
  const call = (place, method, args, rest = {}) => {
    const resource = place.split(".").reduce((of, part) => of[part], client);
    return caller("OpenAI, Node.js", column, resource)(method, args, { row: `${place}.${method}`, ...rest });
  };
  await call("chat.completions", "create", [text], { good });
  await call("chat.completions", "create", [{ ...text, stream: true }], {
    row: "chat.completions.create, stream",
    async good(chunks) {
      let whole = "";
      for await (const chunk of chunks) whole += chunk.choices[0]?.delta.content ?? "";
      return whole === german[0];
    },
  });
  await call("chat.completions", "parse", [text], { good });
  await call("chat.completions", "stream", [text], { good: async (stream) => good(await stream.finalChatCompletion()) });
  for (const method of ["retrieve", "delete"]) await call("chat.completions", method, ["any"]);
  await call("chat.completions", "update", ["any", { metadata: {} }]);
  await call("chat.completions", "list", []);
  await call("models", "list", [], { good: (page) => same(page.data.map((each) => each.id), [MODEL]) });
  await call("models", "retrieve", [MODEL], { good: (model) => model.id === MODEL });
  await call("models", "delete", [MODEL]);
  await call("completions", "create", [{ model: MODEL, prompt: TEXTS[0] }]);
  await call("responses", "create", [{ model: MODEL, input: TEXTS[0] }]);
  await call("embeddings", "create", [{ model: MODEL, input: TEXTS[0] }]);
  await call("moderations", "create", [{ input: TEXTS[0] }]);
  for (const resource of [...called.keys()]) {
    if (resource._client === client) called.delete(resource); // several callers, and methods of what is not there
  }
}

async function callLibreTranslate(german) {
  const { default: translate } = await import(pathToFileURL(require.resolve("translate")));
  translate.engine = "libre";
  translate.url = `${base}/translate`;
  await caller("LibreTranslate, Node.js", `translate ${versionOf("translate")}`, { translate })(
    "translate", [TEXTS[0], { from: "en", to: "de" }], { good: (text) => text === german[0] });
}

async function callMcp(german) {
  const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "any", version: "1" });
  const call = caller("MCP, Node.js", `@modelcontextprotocol/sdk ${versionOf("@modelcontextprotocol/sdk")}`, client);
  await call("connect", [new StdioClientTransport({ command: dragoman, args: ["mcp", "--server", grpcAddress] })]);
  await call("ping");
  await call("listTools", [], { good: ({ tools }) => same(tools.map((each) => each.name).sort(), ["detect", "languages", "translate"]) });
  await call("callTool", [{ name: "translate", arguments: { text: TEXTS[0], target_language: "de" } }],
    { good: (answer) => JSON.stringify(answer).includes(german[0]) });
  for (const [method, ...args] of [["listPrompts"], ["getPrompt", { name: "any" }], ["listResources"], ["listResourceTemplates"],
    ["readResource", { uri: "any:" }], ["subscribeResource", { uri: "any:" }], ["unsubscribeResource", { uri: "any:" }],
    ["setLoggingLevel", "debug"],
    ["complete", { ref: { type: "ref/prompt", name: "any" }, argument: { name: "any", value: "" } }]]) {
    await call(method, args);
  }
  await client.close();
}

function* tables() {
  for (const [section, methods] of rows) {
    const columns = [...new Set([...methods.values()].flatMap(Object.keys))];
    yield `\n## ${section}\n\n| method | ${columns.join(" | ")} |\n|${"---|".repeat(columns.length + 1)}`;
    for (const [method, cells] of methods) {
      const said = columns.map((column) => (cells[column] ?? "no such method").replaceAll("|", "&#124;"));
      yield `| \`${method}\` | ${said.join(" | ")} |`;
    }
  }
}

const answer = await fetch(`${base}/v1/translate`, {
  method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ contents: TEXTS, sentenceSplitting: "SENTENCE_SPLITTING_SENTENCES" }),
});
const german = (await answer.json()).translations.map((each) => each.hypotheses[0].text);
for (const act of [callDeepL, callGoogle, callAzure, callLibreTranslate, callOpenAI, callMcp]) await act(german);
console.log([...tables()].join("\n"));
const left = notCalled();
if (left.length > 0) {
  console.error(`not called: ${left.join(", ")}`);
  process.exitCode = 1;
}
