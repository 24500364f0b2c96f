// A long text and its translation scroll together: the sentence at which one is, is the one at which the other is.

// The heights in `box`, which scrolls, at which the characters with these indices (ascending) of `text` begin.
function heights(box, text, indices) {
  const found = [];
  const range = document.createRange();
  const top = box.getBoundingClientRect().top - box.scrollTop;
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let passed = 0;
  for (let node = walker.nextNode(); node && found.length < indices.length; node = walker.nextNode()) {
    while (found.length < indices.length && indices[found.length] < passed + node.length) {
      const at = Math.max(0, indices[found.length] - passed);
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      found.push(range.getBoundingClientRect().top - top);
    }
    passed += node.length;
  }
  return found;
}

// The value at `x` of the line through these points, which are sorted.
function between(points, x) {
  const next = points.findIndex(([from]) => from > x);
  if (next < 1) return next < 0 ? points[points.length - 1][1] : points[0][1];
  const [[x0, y0], [x1, y1]] = [points[next - 1], points[next]];
  return y0 + (y1 - y0) * ((x - x0) / (x1 - x0));
}

export class LinkedScroll {
  // Two boxes that scroll, and the elements in them that hold the texts.
  constructor(boxes, texts) {
    this.boxes = boxes;
    this.texts = texts;
    this.sentences = [];
    this.points = null;
    this.own = [null, null]; // where this class itself has scrolled each box
    boxes.forEach((box, side) => box.addEventListener('scroll', () => this.#follow(side), {passive: true}));
    addEventListener('resize', () => { this.points = null; });
  }

  // `sentences` are pairs of the indices at which a sentence and its translation begin.
  set(sentences) {
    this.sentences = [...sentences].sort(([a], [b]) => a - b).filter(([, target], i, all) => i === 0 || target > all[i - 1][1]);
    this.points = null;
  }

  #follow(side) {
    const [from, to] = [this.boxes[side], this.boxes[1 - side]];
    const own = this.own[side];
    this.own[side] = null;
    if (own !== null && Math.abs(from.scrollTop - own) < 2) return;
    const room = from.scrollHeight - from.clientHeight;
    if (room <= 0 || to.scrollHeight <= to.clientHeight) return;
    // The point of the box that is compared moves from its top to its bottom, so that both ends meet theirs.
    const share = Math.min(1, Math.max(0, from.scrollTop / room));
    const wanted = between(this.#places(side), from.scrollTop + share * from.clientHeight) - share * to.clientHeight;
    to.scrollTop = wanted;
    this.own[1 - side] = to.scrollTop;
  }

  #places(side) {
    if (!this.points) {
      const [left, right] = [0, 1].map((at) => heights(this.boxes[at], this.texts[at], this.sentences.map((pair) => pair[at])));
      const both = left.slice(0, right.length).map((y, i) => [y, right[i]]);
      this.points = [[0, 0], ...both, this.boxes.map(({scrollHeight}) => scrollHeight)];
    }
    const points = this.points.map((pair) => [pair[side], pair[1 - side]]);
    return points.filter(([x], i) => i === 0 || x > points[i - 1][0]);
  }
}
