// Drives the pages in Chromium, which is the program DRAGOMAN_CHROMIUM: against a fake server for every state, and
// against the real one at DRAGOMAN_PAGE (http://HOST:PORT).  DRAGOMAN_AXE names a file with axe-core, which then judges
// how accessible they are; DRAGOMAN_SCREENSHOTS a folder for screenshots.

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {after, afterEach, before, beforeEach, describe, it} = require('node:test');
const {launch} = require('./browser');
const {BACK, FakeServer, MODEL} = require('./fake_server');

const AXE = process.env.DRAGOMAN_AXE && fs.readFileSync(process.env.DRAGOMAN_AXE, 'utf8');
const TEXT = 'Where is the nearest train station?';
const TRANSLATION = 'Wo ist der nächste Bahnhof?';

let browser;
let context;
let page;
let complaints; // from the console, the content security policy and the network
let wanted; // complaints that the test expects
const directories = []; // of the test

before(async () => {
  browser = await launch(process.env.DRAGOMAN_CHROMIUM);
});
after(() => browser.close());
beforeEach(async () => {
  [complaints, wanted] = [[], []];
  context = await browser.newContext(); // which remembers nothing of other tests
  page = await context.newPage();
  await page.setViewport({width: 1200, height: 900});
  page.on('console', (error) => complaints.push(error));
  page.on('pageerror', (error) => complaints.push(error));
  page.on('request', (url) => {
    if (new URL(url).origin !== new URL(page.url() === 'about:blank' ? url : page.url()).origin) complaints.push(`asked ${url}`);
  });
});
afterEach(async () => {
  await context.close();
  for (const made of directories.splice(0)) fs.rmSync(made, {recursive: true, force: true});
  assert.deepEqual(complaints.filter((text) => !wanted.some((pattern) => pattern.test(text))), []);
});

const textOf = (selector) => page.$eval(selector, (node) => node.textContent.trim());
const shown = (selector) => page.$eval(selector, (node) => node.checkVisibility());

const valueOf = (selector) => page.$eval(selector, (node) => node.value);
const open = (selector) => page.click(`${selector} > summary`);
const setText = (text) => page.$eval('#source', (node, value) => {
  node.value = value;
  node.dispatchEvent(new Event('input', {bubbles: true}));
}, text);

async function until(what, check) {
  const end = Date.now() + 60_000;
  for (;;) {
    if (await check()) return;
    assert.ok(Date.now() < end, `waited a minute until ${what}`);
    await new Promise((done) => setTimeout(done, 30));
  }
}

const translated = (text = TRANSLATION) => until(`the translation is ${text}`, async () =>
  (await textOf('#output')) === text && (await textOf('#state')).startsWith('Translated'));

// The same of a text that was translated before: what the page says of the last time does not count.
async function translatedAfter(act, text = TRANSLATION) {
  await page.$eval('#state', (node) => { node.textContent = ''; });
  await act();
  await translated(text);
}

// Removed at the end of the test.
function newDirectory() {
  directories.push(fs.mkdtempSync(path.join(os.tmpdir(), 'page-')));
  return directories.at(-1);
}

// The path of a file with that text, and what the page saves as a file of that name.
async function letter(text) {
  const file = path.join(newDirectory(), 'letter.txt');
  fs.writeFileSync(file, text);
  return file;
}

async function saved(name, link = '#file-save') {
  const downloadPath = newDirectory();
  await page.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath, browserContextId: context.id});
  if (link === '#file-save') assert.equal(await textOf(link), `Save ${name}`);
  await page.click(link);
  const file = path.join(downloadPath, name);
  await until(`${name} is saved`, () => fs.existsSync(file));
  return fs.readFileSync(file, 'utf8');
}

async function violations() {
  // By the debugger, to which the page's policy does not apply.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await window.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  })).violations);
  return found.map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' | ')}`);
}

// In every theme and width, the page is accessible and no wider than the window; takes screenshots.  The widths are the
// same in every theme.
async function lookAround(name) {
  const themes = AXE || process.env.DRAGOMAN_SCREENSHOTS ? ['light', 'dark'] : ['light'];
  for (const [theme, width] of themes.flatMap((theme) => [1280, 768, 320].map((width) => [theme, width]))) {
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: theme}]);
    await page.setViewport({width, height: width === 320 ? 640 : 900});
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done())); }));
    if (AXE) assert.deepEqual(await violations(), [], `${name}, ${theme}, ${width} wide`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${name} is ${overflow} wider than a window of ${width}`);
    if (process.env.DRAGOMAN_SCREENSHOTS) {
      await page.screenshot(path.join(process.env.DRAGOMAN_SCREENSHOTS, `${name}-${theme}-${width}.png`));
    }
  }
}

describe('against a fake server', () => {
  let server;
  beforeEach(async () => {
    server = new FakeServer();
    await server.listen();
  });
  afterEach(() => server.close());

  it('greets with examples, which translate', async () => {
    await page.goto(server.origin);
    await until('examples are there', () => page.count('#examples button'));
    assert.equal(await textOf('#source-language'), 'English');
    assert.equal(await textOf('#target-language'), 'German');
    assert.equal(await textOf('#formats'), 'Files, too, chosen or dropped here: .docx .odt and others');
    assert.match(await page.$eval('#choose-file', (node) => node.title), /\.txt \.docx \.odt$/);
    assert.equal(await textOf('.about'), 'Version 1.2.3, Apache License 2.0 How programs call this server');
    assert.match(await textOf('#toy'), /en-de is a toy: .* 8,001 tokens/);
    await lookAround('empty');
    await page.click('#examples button');
    await translated();
    assert.ok(!await shown('#examples'));
    // Neither over a text that could not be translated.
    server.busy = 1;
    wanted = [/429/];
    await page.type('#source', '!');
    await until('it is busy', () => shown('#problem'));
    assert.ok(!await shown('#examples'));
    await page.click('#clear');
    assert.ok(await shown('#examples') && !await shown('#problem'));
  });

  it('follows a glossary, and marks where', async () => {
    await page.goto(server.origin);
    await until('the glossary is there', () => page.count('#glossary option[value=g1]'));
    await page.type('#source', TEXT);
    await translated();
    assert.equal(server.requests.at(-1).glossaryIds, undefined);
    assert.ok(!await shown('#unmet'));
    await open('#options');
    await page.select('#glossary', 'g1');
    const terms = () => page.$$eval('.word.term', (nodes) => nodes.map((node) => node.textContent));
    await until('terms are marked', async () => (await terms()).length > 0);
    assert.deepEqual(server.requests.at(-1).glossaryIds, ['g1']);
    await open('#program-section');
    for (const tab of ['curl', 'grpcurl', 'python', 'node', 'go']) {
      await page.click(`#tab-${tab}`);
      assert.match(await textOf('#snippet'), /glossary_?ids"?[:=] ?\[\s*"g1"/i, tab);
    }
    await open('#program-section');
    assert.deepEqual(await terms(), ['nächste', 'Bahnhof?']);
    assert.match(await page.$eval('.word.term', (node) => node.title), /^nearest: from the glossary/);
    assert.equal(await textOf('#unmet'), 'Not as the glossary has it: is');
    await lookAround('glossary');
    // It is remembered, until it is no longer wanted.
    await page.reload();
    await until('terms are marked again', async () => (await terms()).length === 2);
    await page.select('#glossary', '');
    await until('nothing is missing', async () => !await shown('#unmet'));
    await translated();
    assert.deepEqual(await terms(), []);
  });

  it('teaches a memory corrections', async () => {
    await page.goto(server.origin);
    await until('the memory is there', () => page.count('#memory option[value=m1]'));
    assert.equal(await page.count('#memory option[value=m0]'), 0); // it may not learn
    await page.type('#source', TEXT);
    await translated();
    assert.ok(!await shown('#correct'));
    await open('#options');
    await translatedAfter(() => page.select('#memory', 'm1'));
    assert.ok(await shown('#correct'));
    assert.deepEqual(server.requests.at(-1).memoryIds, ['m1']);
    await page.click('#correct');
    await lookAround('correct');
    const learn = () => page.$eval('#correct-form button', (button) => button.click());
    await learn();
    await until('it says so', async () => (await textOf('#correct-state')) === 'Nothing was changed.');
    await page.$eval('#correct-form textarea', (box) => { box.value = 'Wo ist hier der Bahnhof?'; });
    server.refuses = 'the memory is full';
    wanted = [/400/];
    await learn();
    await until('it says so', async () => /memory is full/.test(await textOf('#correct-state')));
    server.refuses = '';
    const before = server.requests.length;
    await translatedAfter(learn);
    assert.ok(server.requests.length > before);
    assert.deepEqual(server.learned.at(-1), {source: TEXT, target: 'Wo ist hier der Bahnhof?', previousSource: '', nextSource: ''});
    assert.ok(!await shown('#correct-form') && await shown('#correct'));
  });

  it('translates what is typed, with all that is known of it', async () => {
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.select('#alternatives', '3');
    await page.type('#source', TEXT);
    await translated();
    const [asked] = server.requests.slice(-1);
    assert.deepEqual(asked.contents, [TEXT]);
    assert.deepEqual(asked.options, {beamSize: 4, numHypotheses: 3});
    assert.equal(await page.count('#alternatives-list li'), 2);
    assert.match(await textOf('#figures'), /decode7\.3 ms/);
    assert.match(await textOf('#snippet'), /curl http.*translate/s);

    // What is for experts is closed until asked for, and only then is the matrix asked for.
    for (const selector of ['#figures', '#snippet', '#map', '#model']) assert.ok(!await shown(selector), selector);
    assert.equal(asked.output.attention, undefined);
    for (const selector of ['#options', '#timing-section', '#program-section', '#attention-section']) await open(selector);
    await until('the matrix is there', () => page.count('#map rect'));
    assert.equal(server.requests.slice(-1)[0].output.attention, true);
    await translated();
    for (const [tab, program] of [['python', /import dragoman.*"127\.0\.0\.1:50077"/s], ['node', /new Client\('127\.0\.0\.1:50077'\)/],
      ['go', /dragoman\.Dial\("127\.0\.0\.1:50077"/], ['grpcurl', /127\.0\.0\.1:50077 dragoman/]]) {
      await page.click(`#tab-${tab}`);
      assert.match(await textOf('#snippet'), program);
    }

    // Of the two words that are less than sure, the worse one is marked: of a few words one, of many a tenth.
    const doubtful = () => page.$$eval('.word.doubtful', (nodes) =>
      nodes.filter((node) => getComputedStyle(node).borderBottomWidth !== '0px').map((node) => [node.textContent, node.title]));
    assert.deepEqual(await doubtful(), [['Bahnhof?', '15 % sure']]);
    await page.click('#doubts');
    assert.deepEqual(await doubtful(), []);
    await page.click('#doubts');

    // By pointer: the word attends to its source; by keyboard: the next word does.
    await page.hover('.word:nth-of-type(1)');
    const strongest = () => page.$$eval('#mirror mark', (nodes) =>
      nodes.sort((a, b) => b.style.getPropertyValue('--share') - a.style.getPropertyValue('--share'))[0]?.textContent);
    assert.equal(await strongest(), 'Where');
    await page.focus('#output');
    await page.press('ArrowRight');
    assert.equal(await strongest(), 'is');
    assert.equal(await textOf('#spoken'), 'ist, 99 % sure');

    // The matrix has a cell per pair of tokens, and the arrow keys move in it.  It uses the width that it has, and the
    // end of the sentence has a column only if that is wished.
    assert.ok(await page.count('#map rect') > 7);
    assert.equal(await page.count('#map text'), 14);
    await page.click('#map-all');
    assert.equal(await page.count('#map text'), 15);
    assert.ok(await page.$eval('#map', (node) => [...node.querySelectorAll('text')].every((text) => {
      const [inner, outer] = [text.getBoundingClientRect(), node.firstElementChild.getBoundingClientRect()];
      return inner.left >= outer.left && inner.right <= outer.right + 1 && inner.top >= outer.top;
    })), 'a label is clipped');
    await page.click('#map-all');
    assert.ok(server.requests.every(({output}) => !output.candidates && !output.attentionHeads));
    await page.focus('#map');
    await page.press('ArrowDown');
    await page.press('ArrowRight');
    assert.equal(await textOf('#map-readout'), '“ist” gives 72 % of its attention to “is”.');

    // What could have come in its place is asked for only now, and once.
    await until('candidates are there', () => shown('#candidates'));
    assert.equal(await textOf('#candidates'), 'ist99 %Zug10 %');
    const before = server.requests.length;
    await page.press('ArrowDown');
    await until('the next ones are there', async () => (await textOf('#candidates')) === 'der74 %Zug10 %');
    assert.equal(server.requests.length, before);
    await lookAround('translated');
  });

  it('offers what could stand in the place of a word, and the rest follows', async () => {
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await translatedAfter(() => setText(TEXT));
    assert.ok(!await shown('#choices'));
    await page.click('.word:nth-of-type(4)');
    const offered = () => page.$$eval('#choices button', (nodes) => nodes.map((node) => node.textContent));
    await until('alternatives are there', async () => (await offered()).join() === 'gleich nebenan?,weit von hier?');
    const [asked] = server.requests.slice(-1);
    assert.deepEqual([asked.contents, asked.targetPrefixes, asked.options.returnAlternatives], [[TEXT], ['Wo ist der '], true]);
    assert.equal(await page.$eval('#choices', (node) => node.ariaLabel), 'Instead of “nächste”');
    await lookAround('choices');
    await page.setViewport({width: 1200, height: 900});
    await page.$eval('#choices button:nth-of-type(2)', (node) => node.click());
    assert.equal(await textOf('#output'), 'Wo ist der weit von hier?');
    assert.equal(await textOf('#state'), 'As you chose');
    assert.ok(!await shown('#choices') && !await shown('#attention-section'));
    // By keyboard: the first word, Enter, the second alternative; Escape keeps what is there.  A pointer that rests on
    // the words would say where one is.
    await page.hover('.brand');
    await page.press('ArrowRight');
    await page.press('Enter');
    await until('alternatives are there', async () => (await offered()).length === 4);
    assert.deepEqual(server.requests.at(-1).targetPrefixes, ['']);
    await page.press('ArrowDown');
    await page.press('Enter');
    await until('it is chosen', async () => (await textOf('#output')) === 'gleich nebenan?');
    await page.press('ArrowRight');
    await page.press('Enter');
    await until('alternatives are there', async () => (await offered()).length === 3);
    await page.press('Escape');
    assert.ok(!await shown('#choices'));
    assert.equal(await textOf('#output'), 'gleich nebenan?');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'output');
  });

  it('shares, copies and saves a translation', async () => {
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    for (const id of ['#copy', '#share', '#save']) assert.ok(!await shown(id), id);
    await translatedAfter(() => setText(TEXT));
    await page.click('#share');
    await until('it says so', async () => (await textOf('#share')) === 'Link copied');
    await page.click('#copy');
    await until('it says so', async () => (await textOf('#copy')) === 'Copied');
    assert.equal(await saved('translation.de.txt', '#save'), TRANSLATION);
  });

  it('speaks the language of the browser', async () => {
    for (const [language, placeholder, german, done] of [
      ['de-AT', 'Text eingeben oder einfügen', 'Deutsch', /^In .* übersetzt$/], ['fr', 'Saisissez ou collez un texte', 'allemand', /^Traduit en /],
      ['es', 'Escriba o pegue un texto', 'alemán', /^Traducido en /], ['ja', 'Type or paste a text', 'German', /^Translated in /]]) {
      await page.send('Emulation.setUserAgentOverride', {userAgent: 'test', acceptLanguage: language});
      await page.goto(`${server.origin}/?${language}`);
      await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
      assert.equal(await page.$eval('#source', (node) => node.placeholder), placeholder);
      assert.equal(await textOf('#target-language'), german);
      await setText(TEXT);
      await until('it is translated', async () => done.test(await textOf('#state')));
      for (const selector of ['#options', '#attention-section', '#timing-section', '#program-section']) {
        if (!await page.$eval(selector, (node) => node.open)) await open(selector);
      }
      await until('the matrix is there', () => page.count('#map rect'));
      if (language !== 'ja') await lookAround(`in-${language}`);
      await page.setViewport({width: 1200, height: 900});
    }
  });

  it('finds a language among many, and has the last ones in front', async () => {
    const many = 'af ar az be bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu id is it ja ka kk'.split(' ');
    server.models = [{...MODEL, languagePairs: undefined, sourceLanguages: ['en'], targetLanguages: many}];
    await page.goto(server.origin);
    await until('it is searched', () => shown('#target-search'));
    assert.ok(!await shown('#source-search'), 'there are few');
    assert.equal(await page.$eval('#target-search', (node) => node.placeholder), 'Search 32 languages');
    const found = () => page.$$eval('#target-found button', (nodes) => nodes.map((node) => node.textContent));
    for (const [typed, want] of [['germ', 'German'], ['deutsch', 'German'], ['français', 'French'], ['magyar', 'Hungarian']]) {
      await page.$eval('#target-search', (node) => { node.value = ''; });
      await page.type('#target-search', typed);
      assert.equal((await found())[0], want, typed);
    }
    await lookAround('search');
    await page.setViewport({width: 1200, height: 900});
    await page.focus('#target-search');
    await page.press('Enter');
    assert.equal(await valueOf('#target-language'), 'hu');
    assert.ok(!await shown('#target-found'));
    await translatedAfter(() => setText(TEXT));
    await page.select('#target-language', 'fr');
    await page.reload();
    await translated();
    assert.deepEqual(await page.$eval('#target-language', (node) => [...node.querySelector('optgroup').children].map(({value}) => value)), ['fr', 'hu']);
    assert.equal(await valueOf('#target-language'), 'fr');
  });

  it('shows what a head looks at', async () => {
    const headsAsked = () => server.requests.flatMap(({output}) => output.attentionHeads ?? []);
    const rows = (pattern) => until(`rows match ${pattern}`, async () => pattern.test(await textOf('#map')));
    const redrawnAfter = async (act) => {
      await page.$eval('#map', (map) => { map.firstElementChild.dataset.old = ''; });
      await act();
      await until('the picture is another', () => page.count('#map > :not([data-old])'));
    };
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await translatedAfter(() => setText(TEXT));
    await translatedAfter(() => open('#attention-section'));
    await rows(/Bahn/);
    await page.select('#head-kind', 'ATTENTION_KIND_ENCODER');
    await rows(/station.*station/);
    assert.deepEqual(headsAsked(), [{kind: 'ATTENTION_KIND_ENCODER', layer: 3, heads: [0]}]);
    assert.match(await textOf('#attention-section .hint'), /rows the source again;/);
    await redrawnAfter(() => page.select('#head-number', '5'));
    assert.deepEqual(headsAsked().at(-1).heads, [5]);
    await page.focus('#map');
    await page.press('ArrowDown');
    await page.press('ArrowDown');
    await page.press('ArrowRight');
    assert.equal(await textOf('#map-readout'), '“the” gives 86 % of its attention to “is”.');
    assert.deepEqual(await page.$$eval('#mirror mark', (nodes) => nodes.map((node) => node.textContent)), ['is']);
    assert.ok(!await shown('#candidates'));
    await lookAround('head');

    // All heads of a layer have strips in one picture.
    await page.setViewport({width: 1200, height: 900});
    await page.select('#head-number', 'all');
    await until('the strips are there', async () => (await page.count('#map .strip')) === 8 * 49);
    assert.deepEqual(headsAsked().at(-1).heads, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.match(await textOf('#map-legend'), /^Head 1.*Head 8$/);
    await page.focus('#map');
    await page.press('ArrowDown');
    assert.match(await textOf('#map-readout'), /^“is” gives 86 % .* Of the heads: 1: 86 %, 2: 86 %/);
    await lookAround('heads');
    await page.setViewport({width: 1200, height: 900});

    // Within the translation the columns are what was there before.
    await page.select('#head-kind', 'ATTENTION_KIND_DECODER');
    await until('it is drawn', async () => /^Columns are what was translated before, rows the translation;/.test(await textOf('#attention-section .hint')));
    assert.ok(!await shown('#map-legend'));
    await page.focus('#map');
    await page.press('ArrowDown');
    assert.match(await textOf('#map-readout'), /^“ist” gives 86 % of its attention to “(Wo|start)”\.$/);
    await redrawnAfter(() => page.select('#head-kind', 'ATTENTION_KIND_ENCODER'));
    await redrawnAfter(() => page.select('#head-number', '5'));
    const before = headsAsked().length;

    // The next text is shown with the same head, but a text that comes while the picture is closed is not.
    await page.setViewport({width: 1200, height: 900});
    await translatedAfter(() => setText(`${TEXT}!`));
    await until('the head is asked for', () => headsAsked().length === before + 1);
    assert.deepEqual(headsAsked().at(-1), {kind: 'ATTENTION_KIND_ENCODER', layer: 3, heads: [5]});
    await rows(/station.*station/);
    await open('#attention-section');
    await translatedAfter(() => setText(`${TEXT}!!`));
    assert.equal(headsAsked().length, before + 1);
    await translatedAfter(() => open('#attention-section'));
    await rows(/station.*station/);
    assert.equal(headsAsked().length, before + 2);

    await page.select('#head-kind', 'ATTENTION_KIND_CROSS');
    await rows(/Bahn/);
    assert.equal(await page.$eval('#head-layer', (node) => node.options.length), 2);
    assert.match(await textOf('#attention-section .hint'), /rows the translation;/);
    await page.select('#head-kind', '');
    assert.ok(!await shown('#head-layer'));
  });

  it('offers only heads that the model has, and says why there are none', async () => {
    server.models = [{...MODEL, encoderLayers: undefined}];
    server.noHeads = 'output.attention_heads: needs 2000000 numbers, want at most 1048576';
    wanted = [/400/];
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.type('#source', TEXT);
    await translated();
    await open('#attention-section');
    await until('heads are offered', () => shown('#head-kind'));
    assert.deepEqual(await page.$$eval('#head-kind option', (nodes) => nodes.filter(({hidden}) => !hidden).map(({value}) => value)),
      ['', 'ATTENTION_KIND_CROSS', 'ATTENTION_KIND_DECODER']);
    await page.select('#head-kind', 'ATTENTION_KIND_CROSS');
    await until('it says so', async () => (await textOf('#map-readout')) === 'Needs 2000000 numbers, want at most 1048576');
    assert.equal(await valueOf('#head-kind'), '');
    assert.ok(await page.count('#map rect') > 7);
  });

  it('offers no heads of a recurrent model', async () => {
    server.models = [{...MODEL, encoderLayers: 0, crossLayers: 0, decoderLayers: 0}];
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await translated();
    await open('#attention-section');
    await until('the matrix is there', () => page.count('#map rect'));
    await translated();
    assert.ok(!await shown('#head-kind'));
  });

  it('does not jump while the text streams in', async () => {
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await translated();
    await page.evaluate(() => {
      window.heights = [];
      new ResizeObserver(() => window.heights.push(document.querySelector('.panes').offsetHeight)).observe(document.querySelector('.panes'));
    });
    await translatedAfter(() => page.type('#source', ' '));
    assert.ok(server.requests.length > 1);
    assert.equal(new Set(await page.evaluate(() => window.heights)).size, 1);
  });

  it('detects the language, says that a text is translated already, and swaps', async () => {
    server.models = [MODEL, BACK];
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    assert.deepEqual([await valueOf('#source-language'), await valueOf('#target-language')], ['auto', 'en'], 'the language of the browser');
    assert.ok(await page.$eval('#swap', (node) => node.disabled), 'nothing is detected yet');
    await page.type('#source', TEXT);
    await until('it says so', () => shown('#remark'));
    assert.equal(await textOf('#remark'), 'This is English already. Translate it into German');
    assert.equal(await textOf('#state'), '');
    await lookAround('already');
    await page.click('#remark button');
    await translated();
    assert.ok(!await shown('#remark'));
    const [asked] = server.requests.slice(-1);
    assert.deepEqual([asked.sourceLanguage, asked.targetLanguage], ['auto', 'de']);
    assert.equal(await page.$eval('#source-language', (node) => node.selectedOptions[0].textContent), 'English (detected)');
    await page.click('#swap');
    assert.deepEqual([await valueOf('#source-language'), await valueOf('#target-language')], ['de', 'en']);
    assert.equal(await valueOf('#source'), TRANSLATION);
    assert.equal(await textOf('#model'), 'de-en');
    await until('it says that it came back as it was', async () => (await textOf('#state')) === 'Nothing in this text was translated');
  });

  it('offers pairs that go through a third language', async () => {
    const pairs = (source, target) => ({languagePairs: [{source, target}], sourceLanguages: [source], targetLanguages: [target]});
    server.models = [{...MODEL, ...pairs('fr', 'en')}, {...BACK, ...pairs('en', 'es')}];
    server.settings.pivot = 'en';
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.select('#source-language', 'fr');
    assert.deepEqual(await page.$$eval('#target-language option', (nodes) => nodes.map((node) => node.value)), ['en', 'es']);
    await page.select('#target-language', 'es');
    assert.equal(await textOf('#model'), 'two, through English');
  });

  it('knows how long a text may be', async () => {
    server.settings.maxCharacters = 30;
    await page.goto(server.origin);
    await until('the limit is known', async () => (await textOf('#count')) === '0 of 30 characters');
    await setText(TEXT);
    await until('it says so', async () => /at most 30 characters/.test(await textOf('#problem-text')));
    assert.equal(await textOf('#count'), '35 of 30 characters');
    assert.equal(server.requests.length, 0);
    assert.ok(!await shown('#examples'));
    await lookAround('too-long');
    await setText(TEXT.slice(0, 30));
    await translated();
    assert.ok(!await shown('#problem'));
  });

  it('remembers choices and the last text, and a translation has an address', async () => {
    server.models = [MODEL, BACK];
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.select('#source-language', 'en');
    await page.select('#alternatives', '3');
    await page.type('#source', TEXT);
    await translated();
    await open('#timing-section');
    // The page hears of it after the click, and would not if it were left before.
    await until('it is remembered', () => page.evaluate(() => Object.values(localStorage).some((kept) => kept.includes('timing-section'))));
    const address = page.url();
    assert.match(address, /#from=en&to=de&text=Where\+is/);
    await page.goto(server.origin);
    await translated();
    assert.deepEqual([await valueOf('#source'), await valueOf('#source-language'), await valueOf('#alternatives')], [TEXT, 'en', '3']);
    assert.ok(await shown('#figures'));
    await page.click('#clear');
    await until('the address has no text', async () => page.url() === `${server.origin}/`);
    await page.reload();
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    assert.equal(await valueOf('#source'), '');
    await page.goto(address);
    await translated();
    assert.equal(await valueOf('#source'), TEXT);
    await page.evaluate(() => { location.hash = '#from=de&to=en&text=Wo'; });
    await until('it is followed', () => server.requests.some(({contents, sourceLanguage}) => contents[0] === 'Wo' && sourceLanguage === 'de'));
    assert.equal(await valueOf('#source'), 'Wo');
    await translated();
  });

  it('writes every paragraph in its own direction', async () => {
    await page.goto(server.origin);
    await setText('أين المحطة؟\n\nWhere?');
    await translated();
    for (const selector of ['#source', '#mirror']) {
      assert.equal(await page.$eval(selector, (node) => getComputedStyle(node).direction), 'rtl', selector);
    }
    assert.equal(await page.$eval('#output', (node) => getComputedStyle(node).direction), 'ltr');
    // The mirror breaks and aligns its lines as the text area does: the first at the right, the last at the left.
    const places = await page.$eval('#mirror', (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = node.getBoundingClientRect();
      const rects = [...range.getClientRects()].filter(({width}) => width > 0);
      return [rects[0], rects[rects.length - 1]].map(({left, right}) => (left - box.left < box.right - right ? 'left' : 'right'));
    });
    assert.deepEqual(places, ['right', 'left']);
    await lookAround('arabic');
  });

  it('translates HTML if asked to', async () => {
    await page.goto(server.origin);
    await setText(`<p>${TEXT}</p>`);
    await translated();
    assert.equal(server.requests.slice(-1)[0].markup, undefined);
    await translatedAfter(() => page.click('#html'));
    assert.equal(server.requests.slice(-1)[0].markup, 'MARKUP_HTML');
    assert.match(await textOf('#snippet'), /"markup":"MARKUP_HTML"/);
  });

  it('does without streams', async () => {
    server.streams = false;
    wanted = [/404/];
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await translated();
    assert.match(await textOf('#figures'), /decode/);
  });

  it('comes back to a busy server when it says', async () => {
    server.busy = 1;
    wanted = [/429/];
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await until('it says so', async () => /The server is busy. Trying again in \d s/.test(await textOf('#problem-text')));
    await lookAround('busy');
    await translated();
    assert.ok(!await shown('#problem'));
  });

  it('says what is wrong with a text', async () => {
    wanted = [/400/];
    await page.goto(server.origin);
    await page.type('#source', 'WRONG');
    await until('it says so', async () => /A sentence is too long for this model/.test(await textOf('#problem-text')));
    assert.doesNotMatch(await textOf('#problem-text'), /contents/);
    assert.ok(await page.$eval('.pane:first-child', (pane) => pane.contains(document.querySelector('#problem'))));
  });

  it('translates a file that is chosen, tells how far it is, and saves it', async () => {
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    assert.ok(!await shown('#file'));
    let release;
    server.fileMayEnd = new Promise((done) => { release = done; });
    await page.uploadFile('#file-input', await letter('Greetings from the harbour.'));
    await until('it is at a quarter', async () => (await page.$eval('#file-progress', (node) => node.value)) === 0.25);
    assert.equal(await textOf('#file-name'), 'letter.txt');
    assert.match(await textOf('#file-state'), /^word\/document\.xml: 1 of 4, .* left$/);
    assert.equal(await textOf('#file-stop'), 'Cancel');
    const [asked] = server.requests.slice(-1);
    assert.match(asked, /name="file"; filename="letter\.txt"[^]*Greetings from the harbour\./);
    assert.match(asked, /name="request"[^]*"targetLanguage":"de"/);
    await lookAround('file');
    release();
    await until('it is done', () => shown('#file-save'));
    assert.equal(await textOf('#file-state'), '4 passages translated, 1 of them doubtful');
    assert.match(await page.$eval('#file-state', (node) => node.title), /lacks "7"/);
    assert.ok(!await shown('#file-progress'));
    assert.equal(await saved('letter.de.txt'), 'Grüße aus dem Hafen.');
    assert.equal(await textOf('#file-stop'), 'Close');
    await page.click('#file-stop');
    assert.ok(!await shown('#file'));
  });

  it('translates a file that is dropped, until it is cancelled, and says what is wrong with one', async () => {
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    const drop = (text) => page.evaluate((content) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], 'letter.txt'));
      dispatchEvent(new DragEvent('dragover', {dataTransfer, cancelable: true}));
      if (!document.querySelector('#drop').checkVisibility()) throw new Error('it does not say that a file may be dropped');
      dispatchEvent(new DragEvent('drop', {dataTransfer, cancelable: true}));
    }, text);
    let release;
    server.fileMayEnd = new Promise((done) => { release = done; });
    await drop('Greetings.');
    assert.ok(!await shown('#drop'));
    await until('it is at a quarter', async () => (await page.$eval('#file-progress', (node) => node.value)) === 0.25);
    await page.click('#file-stop');
    assert.ok(!await shown('#file'));
    release();
    wanted = [/400/];
    await drop('WRONG');
    await until('it is refused', async () => (await textOf('#file-state')) === 'Line 3: is not UTF-8');
    assert.ok(!await shown('#file-progress') && !await shown('#file-save'));
    await drop('Greetings.');
    await until('it is done', () => shown('#file-save'));
    assert.equal(await saved('letter.de.txt'), 'Grüße aus dem Hafen.');
  });

  it('asks for a token', async () => {
    server.token = 'a-token-of-this-test';
    wanted = [/401/];
    await page.goto(server.origin);
    await until('it asks', () => shown('#token-form'));
    await lookAround('token');
    await page.type('#token', server.token);
    await page.press('Enter');
    await page.type('#source', TEXT);
    await translated();
    assert.match(await textOf('#snippet'), /DRAGOMAN_TOKEN/);
    assert.doesNotMatch(await textOf('#snippet'), /a-token-of/);
  });

  it('waits for a server that is gone', async () => {
    wanted = [/ERR_CONNECTION_REFUSED/];
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await translated();
    await server.close();
    await page.type('#source', '!');
    await until('it says so', async () => /cannot be reached. Trying again/.test(await textOf('#problem-text')));
    const port = Number(new URL(server.origin).port);
    const again = server = new FakeServer();
    await new Promise((done) => again.server.listen(port, '127.0.0.1', done));
    await until('it came back', async () => !await shown('#problem'));
  });

  it('shows the status', async () => {
    await page.goto(`${server.origin}/status`);
    await until('rates are there', async () => /^(19|20|21)/.test(await textOf('[data-name="Requests a second"] .value')));
    // The lines begin with what the server remembers.
    const points = await page.$eval('[data-name="Requests a second"] .line', (line) => line.getAttribute('d').split('L').length);
    assert.ok(points >= 60, `${points} points`);
    await until('it is ready', async () => (await textOf('#state')) === 'Ready');
    assert.equal(await textOf('#version'), 'version 0.1.0, up for 3 h 12 min');
    assert.match(await textOf('[data-name="K/V memory"]'), /50 MiBof 4.0 GiB/);
    assert.match(await textOf('[data-name="Memory"]'), /200 MiB10 % of 2.0 GiB/);
    assert.match(await textOf('[data-name="Connections"]'), /75 gRPC of 10,000, 2 HTTP of 1,024/);
    assert.match(await textOf('#refused'), /^the quota was used up03031$/);
    await until('the last minute is known', async () => /25 %1,200 sentences/.test(await textOf('[data-name="Found in the cache"]')));
    assert.match(await textOf('[data-name="Rows in a batch"]'), /19 % of 64/);
    assert.match(await textOf('[data-name="Latency, median"]'), /p99 200 ms|p99 19\d ms/);
    await until('models are there', async () => /^en-de8e35c0690ec9, loaded 10 min ago/.test(await textOf('#models')));
    await lookAround('status');
    wanted = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/];
    await server.close();
    await until('it says that it is gone', async () => (await textOf('#state')) === 'The server cannot be reached');
    server = new FakeServer();
    await server.listen();
  });
});

describe('the other pages', () => {
  let server;
  beforeEach(async () => {
    server = new FakeServer();
    await server.listen();
  });
  afterEach(() => server.close());

  it('shows the status by the history alone, if metrics are served elsewhere', async () => {
    server.metricsServed = false;
    wanted = [/404/];
    await page.goto(`${server.origin}/status`);
    await until('rates are there', async () => /^(19|20|21)/.test(await textOf('[data-name="Requests a second"] .value')));
    assert.match(await textOf('#refused'), /the quota was used up/);
  });

  it('explains the API', async () => {
    await page.goto(`${server.origin}/`);
    await Promise.all([page.waitForNavigation(), page.click('nav a:last-child')]);
    await until('the reference is there', () => page.count('#paths details'));
    assert.equal(await page.title(), 'Dragoman: API');
    assert.match(await textOf('pre'), new RegExp(`curl ${server.origin}/v1/translate`));
    await until('what is served is there', async () => /English to German/.test(await textOf('main')));
    assert.equal(await textOf('#limit'), '1,000');
    await page.click('#paths summary');
    await page.click('#paths a');
    await until('the link opens the message', () => shown('#TranslateRequest dl'));
    assert.match(await textOf('#TranslateRequest dl'), /contents.*list of string.*The texts\..*markup.*MARKUP_HTML/s);
    await lookAround('api');
  });
});

describe('against the real server', {skip: !process.env.DRAGOMAN_PAGE}, () => {
  const origin = process.env.DRAGOMAN_PAGE;

  it('translates what is typed', async () => {
    const answer = await page.goto(origin);
    assert.match(answer.headers['content-security-policy'], /default-src 'none'/);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await until('a built-in model is called a toy', () => shown('#toy'));
    await page.type('#source', 'Good morning.');
    await translated('Guten Morgen!');
    await until('times are there', () => shown('#timing-section'));
    assert.ok(await page.count('.word') === 2);
    await until('the picture is there', () => shown('#attention-section'));
    await lookAround('real');
  });

  it('lets the rest of a sentence follow another word', async () => {
    await page.goto(origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await setText('The cat sleeps. The old house is small. The cat sleeps.');
    await until('it is translated', async () => (await textOf('#state')).startsWith('Translated'));
    const sentences = (await textOf('#output')).split(/(?<=\.) /);
    assert.equal(sentences.length, 3);
    const words = await page.$$eval('.word', (nodes) => nodes.map((node) => node.textContent));
    const second = sentences[0].split(' ').length; // the second word of the second sentence
    await page.click(`.word:nth-of-type(${second + 2})`);
    await until('alternatives are there', () => page.count('#choices button'));
    const choice = await textOf('#choices button');
    await page.click('#choices button');
    const [first, changed, last] = (await textOf('#output')).split(/(?<=\.) /);
    assert.deepEqual([first, last], [sentences[0], sentences[2]]);
    assert.notEqual(changed, sentences[1]);
    assert.ok(changed.startsWith(`${words[second]} ${choice.replace(' …', '')}`), `${changed} does not begin with ${choice}`);
    // Each word still knows where it came from.
    await page.hover(`.word:nth-of-type(${first.split(' ').length + changed.split(' ').length + 2})`);
    assert.ok(await page.count('#mirror mark'));
    await lookAround('real-choices');
  });

  it('translates a file', async () => {
    await page.goto(process.env.DRAGOMAN_PAGE);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.uploadFile('#file-input', await letter('The cat is old.\n\n\nThe cat is old.\n'));
    await until('it is done', () => shown('#file-save'));
    assert.equal(await textOf('#file-state'), '2 passages translated');
    const [first, second] = (await saved('letter.de.txt')).split('\n\n\n');
    assert.equal(second, `${first}\n`);
    assert.notEqual(first, 'The cat is old.');
  });

  it('learns words and corrections', async () => {
    const post = async (path, body) => {
      const answer = await fetch(`${origin}/v1/${path}`, {
        method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, path);
      return answer.json();
    };
    const languages = {sourceLanguage: 'en', targetLanguage: 'de'};
    const {id: glossary} = await post('glossaries', {
      name: 'Houses', dictionaries: [{...languages, entries: [{source: 'house', target: 'Gebäude'}]}],
    });
    const {id: memory} = await post('memories', {memory: {name: 'Shop', ...languages}});
    await page.goto(origin);
    await until('both are offered', () => page.evaluate((ids) => ids.every((id) => document.querySelector(`option[value="${id}"]`)),
      [glossary, memory]));
    await open('#options');
    await page.select('#glossary', glossary);
    await page.type('#source', 'The house is old. The cat sleeps.');
    const terms = () => page.$$eval('.word.term', (nodes) => nodes.map((node) => node.textContent));
    await until('the term is marked', async () => (await terms()).join() === 'Gebäude');
    assert.ok(!await shown('#unmet'));
    assert.equal(await page.count('.word.doubtful'), 1, 'the least sure of a few words is underlined');

    await translatedAfter(() => page.select('#memory', memory), await textOf('#output'));
    assert.ok(await shown('#correct'));
    await page.click('#correct');
    const boxes = () => page.$$eval('#correct-form textarea', (nodes) => nodes.map((node) => node.value));
    assert.equal((await boxes()).length, 2);
    const kept = (await boxes())[1];
    await page.$eval('#correct-form textarea', (box) => { box.value = 'Alt ist das Gebäude.'; });
    await page.$eval('#correct-form button', (button) => button.click());
    await translated(`Alt ist das Gebäude. ${kept}`);
    assert.ok(!await shown('#correct-form'));
    assert.deepEqual(await terms(), ['Gebäude.']);
    // It stays so, and another sentence is the model's.
    await page.reload();
    await translated(`Alt ist das Gebäude. ${kept}`);
    await setText('The cat sleeps.');
    await translated(kept);
    await lookAround('real-words');
  });

  it('shows a long text word by word as its events come', async () => {
    const asked = [];
    page.on('response', (response) => {
      const {pathname} = new URL(response.url);
      if (pathname.startsWith('/v1/translate')) asked.push([pathname, response.status, response.headers['content-type']]);
    });
    await page.goto(origin);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    await page.evaluate(() => {
      window.seen = [];
      const output = document.querySelector('#output');
      new MutationObserver(() => window.seen.push(output.textContent.trim())).observe(
        output, {childList: true, subtree: true, characterData: true});
    });
    const text = 'Where is the nearest train station? I would like a cup of coffee. The children are playing in the garden. '.repeat(24);
    await page.$eval('#source', (node, value) => {
      node.value = value;
      node.dispatchEvent(new Event('input', {bubbles: true}));
    }, text.trim());
    await until('it is translated', async () => (await textOf('#state')).startsWith('Translated'));
    assert.deepEqual(asked, [['/v1/translate:stream', 200, 'text/event-stream']]);
    const whole = await textOf('#output');
    const parts = (await page.evaluate(() => window.seen)).filter((part, i, all) => part && part !== all[i - 1]);
    assert.ok(parts.length > 8, `only ${parts.length} states were seen`);
    for (const [i, part] of parts.entries()) {
      assert.ok(whole.startsWith(part), `"${part}" is no beginning of "${whole}"`);
      assert.ok(i === 0 || part.length > parts[i - 1].length, `"${part}" takes back "${parts[i - 1]}"`);
    }

    // Both stay in the window, side by side, and scroll together.
    const scrolled = (share) => page.evaluate(async (to) => {
      const [left, right] = ['source', 'target'].map((side) => document.querySelector(`#${side}-scroller`));
      left.scrollTop = to * left.scrollHeight;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return {at: right.scrollTop, end: right.scrollHeight - right.clientHeight, fits: right.clientHeight < innerHeight};
    }, share);
    const bottom = await scrolled(1);
    assert.ok(bottom.end > 0 && bottom.fits && Math.abs(bottom.at - bottom.end) <= 2, JSON.stringify(bottom));
    assert.equal((await scrolled(0)).at, 0);
  });

  it('shows its status', async () => {
    await page.goto(`${origin}/status`);
    await until('it is ready', async () => (await textOf('#state')) === 'Ready');
    await until('models are there', async () => /en-de/.test(await textOf('#models')));
    await lookAround('real-status');
  });
});
