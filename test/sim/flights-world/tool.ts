import { hasNeverLanded } from '../../../src/cli/session/landed.ts';
import { NO_LIMITS } from '../../../src/client/base/spending.ts';
import { EMBEDDED_TRUST } from '../../../src/client/base/trusted-program.ts';
import { createFlightsClient } from '../../../src/client/flights.ts';
import { type ClientStore, openClientStore } from '../../../src/client/journal/store.ts';
import { createPayer } from '../../../src/client/payer/payer.ts';
import { type Fetch, HttpResponse, headerOf } from '../../../src/kernel/http.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { once } from '../../../src/kernel/once.ts';
import type { Process } from '../world/computer.ts';
import type { Disk } from '../world/disk.ts';
import { network, type Reached } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { HOSTS } from './chain.ts';
import { clusterOf } from './services.ts';
import { type Stage, walletOf } from './stage.ts';
import { createStockPayer } from './stock-payer.ts';

export const BASE_URL = 'http://flights.sim';

/** What somebody lets the tool spend in 24 hours; null: anything. */
export const limitOf = ({ chance }: World, who: string): bigint | null => limited.get(chance)?.get(who) ?? null;

/** Decides who has a limit of which amount. */
export function setLimits(world: World, names: readonly string[]): void {
  const of = new Map<string, bigint>();
  for (const name of names) {
    if (!world.chance.takesPart(`${name} has a limit for a day`, 0.25)) continue;
    of.set(name, BigInt(20 + Math.floor(world.chance.part(`${name} limit`) * 230)) * 1_000_000n);
  }
  limited.set(world.chance, of);
}
const limited = new WeakMap<object, ReadonlyMap<string, bigint>>();

/** A journal whose every step is on the disk or not, whenever the tool dies. */
function watchedJournal(process: Process, store: ClientStore): ClientStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'shut') return value;
      return (...given: unknown[]) =>
        process.boundary(`journal ${String(name)}`, () => value.apply(target, given) as unknown);
    },
  });
}

/** A payment that a failure of the power would not take from the journal any more. */
const isOnDisk = (stage: Stage, disk: Disk, payload: string): boolean =>
  disk
    .survives(
      (journal) =>
        journal.prepare('select payment_id, payload_sealed from payments').all() as {
          readonly payment_id: string;
          readonly payload_sealed: string;
        }[],
    )
    .some(
      ({ payment_id: id, payload_sealed: sealed }) =>
        stage.secrets.decrypt(`payments.payload_sealed.${id}`, sealed) === payload,
    );

/** The tool on somebody's computer, for one command: journal, payer, typed client, as `farelock` opens them. */
export async function openTool(
  world: World,
  stage: Stage,
  process: Process,
  who: string,
  find: (place: string) => Reached | null,
  home = who,
) {
  const { clock } = process;
  const secrets = stage.secrets;
  const disk = stage.journalOf(home);
  const opened = await openClientStore({ path: disk.path(), secrets, clock, ids: randomIds(clock.now) });
  process.atEnd(() => void opened.shut());
  const store = watchedJournal(process, opened);
  const cluster = once(() => clusterOf(stage, process));
  const rpc = stage.chain.fetchOf(process);
  const rpcFetch: Fetch = async ({ url, body }) => {
    const answer = await rpc(url, { method: 'POST', body });
    return new HttpResponse(answer.status, await answer.text());
  };
  const ids = new Set<string>();
  const noted = <T extends { readonly id: string } | undefined | null>(open: T): T => {
    if (open) ids.add(open.id);
    return open;
  };
  const neverLanded = (paymentId: string) =>
    hasNeverLanded(
      {
        clock,
        cluster,
        store: async () => store,
        rpc: async () => ({ url: HOSTS[0], fetch: rpcFetch }),
        profile: { commitment: 'confirmed', webSocketUrl: null },
      },
      paymentId,
    );
  const reached = network(world, process, find, `10.0.0.${1 + (who.charCodeAt(0) % 200)}`);
  const fetch: Fetch = (request) => {
    const payload = headerOf(request, 'PAYMENT-SIGNATURE');
    if (payload !== null && stage.setting.payer === 'own' && !isOnDisk(stage, disk, payload)) {
      world.violate('a payment is on the disk before it leaves', `${home}: ${request.method} ${request.url}`);
    }
    return reached(request);
  };
  const { network: chain, usdcMint } = stage.ledger;
  const own = createPayer({
    cluster,
    signer: async () => walletOf(who),
    journal: async () =>
      ({
        ...bound(store),
        open: async (identity) => noted(await store.open(identity)),
        write: async (payment) => noted(await store.write(payment)),
      }) satisfies ClientStore,
    policy: {
      limits: { ...NO_LIMITS, perDay: limitOf(world, who) },
      saysYes: true,
      canAsk: true,
      ask: async () => true,
    },
    trust: EMBEDDED_TRUST,
    network: chain,
    usdcMint,
    clock,
    neverLanded,
    warn: () => undefined,
  });
  const payer =
    stage.setting.payer === 'own' ? own : createStockPayer({ who, signer: walletOf(who), journal: bound(store), rpc });
  return {
    store,
    cluster,
    fetch,
    neverLanded,
    client: createFlightsClient({ baseUrl: BASE_URL, fetch, payer, timeoutMs: 30_000, clock }),
    /** The person has seen what this command brought. */
    shown: () => store.shown([...ids]),
  };
}

export type Tool = Awaited<ReturnType<typeof openTool>>;

/** Every method by its name: what a proxy gives cannot be spread. */
const bound = (store: ClientStore): ClientStore =>
  Object.fromEntries(
    Object.keys(store).map((name) => [name, Reflect.get(store, name) as unknown]),
  ) as unknown as ClientStore;
