import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import {
  AddressLookupTableProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import Sqlite from 'libsql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { minimumRent } from '../../src/solana/transaction.ts';
import { manualClock } from '../clock.ts';

/** What the embedded cluster runs besides plain transfers: durable nonces, lookup tables, and their attacks. */

const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address;
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112' as Address;
const alice = Keypair.fromSeed(new Uint8Array(32).fill(61));
const bob = Keypair.fromSeed(new Uint8Array(32).fill(62));

let folder: string;
let path: string;
let cluster: EmbeddedCluster;
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-programs-'));
  path = join(folder, 'ledger.db');
  clock = manualClock();
  cluster = await openEmbeddedCluster({ path, clock });
  await cluster.airdropSol(alice.publicKey.toBase58() as Address, 100_000_000_000n);
  clock.advance(4_000);
});
afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

async function signed(instructions: TransactionInstruction[], signers: Keypair[] = [], blockhash?: string) {
  const transaction = new Transaction().add(...instructions);
  transaction.feePayer = alice.publicKey;
  transaction.recentBlockhash = blockhash ?? (await cluster.latestBlockhash()).blockhash;
  transaction.sign(alice, ...signers);
  return new Uint8Array(transaction.serialize());
}
const send = async (...given: Parameters<typeof signed>) => cluster.send(await signed(...given));
const errorOf = async (sent: Promise<unknown>): Promise<unknown> => {
  const error = await sent.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return isProblem(error, 'transaction_failed') ? error.detail?.error : error;
};
const pay = (lamports: number, to = bob.publicKey) =>
  SystemProgram.transfer({ fromPubkey: alice.publicKey, toPubkey: to, lamports });
const account = (key: PublicKey) => cluster.ledger.account(key.toBase58() as Address);

describe('a durable nonce', () => {
  const nonce = Keypair.fromSeed(new Uint8Array(32).fill(63));
  const advance = (authority = alice) =>
    SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: authority.publicKey });
  const value = () => NonceAccount.fromAccountData(Buffer.from(account(nonce.publicKey)?.data ?? [])).nonce;

  beforeEach(async () => {
    const create = SystemProgram.createNonceAccount({
      fromPubkey: alice.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: alice.publicKey,
      lamports: Number(minimumRent(NONCE_ACCOUNT_LENGTH)),
    });
    await send(create.instructions, [nonce]);
    clock.advance(400);
  });

  test('keeps a transaction good for as long as nobody advances it', async () => {
    const first = value();
    const wire = await signed([advance(), pay(5_000_000)], [], first);
    clock.advance(3_600_000);
    expect((await cluster.simulate(wire)).err).toBeNull();
    await cluster.send(wire);
    expect(account(bob.publicKey)?.lamports).toBe(5_000_000n);
    expect(value()).not.toBe(first);
    // Another transaction of the nonce that was used.
    clock.advance(400);
    expect(await errorOf(send([advance(), pay(6_000_000)], [], first))).toBe('BlockhashNotFound');
  });

  test('is used up by a failure too, which pays', async () => {
    const first = value();
    const wire = await signed([advance(), pay(900_000_000_000)], [], first);
    const landed = await cluster.ledger.submit(wire, { skipPreflight: true });
    expect(landed.err).toEqual({ InstructionError: [1, { Custom: 1 }] });
    expect(value()).not.toBe(first);
    clock.advance(400);
    expect(await errorOf(send([advance(), pay(1_000_000)], [], first))).toBe('BlockhashNotFound');
  });

  test('advances once in a slot, whichever blockhash is used, and never comes back', async () => {
    const { blockhash } = await cluster.latestBlockhash();
    const seen = [value()];
    for (let count = 0; count < 4; count++) {
      // The same blockhash each time, as clients keep one for a while.
      await send([advance(), pay(1_000_000 + count)], [], blockhash);
      seen.push(value());
      expect(await errorOf(send([advance(), pay(2_000_000 + count)]))).toEqual({
        InstructionError: [0, { Custom: 7 }],
      });
      clock.advance(400);
    }
    expect(new Set(seen).size).toBe(5);
    const inProcess = value();
    await cluster.close();
    cluster = await openEmbeddedCluster({ path, clock });
    await send([advance(), pay(3_000_000)], [], inProcess);
    expect(value()).not.toBe(inProcess);
  });

  test('is nothing to whom it does not belong, or does not advance first', async () => {
    const mallory = Keypair.generate();
    expect(await errorOf(send([advance(mallory), pay(1)], [mallory], value()))).toBe('BlockhashNotFound');
    expect(await errorOf(send([pay(1), advance()], [], value()))).toBe('BlockhashNotFound');
    expect(await errorOf(send([pay(1)], [], value()))).toBe('BlockhashNotFound');
    const other = Keypair.generate().publicKey.toBase58();
    expect(await errorOf(send([advance(), pay(1)], [], other))).toBe('BlockhashNotFound');
  });
});

describe('an address lookup table', () => {
  const who = { authority: alice.publicKey, payer: alice.publicKey };
  let table: PublicKey;
  beforeEach(async () => {
    const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({
      ...who,
      recentSlot: cluster.ledger.now().slot - 1,
    });
    table = lookupTable;
    const extend = AddressLookupTableProgram.extendLookupTable({ ...who, lookupTable, addresses: [bob.publicKey] });
    await send([create, extend]);
  });

  const loading = async (indexes: { writable: number[]; readonly: number[] }, key = table) => {
    const message = new TransactionMessage({
      payerKey: alice.publicKey,
      recentBlockhash: (await cluster.latestBlockhash()).blockhash,
      instructions: [pay(7_000_000)],
    }).compileToV0Message();
    // Payer, bob, system program: bob comes from the table instead.
    message.staticAccountKeys.splice(1, 1);
    message.compiledInstructions[0]?.accountKeyIndexes.splice(0, 2, 0, 2);
    Object.assign(message.compiledInstructions[0] ?? {}, { programIdIndex: 1 });
    message.addressTableLookups.push({
      accountKey: key,
      writableIndexes: indexes.writable,
      readonlyIndexes: indexes.readonly,
    });
    const transaction = new VersionedTransaction(message);
    transaction.sign([alice]);
    return transaction.serialize();
  };

  test('lends its addresses from the next slot on, and they are part of the history', async () => {
    const early = await loading({ writable: [0], readonly: [] });
    expect(await errorOf(cluster.send(early))).toBe('InvalidAddressLookupTableIndex');
    clock.advance(400);
    const signature = await cluster.send(await loading({ writable: [0], readonly: [] }));
    expect(account(bob.publicKey)?.lamports).toBe(7_000_000n);
    const landed = cluster.ledger.landed(signature);
    expect(landed?.meta.loadedAddresses).toEqual({ writable: [bob.publicKey.toBase58()], readonly: [] });
    expect(landed?.meta.postBalances[2]).toBe('7000000');
    const range = { beforeSeq: Number.MAX_SAFE_INTEGER, untilSeq: 0, limit: 5 };
    expect(cluster.ledger.transactionsNaming(bob.publicKey.toBase58(), range)).toMatchObject([{ signature }]);
  });

  test('that is not there, is none, or ends sooner is refused before anything runs', async () => {
    clock.advance(400);
    const one = { writable: [0], readonly: [] };
    expect(await errorOf(cluster.send(await loading(one, Keypair.generate().publicKey)))).toBe(
      'AddressLookupTableNotFound',
    );
    expect(await errorOf(cluster.send(await loading(one, bob.publicKey)))).toBe('AddressLookupTableNotFound');
    expect(await errorOf(cluster.send(await loading(one, alice.publicKey)))).toBe('InvalidAddressLookupTableOwner');
    expect(await errorOf(cluster.send(await loading({ writable: [200], readonly: [] })))).toBe(
      'InvalidAddressLookupTableIndex',
    );
    expect(await errorOf(cluster.send(await loading({ writable: [0], readonly: [0] })))).toBe('AccountLoadedTwice');
    expect(await errorOf(cluster.send(await loading({ writable: [], readonly: [] })))).toBe('SanitizeFailure');
  });

  test('whose loan is read-only cannot be written to', async () => {
    clock.advance(400);
    expect(await errorOf(cluster.send(await loading({ writable: [], readonly: [0] })))).toMatchObject({
      InstructionError: [0, expect.anything()],
    });
    expect(account(bob.publicKey)).toBeNull();
  });

  test('in bytes that were changed anywhere never ends the process', { timeout: 60_000 }, async () => {
    clock.advance(400);
    const wire = await loading({ writable: [0], readonly: [] });
    const change = fc.record({ at: fc.nat({ max: wire.length - 1 }), to: fc.nat({ max: 255 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const bad = wire.slice();
        for (const { at, to } of changes) bad[at] = to;
        const tried = await cluster.ledger.tryOut(bad, { replaceBlockhash: true }).catch((error: unknown) => error);
        expect(tried).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });
});

test('an older ledger gets the programs and sysvars that it was made without, and keeps the rest', async () => {
  await cluster.close();
  const old = new Sqlite(path);
  const programs = `'${TOKEN_2022}', '${WRAPPED_SOL}', 'SysvarS1otHashes111111111111111111111111111'`;
  old.exec(`delete from accounts where address in (${programs});
    drop index transactions_of_slot; pragma user_version = 1`);
  old.close();
  cluster = await openEmbeddedCluster({ path, clock });
  for (const address of [TOKEN_2022, WRAPPED_SOL]) expect(cluster.ledger.account(address)).not.toBeNull();
  expect(cluster.ledger.account(alice.publicKey.toBase58() as Address)?.lamports).toBe(100_000_000_000n);
  expect(cluster.ledger.transactionCount(cluster.ledger.now().slot)).toBe(1);
});
