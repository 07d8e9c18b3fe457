/** Replaces possible secrets of an address by `…`: credentials before the host, query, fragment, keys in the path. */
export function shownUrl(address: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(address) ?? [];
  if (scheme === '') return address;
  const [, place = '', query = ''] = /^([^?#]*)(.*)$/s.exec(rest) ?? [];
  const host = place.lastIndexOf('@') + 1;
  // A password may contain a bare ? or #: all before the last @ may belong to it.
  if (host === 0 && query.includes('@')) return `${scheme}…`;
  const [name = '', ...path] = place.slice(host).split('/');
  const parts = path.map((part) => (isPlainWord(part) ? part : '…'));
  return `${scheme}${host > 0 ? '…@' : ''}${[name, ...parts].join('/')}${query && '?…'}`;
}

export const shownUrls = (addresses: readonly string[]): string => addresses.map(shownUrl).join(',');

export const withoutAddressKeys = (text: string): string =>
  text.includes('://') ? text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi, shownUrl) : text;

/** Matches plain path words: lower case, or a version such as v2; keys have digits or capitals. */
const isPlainWord = (part: string): boolean =>
  part.length < KEY_LENGTH && /^(v\d{1,3}|[a-z]+([-_.][a-z]+)*)?$/.test(part);

/** Path words are shorter than this, and keys hardly ever are. */
const KEY_LENGTH = 16;

/** True for a key pasted in place of a path, to keep it hidden: bytes, base58, hex, API key, token, seed phrase. */
export const isPastedKey = (text: string): boolean =>
  /^["'\s]*[[{]/.test(text) ||
  /^flk_|^eyJ|\n/.test(text) ||
  /^\s*\d{1,3}(\s*,\s*\d{1,3}){15,}/.test(text) ||
  /^[1-9A-HJ-NP-Za-km-z]{80,}$/.test(text.trim()) ||
  /^(0x)?[0-9a-f]{64,}$/i.test(text.trim()) ||
  /^[a-z]+( [a-z]+){11,}$/.test(text.trim());
