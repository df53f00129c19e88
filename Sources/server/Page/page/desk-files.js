// @ts-check
import { Refusal } from './desk-client.js';
import { duration, h, size, svg, words } from './dom.js';
import { thumbnail } from './thumbhash.js';

/** How many files are sent at a time; the others wait. */
const SENT_AT_ONCE = 2;

/** How often it is asked how far smaller versions are. */
const LOOK_MS = 1500;

/** What a record calls a file that the server found to be this. */
const KINDS = { image: 'image', animation: 'image', video: 'video', sound: 'audio', audio: 'audio' };

/**
 * A file of a post: what the record says of it, what the server knows of it, and the file itself while it is sent.
 *
 * @typedef {{record: import('./desk-client.js').RecordMedium, known: any, file?: File, sent: number, error?: string, canTryAgain?: boolean,
 *   warnings: string[], mended?: boolean, controller?: AbortController, isMade?: boolean, isPaused?: boolean,
 *   upload?: import('./desk-client.js').Upload, smaller?: Smaller}} Entry
 * @typedef {{path?: string, state: string, made?: number, kept?: number, problem?: string}} Smaller what became of its smaller versions
 */

/** The files of a post: dropped or chosen, sent with progress, described, ordered. */
export class FilesField {
  /** @type {Entry[]} */
  entries = [];
  #sending = 0;
  /** @type {Promise<{canMake: boolean, problem?: string}> | null} whether the server makes smaller versions */
  #maker = null;
  #canMake = false;
  #cannotMake = '';

  /**
   * @param {import('./desk-client.js').DeskClient} client
   * @param {() => void} changed
   */
  constructor(client, changed) {
    this.client = client;
    this.changed = changed;
    this.chooser = h('input', {
      type: 'file', multiple: true, accept: 'image/*,video/*,audio/*', class: 'unseen', tabIndex: -1,
      'aria-label': 'Files', onchange: () => {
        this.add([...this.chooser.files]);
        this.chooser.value = '';
      },
    });
    this.list = h('ol', { class: 'files' });
    this.address = h('input', { type: 'text', placeholder: '/media/… or https://…', 'aria-label': 'A file’s URL' });
    this.takeOut = h('button', { type: 'button', hidden: true, onclick: () => this.#takeOutRefused() });
    this.element = h('fieldset', { 'data-field': 'media' }, h('legend', {}, 'Files'), this.list, this.takeOut,
      h('div', { class: 'drop' }, 'Drop pictures, clips or sound here, or ',
        h('button', { type: 'button', onclick: () => this.chooser.click() }, 'Choose files…'), this.chooser),
      h('details', {}, h('summary', {}, 'A file that has an address already'),
        h('div', { class: 'ways' }, this.address,
          h('button', { type: 'button', onclick: () => this.#addAddress() }, 'Add'))));
  }

  /** The names of files that could not be sent. */
  get failed() { return this.entries.filter(({ error, record }) => error && !record.url).map(({ file }) => file?.name ?? ''); }

  /** What the server does not take, however often it is sent. */
  get #refused() { return this.entries.filter(({ error, record, canTryAgain }) => error && !record.url && !canTryAgain); }

  #takeOutRefused() {
    const refused = this.#refused;
    this.entries = this.entries.filter((entry) => !refused.includes(entry));
    this.#draw();
    this.changed();
  }

  get isSending() { return this.entries.some(({ file, record, error }) => file && !record.url && !error); }

  /**
   * @param {import('./desk-client.js').RecordMedium[]} records
   * @param {any[]} known what the server says of each
   */
  fill(records, known) {
    this.end();
    if (records.length > 0) this.#askMaker();
    this.entries = records.map((record, index) => ({ record: { ...record }, known: known[index] ?? {}, sent: 0, warnings: [] }));
    this.#draw();
  }

  end() {
    for (const { controller, upload } of this.entries) {
      if (controller) controller.abort();
      else this.client.giveUp(upload);
    }
  }

  /** What the record says of them: those that are there. */
  get records() { return this.entries.filter(({ record }) => record.url).map(({ record }) => record); }

  /** The same with what is known of them. */
  get known() {
    return this.entries.filter(({ record }) => record.url).map(({ record, known }) => ({
      ...record, ...known, kind: record.kind, url: known.url ?? record.url,
    }));
  }

  /** @param {File[]} files */
  add(files) {
    for (const file of files) {
      const kind = /** @type {string} */ (/^(image|video|audio)\//.exec(file.type)?.[1] ?? 'image');
      this.entries.push({ record: { kind, url: '' }, known: {}, file, sent: 0, warnings: [] });
    }
    this.#draw();
    this.#sendNext();
    this.changed();
  }

  #addAddress() {
    const url = this.address.value.trim();
    if (!url) return this.address.focus();
    const kind = /\.(mp4|m4v|mov|webm|mkv)$/i.test(url) ? 'video' : /\.(mp3|m4a|ogg|opus|wav|flac)$/i.test(url) ? 'audio' : 'image';
    this.entries.push({ record: { kind, url }, known: {}, sent: 0, warnings: [] });
    this.address.value = '';
    this.#draw();
    return this.changed();
  }

  #sendNext() {
    for (const entry of this.entries) {
      if (this.#sending >= SENT_AT_ONCE) return;
      if (entry.file && !entry.record.url && !entry.error && !entry.controller) void this.#send(entry, false);
    }
  }

  /**
   * @param {Entry} entry
   * @param {boolean} isFaststart
   */
  async #send(entry, isFaststart) {
    const { file } = entry;
    if (!file) return;
    this.#sending += 1;
    entry.controller = new AbortController();
    // What is to be mended is sent anew; what was broken off goes on.
    if (isFaststart || !entry.upload) entry.upload = {};
    entry.sent = 0;
    delete entry.error;
    try {
      this.#draw();
      const before = entry.record.url;
      const answer = await this.client.upload(file, {
        isFaststart, signal: entry.controller.signal, upload: entry.upload, onProgress: (bytes) => {
          entry.sent = bytes;
          const bar = this.#row(entry)?.querySelector('progress');
          if (bar) bar.value = bytes;
        },
        onPause: (isPaused) => {
          if (isPaused === (entry.isPaused ?? false)) return;
          entry.isPaused = isPaused;
          this.#draw();
        },
      });
      delete entry.upload;
      const kind = KINDS[/** @type {keyof typeof KINDS} */ (answer.media?.kind)] ?? entry.record.kind;
      entry.known = { ...answer.media, bytes: answer.bytes, url: answer.url };
      entry.warnings = answer.warnings ?? [];
      entry.mended = answer.faststart === true;
      // The file of before is nobody's, if this form made it.
      if (before && before !== answer.path && entry.isMade) void this.client.ask(before, { method: 'DELETE' }).catch(() => undefined);
      entry.isMade = answer.isNew;
      delete entry.smaller;
      this.#askMaker();
      entry.record = { ...entry.record, kind, url: answer.path };
    } catch (error) {
      if (entry.controller.signal.aborted) return;
      entry.error = words(error);
      // What the server refused for what it is, it refuses again.
      entry.canTryAgain = !(error instanceof Refusal) || error.status >= 500 || [408, 429].includes(error.status);
    } finally {
      delete entry.controller;
      entry.isPaused = false;
      this.#sending -= 1;
      this.#draw();
      this.#sendNext();
      this.changed();
    }
  }

  // Smaller versions.

  #askMaker() {
    // A server of before has no such route.
    this.#maker ??= this.client.get('v1/renditions').catch(() => ({ canMake: false }));
    void this.#maker.then(({ canMake, problem = '' }) => {
      if (this.#canMake === canMake && this.#cannotMake === problem) return;
      [this.#canMake, this.#cannotMake] = [canMake, problem];
      this.#draw();
    });
  }

  /** @param {Entry} entry */
  async #makeSmaller(entry) {
    try {
      entry.smaller = { state: 'waiting' };
      this.#draw();
      const answer = await this.client.ask(`v1/renditions?path=${encodeURIComponent(entry.record.url)}`, { method: 'POST' });
      /** @type {Smaller} */
      let smaller = await answer.json();
      const { path } = smaller;
      // Until it is done, or nobody looks at it any more.
      while (['waiting', 'making'].includes(smaller.state) && this.entries.includes(entry)) {
        if (entry.smaller?.state !== smaller.state) {
          entry.smaller = smaller;
          this.#draw();
        }
        await new Promise((resolve) => { setTimeout(resolve, LOOK_MS); });
        const { files } = await this.client.get('v1/renditions');
        smaller = files.find((/** @type {Smaller} */ one) => one.path === path)
          ?? { state: 'failed', problem: 'the server was restarted meanwhile' };
      }
      entry.smaller = smaller;
    } catch (error) {
      entry.smaller = { state: 'failed', problem: words(error) };
    }
    this.#draw();
  }

  /** @param {Entry} entry */
  #drawSmaller(entry) {
    const { record, known, smaller } = entry;
    if (!record.url || !isHere(record.url) || !['image', 'video'].includes(record.kind)) return null;
    const make = () => h('button', { type: 'button', class: 'lesser', onclick: () => void this.#makeSmaller(entry) }, 'Make smaller versions');
    if (!smaller) {
      const there = known.variants?.length ?? 0;
      if (there > 0) return h('p', { class: 'note' }, `Smaller versions of it are there: ${there}.`);
      if (!this.#canMake) return this.#cannotMake ? h('p', { class: 'note' }, `Smaller versions cannot be made: ${this.#cannotMake}.`) : null;
      return h('p', { class: 'note' }, 'For small screens and slow networks: ', make());
    }
    if (smaller.state === 'failed') return h('p', { class: 'problem' }, `Smaller versions were not made: ${smaller.problem ?? 'the log says why'}. `, make());
    const there = (smaller.made ?? 0) + (smaller.kept ?? 0);
    return h('p', { class: 'note' }, smaller.state === 'waiting' ? 'Smaller versions wait for their turn.'
      : smaller.state === 'making' ? 'Smaller versions are being made. You may go on, and save.'
        : there === 0 ? 'It is small already: a smaller version would save too little.'
          : `Smaller versions of it are there: ${there}. Phones get the one that fits.`);
  }

  /** @param {Entry} entry */
  #row(entry) { return this.list.children[this.entries.indexOf(entry)]; }

  #draw() {
    // Who types a description meanwhile goes on.
    const typed = /** @type {any} */ (this.list.contains(document.activeElement) ? document.activeElement : null);
    this.list.replaceChildren(...this.entries.map((entry, index) => this.#drawEntry(entry, index)));
    const refused = this.#refused.length;
    this.takeOut.hidden = refused === 0;
    this.takeOut.textContent = refused === 1 ? 'Take out the file that is refused' : `Take out the ${refused} files that are refused`;
    const field = typed?.getAttribute('data-field');
    if (!field) return;
    const input = /** @type {any} */ (this.list.querySelector(`input[data-field="${CSS.escape(field)}"]`));
    input?.focus();
    input?.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  }

  /**
   * @param {Entry} entry
   * @param {number} index
   */
  #drawEntry(entry, index) {
    const { record, known, file, error, warnings, controller } = entry;
    const name = file?.name ?? nameOf(record.url);
    const alt = h('input', {
      value: record.alt ?? '', maxLength: 4096, dir: 'auto', 'data-field': `media[${index}].alt`,
      oninput: () => {
        if (alt.value) entry.record.alt = alt.value;
        else delete entry.record.alt;
        this.changed();
      },
    });
    const step = (/** @type {number} */ by, /** @type {string} */ label, /** @type {string} */ sign) => h('button', {
      type: 'button', class: 'small', 'aria-label': `${label}: ${name}`, title: label, disabled: !this.entries[index + by],
      onclick: () => {
        this.entries.splice(index, 1);
        this.entries.splice(index + by, 0, entry);
        this.#draw();
        this.changed();
      },
    }, sign);
    return h('li', { class: 'file', 'data-field': `media[${index}]` },
      h('div', { class: 'thumb' }, placeholder(known.placeholder), isHere(known.url ?? record.url) && record.kind === 'image'
        ? h('img', { src: (known.url ?? record.url).replace(/^\//, ''), alt: '', loading: 'lazy' }) : null),
      h('div', { class: 'about' }, h('strong', {}, h('bdi', {}, name)),
        h('p', { class: 'note' }, error && file && !record.url ? size(file.size) : facts(record, known, file)),
        controller ? h('progress', { max: file?.size ?? 1, value: entry.sent, 'aria-label': `Sending ${name}` }) : null,
        entry.isPaused ? h('p', { class: 'note' },
          `The connection is lost. ${entry.sent > 0 ? `${size(entry.sent)} are on their way or there: it` : 'It'} goes on when it is back.`) : null,
        file && !record.url && !controller && !error ? h('p', { class: 'note' }, 'Waits for the others.') : null,
        error ? h('p', { class: 'problem', role: 'alert' }, `${error}. `, file && entry.canTryAgain ? h('button', {
          type: 'button', onclick: () => void this.#send(entry, false) }, 'Try again') : null) : null,
        known.start?.startable !== false && known.start?.curve?.length > 1 ? curve(known) : null,
        ...warnings.map((warning) => this.#warning(entry, warning)),
        this.#drawSmaller(entry),
        entry.mended ? h('p', { class: 'note' }, 'Its tables are in front now: it starts from its first bytes.') : null,
        error && !record.url ? null : h('label', {}, record.kind === 'audio' ? 'What it is, in words' : 'What it shows, in words', alt)),
      h('div', { class: 'steps' }, step(-1, 'Move up', '↑'), step(1, 'Move down', '↓'), h('button', {
        type: 'button', class: 'small', 'aria-label': `${controller ? 'Stop sending' : 'Take out'}: ${name}`, title: 'Take out', onclick: () => {
          if (controller) controller.abort();
          else this.client.giveUp(entry.upload);
          this.entries = this.entries.filter((one) => one !== entry);
          this.#draw();
          this.changed();
        } }, '×')));
  }

  /**
   * @param {Entry} entry
   * @param {string} warning
   */
  #warning(entry, warning) {
    if (!/faststart=1/.test(warning)) return h('p', { class: 'problem' }, warning);
    return h('p', { class: 'problem' }, 'This clip does not start from its first bytes: its tables (moov), which players need first, stand at its end. ',
      entry.file ? h('button', { type: 'button', class: 'mend', onclick: () => void this.#send(entry, true) },
        'Move them to the front') : 'Send the file again to mend it.');
  }
}

/**
 * A file's placeholder as a picture.
 *
 * @param {{thumbhash?: string, color?: string} | undefined} shown
 */
export function placeholder({ thumbhash, color } = {}) {
  const canvas = h('canvas', { width: 1, height: 1, 'aria-hidden': 'true' });
  if (color && CSS.supports('color', color)) canvas.style.backgroundColor = color;
  const image = thumbhash ? thumbnail(thumbhash) : null;
  if (image) {
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext('2d')?.putImageData(image, 0, 0);
  }
  return canvas;
}

/**
 * What is known of a file in a line.
 *
 * @param {{kind: string}} record
 * @param {any} known
 * @param {File} [file]
 */
export function facts({ kind }, known, file) {
  if (known.unavailable) return 'It is missing, or broken: clients show nothing of it.';
  const { width, height, durationMs, bytes = file?.size, start, mimeType } = known;
  return [mimeType ?? kind, width && height ? `${width} × ${height}` : '', durationMs ? duration(durationMs) : '',
    bytes === undefined ? '' : size(bytes),
    start?.startable === false ? 'does not start from its first bytes'
      : start?.headBytes !== undefined && kind !== 'image' ? `${isSound(known) ? 'starts' : 'first picture'} after ${size(start.headBytes)}` : '']
    .filter(Boolean).join(', ');
}

/** @param {any} known */
const isSound = ({ kind, mimeType = '' }) => kind === 'sound' || mimeType.startsWith('audio/');

/**
 * How far a clip's first bytes play: its start is the mark.
 *
 * @param {any} known
 */
function curve(known) {
  const { start, bytes, durationMs } = known;
  const [wide, tall] = [200, 36];
  const last = start.curve.at(-1);
  const x = (/** @type {number} */ part) => wide * part / Math.max(1, bytes ?? last[1]);
  const y = (/** @type {number} */ ms) => tall - tall * ms / Math.max(1, durationMs ?? last[0]);
  const head = start.headBytes ?? 0;
  const points = [[0, head], ...start.curve].map(([ms, part]) => `${x(part).toFixed(1)},${y(ms).toFixed(1)}`);
  return h('figure', { class: 'curve' }, svg('svg', { viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `How far its first bytes play: ${start.curve.slice(0, 3).map(
      (/** @type {number[]} */ [ms, part]) => `${duration(ms)} with ${size(part)}`).join(', ')}` },
  svg('polyline', { points: points.join(' ') }), svg('line', { x1: x(head), x2: x(head), y1: 0, y2: tall })),
  h('figcaption', { class: 'note' }, `How far its first bytes play; the mark is ${isSound(known) ? 'where it starts' : 'its first picture'}.`));
}

/** @param {string} url */
const isHere = (url) => url.startsWith('/media/');

/**
 * What a file is called: the last part of its URL, a long one (its content's digest) by its ends.
 *
 * @param {string} url
 */
function nameOf(url) {
  const last = url.split('/').at(-1) || url;
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // It stays as it is written.
  }
  return name.length > 40 ? `${name.slice(0, 10)}…${name.slice(-8)}` : name;
}

/** Shows where a drop would go, and takes what is dropped. */
export class DropTarget {
  /**
   * @param {HTMLElement} element
   * @param {(files: File[]) => void} dropped
   */
  constructor(element, dropped) {
    let depth = 0;
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') ?? false;
    const show = (/** @type {boolean} */ isOver) => element.classList.toggle('isOver', isOver);
    element.addEventListener('dragenter', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth += 1;
      show(true);
    });
    element.addEventListener('dragover', (event) => { if (hasFiles(event)) event.preventDefault(); });
    element.addEventListener('dragleave', () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) show(false);
    });
    element.addEventListener('drop', (event) => {
      depth = 0;
      show(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      dropped([...event.dataTransfer?.files ?? []]);
    });
  }
}
