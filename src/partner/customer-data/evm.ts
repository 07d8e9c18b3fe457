import { keccak_256 } from '@noble/hashes/sha3.js';
import { NOBODY, normal, type Verdict, wrong } from './verdict.ts';

/** The capitals of an address by EIP-55: a letter is a capital where the hash of the small text has 8 or more. */
function checksummed(address: string): string {
  const small = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(new TextEncoder().encode(small))).toString('hex');
  const cased = [...small].map((letter, place) =>
    Number.parseInt(hash.charAt(place), 16) >= 8 ? letter.toUpperCase() : letter,
  );
  return `0x${cased.join('')}`;
}

/**
 * An address of an EVM chain: 0x and 40 hex digits. In mixed case the capitals are the checksum (EIP-55) and must
 * match; in one case there is none, and the address is taken. Kept with its checksum.
 */
export function evmAddress(text: string): Verdict {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return wrong('must be 0x and 40 hexadecimal digits.');
  if (/^0x0+$/.test(text)) return NOBODY;
  const full = checksummed(text);
  const oneCase = !/[a-f]/.test(text) || !/[A-F]/.test(text);
  return oneCase || full === text ? normal(full) : wrong('has capitals that do not match its checksum.');
}
