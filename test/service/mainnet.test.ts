import type { Address } from '@solana/kit';
import { expect, test } from 'vitest';
import { checkMainnetProgram, checkMainnetStart } from '../../src/service/program.ts';

/** What a service has to be before it takes real USDC. No provider satisfies it yet. */

const SANDBOX = { name: 'sandbox', isSandbox: true };
const AIRLINE = { name: 'airline', isSandbox: false };
const CAPS = { perPayment: 2_000_000_000n, perDay: 20_000_000_000n };
const KEY = 'FLKFgRHGErf3EwbLdxVUrACXZDrAhmgJmjawBzvQGq7B' as Address;

test.each([
  ['an invented airline', { sellers: [SANDBOX, null], isMeant: true, caps: CAPS }, 'sandbox_on_mainnet'],
  ['an invented second tier', { sellers: [AIRLINE, SANDBOX], isMeant: true, caps: CAPS }, 'sandbox_on_mainnet'],
  ['nobody who sells', { sellers: [null, null], isMeant: true, caps: CAPS }, 'sandbox_on_mainnet'],
  ['nobody who said so', { sellers: [AIRLINE, null], isMeant: false, caps: CAPS }, 'mainnet_not_confirmed'],
  ['no cap at all', { sellers: [AIRLINE, null], isMeant: true, caps: undefined }, 'mainnet_not_confirmed'],
  [
    'no cap for a day',
    { sellers: [AIRLINE, null], isMeant: true, caps: { ...CAPS, perDay: null } },
    'mainnet_not_confirmed',
  ],
])('mainnet with %s is refused', (_what, given, code) => {
  expect(() => checkMainnetStart(given)).toThrow(expect.objectContaining({ code }));
});

test('a real airline, said and capped, may start; its program is final or of a key that is accepted', () => {
  expect(() => checkMainnetStart({ sellers: [AIRLINE, null], isMeant: true, caps: CAPS })).not.toThrow();
  const found = { kind: 'present', isShipped: true, isPrevious: false, slot: 1n, size: 1 } as const;
  expect(() => checkMainnetProgram({ ...found, upgradeAuthority: null }, [])).not.toThrow();
  expect(() => checkMainnetProgram({ ...found, upgradeAuthority: KEY }, [KEY])).not.toThrow();
  expect(() => checkMainnetProgram({ ...found, upgradeAuthority: KEY }, [])).toThrow(
    expect.objectContaining({ code: 'mainnet_not_confirmed' }),
  );
});
