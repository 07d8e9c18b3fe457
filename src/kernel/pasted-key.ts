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
