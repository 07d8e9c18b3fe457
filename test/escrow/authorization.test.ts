import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder, type Instruction, lamports } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { beforeEach, describe, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import {
  type AuthorizationTerms,
  authorizationPlace,
  capturePartInstruction,
  expectedOf,
  recoverAuthorizationInstruction,
} from '../../src/escrow/authorization.ts';
import { consentInstruction, consentMessage, ED25519_PROGRAM } from '../../src/escrow/consent.ts';
import { capturePartInstruction as captureIntentPart } from '../../src/escrow/program.ts';
import { isVerified, verifyAuthorization } from '../../src/escrow/verify.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { AMOUNT, GENESIS, type OpenAuthorization, openAuthorization } from './authorization-scene.ts';
import { agreeableElf } from './deployment/scene.ts';
import { codeOf } from './program-attack.ts';
import { openEscrow, withAccount, withData } from './program-scene.ts';
import {
  AUTHORIZATION_RENT,
  createWorld,
  DAY,
  type Person,
  person,
  START,
  signing,
  TOKEN_RENT,
  type World,
} from './program-world.ts';
import type { EscrowRefusalName } from './refusals.ts';

/** Authorizations: who may do what to the money, until when, and once. */

const HELD = 1_000_000_000n;
const READONLY = 0;
let world: World;
let one: OpenAuthorization;
beforeEach(async () => {
  world = await createWorld();
  world.putToken(await world.walletOf(world.treasury.address), world.treasury.address, 0n);
  one = await openAuthorization(world);
});

const balance = async (of: Person) => world.tokensOf(await world.walletOf(of.address)) ?? 0n;
const balances = async () => [await balance(world.traveller), await balance(world.treasury), world.tokensOf(one.vault)];
const ok = async (list: readonly Instruction[], ...signers: Person[]) => {
  const { result, logs, units } = await world.send(list, ...signers);
  expect({ result, logs: result === 'ok' ? [] : logs }).toEqual({ result: 'ok', logs: [] });
  return units;
};
/** Refused for that reason, and nothing that it could touch has changed. */
async function refused(name: EscrowRefusalName | number, list: readonly Instruction[], ...signers: Person[]) {
  const touched = new Set(list.flatMap(({ accounts = [] }) => accounts.map(({ address }) => address)));
  touched.delete(world.bank.address);
  const before = world.snapshot([...touched]);
  const { result, logs } = await world.send(list, ...signers);
  const code = typeof name === 'number' ? name : codeOf(name);
  expect({ result, logs: result === code ? [] : logs }).toEqual({ result: code, logs: [] });
  expect(world.snapshot([...touched])).toBe(before);
}
const operator = () => world.authority;
const open = async (change: Partial<AuthorizationTerms> = {}) => {
  one = await openAuthorization(world, change);
  expect((await one.open()).result).toBe('ok');
};

describe('authorize', () => {
  test('opens and funds at the address of its terms, without the operator', async () => {
    const had = world.lamportsOf(world.stranger.address);
    await ok(one.authorize, world.traveller, world.stranger);
    expect(one.read()).toEqual({
      ...{
        kind: 'authorization',
        address: one.escrow,
        programId: ESCROW_PROGRAM_ID,
        state: 'open',
        neverFunded: false,
      },
      ...{ salt: one.salt, authority: world.authority.address, mint: world.mint, treasury: world.treasury.address },
      ...{ refundOwner: world.traveller.address, rentPayer: world.stranger.address, vault: one.vault, amount: AMOUNT },
      ...{ refundAfter: START + DAY, openedAt: START, endedAt: 0n, receiverAuthorizer: one.authorizer.address },
      ...{ captured: 0n, refunded: 0n, refundDeadline: START + 3n * DAY },
    });
    expect(await balances()).toEqual([HELD - AMOUNT, 0n, AMOUNT]);
    expect(had - world.lamportsOf(world.stranger.address)).toBe(AUTHORIZATION_RENT + TOKEN_RENT);
    const seen = { cluster: world.cluster, terms: one.terms, programId: ESCROW_PROGRAM_ID, genesis: GENESIS };
    expect(isVerified(await verifyAuthorization({ ...seen, captured: 0n, refunded: 0n }))).toBe(true);
    const elsewhere = await verifyAuthorization({ ...seen, genesis: '11111111111111111111111111111111' });
    expect(elsewhere.filter(({ ok: isSo }) => !isSo).map(({ check }) => check)).toEqual(['genesis']);
    const other = await verifyAuthorization({ ...seen, terms: { ...one.terms, amount: 1n } });
    expect(isVerified(other)).toBe(false);
    expect(isVerified(await verifyAuthorization({ ...seen, captured: 1n }))).toBe(false);
  });

  test('every term makes another address', async () => {
    const { terms } = one;
    const changes: Partial<AuthorizationTerms>[] = [
      { genesis: '11111111111111111111111111111111' },
      { nonce: new Uint8Array(32) },
      { payer: world.bank.address },
      { mint: world.otherMint },
      { amount: 1n },
      { captureDeadline: 1n },
      { refundDeadline: 1n },
      { operator: world.bank.address },
      { payTo: world.bank.address },
      { receiverAuthorizer: world.bank.address },
    ];
    expect(Object.keys(terms).sort()).toEqual(changes.flatMap((each) => Object.keys(each)).sort());
    const places = await Promise.all(
      changes.map((each) => authorizationPlace({ ...terms, ...each }, ESCROW_PROGRAM_ID)),
    );
    expect(new Set([one.escrow, ...places.map(({ escrow }) => escrow)]).size).toBe(changes.length + 1);
    const [, authorize] = one.authorize as [Instruction, Instruction];
    const data = new Uint8Array(authorize.data ?? []);
    // One byte in each term: the address is not that of the terms any more.
    for (const at of [1, 33, 65, 73, 81, 89, 121, 153]) {
      const changed = withData(authorize, data.with(at, (data[at] ?? 0) ^ 1));
      await refused('wrong_state_address', [one.authorize[0] as Instruction, changed], world.traveller, world.stranger);
    }
  });

  test('is refused where a term is none', async () => {
    for (const [name, change] of [
      ['amount_zero', { amount: 0n }],
      ['deadline_not_ahead', { captureDeadline: START }],
      ['deadlines_reversed', { refundDeadline: START + DAY - 1n }],
      ['parties_equal', { payTo: world.traveller.address }],
      ['party_invalid', { operator: '11111111111111111111111111111111' as Address }],
      ['party_invalid', { payTo: '11111111111111111111111111111111' as Address }],
      ['party_invalid', { receiverAuthorizer: '11111111111111111111111111111111' as Address }],
    ] as const) {
      const bad = await openAuthorization(world, change);
      await refused(name, bad.authorize, world.traveller, world.stranger);
    }
    await open({ refundDeadline: START + DAY });
    await refused('already_open', one.authorize, world.traveller, world.stranger);
  });

  test('takes the money of the payer alone, and not what somebody lent him', async () => {
    const [vault, authorize] = one.authorize as [Instruction, Instruction];
    const theirs = await world.walletOf(world.stranger.address);
    const lend = getApproveInstruction({
      source: theirs,
      delegate: world.traveller.address,
      owner: world.stranger.address,
      amount: AMOUNT,
    });
    await ok([signing(lend, world.stranger.address)], world.stranger);
    for (const source of [theirs, one.vault, world.mint, world.traveller.address])
      await refused('source_unusable', [vault, withAccount(authorize, 4, source)], world.traveller, world.stranger);
    await refused(
      'missing_signature',
      [vault, withAccount(authorize, 0, world.traveller.address, READONLY)],
      world.stranger,
    );
    await refused('wrong_vault', [vault, withAccount(authorize, 3, theirs)], world.traveller, world.stranger);
    await refused(
      'wrong_token_program',
      [vault, withAccount(authorize, 6, ESCROW_PROGRAM_ID)],
      world.traveller,
      world.stranger,
    );
    world.putToken(await world.walletOf(world.traveller.address), world.traveller.address, AMOUNT - 1n);
    await refused(1, one.authorize, world.traveller, world.stranger);
  });

  test('dust at the address stops nothing and goes to the payer', async () => {
    const [vault] = one.authorize as [Instruction];
    await ok([vault], world.stranger);
    await world.pay(world.stranger, one.vault, 7n);
    world.svm.airdrop(one.escrow, lamports(5n));
    await ok(one.authorize, world.traveller, world.stranger);
    await ok(one.consented(await one.part(49_370_000n, true)), operator());
    expect(await balances()).toEqual([HELD - 49_370_000n + 7n, 49_370_000n, null]);
  });
});

describe('capture in part', () => {
  beforeEach(() => open());

  test('takes a part again and again until nothing is left', async () => {
    for (const [amount, left] of [
      [49_370_000n, 100_000_000n],
      [40_000_000n, 60_000_000n],
    ] as const) {
      await ok(one.consented(await one.part(amount, false)), operator());
      expect(one.read()).toMatchObject({ state: 'open', captured: AMOUNT - left });
      expect(await balances()).toEqual([HELD - AMOUNT, AMOUNT - left, left]);
    }
    const had = world.lamportsOf(world.stranger.address);
    await ok(one.consented(await one.part(60_000_000n, false)), operator());
    expect(one.read()).toMatchObject({ state: 'captured', captured: AMOUNT, endedAt: START });
    expect(await balances()).toEqual([HELD - AMOUNT, AMOUNT, null]);
    expect(world.lamportsOf(world.stranger.address) - had).toBe(TOKEN_RENT);
  });

  test('releases the rest in the same instruction', async () => {
    await ok(one.consented(await one.part(49_370_000n, true)), operator());
    expect(await balances()).toEqual([HELD - 49_370_000n, 49_370_000n, null]);
    expect(one.read()).toMatchObject({ state: 'captured', captured: 49_370_000n });
    expect(expectedOf(one.read())).toEqual({ capturable: 0n, refundable: 49_370_000n });
  });

  test('leaves the rest to a sweep where the payer cannot take it', async () => {
    await ok(one.consented(await one.part(49_370_000n, true, { leaves: true })), operator());
    expect(await balances()).toEqual([HELD - AMOUNT, 49_370_000n, 100_000_000n]);
    await ok((await one.close(operator().address, true)).slice(0, 2));
    expect(await balances()).toEqual([HELD - 49_370_000n, 49_370_000n, null]);
  });

  test('takes no more than there is, nothing for nothing, and nothing from the deadline on', async () => {
    await refused('amount_exceeds', one.consented(await one.part(AMOUNT + 1n, false)), operator());
    await refused('amount_exceeds', one.consented(await one.part(2n ** 64n - 1n, true)), operator());
    await refused('amount_zero', one.consented(await one.part(0n, true)), operator());
    world.at(START + DAY - 1n);
    await ok(one.consented(await one.part(1n, false)), operator());
    world.at(START + DAY);
    await refused('deadline_passed', one.consented(await one.part(1n, false)), operator());
  });

  test('pays the receiver and the payer alone, by the operator alone', async () => {
    const list = await one.part(1n, true);
    const capture = list.at(-1) as Instruction;
    const theirs = await world.walletOf(world.stranger.address);
    const bySigner = (changed: Instruction) => [withAccount(changed, 7, one.authorizer.address, 2)];
    const signers = [operator(), one.authorizer];
    await refused('destination_wrong_owner', bySigner(withAccount(capture, 3, theirs)), ...signers);
    await refused('destination_wrong_owner', bySigner(withAccount(capture, 4, theirs)), ...signers);
    await refused('destination_is_vault', bySigner(withAccount(capture, 3, one.vault)), ...signers);
    await refused('wrong_rent_payer', bySigner(withAccount(capture, 5, operator().address)), ...signers);
    await refused('wrong_authority', bySigner(withAccount(capture, 0, one.authorizer.address)), one.authorizer);
    await refused('missing_signature', bySigner(withAccount(capture, 0, operator().address, READONLY)), one.authorizer);
    await ok(bySigner(capture), ...signers);
  });

  test('is not done by the capture of old, which knows neither consent nor deadline', async () => {
    const capture = (await one.part(1n, true)).at(-1) as Instruction;
    const old = { ...withData(capture, Uint8Array.of(1)), accounts: (capture.accounts ?? []).slice(0, 7) };
    await refused('wrong_layout', [old], operator());
    const withoutConsent = { ...capture, accounts: (capture.accounts ?? []).slice(0, 7) };
    await refused('wrong_layout', [withoutConsent], operator());
  });
});

describe('the consent of the receiver', () => {
  beforeEach(() => open());
  const other = () => openAuthorization(world, { nonce: new Uint8Array(32) });

  test('is a signature of the transaction, or an Ed25519 instruction directly before', async () => {
    const list = await one.part(1n, false, { consentBy: one.authorizer.address });
    await ok(list, operator(), one.authorizer);
    await ok(one.consented(await one.part(1n, false)), operator());
    await refused('not_consented', await one.part(1n, false), operator());
    const unsigned = withAccount(list.at(-1) as Instruction, 7, one.authorizer.address, READONLY);
    const data = new Uint8Array(unsigned.data ?? []);
    new DataView(data.buffer).setBigUint64(10, AMOUNT - 2n, true);
    new DataView(data.buffer).setBigUint64(18, 2n, true);
    await refused('not_consented', [withData(unsigned, data)], operator());
    await refused('not_consented', [withAccount(withData(unsigned, data), 7, operator().address, 2)], operator());
  });

  test('serves once, and for what it says alone', async () => {
    const list = one.consented(await one.part(50n, false));
    await ok(list, operator());
    await refused('balances_differ', list, operator());
    const [, consent, capture] = one.consented(await one.part(50n, false)) as [Instruction, Instruction, Instruction];
    for (const at of [1, 9, 33]) {
      const data = new Uint8Array(capture.data ?? []);
      data[at] = (data[at] ?? 0) ^ 1;
      await refused('not_consented', [consent, withData(capture, data)], operator());
    }
    await refused('not_consented', [capture, consent], operator());
    await refused('not_consented', [consent, ...one.authorize.slice(0, 1), capture], operator(), world.stranger);
    await refused('not_consented', [...one.authorize.slice(0, 1), capture], operator(), world.stranger);
    const second = await other();
    expect((await second.open()).result).toBe('ok');
    // The same amounts and the same time: another escrow.
    await ok(second.consented(await second.part(50n, false)), operator());
    const its = second.consented(await second.part(50n, false)).at(-2) as Instruction;
    await refused('not_consented', [its, capture], operator());
  });

  test('ends with its last second', async () => {
    const list = one.consented(await one.part(50n, false, { validUntil: START + 10n }));
    world.at(START + 11n);
    await refused('consent_expired', list, operator());
    world.at(START + 10n);
    await ok(list, operator());
  });

  test('is not taken from another form of the Ed25519 instruction', async () => {
    const capture = (await one.part(50n, false)).at(-1) as Instruction;
    const message = consentMessage(capture, one.read().openedAt);
    const authorizer = one.authorizer.address;
    const genuine = consentInstruction({ authorizer, message, signature: one.sign(message) });
    const data = new Uint8Array(genuine.data ?? []);
    const changed = (change: (view: DataView) => void, bytes = data) => {
      const copy = bytes.slice();
      change(new DataView(copy.buffer));
      return { ...genuine, data: copy };
    };
    const stranger = signerFromSeed(createHash('sha256').update('stranger').digest());
    const signed = { authorizer: stranger.address, message, signature: stranger.sign(message) };
    await refused('not_consented', [consentInstruction(signed), capture], operator());
    // The stranger signs his own words; what the program would read is only beside them.
    const words = new TextEncoder().encode('his own words');
    const { data: his = [] } = consentInstruction({
      ...{ authorizer: world.stranger.address, message: words, signature: new Uint8Array(64) },
    });
    const forms: Instruction[] = [
      // No signature is checked at all.
      changed((view) => view.setUint8(0, 0)),
      // Offsets that name the same instruction by its number.
      ...[4, 8, 14].map((at) => changed((view) => view.setUint16(at, 0, true))),
      changed((view) => view.setUint8(1, 1)),
      { ...genuine, data: Uint8Array.of(...data, 0) },
      { ...genuine, data: Uint8Array.of(...his) },
    ];
    for (const form of forms) {
      const { result } = await world.send([form, capture], operator());
      // Refused by the precompile, or by the program.
      expect(result).not.toBe('ok');
    }
    expect(one.read().captured).toBe(0n);
    // A list of instructions that somebody wrote himself.
    const forged = (await person('forged list')).address;
    const { data: unsigned = [] } = consentInstruction({ authorizer, message, signature: new Uint8Array(64) });
    const list = new Uint8Array(6 + 2 + 32 + 2 + unsigned.length + 2);
    const view = new DataView(list.buffer);
    for (const [at, value] of [
      [0, 2],
      [2, 6],
      [40, unsigned.length],
      [list.length - 2, 1],
    ] as const)
      view.setUint16(at, value, true);
    list.set(getAddressEncoder().encode(ED25519_PROGRAM), 8);
    list.set(unsigned, 42);
    world.put(forged, world.bank.address, list);
    await refused('not_consented', [withAccount(capture, 7, forged)], operator());
    // Bytes that look signed, for a program that agrees to everything.
    const agrees = (await person('agrees')).address;
    world.svm.addProgram(agrees, agreeableElf());
    await refused('not_consented', [{ ...genuine, programAddress: agrees }, capture], operator());
    expect(genuine.programAddress).toBe(ED25519_PROGRAM);
    await ok([genuine, capture], operator());
  });

  test('does not serve the next life of an address', async () => {
    const voids = one.consented(await one.void());
    await ok(voids, operator());
    await refused('close_too_early', await one.close(), operator());
    world.at(START + 1n);
    await ok(await one.close(), operator());
    await ok(one.authorize, world.traveller, world.stranger);
    await refused('not_consented', voids, operator());
    await ok(one.consented(await one.void()), operator());
  });
});

describe('the money goes back', () => {
  beforeEach(() => open());

  test('by a void, with the consent of the receiver', async () => {
    await ok(one.consented(await one.part(49_370_000n, false)), operator());
    const list = await one.void();
    await refused('not_consented', list, operator());
    const bare = { ...withData(list.at(-1) as Instruction, Uint8Array.of(2)) };
    await refused('refund_not_due', [{ ...bare, accounts: (bare.accounts ?? []).slice(0, 6) }], operator());
    const unsigned = withAccount(list.at(-1) as Instruction, 0, operator().address, READONLY);
    await refused('missing_signature', one.consented([unsigned]));
    await ok(one.consented(list), operator());
    expect(await balances()).toEqual([HELD - 49_370_000n, 49_370_000n, null]);
    expect(one.read()).toMatchObject({ state: 'refunded', captured: 49_370_000n, neverFunded: false });
    await refused('not_open', one.consented(await one.void()), operator());
  });

  test('by anybody from the capture deadline on', async () => {
    world.at(START + DAY - 1n);
    await refused('refund_not_due', await one.reclaim());
    world.at(START + DAY);
    await ok(await one.reclaim());
    expect(await balances()).toEqual([HELD, 0n, null]);
    await ok(await one.close(world.stranger.address), world.stranger);
    expect(one.found()).toBeNull();
  });

  test('by a refund of what was captured, from the account of whoever signs for it, until its deadline', async () => {
    await ok(one.consented(await one.part(49_370_000n, true)), operator());
    world.at(START + 2n * DAY);
    const signers = [operator(), world.treasury];
    await refused('amount_exceeds', one.consented(await one.refund(49_370_001n)), ...signers);
    await refused('amount_zero', one.consented(await one.refund(0n)), ...signers);
    const list = one.consented(await one.refund(9_370_000n));
    const last = list.at(-1) as Instruction;
    await refused(
      'missing_signature',
      one.consented([withAccount(last, 3, world.treasury.address, READONLY)]),
      operator(),
    );
    const theirs = await world.walletOf(world.stranger.address);
    await refused('source_unusable', one.consented([withAccount(last, 2, theirs)]), ...signers);
    await refused('destination_wrong_owner', one.consented([withAccount(last, 4, theirs)]), ...signers);
    await refused(
      'source_unusable',
      one.consented(await one.refund(1n, { funder: world.traveller.address })),
      operator(),
      world.traveller,
    );
    await ok(list, ...signers);
    expect(one.read()).toMatchObject({ state: 'captured', captured: 49_370_000n, refunded: 9_370_000n });
    expect(await balance(world.traveller)).toBe(HELD - 40_000_000n);
    await refused('balances_differ', list, ...signers);
    world.at(START + 3n * DAY);
    await refused('deadline_passed', one.consented(await one.refund(1n)), ...signers);
  });

  test('and the account is closed when nothing can be refunded any more, by the operator or the payer of its rent', async () => {
    await refused('not_ended', await one.close(), operator());
    await ok(one.consented(await one.part(49_370_000n, true)), operator());
    world.at(START + 3n * DAY - 1n);
    await refused('close_too_early', await one.close(), operator());
    world.at(START + 3n * DAY);
    await refused('wrong_authority', await one.close(world.traveller.address), world.traveller);
    world.putToken(one.vault, one.escrow, 3n);
    await refused('vault_still_there', await one.close(), operator());
    const had = world.lamportsOf(world.stranger.address);
    await ok(await one.close(world.stranger.address, true), world.stranger);
    expect(world.lamportsOf(world.stranger.address) - had).toBe(AUTHORIZATION_RENT + TOKEN_RENT);
    // Late money is the payer's, by the terms.
    world.putToken(one.vault, one.escrow, 5n);
    const before = await balance(world.traveller);
    const refundAccount = await world.walletOf(world.traveller.address);
    const recover = recoverAuthorizationInstruction({
      ...one.terms,
      ...one,
      programId: ESCROW_PROGRAM_ID,
      refundAccount,
    });
    await refused('wrong_state_address', [withAccount(recover, 3, world.stranger.address)]);
    await ok([recover]);
    expect((await balance(world.traveller)) - before).toBe(5n);
  });
});

test('an intent is captured in part before refund_after, with the rest released, and remembers how much', async () => {
  const escrow = await openEscrow(world, 'int_1', { amount: AMOUNT, pays: AMOUNT + 2n });
  const had = await balance(world.traveller);
  const part = (amount: bigint, total = AMOUNT) => captureIntentPart({ ...escrow, amount, total });
  await refused('part_invalid', [part(AMOUNT)], operator());
  const kept = part(49_370_000n);
  const data = new Uint8Array(kept.data ?? []);
  await refused('part_invalid', [withData(kept, data.with(9, 0))], operator());
  await refused('amount_zero', [part(0n)], operator());
  await refused('balances_differ', [part(49_370_000n, AMOUNT - 1n)], operator());
  await refused('missing_signature', [withAccount(kept, 0, operator().address, READONLY)]);
  world.at(START + DAY);
  await refused('deadline_passed', [kept], operator());
  world.at(START + 5n);
  const short = await openEscrow(world, 'int_2', { amount: AMOUNT, pays: AMOUNT - 1n });
  await refused('underfunded', [captureIntentPart({ ...short, amount: 1n, total: AMOUNT })], operator());
  const intentOnly = await one.open();
  expect(intentOnly.result).toBe('ok');
  const onIntent = capturePartInstruction({
    ...{ ...escrow, amount: 1n, release: true, consentBy: null, expected: { capturable: AMOUNT, refundable: 0n } },
  });
  await refused('wrong_layout', [onIntent], operator());
  const taken = await balance(world.treasury);
  const before = await balance(world.traveller);
  const { result, units, logs } = await world.send([kept], operator());
  expect([result, units < 8_000n]).toEqual(['ok', true]);
  // Two transfers, and the end of the vault.
  expect(logs.filter((line) => line.endsWith('invoke [2]'))).toHaveLength(3);
  expect((await balance(world.treasury)) - taken).toBe(49_370_000n);
  expect((await balance(world.traveller)) - before).toBe(AMOUNT + 2n - 49_370_000n);
  expect(had).toBeGreaterThan(0n);
  expect(escrow.read()).toMatchObject({ state: 'captured', captured: 49_370_000n, amount: AMOUNT, openedAt: null });
  await refused('not_open', [kept], operator());
  escrow.reviveVault(4n);
  await ok([escrow.sweep]);
  world.at(START + 5n + 30n * DAY);
  await ok([escrow.close], operator());
});
