import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import type { Address } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../src/solana/json-rpc/index.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import type { Intent, Offer } from '../../src/wire/flights/index.ts';
import { runningClock } from '../flights/world.ts';
import { webOf } from '../web.ts';
import { ANA, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/**
 * The operator is gone for good, in the middle of a booking: nothing answers at the service's address, and the cluster
 * is all that is left. Another machine, with another wallet and nothing but the intent's id, brings the money back.
 */
const clock = runningClock();
const traveller = temporaryHome();
const stranger = temporaryHome();
const run = (line: string, environment: Record<string, string>): Promise<MemoryRun> =>
  runInMemory(line.split(' '), { clock, environment });
const booking = (line: string) =>
  run(line, { FARELOCK_HOME: traveller.home, FARELOCK_SCENARIO: 'ticketing_slow', FARELOCK_TICKETING_MS: '90000000' });

let cluster: EmbeddedCluster;
let stop: () => void;
let alone: (line: string) => Promise<MemoryRun>;
let unpaid: string;
let paid: Intent;
let source: Address;
let url: string;

const offers: Offer[] = [];
async function lock(): Promise<string> {
  const made = await booking(`intent ${offers.shift()?.offer_id} --json`);
  expect(made.exitCode, made.stdout).toBe(0);
  return String(made.json().intent_id);
}

beforeAll(async () => {
  const passengers = join(traveller.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([ANA]));
  const found = await booking('search LIS BER --depart +30d --no-wait --json');
  offers.push(...(found.json().offers as Offer[]).filter((offer) => offer.total_currency === 'USD'));
  unpaid = await lock();
  const booked = await booking(`book ${await lock()} --passengers ${passengers} --yes --no-wait --json`);
  expect(booked.exitCode, booked.stdout).toBe(0);
  paid = booked.json() as unknown as Intent;
  source = await associatedTokenAddress(paid.refund_wallet as Address, DEVNET_USDC);

  cluster = await openEmbeddedCluster({ path: join(traveller.home, 'ledger.db'), clock });
  const rpc = webOf(createJsonRpc(cluster));
  url = await new Promise<string>((resolve) => {
    const server = serve({ fetch: (request) => rpc(request), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}/`),
    );
    stop = () => server.close();
  });
  alone = (line) =>
    run(line, {
      FARELOCK_HOME: stranger.home,
      FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9',
      FARELOCK_RPC_URL: url,
      FARELOCK_KEYPAIR: join(stranger.home, 'me.json'),
    });
  expect((await alone('wallet new --json')).exitCode).toBe(0);
  expect((await alone('wallet airdrop --sol 1 --json')).exitCode).toBe(0);
});
afterAll(async () => {
  stop();
  await cluster.close();
  traveller.close();
  stranger.close();
});

describe('while the service is silent', () => {
  test.each(['status', 'intent show'])('%s says what the chain says', async (command) => {
    const shown = await alone(`${command} ${paid.intent_id} --json`);
    expect(shown.exitCode, shown.stdout).toBe(0);
    expect(shown.json()).toMatchObject({
      intent_id: paid.intent_id,
      source: 'chain',
      escrow: {
        state: 'open',
        address: paid.escrow.address,
        amount: paid.escrow.amount,
        held: paid.escrow.amount,
        refund_wallet: paid.refund_wallet,
      },
    });
    expect(shown.stderr).toContain("Can't reach");
  });

  test('status --verify compares what the chain says with what was agreed to', async () => {
    const line = `status ${paid.intent_id} --verify --json`;
    const own = await alone(`${line} --refund-wallet ${paid.refund_wallet}`);
    expect(own.exitCode, own.stdout).toBe(0);
    expect(own.json()).toMatchObject({ verified: true, source: 'chain', escrow: paid.escrow.address });
    // Of a home that agreed to nothing, and whose wallet is another one.
    const foreign = await alone(line);
    expect(foreign.exitCode).toBe(6);
    expect(foreign.json().error).toMatchObject({ code: 'escrow_mismatch', detail: { failed: ['refund_owner'] } });
  });

  test('an intent of which the chain knows nothing keeps the error of the service', async () => {
    const shown = await alone('status int_00000000000000000000000000 --json');
    expect(shown.exitCode).toBe(7);
    expect(shown.json().error).toMatchObject({ code: 'network_unreachable' });
  });

  test('a claim before the deadline is refused, and says from when on it works', async () => {
    const refused = await alone(`refund claim ${paid.intent_id} --json`);
    expect(refused.exitCode).toBe(5);
    expect(refused.json().error).toMatchObject({
      code: 'refund_not_due',
      detail: { refund_after: paid.escrow.refund_after, held: paid.escrow.amount },
    });
    expect(await cluster.tokenBalance(paid.escrow.vault_address as Address)).toBe(BigInt(paid.escrow.amount));
  });
});

describe('after the deadline', () => {
  let before: bigint;
  beforeAll(async () => {
    before = (await cluster.tokenBalance(source)) ?? 0n;
    clock.advance(26 * 3_600_000);
  });

  test('--dry-run says what would move, and moves nothing', async () => {
    const planned = await alone(`refund claim ${paid.intent_id} --dry-run --json`);
    expect(planned.json()).toMatchObject({ dry_run: true });
    expect(await cluster.tokenBalance(source)).toBe(before);
  });

  test('status names the command that brings the money back', async () => {
    expect((await alone(`status ${paid.intent_id}`)).stderr).toContain(`farelock refund claim ${paid.intent_id}`);
  });

  test('anyone sends the whole vault to the refund wallet, with the id alone', async () => {
    const claimed = await alone(`refund claim ${paid.intent_id} --json`);
    expect(claimed.exitCode, claimed.stdout).toBe(0);
    expect(claimed.json()).toMatchObject({
      outcome: 'refunded',
      amount: paid.escrow.amount,
      refund_wallet: paid.refund_wallet,
      transaction: expect.any(String),
    });
    expect(await cluster.tokenBalance(source)).toBe(before + BigInt(paid.escrow.amount));
  });

  test('again, it says that the money went back before, and moves nothing', async () => {
    const again = await alone(`refund claim ${paid.intent_id} --json`);
    expect(again.exitCode).toBe(0);
    expect(again.json()).toMatchObject({ outcome: 'already_refunded', transaction: null });
    expect(await cluster.tokenBalance(source)).toBe(before + BigInt(paid.escrow.amount));
  });

  test('an escrow that holds nothing is not claimed', async () => {
    const refused = await alone(`refund claim ${unpaid} --json`);
    expect(refused.exitCode).toBe(5);
    expect(refused.json().error).toMatchObject({ code: 'nothing_to_claim' });
  });

  test('money that arrives after the end goes to the refund wallet too', async () => {
    await cluster.airdropUsdc(paid.escrow.address as Address, 5_000_000n);
    const held = (await cluster.tokenBalance(source)) ?? 0n;
    expect((await alone(`status ${paid.intent_id}`)).stdout).toContain('5.00 USDC arrived after that');
    const claimed = await alone(`refund claim ${paid.intent_id} --json`);
    expect(claimed.json()).toMatchObject({ outcome: 'swept', amount: 5_000_000 });
    expect(await cluster.tokenBalance(source)).toBe(held + 5_000_000n);
  });

  test('a wallet without SOL is told what the network costs, before anything is sent', async () => {
    await cluster.airdropUsdc(paid.escrow.address as Address, 1_000_000n);
    const poor = `--keypair ${join(stranger.home, 'poor.json')} --json`;
    expect((await alone(`wallet new ${poor}`)).exitCode).toBe(0);
    const refused = await alone(`refund claim ${paid.intent_id} ${poor}`);
    expect(refused.exitCode).toBe(6);
    expect(refused.json().error).toMatchObject({
      code: 'insufficient_funds',
      detail: { needed_lamports: 5_000, held_lamports: 0 },
    });
  });
});

test('the home that made the intent, with its service back, shows the refund that others made', async () => {
  const shown = await run(`status ${paid.intent_id} --json`, { FARELOCK_HOME: traveller.home });
  expect(shown.json()).toMatchObject({ status: 'refunded' });
});

describe('what reaches the address of an escrow that was closed', () => {
  const late = 7_000_000n;
  let owner: string;
  const atHome = (line: string) =>
    run(line, { FARELOCK_HOME: traveller.home, FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9', FARELOCK_RPC_URL: url });
  const arrives = async () => {
    await cluster.airdropUsdc(closed as Address, late);
    return (await cluster.tokenBalance(source)) ?? 0n;
  };
  let closed: string;

  beforeAll(async () => {
    const gone = await run(`status ${unpaid} --json`, { FARELOCK_HOME: traveller.home });
    const { refund_wallet, escrow } = gone.json() as unknown as Intent;
    owner = refund_wallet;
    closed = escrow.address;
    expect((await cluster.accounts([closed as Address]))[0]).toBeNull();
  });

  test('is nobody’s to guess: without the wallet whom the id names, nothing moves', async () => {
    const held = await arrives();
    for (const named of ['', ` --refund-wallet ${paid.escrow.address}`]) {
      const refused = await alone(`refund claim ${unpaid}${named} --json`);
      expect(refused.exitCode).toBe(5);
      expect(refused.json().error).toMatchObject({
        code: 'nothing_to_claim',
        fix: expect.stringContaining('--refund-wallet'),
        detail: { escrow: closed, held: Number(late) },
      });
    }
    expect(await cluster.tokenBalance(source)).toBe(held);
  });

  test('goes to the refund wallet when anyone names it', async () => {
    const held = (await cluster.tokenBalance(source)) ?? 0n;
    const line = `refund claim ${unpaid} --refund-wallet ${owner} --json`;
    expect((await alone(`${line} --dry-run`)).json()).toMatchObject({ dry_run: true });
    const claimed = await alone(line);
    expect(claimed.exitCode, claimed.stdout).toBe(0);
    expect(claimed.json()).toMatchObject({
      outcome: 'recovered',
      amount: Number(late),
      refund_wallet: owner,
      transaction: expect.any(String),
    });
    expect(await cluster.tokenBalance(source)).toBe(held + late);
  });

  test('goes there from the home that made the intent with its id alone', async () => {
    const held = await arrives();
    const claimed = await atHome(`refund claim ${unpaid} --json`);
    expect(claimed.json(), claimed.stderr).toMatchObject({ outcome: 'recovered', refund_wallet: owner });
    expect(await cluster.tokenBalance(source)).toBe(held + late);
  });
});
