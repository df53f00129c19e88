// @ts-check
import { Conflict } from './desk-conflict.js';
import { title } from './desk-list.js';
import { DropTarget, FilesField } from './desk-files.js';
import { Preview } from './desk-preview.js';
import { difference, item, parseRecord, placed, placeIn, Refusal, same } from './desk-client.js';
import { h, words } from './dom.js';

/** @typedef {import('./desk-client.js').PostRecord} PostRecord */
/** @typedef {import('./desk-client.js').Placement} Placement */

const TYPES = ['image', 'video', 'carousel', 'text', 'audio', 'webapp', 'ad'];

/**
 * One post in a dialog: as a form or as JSON, beside it how a phone shows it. Nothing that somebody else wrote meanwhile
 * is overwritten: both versions are shown then.
 */
export class PostDialog {
  /** @type {import('./desk-client.js').Version | null} what is edited; null: a new post */
  #base = null;
  /** @type {PostRecord} what the form does not show stays as it is */
  #draft = { type: 'text' };
  #id = '';
  #isJSON = false;
  /** Whether the person chose the type, or it follows from the files. */
  #hasType = false;
  #isSaving = false;
  /** @type {Map<string, string>} the posts that were made of files, by the files' URLs */
  #made = new Map();
  /** @type {Record<string, string>} the times as the form shows them */
  #times = {};
  #wasSending = false;
  /** @type {PostRecord | null} what the form said when it was opened */
  #initial = null;
  /** @type {Set<string>} the fields that this server's posts have */
  #fields = new Set();

  /**
   * @param {import('./desk-client.js').DeskClient} client
   * @param {() => string} feed
   * @param {() => {id: string, title: string, hasRank: boolean}[]} neighbours the posts of the feed, as listed
   * @param {(ids: string[], before: import('./desk-client.js').Version | null) => void} saved what was made, or changed
   */
  constructor(client, feed, neighbours, saved) {
    this.client = client;
    this.feed = feed;
    this.neighbours = neighbours;
    this.saved = saved;
    const input = (/** @type {string} */ field, /** @type {object} */ more = {}) => h('input', {
      'data-field': field, dir: 'auto', oninput: () => this.#changed(), ...more,
    });
    this.inputs = {
      title: input('title', { maxLength: 4096 }),
      text: h('textarea', { 'data-field': 'text', rows: 4, dir: 'auto', oninput: () => this.#changed() }),
      author: input('author.name', { maxLength: 4096 }), url: input('url', { dir: 'ltr' }),
      tags: input('tags', { placeholder: 'harbour, morning' }),
      publishedAt: input('publishedAt', { type: 'datetime-local', step: 1 }),
      visibleFrom: input('visibleFrom', { type: 'datetime-local', step: 1 }),
      visibleUntil: input('visibleUntil', { type: 'datetime-local', step: 1 }),
    };
    this.type = h('select', { 'data-field': 'type', onchange: () => {
      this.#hasType = true;
      this.#changed();
    } }, ...TYPES.map((type) => h('option', { value: type }, type)));
    this.place = h('select', { 'data-field': 'feeds', onchange: () => this.#drawNeighbour() });
    this.neighbour = h('select', { 'aria-label': 'Which post', hidden: true });
    this.files = new FilesField(client, () => this.#filesChanged());
    this.each = h('input', { type: 'checkbox' });
    this.eachRow = h('label', { class: 'check', hidden: true }, this.each, ' A post of each file');
    this.json = h('textarea', { class: 'json', rows: 24, spellcheck: false, 'aria-label': 'The post as JSON', dir: 'ltr', hidden: true });
    this.asJSON = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.#toggleJSON() }, 'As JSON');
    this.save = h('button', { class: 'main' }, 'Save');
    this.note = h('p', { class: 'note', role: 'status' });
    this.heading = h('h2', { id: 'post-title' });
    this.also = h('p', { class: 'note' });
    this.other = h('input', { maxLength: 100, dir: 'auto', placeholder: 'its name', oninput: () => this.#changed() });
    this.preview = new Preview(client, feed);
    const labelled = (/** @type {string} */ name, /** @type {Node[]} */ ...controls) => h('label', {}, h('span', {}, name), ...controls);
    this.placeRow = labelled('Place', this.place);
    this.schedule = h('div', { class: 'pair' }, labelled('Appears', this.inputs.visibleFrom), labelled('Goes', this.inputs.visibleUntil));
    this.form = h('div', { class: 'fields' }, labelled('Title', this.inputs.title), labelled('Text', this.inputs.text), this.files.element, this.eachRow,
      h('div', { class: 'pair' }, labelled('Type', this.type), labelled('Author', this.inputs.author)),
      h('div', { class: 'pair' }, this.placeRow, this.neighbour), this.also,
      h('details', {}, h('summary', {}, 'More'),
        labelled('Link', this.inputs.url), labelled('Tags', this.inputs.tags), labelled('Time', this.inputs.publishedAt), this.schedule,
        labelled('Put it at the top of another feed, too', this.other)));
    this.body = h('form', { class: 'edit', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.#submit();
    } }, this.form, this.json, h('div', { class: 'foot' }, this.note, h('div', { class: 'ways' }, this.save, this.asJSON,
      h('button', { type: 'button', onclick: () => this.#close() }, 'Cancel'))));
    this.conflict = h('div', { hidden: true });
    this.element = h('dialog', { class: 'post', 'aria-labelledby': 'post-title', oncancel: (/** @type {Event} */ event) => {
      if (event.target !== this.element) return;
      event.preventDefault();
      this.#close();
    } }, this.heading, this.conflict, h('div', { class: 'sides' }, this.body, this.preview.element));
    new DropTarget(this.element, (files) => this.files.add(files));
  }

  /** @param {Set<string>} fields */
  set fields(fields) { this.#fields = fields; }

  /**
   * A new post, in the feed at hand.
   *
   * @param {File[]} [files]
   */
  async make(files = []) {
    this.#base = null;
    const feed = this.feed();
    this.#id = newID();
    this.#draft = { type: 'text', ...(feed ? { feeds: [{ name: feed, rank: 'top' }] } : {}) };
    await this.#open('A new post', []);
    if (files.length > 0) this.files.add(files);
  }

  /**
   * @param {string} id
   */
  async edit(id) {
    const [base, shown] = await Promise.all([this.client.record(id), this.client.get(item(id)).catch(() => ({}))]);
    this.#base = base;
    this.#id = id;
    this.#draft = base.record;
    await this.#open(title(base.record), shown.media ?? []);
  }

  /**
   * @param {string} title
   * @param {any[]} known
   */
  async #open(title, known) {
    this.#hasType = this.#base !== null;
    this.#made.clear();
    this.each.checked = false;
    this.eachRow.hidden = true;
    this.#showJSON(false);
    this.#endConflict();
    this.heading.replaceChildren(h('bdi', {}, title));
    this.note.textContent = '';
    this.files.fill(this.#draft.media ?? [], known);
    this.#fill();
    this.#initial = this.#read();
    if (!this.element.open) this.element.showModal();
    this.inputs.title.focus();
    await this.preview.begin().catch(() => undefined);
    this.#showPreview();
  }

  #close() {
    if (this.#hasChanges && this.note.dataset.asked !== 'true') {
      this.note.dataset.asked = 'true';
      this.note.textContent = 'What you changed is not saved. Press Cancel again to leave it.';
      return;
    }
    this.#end();
  }

  #end() {
    delete this.note.dataset.asked;
    this.preview.end();
    this.files.end();
    this.element.close();
  }

  get #hasChanges() {
    try {
      return this.files.isSending || !same(this.#initial, this.#read());
    } catch {
      return true;
    }
  }

  // The form.

  #fill() {
    const { inputs } = this;
    const draft = this.#draft;
    for (const name of /** @type {const} */ (['title', 'text', 'url'])) inputs[name].value = draft[name] ?? '';
    inputs.author.value = draft.author?.name ?? '';
    inputs.tags.value = (draft.tags ?? []).join(', ');
    for (const name of /** @type {const} */ (['publishedAt', 'visibleFrom', 'visibleUntil'])) {
      inputs[name].value = local(draft[name]);
      this.#times[name] = inputs[name].value;
    }
    this.schedule.hidden = !this.#fields.has('visibleFrom');
    if (!TYPES.includes(draft.type)) this.type.append(h('option', { value: draft.type }, draft.type));
    this.type.value = draft.type;
    this.#fillPlace();
  }

  #fillPlace() {
    const feed = this.feed();
    const now = placeIn(this.#draft, feed);
    this.other.value = '';
    const others = (this.#draft.feeds ?? []).filter(({ name }) => name !== feed).map(({ name }) => name);
    this.placeRow.hidden = !feed;
    this.also.hidden = others.length === 0;
    this.also.replaceChildren('Also in ', ...others.flatMap((name, index) => [index ? ', ' : '', h('bdi', {}, name)]), '.');
    const options = /** @type {[string, string][]} */ ([
      this.#base ? ['keep', now ? 'where it is' : 'not in this feed'] : null, ['top', 'at the top'], ['bottom', 'at the bottom'],
      ['after', 'below…'], ['before', 'above…'], ['time', 'by its time'], this.#base && now ? ['out', 'out of this feed'] : null,
    ].filter((one) => one !== null));
    this.place.replaceChildren(...options.map(([value, words]) => h('option', { value }, words)));
    this.place.value = this.#base ? 'keep' : 'top';
    const word = now?.after ? 'after' : now?.before ? 'before' : typeof now?.rank === 'string' ? now.rank : null;
    if (word) this.place.value = word;
    const near = this.neighbours().filter(({ id, hasRank }) => id !== this.#id && hasRank);
    this.neighbour.replaceChildren(...near.map(({ id, title }) => h('option', { value: id }, title)));
    if (now?.after ?? now?.before) this.neighbour.value = now?.after ?? now?.before;
    for (const option of this.place.options) {
      if (['after', 'before'].includes(option.value)) option.disabled = near.length === 0;
    }
    this.#drawNeighbour();
  }

  #drawNeighbour() { this.neighbour.hidden = this.placeRow.hidden || !['after', 'before'].includes(this.place.value); }

  /** @returns {PostRecord['feeds']} */
  #readFeeds() {
    const feeds = this.#readPlace();
    const name = this.other.value.trim();
    return name ? placed({ type: '', feeds }, { name, rank: 'top' }) : feeds;
  }

  /** @returns {PostRecord['feeds']} */
  #readPlace() {
    const feed = this.feed();
    const draft = this.#draft;
    const value = this.place.value;
    if (!feed || value === 'keep') return draft.feeds;
    if (value === 'out') return (draft.feeds ?? []).filter(({ name }) => name !== feed);
    /** @type {Placement} */
    const place = { name: feed };
    if (value === 'top' || value === 'bottom') place.rank = value;
    else if (value !== 'time') place[/** @type {'after' | 'before'} */ (value)] = this.neighbour.value;
    return placed(draft, place);
  }

  /** The record as the form or the JSON says it. */
  #read() {
    if (this.#isJSON) return parseRecord(this.json.value);
    const { inputs } = this;
    const base = this.#draft;
    /** @type {PostRecord} */
    const draft = { ...base, type: this.type.value };
    const set = (/** @type {string} */ name, /** @type {any} */ value) => {
      if (value === undefined || value === '') delete draft[name];
      else draft[name] = value;
    };
    for (const name of /** @type {const} */ (['title', 'text', 'url'])) set(name, inputs[name].value);
    const { name: _, ...author } = base.author ?? {};
    if (inputs.author.value) set('author', { ...author, name: inputs.author.value });
    else set('author', Object.keys(author).length > 0 ? author : undefined);
    if (inputs.tags.value !== (base.tags ?? []).join(', ')) {
      const tags = inputs.tags.value.split(',').map((/** @type {string} */ tag) => tag.trim()).filter(Boolean);
      set('tags', tags.length > 0 ? tags : undefined);
    }
    for (const name of /** @type {const} */ (['publishedAt', 'visibleFrom', 'visibleUntil'])) {
      // A time with more decimals than the form shows stays as it is.
      if (inputs[name].value !== this.#times[name]) set(name, inputs[name].value ? new Date(inputs[name].value).toISOString() : undefined);
    }
    const media = this.files.records;
    set('media', media.length > 0 ? media : undefined);
    set('feeds', this.#readFeeds());
    return draft;
  }

  #filesChanged() {
    this.eachRow.hidden = this.#base !== null || this.files.entries.length < 2;
    const { isSending } = this.files;
    if (this.#wasSending && !isSending && this.files.failed.length === 0) this.note.textContent = 'The files are on the server.';
    this.#wasSending = isSending;
    const kinds = this.files.entries.filter(({ error }) => !error).map(({ record }) => record.kind);
    if (!this.#hasType) this.type.value = kinds.length === 0 ? 'text' : kinds.length > 1 ? 'carousel' : kinds[0];
    this.#changed();
  }

  #changed() {
    delete this.note.dataset.asked;
    this.save.disabled = this.files.isSending;
    this.save.textContent = this.files.isSending ? 'Files are on their way…' : 'Save';
    this.#showPreview();
  }

  #showPreview() {
    try {
      this.preview.show({ ...this.#read(), media: this.files.known }, this.#base?.id ?? null);
    } catch {
      // JSON that is not complete yet.
    }
  }

  #toggleJSON() {
    try {
      this.#draft = this.#read();
    } catch (error) {
      this.note.textContent = `This is not JSON: ${words(error)}.`;
      return;
    }
    if (this.#isJSON) {
      const known = new Map(this.files.entries.map(({ record, known }) => [record.url, known]));
      this.files.fill(this.#draft.media ?? [], (this.#draft.media ?? []).map(({ url }) => known.get(url)));
      this.#hasType = true;
      this.#showJSON(false);
      this.#fill();
    } else {
      this.json.value = JSON.stringify(this.#draft, null, 2);
      this.#showJSON(true);
    }
    this.#changed();
  }

  /** @param {boolean} isJSON */
  #showJSON(isJSON) {
    this.#isJSON = isJSON;
    this.asJSON.setAttribute('aria-pressed', String(isJSON));
    this.form.hidden = isJSON;
    this.json.hidden = !isJSON;
  }

  // Saving.

  async #submit() {
    if (this.#isSaving) return;
    const { failed } = this.files;
    if (failed.length > 0) {
      this.note.textContent = `${failed.map((name) => `“${name}”`).join(', ')} ${failed.length === 1 ? 'is' : 'are'} not on the server: `
        + `take ${failed.length === 1 ? 'it' : 'them'} out, or try again.`;
      return;
    }
    this.#isSaving = true;
    const token = this.note.querySelector('input')?.value.trim();
    if (token) this.client.use(token, false);
    this.save.disabled = true;
    this.#clearField();
    try {
      const draft = this.#read();
      if (this.#base === null && this.each.checked && !this.eachRow.hidden && !this.#isJSON) {
        await this.#makeEach(draft);
        this.#done([...this.#made.values()]);
      } else if (this.#base === null) {
        // The id is chosen here, so that a request that is sent again makes no second post.
        await this.client.put(this.#id, this.#isJSON ? this.json.value : JSON.stringify(draft), { isNew: true });
        this.#done();
      } else {
        await this.#change(this.#base, draft);
        this.#done();
      }
    } catch (error) {
      await this.#refused(error);
    } finally {
      this.#isSaving = false;
      this.save.disabled = this.files.isSending;
    }
  }

  /** @param {string[]} [ids] */
  #done(ids = [this.#id]) {
    const before = this.#base;
    this.#end();
    this.saved(ids, before);
  }

  /**
   * A post of each file, in the order of the files. What was made stays made where a later one fails: then the rest is
   * made by the next Save.
   *
   * @param {PostRecord} draft
   */
  async #makeEach(draft) {
    const files = this.files.records;
    const place = placeIn(draft, this.feed());
    // Each goes directly below the same neighbour, or to the top: the last one first.
    if (place?.rank === 'top' || place?.after !== undefined) files.reverse();
    for (const medium of files) {
      if (this.#made.has(medium.url)) continue;
      const id = newID();
      await this.client.put(id, JSON.stringify({ ...draft, type: medium.kind, media: [medium] }), { isNew: true });
      this.#made.set(medium.url, id);
    }
  }

  /**
   * @param {import('./desk-client.js').Version} base
   * @param {PostRecord} draft
   */
  async #change(base, draft) {
    const patch = difference(base.record, draft);
    if (Object.keys(patch).length > 0) await this.client.patch(base.id, patch, base.tag);
  }

  /** @param {unknown} error */
  async #refused(error) {
    const isGone = error instanceof Refusal && error.status === 404 && this.#base !== null;
    if (isGone || (error instanceof Refusal && error.status === 412)) return this.#clash();
    if (error instanceof Refusal && error.status === 401) {
      // What was typed is not lost because the token was replaced meanwhile.
      const token = h('input', { type: 'password', autocomplete: 'off' });
      return this.note.replaceChildren(h('label', {}, 'The token does not count any more. Put in the new one, and save again. ', token));
    }
    if (error instanceof SyntaxError) {
      this.note.textContent = `This is not JSON: ${words(error)}.`;
      return this.json.focus();
    }
    const made = this.#made.size > 0 ? `${this.#made.size} of the posts are made, Save makes the others. ` : '';
    this.note.textContent = made + (error instanceof Refusal ? error.message : `It is not saved: ${words(error)}. Try again.`);
    if (error instanceof Refusal && error.field) this.#showField(error.field, error.message);
  }

  /**
   * Somebody else changed it: what they changed alone and what we changed alone go together; of the rest the person
   * chooses.
   */
  async #clash() {
    if (this.#base === null) {
      // The first request came through, and its answer was lost; or the id is taken.
      this.note.textContent = 'A post with this id is there already. If you pressed Save twice, it is saved: look at the list.';
      this.#id = newID();
      return;
    }
    const base = this.#base;
    const mine = this.#read();
    /** @type {import('./desk-client.js').Version} */
    let theirs;
    try {
      theirs = await this.client.record(base.id);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      this.note.textContent = 'Somebody deleted this post meanwhile. Save makes it again.';
      this.#base = null;
      return;
    }
    const conflict = new Conflict(base.record, mine, theirs.record);
    if (conflict.isEmpty) {
      // Likes came in, or its neighbours got other ranks.
      this.#base = theirs;
      await this.#change(theirs, conflict.merged);
      return this.#done();
    }
    conflict.addEventListener('decided', () => void (async () => {
      this.#endConflict();
      this.#base = theirs;
      this.#draft = conflict.merged;
      this.#showJSON(false);
      const known = new Map(this.files.entries.map(({ record, known }) => [record.url, known]));
      this.files.fill(this.#draft.media ?? [], (this.#draft.media ?? []).map(({ url }) => known.get(url)));
      this.#fill();
      await this.#submit();
    })());
    this.conflict.replaceChildren(conflict.element);
    this.#showConflict(true);
    conflict.element.querySelector('input')?.focus();
  }

  #endConflict() {
    this.conflict.replaceChildren();
    this.#showConflict(false);
  }

  /** @param {boolean} isShown */
  #showConflict(isShown) {
    this.conflict.hidden = !isShown;
    this.body.parentElement.hidden = isShown;
  }

  // What is wrong, where it is.

  #clearField() {
    for (const one of this.body.querySelectorAll('[aria-invalid]')) one.removeAttribute('aria-invalid');
    for (const one of this.body.querySelectorAll('.wrong')) one.remove();
  }

  /**
   * @param {string} field `media[0].url`
   * @param {string} message
   */
  #showField(field, message) {
    if (this.#isJSON) return this.#selectField(field);
    for (let name = field; name; name = name.replace(/(\.[^.[\]]*|\[\d+\]|^[^.[]+)$/, '')) {
      const control = this.form.querySelector(`[data-field="${CSS.escape(name)}"]`);
      if (!control) continue;
      for (let outer = control.parentElement; outer; outer = outer.parentElement) if (outer.tagName === 'DETAILS') outer.open = true;
      control.setAttribute('aria-invalid', 'true');
      control.after(h('p', { class: 'problem wrong', role: 'alert' }, message));
      control.focus();
      return undefined;
    }
    return undefined;
  }

  /** @param {string} field */
  #selectField(field) {
    let [from, to] = [0, 0];
    for (const name of field.match(/[^.[\]]+/g) ?? []) {
      const found = /^\d+$/.test(name) ? -1 : this.json.value.indexOf(`"${name}"`, from);
      if (found >= 0) [from, to] = [found, found + name.length + 2];
    }
    this.json.focus();
    this.json.setSelectionRange(from, to);
  }
}

/** Twenty letters and digits that nobody has. */
function newID() {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  return [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => digits[byte & 31]).join('');
}

/**
 * A time as a form shows it, in the person's zone.
 *
 * @param {string | undefined} time RFC 3339
 */
function local(time) {
  if (!time) return '';
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
