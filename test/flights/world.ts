import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import type { Fulfiller } from '../../src/airlines/fulfiller.ts';
import type { Provider, Scenario } from '../../src/airlines/provider.ts';
import { signPayment } from '../../src/client/payer/transaction.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { createFlights, type FlightsGiven, type FlightsOptions } from '../../src/flights/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import { createOperatorWallets, readyForMoney } from '../../src/payments/operator-wallets.ts';
import { createPaywall } from '../../src/payments/paywall.ts';
import { createSandboxLowcost } from '../../src/sandbox/lowcost/index.ts';
import { openStore, type Store } from '../../src/service/home.ts';
import { type Cluster, DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress, decodeMint } from '../../src/solana/token.ts';
import type { BookResponse, CreatedIntent, Intent, Passenger, SearchResponse } from '../../src/wire/flights/index.ts';
import { webOf } from '../web.ts';
import { quotingAirline, type ScriptedAirline, scriptedAirline } from './scripted-airline.ts';
import { worldDatabase } from './world-database.ts';

const BASE_URL = 'http://flights.test';

/** Runs with the wall clock from a fixed start, and jumps ahead when told. */
export function runningClock(startMs = Date.UTC(2026, 10, 21, 9)) {
  const startedMs = Date.now();
  let aheadMs = 0;
  const clock: Clock = {
    now: () => startMs + Date.now() - startedMs + aheadMs,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 200), signal),
  };
  return Object.assign(clock, { advance: (ms: number) => (aheadMs += ms) });
}

export interface WorldOptions {
  readonly scenario?: Scenario;
  /**
   * `scripted`: an airline that the test tells what to do, in place of the sandbox; `quoting`: with the parts of the port
   * that are optional. `none`: no provider at all.
   */
  readonly airline?: 'sandbox' | 'scripted' | 'quoting' | 'none';
  readonly options?: Partial<FlightsOptions>;
  readonly ticketingMs?: number;
  /** With the sandbox's lowcost carriers, whose quoting takes so long. */
  readonly lowcostMs?: number;
  readonly gatewayKeys?: FlightsGiven['gatewayKeys'];
  /** Today's escrow program unless given. */
  readonly program?: () => Uint8Array;
}

/** Ports that a test may wrap: to die at a call, to be slow, to lose an answer. */
export interface Ports {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly provider: Provider | null;
  readonly lowcost?: Fulfiller | null | undefined;
  readonly clock: Clock;
  /** Where new escrows are opened, and what is wrong with it. */
  readonly escrowProgram: Address;
  readonly programTrouble?: (() => Promise<string | null>) | undefined;
}

export interface Answered<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

interface Challenge {
  readonly resource: unknown;
  readonly accepts: { amount: string; payTo: string; asset: string; extra: { feePayer: string; memo: string } }[];
}

/** The same program at another address, for services that move. */
export const SECOND_PROGRAM = 'FLK2gRHGErf3EwbLdxVUrACXZDrAhmgJmjawBzvQGq7B' as Address;

/** The whole flight service on a real cluster, store, program and paywall, in a folder of its own. */
export async function openWorld(given: WorldOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), 'farelock-flights-'));
  const clock = runningClock();
  const cluster = await openEmbeddedCluster({
    path: join(home, 'ledger.db'),
    clock,
    programs: [
      { address: ESCROW_PROGRAM_ID, elf: given.program ?? escrowElf },
      { address: SECOND_PROGRAM, elf: escrowElf },
    ],
  });
  const database = await worldDatabase.next(home);
  const store = await openStore(database);
  const secrets = openSecrets(join(home, 'keys.json'));
  const newWallet = (): Signer => signerFromSeed(randomBytes(32));
  const [authority, facilitator, treasury, wallet, refundWallet] = [
    newWallet(),
    newWallet(),
    newWallet(),
    newWallet(),
    newWallet(),
  ];
  const mint = DEVNET_USDC;
  await readyForMoney({
    cluster,
    faucet: cluster,
    authority,
    facilitator: facilitator.address,
    treasury: treasury.address,
    mint,
  });
  await cluster.airdropUsdc(wallet.address, 5_000_000_000n);
  // Its token account is there before it is named.
  await cluster.airdropUsdc(refundWallet.address, 0n);

  const airline: ScriptedAirline = scriptedAirline(clock.now);
  const sandbox = async () => {
    const { createSandboxProvider } = await import('../../src/sandbox/airline/index.ts');
    return createSandboxProvider({
      seed: 'test',
      clock,
      scenario: given.scenario ?? 'none',
      ticketingMs: given.ticketingMs ?? 0,
      orders: join(home, 'airline.db'),
    });
  };
  const provider =
    given.airline === 'none'
      ? null
      : given.airline === 'scripted'
        ? airline.provider
        : given.airline === 'quoting'
          ? quotingAirline(airline)
          : await sandbox();
  const lowcost =
    given.lowcostMs === undefined
      ? null
      : createSandboxLowcost({
          seed: 'test',
          clock,
          scenario: given.scenario,
          ticketingMs: given.ticketingMs ?? 0,
          quotingMs: given.lowcostMs,
          orders: join(home, 'airline.db'),
        });

  /** A service of its own on the same store, cluster and airline, as a second process would be. */
  function service(wrap: (ports: Ports) => Ports = (ports) => ports, options: Partial<FlightsOptions> = {}) {
    const ports = wrap({ store, cluster, provider, lowcost, clock, escrowProgram: ESCROW_PROGRAM_ID });
    const ids = randomIds(ports.clock.now);
    const common = { ...ports, secrets, ids, log: silentLog };
    const wallets = createOperatorWallets({
      ...ports,
      mint,
      authority: authority.address,
      facilitator: facilitator.address,
      treasury: treasury.address,
    });
    const paywall = createPaywall({ ...common, wallets, feePayer: facilitator, lender: authority, patienceMs: 2_000 });
    const flights = createFlights({
      ...common,
      authority,
      facilitator: facilitator.address,
      wallets,
      treasury: treasury.address,
      treasurySigner: treasury,
      mint,
      paywall,
      gatewayKeys: given.gatewayKeys,
      // One wallet pays for everything here; test/flights/bookings/limits.test.ts is about the bound.
      options: { mostLocksPerPayer: 1_000, ...given.options, ...options },
    });
    const app = { fetch: webOf(flights.app.fetch) };
    return { ...flights, app, paywall, wallets, call: callerOf(app.fetch) };
  }
  const main = service();

  async function sign(answer: Answered, payer: Signer = wallet): Promise<string> {
    const challenge = answer.body as unknown as Challenge;
    const [accepted] = challenge.accepts;
    if (!accepted) throw new Error('nothing to accept');
    const transaction = await signPayment(
      payer,
      {
        feePayer: accepted.extra.feePayer as Address,
        payTo: accepted.payTo as Address,
        asset: accepted.asset as Address,
        amount: BigInt(accepted.amount),
        memo: accepted.extra.memo,
      },
      await cluster.latestBlockhash(),
    );
    const payload = { x402Version: 2, resource: challenge.resource, accepted, payload: { transaction } };
    return Buffer.from(JSON.stringify(payload)).toString('base64');
  }

  type Call = ReturnType<typeof callerOf>;
  /** Asks, signs the challenge, asks again: what a client does. A refusal before the 402 is the answer. */
  async function paid<T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    extra: { headers?: Record<string, string>; payer?: Signer; call?: Call; method?: string } = {},
  ): Promise<Answered<T>> {
    const call = extra.call ?? main.call;
    const asked = await call<T>(path, body, extra);
    if (asked.status !== 402) return asked;
    const payment = await sign(asked as unknown as Answered, extra.payer);
    return call<T>(path, body, { ...extra, headers: { ...extra.headers, 'PAYMENT-SIGNATURE': payment } });
  }

  const usdc = async (owner: string): Promise<bigint> =>
    (await cluster.tokenBalance(await associatedTokenAddress(owner as Address, mint))) ?? 0n;

  return {
    home,
    /** Where the rows are, for a connection of another process. */
    database,
    clock,
    cluster,
    store,
    secrets,
    provider,
    airline,
    mint,
    authority,
    facilitator,
    treasury,
    wallet,
    refundWallet,
    newWallet,
    service,
    ...main,
    sign,
    paid,
    usdc,

    async supply(): Promise<bigint> {
      const [account] = await cluster.accounts([mint]);
      return (account && decodeMint(account.data)?.supply) ?? 0n;
    },

    /** Takes everything out of the wallet, or another, as its owner may at any moment. */
    async drain(owner: Signer = wallet): Promise<void> {
      const { getTransferInstruction } = await import('@solana-program/token');
      const { buildTransaction } = await import('../../src/solana/transaction.ts');
      const nobody = newWallet().address;
      await cluster.airdropUsdc(nobody, 0n);
      const { wire } = buildTransaction({
        feePayer: authority,
        signers: [owner],
        blockhash: await cluster.latestBlockhash(),
        instructions: [
          getTransferInstruction({
            source: await associatedTokenAddress(owner.address, mint),
            destination: await associatedTokenAddress(nobody, mint),
            authority: owner,
            amount: await usdc(owner.address),
          }),
        ],
      });
      await cluster.send(wire);
    },

    /** Everything that a journey moves money between. */
    async sums(intent?: Pick<Intent, 'escrow'>) {
      const money = {
        wallet: await usdc(wallet.address),
        refund: await usdc(refundWallet.address),
        treasury: await usdc(treasury.address),
        vault: intent ? ((await cluster.tokenBalance(intent.escrow.vault_address as Address)) ?? 0n) : 0n,
      };
      return { ...money, total: money.wallet + money.refund + money.treasury + money.vault };
    },

    async search(body: object = {}): Promise<SearchResponse> {
      const answer = await paid<SearchResponse>('/air/search', { ...TRIP, ...body });
      if (answer.status !== 200) throw new Error(`search: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },

    async intent(offerId: string, body: object = {}): Promise<CreatedIntent> {
      const answer = await paid<CreatedIntent>('/air/intents', {
        funding_wallet: wallet.address,
        refund_wallet: refundWallet.address,
        offer_id: offerId,
        ...body,
      });
      if (answer.status !== 201) throw new Error(`intent: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },

    async book(intent: Pick<Intent, 'intent_id'>, passengers = [PASSENGER]): Promise<BookResponse> {
      const answer = await paid<BookResponse>('/air/book', { intent_id: intent.intent_id, passengers });
      if (answer.status !== 200) throw new Error(`book: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },

    async show(intent: Pick<Intent, 'intent_id'>): Promise<Intent> {
      return (await main.call<Intent>(`/air/intents/${intent.intent_id}`)).body;
    },

    /** Runs the worker, moving the clock to each step, until nothing is under way or `untilMs` of clock passed. */
    async work(untilMs = 10 * 60_000, worker: { runDue: typeof main.worker.runDue } = main.worker) {
      const end = clock.now() + untilMs;
      for (;;) {
        const { nextDueAtMs } = await worker.runDue();
        if (nextDueAtMs === null || clock.now() >= end) return;
        if (nextDueAtMs > clock.now()) clock.advance(nextDueAtMs - clock.now() + 1);
      }
    },

    async close() {
      await store.destroy();
      await cluster.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export const TRIP = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };

export const PASSENGER: Passenger = {
  given_name: 'Ada',
  family_name: 'Lovelace',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: 'ada@example.org',
  phone_number: '+351912345678',
};

/** Calls an app with real requests. A body makes it a POST. */
function callerOf(fetch: (request: Request) => Response | Promise<Response>) {
  return async <T = Record<string, unknown>>(
    path: string,
    body?: unknown,
    extra: { headers?: Record<string, string>; method?: string } = {},
  ): Promise<Answered<T>> => {
    const response = await fetch(
      new Request(`${BASE_URL}${path}`, {
        method: extra.method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...extra.headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T, headers: response.headers };
  };
}
