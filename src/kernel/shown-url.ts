/**
 * An address as a screen or a log may have it: providers and databases put keys and passwords before the host, in the
 * query or the fragment, and into the path. What is left out is a `…`.
 */
export function shownUrl(address: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(address) ?? [];
  if (scheme === '') return address;
  const [, place = '', query = ''] = /^([^?#]*)(.*)$/s.exec(rest) ?? [];
  const host = place.lastIndexOf('@') + 1;
  // A password with a bare ? or # in it: it may be anything before the last @.
  if (host === 0 && query.includes('@')) return `${scheme}…`;
  const [name = '', ...path] = place.slice(host).split('/');
  const parts = path.map((part) => (isPlainWord(part) ? part : '…'));
  return `${scheme}${host > 0 ? '…@' : ''}${[name, ...parts].join('/')}${query && '?…'}`;
}

/** Addresses as a screen or a log may have them. */
export const shownUrls = (addresses: readonly string[]): string => addresses.map(shownUrl).join(',');

/** Text with every address in it shown so. */
export const withoutAddressKeys = (text: string): string =>
  text.includes('://') ? text.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi, shownUrl) : text;

/** Matches the parts of a path that are no key: lower-case words, a version such as v2. Keys have digits or capitals. */
const isPlainWord = (part: string): boolean =>
  part.length < KEY_LENGTH && /^(v\d{1,3}|[a-z]+([-_.][a-z]+)*)?$/.test(part);

/** No word in a path is so long, and hardly a key is shorter. */
const KEY_LENGTH = 16;

/**
 * Recognises a key that was pasted in place of a path: a JSON array of bytes, a key in base58 or hex, an API key, a
 * token, a seed phrase. Such a text is shown nowhere.
 */
export const isPastedKey = (text: string): boolean =>
  /^["'\s]*[[{]/.test(text) ||
  /^flk_|^eyJ|\n/.test(text) ||
  /^\s*\d{1,3}(\s*,\s*\d{1,3}){15,}/.test(text) ||
  /^[1-9A-HJ-NP-Za-km-z]{80,}$/.test(text.trim()) ||
  /^(0x)?[0-9a-f]{64,}$/i.test(text.trim()) ||
  /^[a-z]+( [a-z]+){11,}$/.test(text.trim());
