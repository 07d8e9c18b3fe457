import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import type { WalletType } from '../../kernel/domain/exchange-codes.ts';
import { crc16 } from './check-digits.ts';
import { type DataContext, normal, type Rules, type Verdict, wrong } from './verdict.ts';

export const rules: Rules = {
  'cryptoWallet.address': (text, { cryptoWallet }, context) =>
    cryptoWallet ? walletAddress(text, cryptoWallet.type, context) : normal(text),
};

/** An address of zeros has no key on any chain. */
const NO_OWNER = wrong('is an address without an owner.');
const isAllZeros = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/**
 * Checks a wallet's address by its chain's encoding (CONTRACT, section 12), untrimmed: without a checksum, a character
 * that became a space would leave another address that looks right.
 */
export const walletAddress = (text: string, type: WalletType, context: DataContext): Verdict =>
  /\s/.test(text) ? wrong('has white space in it.') : RULES[type](text, context);

const RULES: Readonly<Record<WalletType, (text: string, context: DataContext) => Verdict>> = {
  SOLANA: solanaAddress,
  BITCOIN: bitcoinAddress,
  TRON: tronAddress,
  TON: tonAddress,
  AVALANCHEX: avalancheXAddress,
  ETHEREUM: evmAddress,
  BSC: evmAddress,
  POLYGON: evmAddress,
  ARBITRUM: evmAddress,
  BASE: evmAddress,
  OPTIMISM: evmAddress,
  AVALANCHEC: evmAddress,
};

/** A Solana address: 32 bytes in base58, no checksum. It may be off the curve: a program's account can hold money. */
function solanaAddress(text: string): Verdict {
  const bytes = decodeBase58(text);
  if (bytes?.length !== 32) return wrong('must be 32 bytes in base58.');
  return isAllZeros(bytes) ? NO_OWNER : normal(text);
}

/** An Avalanche X-Chain address: X, a hyphen, and 20 bytes in bech32 under `avax` (`fuji` on the test network). */
function avalancheXAddress(text: string, context: DataContext): Verdict {
  if (!text.startsWith('X-')) return wrong('must begin with X-, the chain that the address is on.');
  const decoded = bech32.decodeUnsafe(text.slice(2));
  if (!decoded) return wrong('has a checksum that does not match.');
  const prefix = decoded.prefix.toLowerCase();
  if (prefix === 'fuji' && !context.testNetworks) return wrong('is the address of a test network.');
  if (prefix !== 'avax' && prefix !== 'fuji') return wrong('is the address of another network.');
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  if (bytes?.length !== 20) return wrong('is not 20 bytes.');
  return isAllZeros(bytes) ? NO_OWNER : normal(`X-${text.slice(2).toLowerCase()}`);
}

/** First bytes of base58check addresses: public key hash and script hash. */
const MAIN_VERSIONS = [0x00, 0x05];
const TEST_VERSIONS = [0x6f, 0xc4];

/** A Bitcoin address: SegWit, or base58check (P2PKH, P2SH). */
function bitcoinAddress(text: string, context: DataContext): Verdict {
  if (/^(bc|tb|bcrt)1/i.test(text)) return segwitAddress(text, context);
  const payload = decodeBase58Check(text);
  if (payload === null) return wrong('is not a Bitcoin address, or has a checksum that does not match.');
  const version = payload[0] ?? -1;
  if (payload.length !== 21 || ![...MAIN_VERSIONS, ...TEST_VERSIONS].includes(version)) {
    return wrong('is the address of another network.');
  }
  if (TEST_VERSIONS.includes(version) && !context.testNetworks) return wrong('is the address of a test network.');
  return isAllZeros(payload.subarray(1)) ? NO_OWNER : normal(text);
}

/** SegWit in one case: bech32 for version 0 with 20 or 32 bytes (BIP 173), bech32m for 1-16 with 2 to 40 (BIP 350). */
function segwitAddress(text: string, context: DataContext): Verdict {
  const version0 = bech32.decodeUnsafe(text);
  const later = bech32m.decodeUnsafe(text);
  const decoded = version0 ?? later;
  if (!decoded) return wrong('has a checksum that does not match, or mixes upper and lower case.');
  const [version, ...words] = decoded.words;
  const program = bech32.fromWordsUnsafe(words);
  if (version === undefined || !program) return wrong('has no witness program.');
  // The older checksum misses letters inserted before a final p, so later versions must not use it.
  if ((version === 0) !== (version0 !== undefined)) return wrong('uses the checksum of another witness version.');
  const fits = version === 0 ? [20, 32].includes(program.length) : program.length >= 2 && program.length <= 40;
  if (version > 16 || !fits) return wrong('has a witness program of the wrong length or version.');
  if (decoded.prefix.toLowerCase() !== 'bc' && !context.testNetworks) {
    return wrong('is the address of a test network.');
  }
  return isAllZeros(program) ? NO_OWNER : normal(text.toLowerCase());
}

/** Capitalises a letter (EIP-55) if the hex digit at its place in the hash of the lower-case address is 8 or more. */
function checksummed(address: string): string {
  const small = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(new TextEncoder().encode(small))).toString('hex');
  const isCapital = (place: number) => Number.parseInt(hash.charAt(place), 16) >= 8;
  return `0x${[...small].map((letter, place) => (isCapital(place) ? letter.toUpperCase() : letter)).join('')}`;
}

/** An EVM address: 0x and 40 hex digits, kept with its checksum (EIP-55), which mixed case must match. */
function evmAddress(text: string): Verdict {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return wrong('must be 0x and 40 hexadecimal digits.');
  if (/^0x0+$/.test(text)) return NO_OWNER;
  const full = checksummed(text);
  const oneCase = !/[a-f]/.test(text) || !/[A-F]/.test(text);
  return oneCase || full === text ? normal(full) : wrong('has capitals that do not match its checksum.');
}

const OTHER_CHAIN = 'is on a workchain other than 0 or -1.';

/**
 * A TON address (TEP-2): user-friendly, 48 characters of base64 or base64url over a tag (bounceable 0x11, not bounceable
 * 0x51, plus 0x80 for test networks), a workchain, 32 bytes and a CRC16; or raw, workchain, colon and 64 hex digits
 * without a checksum. The bounce flag is the customer's choice, so the form stays.
 */
function tonAddress(text: string, context: DataContext): Verdict {
  if (text.includes(':')) return rawAddress(text);
  const oneAlphabet = /^[A-Za-z0-9+/]{48}$/.test(text) || /^[A-Za-z0-9_-]{48}$/.test(text);
  if (!oneAlphabet) return wrong('must be 48 characters of base64, or a workchain, a colon and 64 hex digits.');
  const bytes = Buffer.from(text, 'base64url');
  if (crc16(bytes.subarray(0, 34), 0) !== bytes.readUInt16BE(34)) {
    return wrong('has a checksum that does not match.');
  }
  const tag = bytes.readUInt8(0);
  if (![0x11, 0x51].includes(tag & 0x7f)) return wrong('has a tag that TON does not know.');
  if (tag >= 0x80 && !context.testNetworks) return wrong('is the address of a test network.');
  if (![0, -1].includes(bytes.readInt8(1))) return wrong(OTHER_CHAIN);
  return isAllZeros(bytes.subarray(2, 34)) ? NO_OWNER : normal(text);
}

function rawAddress(text: string): Verdict {
  const match = /^(-?\d{1,10}):([0-9a-fA-F]{64})$/.exec(text);
  if (!match) return wrong('must be a workchain, a colon and 64 hex digits.');
  if (match[1] !== '0' && match[1] !== '-1') return wrong(OTHER_CHAIN);
  return /^0+$/.test(match[2] ?? '') ? NO_OWNER : normal(text.toLowerCase());
}

/** A TRON address: base58check over 0x41 and 20 bytes, which makes 34 characters that begin with T. */
function tronAddress(text: string): Verdict {
  const payload = decodeBase58Check(text);
  if (payload === null) return wrong('is not a TRON address, or has a checksum that does not match.');
  if (payload.length !== 21 || payload[0] !== 0x41) return wrong('is the address of another network.');
  return isAllZeros(payload.subarray(1)) ? NO_OWNER : normal(text);
}

const decodeBase58 = (text: string): Uint8Array | null =>
  /^[1-9A-HJ-NP-Za-km-z]{1,128}$/.test(text) ? base58.decode(text) : null;

/** Decodes a base58check text, which ends with four bytes of double SHA-256; null if these do not match. */
function decodeBase58Check(text: string): Uint8Array | null {
  const bytes = decodeBase58(text);
  if (bytes === null || bytes.length < 5) return null;
  const sha256 = (data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest());
  const payload = bytes.subarray(0, -4);
  // Encodes and compares, because decoding throws on a wrong checksum.
  return createBase58check(sha256).encode(payload) === text ? payload : null;
}
