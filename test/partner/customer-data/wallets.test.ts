import { createHash } from 'node:crypto';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc16 } from '../../../src/partner/customer-data/check-digits.ts';
import type { WalletType } from '../../../src/partner/customer-data/index.ts';
import { isProof, rounds } from '../../rounds.ts';
import { CAPITALS, check, corruptions, DIGITS, isTaken, SMALL, taken, transpositions, wallet } from './check.ts';

/** Published addresses of each chain; every corruption that a checksum can catch is refused. */

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** Half of the letters in the gate: those that an alphabet leaves out are among them. */
const ANY = isProof ? `${DIGITS}${CAPITALS}${SMALL} -_+/:.` : '0123456789ABCDEFIOPQXabcdefbilopqxz -.';

const good =
  (type: WalletType, testNetworks = false) =>
  (address: string) =>
    isTaken(wallet(type, address), testNetworks);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const some = bytes(20).filter((value) => value.some((byte) => byte !== 0));
const base58check = createBase58check((data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest()));

describe('Bitcoin', () => {
  const isGood = good('BITCOIN');
  const legacy = [
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    '17VZNX1SN5NtKa8UQFxwQbFeFc3iqRYhem',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    '3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX',
  ];
  // BIP 173 and BIP 350.
  const segwit = [
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs',
  ];

  test('known addresses pass; SegWit in capitals too, and is kept in small letters', async () => {
    for (const address of [...legacy, ...segwit]) expect(await isGood(address), address).toBe(true);
    expect(await check(wallet('BITCOIN', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'))).toEqual(
      wallet('BITCOIN', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'),
    );
  });

  test('no address passes with one character changed or two neighbours swapped', async () => {
    // In the gate one of each kind.
    for (const address of [...legacy, ...segwit].filter((_, place) => isProof || place % 3 === 0)) {
      expect(await taken(corruptions(address, ANY), isGood), address).toEqual([]);
      expect(await taken(transpositions(address), isGood), address).toEqual([]);
    }
  });

  test('the invalid addresses of BIP 173 and BIP 350 are refused', async () => {
    for (const address of [
      'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
      'BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2',
      'bc1rw5uspcuh',
      'bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90',
      'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7',
      'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du',
      'bc1gmk9yu',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
      'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
      'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4',
      'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
      'bc1pw5dgrnzv',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf',
    ]) {
      expect(await good('BITCOIN', true)(address), address).toBe(false);
    }
  });

  test('addresses of test networks are taken only where test networks are', async () => {
    for (const address of [
      'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
      '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
      'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    ]) {
      expect(await check(wallet('BITCOIN', address)), address).toEqual([
        'cryptoWallet.address is the address of a test network.',
      ]);
      expect(await good('BITCOIN', true)(address), address).toBe(true);
    }
  });

  test('generated addresses of every kind pass and their corruptions do not', async () => {
    const address = fc.oneof(
      fc
        .tuple(fc.constantFrom(0, 5), some)
        .map(([version, hash]) => base58check.encode(new Uint8Array([version, ...hash]))),
      fc.oneof(bytes(20), bytes(32)).map((program) => bech32.encode('bc', [0, ...bech32.toWords(program)])),
      fc
        .tuple(fc.integer({ min: 1, max: 16 }), fc.uint8Array({ minLength: 2, maxLength: 40 }))
        .map(([version, program]) => bech32m.encode('bc', [version, ...bech32m.toWords(program)])),
    );
    await fc.assert(
      fc.asyncProperty(address, async (text) => {
        expect(await isGood(text)).toBe(true);
        expect(await taken(corruptions(text, text.startsWith('bc1') ? BECH32 : BASE58), isGood)).toEqual([]);
        expect(await taken(transpositions(text), isGood)).toEqual([]);
      }),
      { numRuns: rounds(2, 15) },
    );
  });
});

describe('EVM chains', () => {
  const chains = ['ETHEREUM', 'BSC', 'POLYGON', 'ARBITRUM', 'BASE', 'OPTIMISM', 'AVALANCHEC'] as const;
  // EIP-55.
  const mixed = [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ];
  const oneCase = [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
  ];

  test('the examples of EIP-55 pass on every chain', async () => {
    for (const chain of chains) {
      for (const address of [...mixed, ...oneCase]) expect(await good(chain)(address), address).toBe(true);
    }
  });

  test('an address in one case is taken, and kept with its checksum', async () => {
    const [address = ''] = mixed;
    for (const text of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expect(await check(wallet('BASE', text))).toEqual(wallet('BASE', address));
    }
  });

  test('no address in mixed case passes with one character changed or two neighbours swapped', async () => {
    for (const address of mixed) {
      expect(await taken(corruptions(address, `${ANY}xX`), good('ETHEREUM')), address).toEqual([]);
      expect(await taken(transpositions(address), good('ETHEREUM')), address).toEqual([]);
    }
  });

  test('other lengths, other prefixes and the zero address are refused', async () => {
    const [address = ''] = mixed;
    for (const text of [
      address.slice(2),
      address.replace('0x', '0X'),
      address.slice(0, -1),
      `${address}0`,
      `${address} `,
      `0x${'0'.repeat(40)}`,
      'vitalik.eth',
    ]) {
      expect(await good('ETHEREUM')(text), text).toBe(false);
    }
  });
});

describe('TRON', () => {
  const isGood = good('TRON');
  const examples = [
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW',
    'TPYmHEhy5n8TCEfYGqW2rPxsghSfzghPDn',
  ];

  test('known addresses pass, and not with one character changed or two neighbours swapped', async () => {
    for (const address of examples) {
      expect(await isGood(address), address).toBe(true);
      expect(await taken(corruptions(address, ANY), isGood), address).toEqual([]);
      expect(await taken(transpositions(address), isGood), address).toEqual([]);
    }
  });

  test('only version 0x41 with 20 bytes is TRON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 255 }), some, async (version, hash) => {
        const address = base58check.encode(new Uint8Array([version, ...hash]));
        expect(await isGood(address)).toBe(version === 0x41);
      }),
    );
    expect(await isGood('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toBe(false);
    expect(await isGood('41a614f803b6fd780986a42c78ec9c7f77e6ded13c')).toBe(false);
    expect(await isGood(base58check.encode(new Uint8Array([0x41, ...new Uint8Array(20)])))).toBe(false);
  });
});

describe('TON', () => {
  const isGood = good('TON');
  const examples = [
    'EQBL2_3lMiyywU17g-or8N7v9hDmPCpttzBPE2isF2GTzpK4',
    'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHF',
    'UQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPuwA',
    'Ef9VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVbxn',
    'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff+W72r5gqPrHF',
  ];
  const raw = [
    '0:ca6e321c7cce9ecedf0a8ca2492ec8592494aa5fb5ce0387dff96ef6af982a3e',
    '-1:e56754f83426f69b09267bd876ac97c44821345b7e266bd956a7bfbfb98df35c',
  ];

  test('known addresses pass in both alphabets, and raw ones', async () => {
    for (const address of [...examples, ...raw]) expect(await isGood(address), address).toBe(true);
  });

  test('no user-friendly address passes with one character changed or two neighbours swapped', async () => {
    for (const address of examples) {
      // Where the alphabets differ in one character only, the other alphabet is the same address.
      const other = (old: string) => [...ANY].filter((one) => !['-+', '+-', '_/', '/_'].includes(old + one)).join('');
      expect(await taken(corruptions(address, other), isGood), address).toEqual([]);
      expect(await taken(transpositions(address), isGood), address).toEqual([]);
    }
  });

  test('generated addresses: tag, workchain and checksum each decide', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0x11, 0x51, 0x91, 0xd1, 0x12, 0x00),
        fc.constantFrom(0, -1, 1, -2),
        bytes(32).filter((hash) => hash.some((byte) => byte !== 0)),
        async (tag, workchain, hash) => {
          const body = Buffer.from([tag, workchain & 0xff, ...hash]);
          const text = Buffer.concat([body, xmodem(body)]).toString('base64url');
          const known = [0x11, 0x51, 0x91, 0xd1].includes(tag) && workchain <= 0 && workchain >= -1;
          expect(await isGood(text)).toBe(known && tag < 0x80);
          expect(await good('TON', true)(text)).toBe(known);
          if (known && tag < 0x80) expect(await taken(corruptions(text, `${DIGITS}AZaz-_`), isGood)).toEqual([]);
        },
      ),
      { numRuns: rounds(4, 40) },
    );
  });

  test('raw addresses of other workchains or lengths, mixed alphabets and nobody are refused', async () => {
    for (const address of [
      `1:${'ab'.repeat(32)}`,
      `0:${'ab'.repeat(31)}`,
      `0:${'0'.repeat(64)}`,
      `0:${'zz'.repeat(32)}`,
      ':',
      'EQBL2_3lMiyywU17g+or8N7v9hDmPCpttzBPE2isF2GTzpK4',
      'EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c',
    ]) {
      expect(await isGood(address), address).toBe(false);
    }
  });
});

describe('Solana', () => {
  const isGood = good('SOLANA');

  test('32 bytes in base58 pass, and nothing else', async () => {
    for (const address of [
      'So11111111111111111111111111111111111111112',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
    ]) {
      expect(await isGood(address), address).toBe(true);
      expect(await isGood(`${address} `)).toBe(false);
      expect(await taken(corruptions(address, '0OIl+/ '), isGood), address).toEqual([]);
    }
    expect(await isGood('1'.repeat(32))).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 30, maxLength: 34 }), async (key) => {
        const isKey = key.length === 32 && key.some((byte) => byte !== 0);
        expect(await isGood(base58.encode(key))).toBe(isKey);
      }),
    );
  });
});

describe('Avalanche X', () => {
  const isGood = good('AVALANCHEX');
  const example = 'X-avax1tzdcgj4ehsvhhgpl7zylwpw0gl2rxcg4r5afk5';

  test('generated addresses pass and their corruptions do not', async () => {
    await fc.assert(
      fc.asyncProperty(bytes(20), async (hash) => {
        const address = `X-${bech32.encode('avax', bech32.toWords(hash))}`;
        expect(await isGood(address)).toBe(true);
        expect(await taken(corruptions(address, `${BECH32}X-1`), isGood)).toEqual([]);
        expect(await taken(transpositions(address), isGood)).toEqual([]);
      }),
      { numRuns: rounds(2, 20) },
    );
  });

  test('other chains, networks, checksums and lengths are refused', async () => {
    expect(await isGood(example)).toBe(true);
    const words = bech32.toWords(new Uint8Array(20).fill(7));
    for (const address of [
      example.slice(2),
      example.replace('X-', 'P-'),
      example.replace('X-', 'C-'),
      `X-${bech32m.encode('avax', words)}`,
      `X-${bech32.encode('bc', words)}`,
      `X-${bech32.encode('fuji', words)}`,
      `X-${bech32.encode('avax', bech32.toWords(new Uint8Array(32).fill(7)))}`,
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ]) {
      expect(await isGood(address), address).toBe(false);
    }
    expect(await good('AVALANCHEX', true)(`X-${bech32.encode('fuji', words)}`)).toBe(true);
  });
});

/** An independent CRC-16/XMODEM, bit by bit over the whole message. */
function xmodem(body: Buffer): Buffer {
  let crc = 0n;
  for (const byte of body) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const out = ((crc >> 15n) & 1n) ^ BigInt((byte >> bit) & 1);
      crc = ((crc << 1n) & 0xffffn) ^ (out ? 0x1021n : 0n);
    }
  }
  return Buffer.from([Number(crc >> 8n), Number(crc & 0xffn)]);
}

describe('an address whose bytes are all zeros', () => {
  const none = (length: number) => new Uint8Array(length);
  const ton = (() => {
    const body = Buffer.concat([Buffer.from([0x11, 0]), none(32)]);
    const sum = Buffer.alloc(2);
    sum.writeUInt16BE(crc16(body, 0));
    return Buffer.concat([body, sum]).toString('base64url');
  })();

  test.each<[string, WalletType, string]>([
    ['public key hash', 'BITCOIN', base58check.encode(none(21))],
    ['script hash', 'BITCOIN', base58check.encode(Uint8Array.of(5, ...none(20)))],
    ['SegWit version 0', 'BITCOIN', bech32.encode('bc', [0, ...bech32.toWords(none(20))])],
    ['SegWit script', 'BITCOIN', bech32.encode('bc', [0, ...bech32.toWords(none(32))])],
    ['Taproot', 'BITCOIN', bech32m.encode('bc', [1, ...bech32m.toWords(none(32))])],
    ['EVM', 'BASE', `0x${'0'.repeat(40)}`],
    ['X chain', 'AVALANCHEX', `X-${bech32.encode('avax', bech32.toWords(none(20)))}`],
    ['C chain', 'AVALANCHEC', `0x${'0'.repeat(40)}`],
    ['Solana', 'SOLANA', base58.encode(none(32))],
    ['TRON', 'TRON', base58check.encode(Uint8Array.of(0x41, ...none(20)))],
    ['TON', 'TON', ton],
    ['TON, raw', 'TON', `0:${'0'.repeat(64)}`],
  ])('is refused: %s', async (_name, type, address) => {
    expect(await check(wallet(type, address))).toEqual(['cryptoWallet.address is an address without an owner.']);
  });
});
