// @ts-check
/**
 * Draws a ThumbHash (https://evanw.github.io/thumbhash/): a few cosines of lightness and two colours, four bits each.
 */

/**
 * The picture that a ThumbHash stands for; null where the text is none.
 *
 * @param {string} text base64
 * @returns {ImageData | null}
 */
export function thumbnail(text) {
  const hash = decode(text);
  if (!hash || hash.length < 5) return null;
  const head = hash[0] | hash[1] << 8 | hash[2] << 16;
  const shape = hash[3] | hash[4] << 8;
  const hasAlpha = (head >> 23) === 1;
  const isLandscape = (shape >> 15) === 1;
  if (hasAlpha && hash.length < 6) return null;
  const most = hasAlpha ? 5 : 7;
  const across = Math.max(3, isLandscape ? most : shape & 7);
  const down = Math.max(3, isLandscape ? shape & 7 : most);

  let nibble = (hasAlpha ? 6 : 5) * 2;
  /**
   * @param {number} nx
   * @param {number} ny
   * @param {number} scale
   */
  const shares = (nx, ny, scale) => {
    const list = [];
    for (let y = 0; y < ny; y += 1) {
      for (let x = y ? 0 : 1; x * ny < nx * (ny - y); x += 1) {
        const byte = hash[nibble >> 1] ?? 0x77;
        list.push({ x, y, value: (((byte >> ((nibble & 1) << 2)) & 15) / 7.5 - 1) * scale });
        nibble += 1;
      }
    }
    return list;
  };
  // Colours come back a little stronger than they went in: four bits flatten them.
  const planes = [
    { mean: (head & 63) / 63, list: shares(across, down, ((head >> 18) & 31) / 31) },
    { mean: ((head >> 6) & 63) / 31.5 - 1, list: shares(3, 3, ((shape >> 3) & 63) / 63 * 1.25) },
    { mean: ((head >> 12) & 63) / 31.5 - 1, list: shares(3, 3, ((shape >> 9) & 63) / 63 * 1.25) },
    hasAlpha
      ? { mean: (hash[5] & 15) / 15, list: shares(5, 5, (hash[5] >> 4) / 15) } : { mean: 1, list: [] },
  ];
  const ratio = (isLandscape ? most : shape & 7) / Math.max(1, isLandscape ? shape & 7 : most);
  const width = Math.max(1, Math.round(ratio > 1 ? 32 : 32 * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? 32 / ratio : 32));
  return paint(width, height, planes);
}

/**
 * @param {number} width
 * @param {number} height
 * @param {{mean: number, list: {x: number, y: number, value: number}[]}[]} planes
 */
function paint(width, height, planes) {
  const image = new ImageData(width, height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [lightness, yellow, red, alpha] = planes.map(({ mean, list }) => list.reduce(
        (sum, part) => sum + part.value * 2 * Math.cos(Math.PI / width * (x + 0.5) * part.x)
          * Math.cos(Math.PI / height * (y + 0.5) * part.y), mean));
      const blue = lightness - 2 / 3 * yellow;
      const redder = (3 * lightness - blue + red) / 2;
      const green = redder - red;
      const at = (y * width + x) * 4;
      image.data.set([redder, green, blue, alpha].map((value) => Math.max(0, Math.min(1, value)) * 255), at);
    }
  }
  return image;
}

/** @param {string} text */
function decode(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
