// What the page remembers: choices and the last text in this browser, and a translation in the page's address.
// The part of an address after # never leaves the browser.

const KEY = 'dragoman';
const LONGEST = 4000; // characters of a text that goes into the address

// {source, target, recent, model, alternatives, glossary, memory, html, doubts, open, text}, as far as they were chosen.
export function remembered() {
  let kept;
  try {
    kept = JSON.parse(localStorage.getItem(KEY));
  } catch {
    // Nothing is kept where the browser is told not to, or where another page wrote something else.
  }
  return {...kept, ...addressed()};
}

export function remember(choices) {
  try {
    localStorage.setItem(KEY, JSON.stringify(choices));
  } catch {
    // See above.
  }
  try {
    address(choices);
  } catch {
    // Some browsers limit how often an address may change; the next change will be in time.
  }
}

// What the address says: #from=en&to=de&text=Good+morning.
export function addressed(hash = location.hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const said = {source: fields.get('from'), target: fields.get('to'), text: fields.get('text')};
  if (said.text !== null) said.html = fields.get('markup') === 'html';
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));
}

function address({source, target, html, text}) {
  const fields = new URLSearchParams({from: source, to: target});
  if (html) fields.set('markup', 'html');
  if (text.length <= LONGEST) fields.set('text', text);
  const to = text.trim() ? `#${fields}` : location.pathname + location.search;
  if (text.trim() ? location.hash !== to : location.hash) history.replaceState(null, '', to);
}
