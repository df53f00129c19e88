// @ts-check
import { h, lessMotion } from './dom.js';
import { startOf } from '../lookahead.js';
import { thumbnail } from './thumbhash.js';

/** @typedef {import('../lookahead.js').Prefetcher} Prefetcher */

/** One medium of an item on the screen: its placeholder, then what there is of its bytes. */
export class Slide {
  #isActive = false;
  #hasFrame = false;
  #shown = '';
  /** @type {HTMLVideoElement | null} */
  #video = null;
  #videoBytes = 0;
  #wantsToPlay = !lessMotion();
  /** @type {string[]} */
  #urls = [];

  /**
   * @param {Prefetcher} prefetcher
   * @param {import('../lookahead.js').Item} item
   * @param {number} index
   */
  constructor(prefetcher, item, index) {
    this.prefetcher = prefetcher;
    this.item = item;
    this.medium = item.media?.[index] ?? { id: '', kind: 'image', url: '' };
    this.index = index;
    this.stage = h('div', { class: 'stage' });
    this.play = h('button', { class: 'play', type: 'button', hidden: true, onclick: () => this.toggle() });
    this.element = h('div', { class: 'slide' }, this.#placeholder(), this.stage, this.play);
    this.update();
  }

  /** Whether it lies on another server, which the page's policy keeps it from asking. */
  get isElsewhere() {
    try {
      return new URL(this.medium.url, document.baseURI).origin !== location.origin;
    } catch {
      return true;
    }
  }

  get #label() {
    const many = this.item.media?.length ?? 1;
    const which = many > 1 ? `, ${this.index + 1} of ${many}` : '';
    return this.medium.alt ?? `${this.item.title ?? this.item.type}${which}`;
  }

  #placeholder() {
    const { thumbhash, color } = this.medium.placeholder ?? {};
    const canvas = h('canvas', { class: 'placeholder', width: 1, height: 1, 'aria-hidden': 'true' });
    if (color && CSS.supports('color', color)) canvas.style.backgroundColor = color;
    const image = thumbhash ? thumbnail(thumbhash) : null;
    if (image) {
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext('2d')?.putImageData(image, 0, 0);
    }
    return canvas;
  }

  /**
   * Whether the person looks at it.
   *
   * @param {boolean} isActive
   */
  set active(isActive) {
    if (this.#isActive === isActive) return;
    if (!isActive) this.#goOn();
    this.#isActive = isActive;
    if (!isActive) this.#video?.pause();
    else if (this.#wantsToPlay) this.#start();
    if (isActive && this.#hasFrame && this.index === 0) this.prefetcher.frameShown();
    this.update();
  }

  /** Something of it is on the screen. */
  #showFrame() {
    this.#hasFrame = true;
    if (this.#isActive && this.index === 0) this.prefetcher.frameShown();
  }

  /** Shows what there is by now. */
  update() {
    const files = this.prefetcher.media(this.item.id)[this.index];
    if (!files) return;
    if (this.isElsewhere) {
      if (!this.stage.firstChild) this.#say('on another host, which this page does not ask');
      return;
    }
    const file = this.prefetcher.best(files);
    const bytes = file.bytes ?? this.prefetcher.store.size(file.url) ?? undefined;
    if (bytes === undefined) return;
    if (file.kind === 'video') this.#updateClip(file, bytes);
    else if (this.#shown !== file.key) this.#showWhole(file, bytes);
  }

  /**
   * @param {import('../lookahead.js').File} file
   * @param {number} bytes
   */
  #showWhole(file, bytes) {
    const url = this.#url(file, bytes);
    if (!url) return;
    this.#shown = file.key;
    if (file.kind === 'audio') {
      this.stage.replaceChildren(h('audio', { controls: true, src: url, 'aria-label': this.#label }));
      return;
    }
    const image = h('img', { src: url, alt: this.#label, decoding: 'async', draggable: false });
    image.addEventListener('load', () => this.#showFrame());
    image.addEventListener('error', () => this.#say('this picture cannot be shown'));
    const moves = (this.medium.durationMs ?? 0) > 0 || file.mimeType === 'image/gif';
    if (!moves || !lessMotion()) this.stage.replaceChildren(image);
    else image.decode().then(() => this.#still(image), () => this.#say('this picture cannot be shown'));
  }

  /**
   * The first picture of an animation, until the person wants it to move.
   *
   * @param {HTMLImageElement} image
   */
  #still(image) {
    const canvas = h('canvas', {
      width: image.naturalWidth, height: image.naturalHeight, role: 'img', 'aria-label': this.#label,
    });
    canvas.getContext('2d')?.drawImage(image, 0, 0);
    this.stage.replaceChildren(canvas);
    this.play.hidden = false;
    this.play.setAttribute('aria-label', 'Play');
    this.play.onclick = () => {
      const still = this.stage.firstChild === canvas;
      this.stage.replaceChildren(still ? image : canvas);
      this.play.setAttribute('aria-label', still ? 'Stop' : 'Play');
    };
  }

  /** @param {string} text */
  #say(text) { this.stage.replaceChildren(h('p', { class: 'broken' }, text)); }

  // Clips: a file's beginning is a file that plays that far; more of it takes its place without a jump.

  /**
   * @param {import('../lookahead.js').File} file
   * @param {number} bytes
   */
  #updateClip(file, bytes) {
    const held = this.prefetcher.store.held(file.url);
    const first = held.list[0];
    const prefix = first?.[0] === 0 ? Math.min(first[1], bytes) : 0;
    const needed = startOf({ ...file, bytes }, this.prefetcher.network.downlink ?? 780);
    // Where its tables lie behind, its beginning is no file.
    const isPlain = file.start?.startable !== false;
    const enough = isPlain && needed ? needed[0][1] : bytes;
    if (prefix < enough || prefix === 0) return;
    const isWhole = prefix === bytes;
    if (this.#shown !== file.key) return this.#load(file, prefix, isWhole);
    if (this.#videoBytes >= prefix) return;
    const isDry = this.#video?.ended || this.#video?.error
      || (this.#video && this.#video.duration - this.#video.currentTime < 0.3);
    if (isWhole || isDry) this.#load(file, prefix, isWhole);
  }

  /**
   * @param {import('../lookahead.js').File} file
   * @param {number} prefix
   * @param {boolean} isWhole
   */
  #load(file, prefix, isWhole) {
    const url = this.#url(file, prefix);
    if (!url) return;
    this.#shown = file.key;
    this.#videoBytes = prefix;
    const before = this.#video;
    const video = h('video', {
      muted: before?.muted ?? true, playsInline: true, loop: isWhole, preload: 'auto', 'aria-label': this.#label,
    });
    this.#video = video;
    const swap = () => {
      if (this.#video !== video) return;
      this.stage.replaceChildren(video);
      this.#showFrame();
      before?.pause();
      this.#start();
    };
    video.addEventListener('loadeddata', () => {
      if (before && before.currentTime > 0 && before.currentTime < video.duration) {
        video.addEventListener('seeked', swap, { once: true });
        video.currentTime = before.currentTime;
      } else {
        swap();
      }
    }, { once: true });
    video.addEventListener('ended', () => {
      if (!isWhole) this.#stop();
      this.#tell('ended');
      this.update();
    });
    video.addEventListener('error', () => {
      if (this.#video !== video) return;
      if (isWhole) this.#say('this clip cannot be played here');
      else this.#ranDry(file, prefix);
    });
    for (const state of ['playing', 'pause']) video.addEventListener(state, () => this.#drawPlay());
    video.addEventListener('playing', () => this.#goOn());
    video.addEventListener('timeupdate', () => this.#tell('playing'));
    video.src = url;
    this.#drawPlay();
  }

  #lastTold = 0;
  /** @type {number | null} since when the clip stands, as its bytes ran out */
  #stoppedAt = null;

  #stop() {
    if (this.#isActive && this.#wantsToPlay && this.index === 0) this.#stoppedAt ??= performance.now();
  }

  /** It plays again, or is left. */
  #goOn() {
    if (this.#stoppedAt === null) return;
    this.prefetcher.stalled(performance.now() - this.#stoppedAt);
    this.#stoppedAt = null;
  }

  /** @param {'playing' | 'ended'} state */
  #tell(state) {
    if (!this.#isActive || !this.#video || (state === 'playing' && performance.now() - this.#lastTold < 1000)) return;
    this.#lastTold = performance.now();
    this.prefetcher.play(this.#video.currentTime * 1000, state);
    this.update();
  }

  /**
   * A browser that decodes ahead of what it shows stops before the end of a beginning. Whoever plans is told that all
   * that is here has been played: else what is here would do for where the clip stands, and nothing more come.
   *
   * @param {import('../lookahead.js').File} file
   * @param {number} prefix
   */
  #ranDry(file, prefix) {
    if (!this.#isActive) return;
    this.#stop();
    const curve = file.start?.curve ?? [];
    const index = curve.findIndex(([, bytes]) => bytes > prefix);
    const [fromMs, fromBytes] = curve[index - 1] ?? [0, file.start?.headBytes ?? 0];
    const [toMs, toBytes] = curve[index] ?? [this.medium.durationMs ?? 0, prefix];
    const share = toBytes > fromBytes ? Math.max(0, prefix - fromBytes) / (toBytes - fromBytes) : 1;
    this.#lastTold = performance.now();
    this.prefetcher.play(fromMs + (toMs - fromMs) * share, 'playing');
    this.update();
  }

  #start() {
    if (this.#isActive && this.#wantsToPlay) this.#video?.play().catch(() => this.#drawPlay());
  }

  /** Plays, or rests. */
  toggle() {
    this.#wantsToPlay = this.#video?.paused ?? !this.#wantsToPlay;
    if (this.#wantsToPlay) this.#start();
    else this.#video?.pause();
  }

  #drawPlay() {
    this.play.hidden = this.#video === null;
    this.play.setAttribute('aria-label', this.#video?.paused === false ? 'Pause' : 'Play');
    this.play.classList.toggle('isPlaying', this.#video?.paused === false);
  }

  /**
   * Sound on or off.
   *
   * @param {boolean} isOn
   */
  set sound(isOn) { if (this.#video) this.#video.muted = !isOn; }

  /**
   * @param {import('../lookahead.js').File} file
   * @param {number} bytes
   */
  #url(file, bytes) {
    const blob = this.prefetcher.store.blob(file.url, 0, bytes, file.mimeType);
    if (!blob) return null;
    const url = URL.createObjectURL(blob);
    // The one before is still on the screen.
    for (const old of this.#urls.splice(0, Math.max(0, this.#urls.length - 1))) URL.revokeObjectURL(old);
    this.#urls.push(url);
    return url;
  }

  /** Gives back what it holds. */
  end() {
    this.#video?.pause();
    this.#video?.removeAttribute('src');
    this.#video = null;
    for (const url of this.#urls.splice(0)) URL.revokeObjectURL(url);
  }
}
