import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signPayment } from '../../src/client/payer/transaction.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import { createPaywall, type PaywallPorts, type RecoveringPaywall } from '../../src/payments/paywall.ts';
import type { Answer, PaidCall, Payment, PaymentTerms } from '../../src/payments/terms.ts';
import { openStore } from '../../src/service/home.ts';
import { type Cluster, DEVNET_USDC } from '../../src/solana/cluster.ts';
import type { GenesisProgram } from '../../src/solana/embedded/genesis.ts';
import { openEmbeddedCluster } from '../../src/solana/embedded/open.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { migratedFile } from '../service/migrated.ts';
import { webOf } from '../web.ts';

/** The system's clock, set forward or back by hand; sleeping is real. */
export function shiftedClock(): Clock & { shift(ms: number): void } {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    sleep: systemClock.sleep,
    shift: (ms) => {
      offsetMs += ms;
    },
  };
}

export const newWallet = (): Signer => signerFromSeed(randomBytes(32));

/** A real embedded cluster, a real store, a funded wallet and treasury, in a folder of its own. */
export async function openWorld(
  options: { clock?: Clock; home?: string; seed?: string; programs?: GenesisProgram[] } = {},
) {
  const clock = options.clock ?? systemClock;
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'farelock-payments-'));
  const cluster = await openEmbeddedCluster({ path: join(home, 'ledger.db'), clock, programs: options.programs ?? [] });
  const store = await openStore(await migratedFile(home));
  const secrets = openSecrets(join(home, 'keys.json'));
  const operator = options.seed ?? randomBytes(8).toString('hex');
  const keyOf = (name: string) => signerFromSeed(createHash('sha256').update(`${name} ${operator}`).digest());
  const feePayer = keyOf('fee payer');
  const treasury = keyOf('treasury');
  const wallet = newWallet();
  await cluster.airdropSol(feePayer.address, 1_000_000_000n);
  await cluster.airdropUsdc(treasury.address, 0n);
  await cluster.airdropUsdc(wallet.address, 10_000_000n);
  const ports: PaywallPorts = {
    store,
    secrets,
    cluster,
    clock,
    ids: randomIds(),
    feePayer,
    log: silentLog,
    patienceMs: 3_000,
  };
  return {
    ...ports,
    ports,
    home,
    cluster,
    treasury,
    wallet,
    usdc: async (owner: Signer | string) =>
      (await cluster.tokenBalance(
        await associatedTokenAddress((typeof owner === 'string' ? owner : owner.address) as never, DEVNET_USDC),
      )) ?? 0n,
    sol: async (owner: Signer) => (await cluster.accounts([owner.address]))[0]?.lamports ?? 0n,
    close: async () => {
      await store.destroy();
      await cluster.close();
      if (!options.home) rmSync(home, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

export interface Shop {
  readonly paywall: RecoveringPaywall;
  fetch(request: Request): Promise<Response>;
  /** Keys of the payments that were performed, in order. */
  readonly performed: string[];
  readonly undone: string[];
  terms: PaymentTerms;
  check: () => Promise<void>;
  prepare: ((payment: Payment) => Promise<void>) | null;
  perform: (payment: Payment, body: unknown) => Promise<Answer>;
}

/** A tiny paid service: POST /search settles after the work, POST /book before it. */
export function openShop(world: World, ports: Partial<PaywallPorts> = {}): Shop {
  const paywall = createPaywall({ ...world.ports, ...ports });
  const shop: Shop = {
    paywall,
    performed: [],
    undone: [],
    terms: { amount: 100_000n, payTo: world.treasury.address, asset: DEVNET_USDC, description: 'A search.' },
    check: async () => undefined,
    prepare: null,
    perform: async (payment, body) => ({
      status: 200,
      body: { echo: body, number: shop.performed.length, payment: payment.key },
    }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body: unknown = request.method === 'POST' ? await request.json() : null;
      const call: PaidCall = {
        resource: `${request.method} ${pathname}`,
        url: request.url,
        request: body,
        check: async () => {
          await shop.check();
          return shop.terms;
        },
        settle: pathname === '/book' ? 'before' : 'after',
        ...(shop.prepare ? { prepare: shop.prepare } : {}),
        perform: async (payment) => {
          shop.performed.push(payment.key);
          return shop.perform(payment, body);
        },
        undo: async (payment) => {
          shop.undone.push(payment.key);
        },
      };
      return webOf((asked) => paywall.charge(asked, call))(request);
    },
  };
  return shop;
}

export const request = (path: string, body: unknown, payment?: string): Request =>
  new Request(`http://shop.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(payment ? { 'PAYMENT-SIGNATURE': payment } : {}) },
    body: JSON.stringify(body),
  });

export interface Challenge {
  x402Version: number;
  error: string;
  resource: { url: string };
  accepts: {
    scheme: string;
    network: string;
    asset: string;
    amount: string;
    payTo: string;
    extra: { feePayer: string; memo: string; quote: string };
  }[];
}

export const decoded = <T>(header: string | null): T => JSON.parse(Buffer.from(header ?? '', 'base64').toString()) as T;

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

export async function challengeOf(shop: Shop, path: string, body: unknown): Promise<Challenge> {
  const response = await shop.fetch(request(path, body));
  return (await response.json()) as Challenge;
}

/** The PAYMENT-SIGNATURE of our own payer for the first way to pay of a challenge. */
export async function payHeader(
  cluster: Cluster,
  payer: Signer,
  challenge: Challenge,
  change: Partial<{ amount: bigint; payTo: string; asset: string; memo: string; feePayer: string }> = {},
): Promise<string> {
  const [accepted] = challenge.accepts;
  if (!accepted) throw new Error('nothing to accept');
  const transaction = await signPayment(
    payer,
    {
      feePayer: (change.feePayer ?? accepted.extra.feePayer) as never,
      payTo: (change.payTo ?? accepted.payTo) as never,
      asset: (change.asset ?? accepted.asset) as never,
      amount: change.amount ?? BigInt(accepted.amount),
      memo: change.memo ?? accepted.extra.memo,
    },
    await cluster.latestBlockhash(),
  );
  return encoded({ x402Version: 2, resource: challenge.resource, accepted, payload: { transaction } });
}

export async function pay(world: World, shop: Shop, path: string, body: unknown): Promise<string> {
  return payHeader(world.cluster, world.wallet, await challengeOf(shop, path, body));
}

type Headed = { readonly headers: Headers };

/** The challenge of MPP in a 402, as it is on the wire. */
export const mppChallengeIn = ({ headers }: Headed): Record<string, string> => {
  const said = headers.get('www-authenticate')?.replace(/^Payment /, '') ?? '';
  return Object.fromEntries(
    [...said.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
};

/** JSON in base64url, as MPP writes it. */
export const unwired = <T>(text: string | null | undefined): T =>
  JSON.parse(Buffer.from(text ?? '', 'base64url').toString()) as T;
export const wired = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The Authorization of MPP that repeats the challenge of a 402, with a transaction. */
export const credentialOf = (answer: Headed, transaction: string): string =>
  `Payment ${wired({ challenge: mppChallengeIn(answer), payload: { type: 'transaction', transaction } })}`;

/** The Authorization of our own payer for the challenge of MPP in a 402. */
export async function mppCredential(cluster: Cluster, payer: Signer, answer: Response): Promise<string> {
  const header = await payHeader(cluster, payer, (await answer.clone().json()) as Challenge);
  return credentialOf(answer, decoded<{ payload: { transaction: string } }>(header).payload.transaction);
}
