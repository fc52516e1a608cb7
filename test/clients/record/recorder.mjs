// What the recording programs share.  They say which documents have been on the wire; what
// is printed are lines {"adapter", "what", "document"}, the same in every run:
//
//   - what is random or a time is replaced by counters, the same value by the same counter;
//   - of documents of one shape, the first is kept.  The shape are the members, and the texts
//     in members such as type or state, which say what a document is;
//   - documents of one step are ordered by what they are, because answers, streams and push
//     notifications overtake each other.  Those of one kind in one step keep their order, but for
//     push notifications, which overtake themselves.
//
// As a program it does the same to lines {"adapter", "what", "document"} that it reads, from
// the programs in other languages.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// what a library prints is nobody's document
console.log = console.info = console.error;

// two times are never the same, however fast this machine is
const RealDate = Date;
let latest = 0;
globalThis.Date = class Date extends RealDate {
  constructor(...given) { super(...(given.length ? given : [Date.now()])); }
  static now() { return latest = Math.max(RealDate.now(), latest + 1); }
};

const TELLING = new Set(['adapter', 'action', 'code', 'event', 'id[]', 'kind', 'method', 'mode', 'name', 'reason', 'resultType', 'role', 'specversion',
  'stage', 'state', 'status', 'to', 'type', 'what']);

function shape(value, depth, key = '') {
  if (depth === 0) return Array.isArray(value) ? '[]' : typeof value;
  if (Array.isArray(value)) {
    // a tuple, like [mode, data], or the path of a class; otherwise a list
    const tuple = value.some(v => typeof v === 'string') && (key === '' || key === 'id');
    const parts = value.map(v => shape(v, depth - 1, tuple ? 'id[]' : `${key}[]`));
    return `[${(tuple ? parts : [...new Set(parts)].sort()).join()}]`;
  }
  if (value === null) return 'null';
  if (typeof value === 'object') return `{${Object.keys(value).sort().map(k => `${k}:${shape(value[k], depth - 1, k)}`).join()}}`;
  return TELLING.has(key) ? JSON.stringify(counted(value)) : typeof value;
}

// what differs from run to run, and what it becomes as the nth of its kind
const RANDOM = [
  // where the libraries are installed, in the stack of an error
  [/(?<=file:\/\/)\/[^"\s:]*?(?=\/(?:node_modules\/|\w+\.mjs))/g, () => ''],
  [/(?<="nextPageToken":")[^"]+/g, n => `page-${n}`],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    (n, version) => `00000000-0000-${version}000-8000-${String(n).padStart(12, '0')}`],
  [/(?<!00-)\b[0-9a-f]{32}\b/g, n => String(n).padStart(32, '0')],
  [/\b01[0-9A-HJKMNP-TV-Z]{24}\b/g, n => '01' + String(n).padStart(24, '0')],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g,
    (n, fraction, zone) => new Date(Date.UTC(2026, 0, 31, 12) + n * 1000).toISOString().slice(0, 19) + (fraction ? '.' + String(n % 1000).padStart(fraction.length - 1, '0') : '') + zone],
  [/\breq-1\d{12}-[a-z0-9]+/g, n => `req-${n}`],
  [/(?<=[:,[ ])1[6-9]\d{11}\b/g, n => String(1770000000000 + n)],
  [/(?<=127\.0\.0\.1:|localhost:)\d{4,5}\b/g, n => String(4000 + n)],
];

function counted(value) {
  return typeof value === 'string' ? RANDOM.reduce((text, [pattern]) => text.replace(pattern, '#'), value) : value;
}

function counters() {
  const seen = new Map();
  return text => RANDOM.reduce((result, [pattern, nth], kind) => result.replace(pattern, (found, ...groups) => {
    const key = kind + found;
    if (!seen.has(key)) seen.set(key, [...seen.keys()].filter(k => k.startsWith(kind)).length + 1);
    return nth(seen.get(key), ...groups);
  }), text);
}

export class Recording {
  // random: false, if the program itself chooses all that could differ; depth: how deep shapes are compared
  constructor(adapter, { random = true, depth = 99 } = {}) {
    this.adapter = adapter;
    this.random = random;
    this.depth = depth;
    this.step = 0;
    this.notes = [];
    this.last = 0;
  }

  // a document as it is on the wire: text, or what JSON.stringify makes of it
  note(what, document) {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    if (text === undefined || text.trim() === '') return;
    this.notes.push({ step: this.step, what, document: JSON.parse(text) });
    this.last = RealDate.now();
  }

  // does something, and waits until nothing has come any more for a while
  async during(what, action, quiet = 100) {
    this.step++;
    let result;
    try {
      result = await action();
    } catch (error) {
      // some steps are there for the sake of what the wire says when they fail
      console.error(`${this.adapter}: ${what}: ${error.message}`);
    }
    do {
      await new Promise(done => setTimeout(done, quiet));
    } while (RealDate.now() - this.last < quiet);
    return result;
  }

  print() {
    const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
    const count = this.random ? counters() : text => text, shapes = new Set();
    this.notes.map((note, no) => ({ ...note, no })).sort((a, b) =>
      a.step - b.step || order(a.what, b.what) ||
      (/push/.test(a.what) && order(counted(JSON.stringify(a.document)), counted(JSON.stringify(b.document)))) || a.no - b.no).forEach(({ what, document }) => {
      const found = this.adapter + shape(document, this.depth);
      if (shapes.has(found)) return;
      shapes.add(found);
      process.stdout.write(`{"adapter": ${JSON.stringify(this.adapter)}, "what": ${JSON.stringify(what)}, "document": ${count(JSON.stringify(document))}}\n`);
    });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const recordings = new Map();
  for await (const line of createInterface({ input: process.stdin })) {
    const { adapter, what, document } = JSON.parse(line);
    if (!recordings.has(adapter)) recordings.set(adapter, new Recording(adapter));
    const recording = recordings.get(adapter);
    recording.step++;
    recording.note(what, document);
  }
  for (const recording of recordings.values()) recording.print();
}
