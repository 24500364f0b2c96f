// Drives the pages in Chromium: against a fake server for every state, and against the real one at
// DRAGOMAN_PAGE (http://HOST:PORT), if that is set.  DRAGOMAN_SCREENSHOTS names a folder for screenshots.

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const {after, afterEach, before, beforeEach, describe, it} = require('node:test');
const puppeteer = require('puppeteer-core');
const {BACK, FakeServer, MODEL} = require('./fake_server');

const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const TEXT = 'Where is the nearest train station?';
const TRANSLATION = 'Wo ist der nächste Bahnhof?';

let browser;
let page;
let complaints; // from the console, the content security policy and the network
let wanted; // complaints that the test expects

before(async () => {
  browser = await puppeteer.launch({
    executablePath: process.env.DRAGOMAN_CHROMIUM || '/usr/bin/chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--force-device-scale-factor=1'],
  });
});
after(() => browser.close());
beforeEach(async () => {
  [complaints, wanted] = [[], []];
  page = await browser.newPage();
  await page.setViewport({width: 1200, height: 900});
  page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(page.url() === 'about:blank' ? request.url() : page.url()).origin) {
      complaints.push(`asked ${request.url()}`);
    }
  });
});
afterEach(async () => {
  await page.close();
  assert.deepEqual(complaints.filter((text) => !wanted.some((pattern) => pattern.test(text))), []);
});

const textOf = (selector) => page.$eval(selector, (node) => node.textContent.trim());
const shown = (selector) => page.$eval(selector, (node) => node.checkVisibility());

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

async function violations() {
  // By the debugger, to which the page's policy does not apply.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await window.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  })).violations);
  return found.map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' | ')}`);
}

// In every theme and width, the page is accessible and no wider than the window; takes screenshots.
async function lookAround(name) {
  for (const [theme, width] of [['light', 1200], ['dark', 1200], ['light', 390], ['dark', 390]]) {
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: theme}]);
    await page.setViewport({width, height: width === 390 ? 844 : 900});
    assert.deepEqual(await violations(), [], `${name}, ${theme}, ${width} wide`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${name} is ${overflow} wider than a window of ${width}`);
    if (process.env.DRAGOMAN_SCREENSHOTS) {
      const file = path.join(process.env.DRAGOMAN_SCREENSHOTS, `${name}-${theme}-${width}.png`);
      await page.screenshot({path: file, fullPage: true});
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
    await until('examples are there', () => page.$('#examples button'));
    assert.equal(await textOf('#source-language'), 'English');
    assert.equal(await textOf('#target-language'), 'German');
    assert.match(await textOf('#toy'), /en-de is a toy: .* 8,001 tokens/);
    await lookAround('empty');
    await page.click('#examples button');
    await translated();
    assert.ok(!await shown('#examples'));
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
    assert.equal((await page.$$('#alternatives-list li')).length, 2);
    assert.match(await textOf('#figures'), /decode7\.3 ms/);
    assert.match(await textOf('#snippet'), /curl http.*translate/s);
    await page.click('#tab-python');
    assert.match(await textOf('#snippet'), /import dragoman/);

    // The least certain word has the strongest tint, and a screen reader is told.
    const doubts = await page.$$eval('.word', (nodes) => nodes.map((node) => Number(node.style.getPropertyValue('--doubt-share'))));
    assert.equal(doubts.indexOf(Math.max(...doubts)), 4);
    assert.equal(await page.$eval('.word:nth-of-type(5)', (node) => node.getAttribute('aria-description')), '15 % sure');

    // By pointer: the word attends to its source; by keyboard: the next word does.
    await page.hover('.word:nth-of-type(1)');
    const strongest = () => page.$$eval('#mirror mark', (nodes) =>
      nodes.sort((a, b) => b.style.getPropertyValue('--share') - a.style.getPropertyValue('--share'))[0]?.textContent);
    assert.equal(await strongest(), 'Where');
    await page.focus('.word:nth-of-type(1)');
    await page.keyboard.press('ArrowRight');
    assert.equal(await strongest(), 'is');

    // The matrix has a cell per pair of tokens, and the arrow keys move in it.
    assert.ok((await page.$$('#map rect')).length > 7);
    await page.focus('#map');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.equal(await textOf('#map-readout'), '“ist” gives 72 % of its attention to “is”.');
    await lookAround('translated');
  });

  it('does not jump while the text streams in', async () => {
    await page.goto(server.origin);
    await page.type('#source', TEXT);
    await translated();
    await page.evaluate(() => {
      window.heights = [];
      new ResizeObserver(() => window.heights.push(document.querySelector('.panes').offsetHeight)).observe(document.querySelector('.panes'));
    });
    await page.type('#source', ' ');
    await until('it was translated again', () => server.requests.length > 1);
    await translated();
    assert.equal(new Set(await page.evaluate(() => window.heights)).size, 1);
  });

  it('chooses among languages, both ways, and detects them', async () => {
    server.models = [MODEL, BACK];
    await page.goto(server.origin);
    await until('languages are there', () => page.$eval('#swap', (node) => !node.disabled));
    await page.click('#swap');
    assert.deepEqual([await page.$eval('#source-language', (node) => node.value), await textOf('#model')], ['de', 'de-en']);
    assert.ok(!await shown('#toy'));
    await page.select('#source-language', 'auto');
    await page.select('#target-language', 'de');
    assert.ok(await page.$eval('#swap', (node) => node.disabled));
    await page.type('#source', TEXT);
    await translated();
    const [asked] = server.requests.slice(-1);
    assert.deepEqual([asked.sourceLanguage, asked.targetLanguage], ['auto', 'de']);
    assert.equal(await textOf('#count'), 'English (93 % sure)');
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
    await until('it says so', async () => /at most 512/.test(await textOf('#problem-text')));
  });

  it('asks for a token', async () => {
    server.token = 'a-token-of-this-test';
    wanted = [/401/];
    await page.goto(server.origin);
    await until('it asks', () => shown('#token-form'));
    await lookAround('token');
    await page.type('#token', server.token);
    await page.keyboard.press('Enter');
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
    assert.equal(await textOf('#state'), 'Ready');
    assert.match(await textOf('[data-name="K/V memory"]'), /50 MiBof 4.0 GiB/);
    assert.match(await textOf('[data-name="Rows in a batch"]'), /19 % of 64/);
    assert.match(await textOf('[data-name="Latency, median"]'), /p99 200 ms|p99 19\d ms/);
    await until('models are there', async () => /en-de/.test(await textOf('#models')));
    await lookAround('status');
    wanted = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/];
    await server.close();
    await until('it says that it is gone', async () => (await textOf('#state')) === 'The server cannot be reached');
    server = new FakeServer();
    await server.listen();
  });
});

describe('against the real server', {skip: !process.env.DRAGOMAN_PAGE}, () => {
  const origin = process.env.DRAGOMAN_PAGE;

  it('translates what is typed', async () => {
    const answer = await page.goto(origin);
    assert.match(answer.headers()['content-security-policy'], /default-src 'none'/);
    await until('languages are there', () => page.$eval('#source-language', (node) => !node.disabled));
    assert.ok(await shown('#toy'), 'a built-in model is called a toy');
    await page.type('#source', 'Good morning.');
    await translated('Guten Morgen!');
    await until('times are there', () => shown('#timing-section'));
    assert.ok((await page.$$('.word')).length === 2);
    await until('the picture is there', () => shown('#attention-section'));
    await lookAround('real');
  });

  it('shows a long text word by word as its events come', async () => {
    const asked = [];
    page.on('response', (response) => {
      const {pathname} = new URL(response.url());
      if (pathname.startsWith('/v1/translate')) asked.push([pathname, response.status(), response.headers()['content-type']]);
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
  });

  it('shows its status', async () => {
    await page.goto(`${origin}/status`);
    await until('it is ready', async () => (await textOf('#state')) === 'Ready');
    await until('models are there', async () => /en-de/.test(await textOf('#models')));
    await lookAround('real-status');
  });
});
