import type { Address } from '@solana/kit';
import { expect, test } from 'vitest';
import { decodeEscrow, escrowIn, readEscrow } from '../../src/escrow/account.ts';
import { commitsTo, ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';

/** Accounts as anybody can make them: what is read as an escrow has its size, its name, its version and its program. */

const AT = 'So11111111111111111111111111111111111111112' as Address;
const OTHER = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

function state(change: (data: Uint8Array) => void = () => undefined): Uint8Array {
  const data = new Uint8Array(272);
  data.set(new TextEncoder().encode('FARELOCK'));
  data[8] = 1;
  data[9] = 1;
  new DataView(data.buffer).setBigUint64(240, 99_450_000n, true);
  change(data);
  return data;
}

test('the layout is read as it is written', () => {
  expect(decodeEscrow(AT, ESCROW_PROGRAM_ID, state())).toMatchObject({
    ...{ address: AT, state: 'open', neverFunded: false, amount: 99_450_000n },
  });
  const states = [2, 3].map(
    (value) =>
      decodeEscrow(
        AT,
        ESCROW_PROGRAM_ID,
        state((data) => (data[9] = value)),
      )?.state,
  );
  expect(states).toEqual(['captured', 'refunded']);
  expect(
    decodeEscrow(
      AT,
      ESCROW_PROGRAM_ID,
      state((data) => (data[11] = 1)),
    )?.neverFunded,
  ).toBe(true);
});

test.each<[string, Uint8Array]>([
  ['shorter', state().slice(0, 271)],
  ['longer', new Uint8Array([...state(), 0])],
  ['of another version', state((data) => (data[8] = 2))],
  ['of another name', state((data) => (data[0] = 0x66))],
  ['of another name at its end', state((data) => (data[7] = 0))],
  ['in a state that there is not', state((data) => (data[9] = 4))],
  ['in no state', state((data) => (data[9] = 0))],
  ['nothing', new Uint8Array()],
])('bytes that are %s are no escrow', (_what, data) => {
  expect(decodeEscrow(AT, ESCROW_PROGRAM_ID, data)).toBeNull();
});

test('an escrow is the program’s: bytes that somebody copied are none', async () => {
  const account = (owner: Address) => ({ address: AT, owner, data: state(), lamports: 1n, executable: false });
  expect(escrowIn(account(ESCROW_PROGRAM_ID), [ESCROW_PROGRAM_ID])?.address).toBe(AT);
  expect(escrowIn(account(OTHER), [ESCROW_PROGRAM_ID])).toBeNull();
  expect(escrowIn(null, [ESCROW_PROGRAM_ID])).toBeNull();
  const asked: (readonly Address[])[] = [];
  const cluster = {
    accounts: async (addresses: readonly Address[]) => {
      asked.push(addresses);
      return [account(ESCROW_PROGRAM_ID)];
    },
  };
  expect((await readEscrow(cluster as never, AT, [ESCROW_PROGRAM_ID]))?.amount).toBe(99_450_000n);
  expect(asked).toEqual([[AT]]);
});

test('an id of another form names nobody', () => {
  for (const id of ['', 'int_1', `int_${'0'.repeat(25)}`, `int_${'U'.repeat(26)}`, `ref_${'0'.repeat(26)}`])
    expect([id, commitsTo(id, OTHER)]).toEqual([id, false]);
});
