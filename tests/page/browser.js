// Drives Debian's Chromium by the DevTools protocol over a pipe (chromedevtools.github.io/devtools-protocol), with no
// package of npm.  Its names are those of Puppeteer, of which it is the part that page.test.js uses.
//
// Functions for the page are sent as their text, so they see only their arguments.

'use strict';

const {spawn} = require('node:child_process');
const {EventEmitter} = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const FLAGS = ['--headless', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
  '--disable-background-networking', '--no-first-run', '--force-device-scale-factor=1'];
const KEYS = {Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40};

// Commands and their results, and events by session, as JSON objects that end with a zero byte.
class Connection extends EventEmitter {
  #pending = new Map();
  #last = 0;
  #to;

  constructor(process) {
    super();
    this.setMaxListeners(0);
    const from = process.stdio[4];
    this.#to = process.stdio[3];
    this.#to.on('error', () => {}); // told by 'exit'
    let rest = '';
    from.setEncoding('utf8');
    from.on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop();
      for (const message of messages) this.#take(JSON.parse(message));
    });
    const fail = (why) => {
      for (const {reject} of this.#pending.values()) reject(new Error(`Chromium ended: ${why}`));
      this.#pending.clear();
    };
    process.on('exit', (code) => fail(`exit code ${code}`));
    process.on('error', fail); // it cannot be run
  }

  #take({id, method, params, result, error, sessionId}) {
    if (id === undefined) {
      this.emit(sessionId ?? 'browser', method, params);
      return;
    }
    const {resolve, reject, what} = this.#pending.get(id) ?? {};
    this.#pending.delete(id);
    if (error) reject?.(new Error(`${what}: ${error.message}`));
    else resolve?.(result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {resolve, reject, what: method});
      this.#to.write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    });
  }
}

// A tab.  Emits 'console' and 'pageerror' with a text, 'request' with an address, and 'response' with
// {url, status, headers}.
class Page extends EventEmitter {
  #connection;
  #session;
  #frame;
  #url = 'about:blank';
  #loads = new EventEmitter(); // 'load' with the loader

  static async open(connection, browserContextId) {
    const page = new Page();
    const {targetId} = await connection.send('Target.createTarget', {url: 'about:blank', browserContextId});
    const {sessionId} = await connection.send('Target.attachToTarget', {targetId, flatten: true});
    [page.#connection, page.#session, page.#frame] = [connection, sessionId, targetId];
    connection.on(sessionId, (method, params) => page.#take(method, params));
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'DOM']) await page.send(`${domain}.enable`);
    await page.send('Page.setLifecycleEventsEnabled', {enabled: true});
    await page.send('Emulation.setFocusEmulationEnabled', {enabled: true});
    return page;
  }

  #take(method, params) {
    switch (method) {
      case 'Page.frameNavigated':
        if (params.frame.id === this.#frame) this.#url = params.frame.url + (params.frame.urlFragment ?? '');
        break;
      case 'Page.navigatedWithinDocument':
        if (params.frameId === this.#frame) this.#url = params.url;
        break;
      case 'Page.lifecycleEvent':
        if (params.frameId === this.#frame && params.name === 'load') this.#loads.emit('load', params.loaderId);
        break;
      case 'Runtime.consoleAPICalled':
        if (params.type === 'error') this.emit('console', params.args.map(({value, description}) => value ?? description).join(' '));
        break;
      case 'Log.entryAdded':
        if (params.entry.level === 'error') this.emit('console', params.entry.text);
        break;
      case 'Runtime.exceptionThrown':
        this.emit('pageerror', params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        break;
      case 'Network.requestWillBeSent':
        this.emit('request', params.request.url);
        break;
      case 'Network.responseReceived': {
        const headers = Object.entries(params.response.headers).map(([name, value]) => [name.toLowerCase(), value]);
        this.emit('response', {
          url: params.response.url, status: params.response.status, headers: Object.fromEntries(headers), loader: params.loaderId,
        });
      }
    }
  }

  send(method, params) {
    return this.#connection.send(method, params, this.#session);
  }

  url() {
    return this.#url;
  }

  // Until the next document is loaded; `begin` makes it and says which it is, or that it is the same one.
  async #loaded(begin = () => true) {
    const loaded = [];
    let wake = () => {};
    const note = (loader) => {
      loaded.push(loader);
      wake();
    };
    this.#loads.on('load', note);
    try {
      const wanted = await begin();
      while (wanted && !(wanted === true ? loaded.length : loaded.includes(wanted))) {
        await new Promise((resolve) => { wake = resolve; });
      }
    } finally {
      this.#loads.off('load', note);
    }
  }

  // Returns the response, if a document was loaded.
  async goto(url) {
    const responses = [];
    const note = (response) => responses.push(response);
    this.on('response', note);
    let loader;
    await this.#loaded(async () => {
      const {loaderId, errorText} = await this.send('Page.navigate', {url});
      if (errorText) throw new Error(`${url}: ${errorText}`);
      return loader = loaderId;
    });
    this.off('response', note);
    return responses.find((response) => response.loader === loader);
  }

  reload() {
    return this.#loaded(async () => {
      await this.send('Page.reload');
      return true;
    });
  }

  waitForNavigation() {
    return this.#loaded();
  }

  // The value of a text, or of a function of these arguments, when its promise is kept.
  async evaluate(what, ...args) {
    const expression = typeof what === 'string' ? what : `(${what})(${args.map((arg) => JSON.stringify(arg)).join()})`;
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression, awaitPromise: true, returnByValue: true, userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  $eval(selector, what, ...args) {
    return this.evaluate(`(() => {
      const node = document.querySelector(${JSON.stringify(selector)});
      if (!node) throw new Error(${JSON.stringify(`nothing matches ${selector}`)});
      return (${what})(${['node', ...args.map((arg) => JSON.stringify(arg))].join()});
    })()`);
  }

  $$eval(selector, what) {
    return this.evaluate(`(${what})([...document.querySelectorAll(${JSON.stringify(selector)})])`);
  }

  // How many elements match.
  count(selector) {
    return this.$$eval(selector, (nodes) => nodes.length);
  }

  title() {
    return this.evaluate(() => document.title);
  }

  focus(selector) {
    return this.$eval(selector, (node) => node.focus());
  }

  // Moves the pointer to the middle of an element.
  async hover(selector) {
    const {x, y} = await this.$eval(selector, (node) => {
      const inside = ({left, top, right, bottom}) => left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
      if (!inside(node.getBoundingClientRect())) node.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
      const rect = [...node.getClientRects()].find(({width, height}) => width && height);
      if (!rect) throw new Error(`${node.outerHTML.slice(0, 80)} is not shown`);
      return {x: rect.left + rect.width / 2, y: rect.top + rect.height / 2};
    });
    await this.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
    return {x, y};
  }

  async click(selector) {
    const at = {...await this.hover(selector), button: 'left', clickCount: 1};
    await this.send('Input.dispatchMouseEvent', {...at, type: 'mousePressed', buttons: 1});
    await this.send('Input.dispatchMouseEvent', {...at, type: 'mouseReleased'});
  }

  async press(key) {
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const event = {key, code: KEYS[key] && key, windowsVirtualKeyCode: KEYS[key]};
    await this.send('Input.dispatchKeyEvent', {...event, type: text ? 'keyDown' : 'rawKeyDown', text});
    await this.send('Input.dispatchKeyEvent', {...event, type: 'keyUp'});
  }

  async type(selector, text) {
    await this.focus(selector);
    // At once: a page that translates after a pause must not find one on a busy machine.
    await this.send('Input.insertText', {text});
  }

  select(selector, value) {
    return this.$eval(selector, (node, wanted) => {
      if (![...node.options].some((option) => option.value === wanted)) throw new Error(`there is no ${wanted} in #${node.id}`);
      node.value = wanted;
      for (const event of ['input', 'change']) node.dispatchEvent(new Event(event, {bubbles: true}));
    }, value);
  }

  async uploadFile(selector, file) {
    const {result} = await this.send('Runtime.evaluate', {expression: `document.querySelector(${JSON.stringify(selector)})`});
    await this.send('DOM.setFileInputFiles', {files: [file], objectId: result.objectId});
  }

  setViewport({width, height}) {
    return this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
  }

  emulateMediaFeatures(features) {
    return this.send('Emulation.setEmulatedMedia', {features});
  }

  // The whole page, as a PNG.
  async screenshot(file) {
    const {cssContentSize} = await this.send('Page.getLayoutMetrics');
    const {data} = await this.send('Page.captureScreenshot', {captureBeyondViewport: true, clip: {...cssContentSize, scale: 1}});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }
}

// {newContext(), close()}; a context is {id, newPage(), close()} and remembers nothing of others.
async function launch(executable) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  const process = spawn(executable, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const ended = new Promise((resolve) => process.on('exit', resolve));
  const connection = new Connection(process);
  await connection.send('Browser.getVersion');
  return {
    async newContext() {
      const {browserContextId: id} = await connection.send('Target.createBrowserContext');
      return {
        id,
        newPage: () => Page.open(connection, id),
        close: () => connection.send('Target.disposeBrowserContext', {browserContextId: id}),
      };
    },
    async close() {
      await connection.send('Browser.close');
      await ended;
      fs.rmSync(profile, {recursive: true, force: true});
    },
  };
}

module.exports = {launch};
