import { crc16 } from './check-digits.ts';
import { type DataContext, isAllZeros, NOBODY, normal, type Verdict, wrong } from './verdict.ts';

const OTHER_CHAIN = 'is on a workchain other than 0 or -1.';

/**
 * A TON address (TEP-2): user-friendly, which is 48 characters of base64 or base64url over a tag (bounceable 0x11,
 * not bounceable 0x51, plus 0x80 for test networks), a workchain, 32 bytes and a CRC16; or raw, which is workchain,
 * colon and 64 hex digits and has no checksum. The bounce flag is the customer's wish, so the form stays.
 */
export function tonAddress(text: string, context: DataContext): Verdict {
  if (text.includes(':')) return rawAddress(text);
  const oneAlphabet = /^[A-Za-z0-9+/]{48}$/.test(text) || /^[A-Za-z0-9_-]{48}$/.test(text);
  if (!oneAlphabet)
    return wrong('must be 48 characters of base64, or a workchain, a colon and 64 hex digits.');
  const bytes = Buffer.from(text, 'base64url');
  if (crc16(bytes.subarray(0, 34), 0) !== bytes.readUInt16BE(34)) {
    return wrong('has a checksum that does not match.');
  }
  const tag = bytes.readUInt8(0);
  if (![0x11, 0x51].includes(tag & 0x7f)) return wrong('has a tag that TON does not know.');
  if (tag >= 0x80 && !context.testNetworks) return wrong('is the address of a test network.');
  if (![0, -1].includes(bytes.readInt8(1))) return wrong(OTHER_CHAIN);
  return isAllZeros(bytes.subarray(2, 34)) ? NOBODY : normal(text);
}

function rawAddress(text: string): Verdict {
  const match = /^(-?\d{1,10}):([0-9a-fA-F]{64})$/.exec(text);
  if (!match) return wrong('must be a workchain, a colon and 64 hex digits.');
  if (match[1] !== '0' && match[1] !== '-1') return wrong(OTHER_CHAIN);
  return /^0+$/.test(match[2] ?? '') ? NOBODY : normal(text.toLowerCase());
}
