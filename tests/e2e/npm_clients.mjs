// Drives a running server with clients of other translation APIs from npm, as they are published, over TLS
// (client_methods.mjs calls each of their methods):
//
//   NODE_EXTRA_CA_CERTS=ca.pem node npm_clients.mjs DIR https://HOST:PORT
//
// DIR has the clients; tests/e2e/compat_test.py has their versions.
// Prints a JSON object with the results of each client.

import { createRequire } from "node:module";
import path from "node:path";

const [directory, base] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(directory), "package.json"));
const text = "Good morning.";
const seen = {};

async function failure(action) {
  try {
    await action();
    return null;
  } catch (error) {
    return String(error.message);
  }
}

// LibreTranslate.
const { default: translate } = await import(require.resolve("translate"));
translate.engine = "libre";
translate.url = `${base}/translate`;
seen.libretranslate = {
  text: await translate(text, { from: "en", to: "de" }),
  error: await failure(() => translate("again", { from: "en", to: "fr" })),
};

// DeepL.
const deepl = require("deepl-node");
const client = new deepl.Translator("any-key", { serverUrl: base, maxRetries: 0 });
const one = await client.translateText(text, null, "de");
const many = await client.translateText([text, "Where is the station?"], "en", "de", { context: "a greeting" });
seen.deepl = {
  text: one.text,
  detected: one.detectedSourceLang,
  many: many.map((result) => result.text),
  sources: (await client.getSourceLanguages()).map((language) => language.code),
  targets: (await client.getTargetLanguages()).map((language) => language.name),
  limitReached: (await client.getUsage()).anyLimitReached(),
  html: (await client.translateText(`<b>${text}</b>`, "en", "de", { tagHandling: "html" })).text,
};

// DeepL's glossaries, of one pair of languages and of several.
const house = "The old house is small.";
const entries = new deepl.GlossaryEntries({ entries: { house: "Haus", London: "London" } });
const glossary = await client.createGlossary("Houses", "en", "de", entries);
const deepL = new deepl.DeepLClient("any-key", { serverUrl: base, maxRetries: 0 });
const dictionary = { sourceLangCode: "en", targetLangCode: "de", entries };
const several = await deepL.createMultilingualGlossary("More", [dictionary]);
const csv = "house,Haus\ncat,Katze\n";
seen.deeplGlossaries = {
  pairs: await client.getGlossaryLanguagePairs(),
  listed: (await client.listGlossaries()).map((each) => each.name).sort(),
  count: (await client.getGlossary(glossary.glossaryId)).entryCount,
  entries: (await client.getGlossaryEntries(glossary)).entries(),
  text: (await client.translateText(house, "en", "de", { glossary })).text,
  several: (await deepL.translateText(house, "en", "de", { glossary: several })).text,
  renamed: (await deepL.updateMultilingualGlossaryName(several, "Other")).name,
  replaced: (await deepL.replaceMultilingualGlossaryDictionaryWithCsv(several, "en", "de", csv)).entryCount,
  severalEntries: (await deepL.getMultilingualGlossaryDictionaryEntries(several, "en", "de")).entries.entries(),
};
await client.deleteGlossary(glossary);
await deepL.deleteMultilingualGlossary(several);
seen.deeplGlossaries.left = (await deepL.listMultilingualGlossaries()).length;
seen.deeplGlossaries.gone = await failure(() => client.translateText(house, "en", "de", { glossary }));

// Google, basic edition.
const { Translate } = require("@google-cloud/translate").v2;
const google = new Translate({ key: "any-key", apiEndpoint: new URL(base).host });
const [languages] = await google.getLanguages();
seen.google = {
  text: (await google.translate(text, { from: "en", to: "de" }))[0],
  many: (await google.translate([text, "Where is the station?"], "de"))[0],
  detected: (await google.detect("Wo ist der Bahnhof?"))[0].language,
  languages: languages.map((language) => language.name),
  html: (await google.translate(`<b>${text}</b>`, { from: "en", to: "de", format: "html" }))[0],
};

// Google, advanced edition, over REST.
const { TranslationServiceClient } = require("@google-cloud/translate").v3;
const { hostname, port } = new URL(base);
const advanced = new TranslationServiceClient({
  fallback: true, apiKey: "any-key", apiEndpoint: hostname, port: Number(port),
});
const [answer] = await advanced.translateText({
  parent: "projects/any/locations/global", contents: [`<b>${text}</b>`], targetLanguageCode: "de",
});
seen.googleV3 = {
  html: answer.translations[0].translatedText,
  detected: answer.translations[0].detectedLanguageCode,
};

// Azure.
const { default: azureClient } = require("azure-1");
const azure = azureClient(base, { key: "any-key", region: "global" });
const { body: azureTexts } = await azure.path("/translate").post({
  body: [{ text: `<b>${text}</b>` }, { text }],
  queryParameters: { to: "de", textType: "html", includeSentenceLength: true },
});
const { body: refusal } = await azure.path("/translate").post({ body: [{ text }], queryParameters: { to: "xx" } });
seen.azure = {
  html: azureTexts[0].translations[0].text,
  detected: azureTexts[1].detectedLanguage.language,
  lengths: azureTexts[1].translations[0].sentLen.srcSentLen,
  refusal: refusal.error.code,
};

// The description of the API.
const SwaggerParser = require("@apidevtools/swagger-parser");
const parser = SwaggerParser.default ?? SwaggerParser;
const api = await (await fetch(`${base}/openapi.json`)).json();
seen.openapi = Object.keys((await parser.validate(api)).paths);

console.log(JSON.stringify(seen));
