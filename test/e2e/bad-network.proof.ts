import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { payoutMemo } from '../../src/kernel/domain/payout-names.ts';
import { openStore } from '../../src/service/home.ts';
import { readOwnKeypair } from '../../src/solana/keypair.ts';
import type { Intent, Offer, RefundCase, Stuck } from '../../src/wire/flights/index.ts';
import { runInMemory, temporaryHome } from '../cli/memory.ts';
import { rounds, seedOr, upTo } from '../rounds.ts';
import { openBadNetwork, openCounted, openSilence } from '../solana/bad-network.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';
import { asked, isRefundable } from './stage.ts';

/**
 * The built service on a cluster of another process, and travellers with the tool, over networks that are bad: each
 * command is given once, and chain, journals and the service's books agree at the end.
 */

const JOURNEYS = rounds(0, 200);
/** So many travel at the same time. */
const TRAVELLERS = 10;
const FUNDS = 50_000;

let ledger: Served;
let operated: Runner;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  const at = farelockIn();
  ledger = await serveIn(at);
  operated = farelockIn();
  closing.push(at.close, operated.close, () => ledger.stop());
  // The first start makes the keys, and says that they are empty.
  await operated.run(['serve', '--port', '0', '--rpc-url', ledger.rpcUrl, '--json']);
  for (const name of ['authority', 'facilitator']) {
    const { address } = readOwnKeypair(join(operated.home, 'keys', `${name}.json`));
    await asked(ledger.rpcUrl, 'requestAirdrop', [address, 100_000_000_000]);
  }
}, 120_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
const closingTest: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closingTest.splice(0).reverse()) await close();
});

async function serveOver(rpcUrls: readonly string[]): Promise<Served> {
  const served = await serveIn(operated, ['--rpc-url', rpcUrls.join(',')]);
  closingTest.push(() => served.stop());
  return served;
}

interface Traveller {
  readonly address: string;
  run<T>(words: string, ...more: string[]): Promise<T>;
}

async function travellerAt({ flightsUrl }: Served, rpcUrls: readonly string[]): Promise<Traveller> {
  const { home, close } = temporaryHome();
  closingTest.push(close);
  const environment = { FARELOCK_HOME: home, FARELOCK_FLIGHTS_URL: flightsUrl, FARELOCK_RPC_URL: rpcUrls.join(',') };
  const run = async <T>(words: string, ...more: string[]): Promise<T> => {
    const stdin = JSON.stringify([PASSENGER]);
    const ran = await runInMemory([...words.split(' '), ...more, '--json'], { environment, stdin });
    // No command is given a second time.
    expect(ran.exitCode, `${words}: ${ran.stdout}${ran.stderr}`).toBe(0);
    return JSON.parse(ran.stdout) as T;
  };
  const { address } = await run<{ address: string }>('wallet new');
  await asked(ledger.rpcUrl, 'farelock_airdropUsdc', [address, FUNDS * 1_000_000]);
  return { address, run };
}

async function desk<T>(served: Served, path: string, body?: object): Promise<T> {
  const authorization = `Bearer ${readFileSync(served.operatorKeyFile, 'utf8').trim()}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const sent = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
  return (await (await fetch(`${served.flightsUrl}/operator${path}`, sent)).json()) as T;
}

/** Searches, locks, pays and books; every third one asks for a refund, too, which the operator approves once. */
async function journey(served: Served, traveller: Traveller, n: number): Promise<RefundCase | null> {
  const { offers } = await traveller.run<{ offers: Offer[] }>(
    'search LIS BER --depart +30d --all-fares --limit 500 --no-wait',
  );
  const isRefunded = n % 3 === 0;
  const sold = offers.filter((one) => (isRefunded ? isRefundable(one) : one.total_currency === 'USD'));
  const offer = sold[n % sold.length];
  if (!offer) throw new Error('nothing is sold');
  const { intent_id: id } = await traveller.run<Intent>('intent create', offer.offer_id);
  const booked = await traveller.run<Intent>('book', id, '--passengers', '-', '--yes');
  expect(booked.status).toBe('booked');
  if (!isRefunded) return null;
  await traveller.run('refund request', id, '--reason', 'The meeting was called off.');
  await desk(served, `/refund-requests/${id}/approve`, {});
  const caseOf = () => desk<RefundCase>(served, `/refund-requests/${id}`);
  await expect.poll(async () => (await caseOf()).status, { timeout: 60_000 }).toBe('refunded');
  return caseOf();
}

interface Payment {
  readonly state: string;
  readonly amount: string;
}

/** Transactions that name the token account of a wallet and succeeded, and what it holds. */
async function onChain(wallet: string) {
  const { value } = await asked<{
    value: { pubkey: string; account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
  }>(ledger.rpcUrl, 'getTokenAccountsByOwner', [
    wallet,
    { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
    { encoding: 'jsonParsed' },
  ]);
  const account = value[0];
  const entries = await asked<{ err: unknown; memo: string | null }[]>(ledger.rpcUrl, 'getSignaturesForAddress', [
    account?.pubkey,
  ]);
  return {
    held: Number(account?.account.data.parsed.info.tokenAmount.amount ?? 0),
    entries: entries.filter(({ err }) => err === null),
  };
}

/** What the service has written down. */
async function booksOf() {
  const store = await openStore(join(operated.home, 'service.db'));
  try {
    const effects = await store.selectFrom('effects').select(['kind', 'subject', 'state']).execute();
    const settlements = await store.selectFrom('settlements').select('state').execute();
    const of = (...states: string[]) =>
      effects.filter(({ state }) => states.includes(state)).map(({ kind, subject }) => `${kind} ${subject}`);
    return {
      effects: of('done'),
      open: of('planned', 'sent', 'stuck'),
      answered: settlements.filter(({ state }) => state === 'answered').length,
    };
  } finally {
    await store.destroy();
  }
}

test.each([1, 2])(
  `${JOURNEYS} journeys over a network that loses, tears, forgets and lies, by %i of its addresses`,
  async (addresses) => {
    const networks = await Promise.all(upTo(addresses).map((n) => openBadNetwork(ledger.rpcUrl, seedOr(13) + n)));
    for (const { close } of networks) closingTest.push(close);
    const urls = networks.map(({ url }) => url);
    const served = await serveOver(urls);
    const before = await booksOf();
    const refunded: RefundCase[] = [];
    const journals = await Promise.all(
      upTo(TRAVELLERS).map(async (place) => {
        const traveller = await travellerAt(served, urls);
        const own: RefundCase[] = [];
        for (let n = place; n < JOURNEYS; n += TRAVELLERS) {
          const refund = await journey(served, traveller, n);
          if (refund) own.push(refund);
        }
        refunded.push(...own);
        const { payments } = await traveller.run<{ payments: Payment[] }>('payments list --limit 500');
        return { traveller, payments, refunds: own };
      }),
    );

    // Nothing waits, and nothing waits for a person.
    const stuck = () => desk<Stuck>(served, '/stuck');
    const { bookings, effects, refund_requests } = await stuck();
    expect([...bookings, ...effects, ...refund_requests]).toEqual([]);
    for (const { traveller, payments, refunds } of journals) {
      expect(payments.filter(({ state }) => state !== 'answered')).toEqual([]);
      const paid = payments.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 1_000_000), 0);
      const back = refunds.reduce((sum, { decision }) => sum + (decision?.payout_amount ?? Number.NaN), 0);
      const { held, entries } = await onChain(traveller.address);
      expect(FUNDS * 1_000_000 - held).toBe(paid - back);
      // The faucet's, each payment once, each pay-out once: what moves the wallet's money has a memo.
      expect(entries.filter(({ memo }) => memo !== null)).toHaveLength(1 + payments.length + refunds.length);
      for (const { intent_id: id } of refunds) {
        expect(entries.filter(({ memo }) => memo?.includes(payoutMemo(id)))).toHaveLength(1);
      }
    }
    await served.stop();
    const { effects: done, open, answered } = await booksOf();
    expect(open).toEqual([]);
    expect(new Set(done).size).toBe(done.length);
    const is = (kind: string) =>
      done.filter((one) => !before.effects.includes(one) && one.startsWith(`${kind} `)).length;
    expect([is('open_escrow'), is('capture'), is('payout')]).toEqual([JOURNEYS, JOURNEYS, refunded.length]);
    expect(answered - before.answered).toBe(journals.reduce((sum, one) => sum + one.payments.length, 0));
    // The network was as bad as it can be.
    const [network] = networks;
    for (const fault of network?.all ?? []) expect([fault, network?.befell.get(fault) ?? 0]).not.toEqual([fault, 0]);
  },
  1_800_000,
);

type Dead = (url: string) => ReturnType<typeof openSilence>;
const HANGS_UP: [string, Dead] = ['hangs up', (url) => openCounted(url, { isDead: true })];

test.each<[string, Dead]>([HANGS_UP, ['never answers', openSilence]])(
  "of two addresses one %s: few of a journey's questions meet it",
  async (_how, openDead) => {
    const [dead, living] = [await openDead(ledger.rpcUrl), await openCounted(ledger.rpcUrl)];
    closingTest.push(dead.close, living.close);
    const urls = [dead.url, living.url];
    const served = await serveOver(urls);
    const traveller = await travellerAt(served, urls);
    await journey(served, traveller, 3);
    // Each process meets it, leaves it aside for some seconds, and tries it once more: not with every question.
    expect(dead.asked()).toBeGreaterThan(0);
    expect(dead.asked() * 4).toBeLessThan(living.asked());
    await served.stop();
  },
);
