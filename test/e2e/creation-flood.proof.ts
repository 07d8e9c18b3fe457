import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { getCloseAccountInstruction, getTransferInstruction } from '@solana-program/token';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Cluster, DEVNET_USDC } from '../../src/solana/cluster.ts';
import { readOwnKeypair } from '../../src/solana/keypair.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import type { CreatedIntent, Intent, Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { WORLD_STARTS_MS } from '../clock.ts';
import { rounds } from '../rounds.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';
import { type Answer, signedCall } from './signed-call.ts';
import { asked } from './stage.ts';

/**
 * What creations may cost the operator, held against the built service: the attacker has keys of his own, HTTP, and the
 * cluster's JSON-RPC. What everybody won and lost is read from the transactions themselves, so that no moment is missed.
 */

const ROUNDS = rounds(0, 3);
const SOL = 1_000_000_000n;
const MINUTE_MS = 60_000;
const FEE = 100_000n;
const WALLETS = 5;
const BURSTS = 5;
const REQUESTS_EACH = rounds(0, 40);
/** He hands his stake on later from burst to burst, while more and more payments were verified and none is settled. */
const FIRST_DELAY_MS = 5;
const DELAY_STEP_MS = 25;
/** What he sends into a vault, so that there is something to give back. */
const DUST = 1n;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Told {
  readonly meta: { readonly preBalances: number[]; readonly postBalances: number[] };
  readonly transaction: { readonly message: { readonly accountKeys: string[] } };
}

/** Reads what each transaction about `accounts` won them together, in lamports; those of each account in their order. */
async function gains(url: string, accounts: readonly string[], since: ReadonlySet<string> = new Set()) {
  const signatures = new Set<string>();
  for (const account of accounts) {
    const entries = await asked<{ signature: string }[]>(url, 'getSignaturesForAddress', [account]);
    expect(entries.length).toBeLessThan(1000);
    for (const { signature } of entries.toReversed()) if (!since.has(signature)) signatures.add(signature);
  }
  const won: bigint[] = [];
  for (const signature of signatures) {
    const { meta, transaction } = await asked<Told>(url, 'getTransaction', [
      signature,
      { maxSupportedTransactionVersion: 0 },
    ]);
    const { accountKeys } = transaction.message;
    won.push(
      accountKeys.reduce(
        (sum, key, place) =>
          accounts.includes(key)
            ? sum + BigInt(meta.postBalances[place] ?? 0) - BigInt(meta.preBalances[place] ?? 0)
            : sum,
        0n,
      ),
    );
  }
  return { won, signatures };
}

/** Sums up what was won and lost. @returns the most that was gone at any moment */
function worst(won: readonly bigint[]): bigint {
  let [sum, least] = [0n, 0n];
  for (const one of won) {
    sum += one;
    if (sum < least) least = sum;
  }
  return -least;
}

async function send(
  cluster: Cluster,
  feePayer: Signer,
  signers: Signer[],
  instructions: Parameters<typeof buildTransaction>[0]['instructions'],
) {
  const blockhash = await cluster.latestBlockhash();
  await cluster.send(buildTransaction({ feePayer, signers, instructions, blockhash }).wire);
}

/** Wallets that share one stake: whoever has it pays, then hands it on. One more pays their network fees. */
async function attackerAt({ flightsUrl, rpcUrl }: Served, cluster: Cluster) {
  const newWallet = () => signerFromSeed(randomBytes(32));
  const purse = newWallet();
  const wallets = await Promise.all(
    Array.from({ length: WALLETS }, async () => {
      const signer = newWallet();
      return { signer, account: await associatedTokenAddress(signer.address, DEVNET_USDC) };
    }),
  );
  type Wallet = (typeof wallets)[number];
  await asked(rpcUrl, 'requestAirdrop', [purse.address, Number(SOL)]);
  for (const [place, { signer }] of wallets.entries()) {
    await asked(rpcUrl, 'farelock_airdropUsdc', [signer.address, place === 0 ? Number(FEE + DUST) : 0]);
  }
  const holds = async ({ account }: Wallet) => (await cluster.tokenBalance(account)) ?? 0n;
  const transfer = (from: Wallet, destination: Address, amount: bigint) => {
    const instruction = getTransferInstruction({ source: from.account, destination, authority: from.signer, amount });
    return send(cluster, purse, [from.signer], [instruction]);
  };
  let clients = 0;

  return {
    wallets,
    accounts: [purse.address, ...wallets.flatMap(({ signer, account }) => [signer.address, account])],
    holds,
    transfer,

    /** A creation whose payment need not be covered; each from an address of its own. */
    signed: ({ signer }: Wallet, offerId: string) =>
      signedCall<CreatedIntent>(`${flightsUrl}/air/intents`, { offer_id: offerId }, signer, cluster, {
        'x-forwarded-for': `203.0.113.${clients++ % 250}`,
      }),

    async closeAccount({ signer, account }: Wallet): Promise<void> {
      const instruction = getCloseAccountInstruction({ account, destination: signer.address, owner: signer });
      await send(cluster, purse, [signer], [instruction]);
    },
  };
}

/** Leaves the operator so much, with his own keys; what it is for is filled up already. */
async function leaveOperator(home: string, cluster: Cluster, left: Record<string, bigint>) {
  const accounts: string[] = [];
  for (const [name, lamports] of Object.entries(left)) {
    const source = readOwnKeypair(join(home, 'keys', `${name}.json`));
    const [account] = await cluster.accounts([source.address]);
    const destination = signerFromSeed(randomBytes(32)).address;
    const amount = (account?.lamports ?? 0n) - lamports - 5_000n;
    await send(cluster, source, [], [getTransferSolInstruction({ source, destination, amount })]);
    accounts.push(source.address);
  }
  return accounts;
}

async function travellerOf(served: Served) {
  const runner = inMemory(farelockIn({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
  closing.push(runner.close);
  for (const args of [
    ['wallet', 'new'],
    ['wallet', 'airdrop', '--sol', '1', '--usdc', '5000'],
  ]) {
    expect((await runner.run(args)).exitCode).toBe(0);
  }
  const search = 'search LIS BER --depart +30d --all-fares --limit 500 --no-wait --json';
  const { offers } = (await runner.run(search.split(' '))).json<{ offers: Offer[] }>();
  return { runner, offers: offers.filter((one) => one.total_currency === 'USD') };
}

/** An honest booking, which asks again where the service is busy. */
async function booking(runner: Runner, offerId: string): Promise<void> {
  let created = await runner.run(['intent', 'create', offerId, '--json']);
  for (; created.exitCode === 7; await sleep(1000)) {
    created = await runner.run(['intent', 'create', offerId, '--json']);
  }
  expect(created.exitCode, created.stdout).toBe(0);
  const booked = await runner.run(['book', created.json<Intent>().intent_id, '--passengers', '-', '--yes', '--json'], {
    input: JSON.stringify([PASSENGER]),
  });
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  expect(booked.json<Intent>().status).toBe('booked');
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  `${BURSTS * REQUESTS_EACH} creations with one stake cost the operator no more than fees, and win the attacker nothing (round %i)`,
  async () => {
    const home = farelockIn();
    closing.push(home.close);
    let serving = await serveIn(home, ['--trusted-proxy', '127.0.0.1']);
    closing.push(() => serving.stop());
    const first = serving;
    const cluster = await openRpcCluster({ urls: [first.rpcUrl], clock: systemClock });
    const { runner, offers } = await travellerOf(first);
    expect(offers.length).toBeGreaterThan(WALLETS);
    const offerAt = (place: number) => offers[place % offers.length]?.offer_id ?? '';
    const attacker = await attackerAt(first, cluster);
    const operator = await leaveOperator(home.home, cluster, { authority: (11n * SOL) / 20n, facilitator: SOL / 20n });
    const setUp = (await gains(first.rpcUrl, [...operator, ...attacker.accounts])).signatures;

    const honest = booking(runner, offerAt(0));
    const answers: Answer<CreatedIntent>[] = [];
    for (let burst = 0; burst < BURSTS; burst++) {
      const [wallet, next] = [burst, burst + 1].map((n) => attacker.wallets[n % WALLETS]);
      if (!wallet || !next) throw new Error('no wallet');
      const one = (n: number) => attacker.signed(wallet, offerAt(1 + burst * REQUESTS_EACH + n));
      const payments = await Promise.all(Array.from({ length: REQUESTS_EACH }, (_, n) => one(n)));
      const stake = await attacker.holds(wallet);
      const paid = Promise.all(payments.map((pay) => pay()));
      await sleep(FIRST_DELAY_MS + burst * DELAY_STEP_MS);
      if (stake > 0n) await attacker.transfer(wallet, next.account, stake).catch(() => undefined);
      answers.push(...(await paid));
    }
    await honest;

    // Each key by itself: together they never lost more than the sum of their worst moments.
    const lost: bigint[] = [];
    for (const key of operator) lost.push(worst((await gains(first.rpcUrl, [key], setUp)).won));
    expect(lost.reduce((sum, one) => sum + one, 0n)).toBeLessThan(SOL / 20n);
    expect(answers.filter(({ status }) => ![201, 402, 503].includes(status))).toEqual([]);
    expect(answers).toHaveLength(BURSTS * REQUESTS_EACH);
    expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);

    // What he has left buys one creation after all; his dust goes into its vault, and his accounts are closed.
    const made = answers.filter(({ status }) => status === 201);
    for (const wallet of attacker.wallets) {
      if ((await attacker.holds(wallet)) < FEE) continue;
      made.push(await (await attacker.signed(wallet, offerAt(0)))());
    }
    const [bought] = made;
    expect([made.length, bought?.status]).toEqual([1, 201]);
    for (const wallet of attacker.wallets) {
      const dust = await attacker.holds(wallet);
      if (dust > 0n) await attacker.transfer(wallet, bought?.body.escrow.vault_address as Address, dust);
      await attacker.closeAccount(wallet);
    }
    await first.stop();

    // Half an hour later everything has expired.
    const later = farelockIn({ TEST_CLOCK_STARTS_MS: String(WORLD_STARTS_MS + 31 * MINUTE_MS) }, home.home);
    serving = await serveIn(later);
    const { flightsUrl, rpcUrl } = serving;
    const shown = async () =>
      (await (await fetch(`${flightsUrl}/air/intents/${bought?.body.intent_id}`)).json()) as Intent;
    // Nothing is refunded to an account that the operator would have to pay the rent of.
    await expect
      .poll(shown, { timeout: 10_000 })
      .toMatchObject({ status: 'active', refund_reason: 'refund_account_missing' });
    const { won } = await gains(rpcUrl, attacker.accounts, setUp);
    expect(won.filter((one) => one > 0n)).toEqual([]);
  },
  180_000,
);
