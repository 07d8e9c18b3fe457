import { bech32, bech32m } from '@scure/base';
import { decodeBase58Check } from './base58.ts';
import { type DataContext, isAllZeros, NOBODY, normal, type Verdict, wrong } from './verdict.ts';

/** First bytes of base58check addresses: public key hash and script hash. */
const MAIN_VERSIONS = [0x00, 0x05];
const TEST_VERSIONS = [0x6f, 0xc4];

/**
 * A Bitcoin address: base58check (P2PKH, P2SH) or SegWit, which is bech32 for version 0 with 20 or 32 bytes
 * (BIP 173) and bech32m for versions 1 to 16 with 2 to 40 (BIP 350). One case throughout for SegWit.
 */
export function bitcoinAddress(text: string, context: DataContext): Verdict {
  return /^(bc|tb|bcrt)1/i.test(text) ? segwitAddress(text, context) : legacyAddress(text, context);
}

function legacyAddress(text: string, context: DataContext): Verdict {
  const payload = decodeBase58Check(text);
  if (payload === null) return wrong('is not a Bitcoin address, or has a checksum that does not match.');
  const version = payload[0] ?? -1;
  if (payload.length !== 21 || ![...MAIN_VERSIONS, ...TEST_VERSIONS].includes(version)) {
    return wrong('is the address of another network.');
  }
  if (TEST_VERSIONS.includes(version) && !context.testNetworks)
    return wrong('is the address of a test network.');
  return isAllZeros(payload.subarray(1)) ? NOBODY : normal(text);
}

function segwitAddress(text: string, context: DataContext): Verdict {
  const version0 = bech32.decodeUnsafe(text);
  const later = bech32m.decodeUnsafe(text);
  const decoded = version0 ?? later;
  if (!decoded) return wrong('has a checksum that does not match, or mixes upper and lower case.');
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (version === undefined || !program) return wrong('has no witness program.');
  // The older checksum misses letters inserted before a final p, so later versions must not use it.
  if ((version === 0) !== (version0 !== undefined))
    return wrong('uses the checksum of another witness version.');
  const fits =
    version === 0 ? [20, 32].includes(program.length) : program.length >= 2 && program.length <= 40;
  if (version > 16 || !fits) return wrong('has a witness program of the wrong length or version.');
  if (decoded.prefix.toLowerCase() !== 'bc' && !context.testNetworks) {
    return wrong('is the address of a test network.');
  }
  return isAllZeros(program) ? NOBODY : normal(text.toLowerCase());
}
