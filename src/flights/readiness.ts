import { AWAY_S } from '../http/index.ts';
import { instant } from '../kernel/clock.ts';
import { isProblem } from '../kernel/problems.ts';
import { inTurn } from '../store/base/index.ts';
import { storageFields, storeTrouble } from '../store/index.ts';
import type { Health } from '../wire/flights/index.ts';
import { DATABASE_BEHIND, type FlightsPorts, readBehind } from './base/index.ts';
import { type Funds, programTrouble, shown, shownBalance } from './bookings/index.ts';

type Checks = NonNullable<Health['checks']>;
type Details = Pick<Health, 'airline' | 'airline_balance' | 'escrow_program' | 'reconcile' | 'wallets'>;

interface Found {
  readonly code: string;
  readonly details?: Details;
}

export type Readiness = Awaited<ReturnType<ReturnType<typeof createReadiness>>>;

/** /ready must answer within two seconds, even if a dependency is silent. */
const MOST_MS = 1_500;
const OK = 'ok';

const FOR_A_PERSON: ReadonlySet<string> = new Set([
  'airline_refuses',
  DATABASE_BEHIND,
  'database_newer',
  'escrow_program_changed',
  'operator_funds_low',
]);
const PERSON_S = 60;

/** Codes of checks that time out. Bookings go on while an airline is silent, so that counts as `ok`. */
const LATE: Checks = {
  database: 'not_ready',
  cluster: 'cluster_failed',
  wallets: 'not_ready',
  airline: OK,
  disk: 'storage_locked',
};

/** Checks what the service needs. Callers share running checks, so any number of calls takes few connections. */
export function createReadiness(ports: FlightsPorts, funds: Funds) {
  const looks: Readonly<Record<keyof Checks, () => Promise<Found>>> = {
    database: unlessMovedOn(ports, () => lookAtDatabase(ports)),
    cluster: () => lookAtCluster(ports),
    wallets: unlessMovedOn(ports, () => lookAtWallets(ports, funds)),
    airline: unlessMovedOn(ports, () => lookAtAirline(ports, funds)),
    disk: async () => ({ code: (await ports.writeTrouble?.()) ?? OK }),
  };
  const running = new Map<keyof Checks, Promise<Found>>();

  function look(name: keyof Checks): Promise<Found> {
    const begun =
      running.get(name) ??
      looks[name]()
        .catch((error: unknown): Found => {
          ports.log('error', 'not_ready', { check: name, ...storageFields(error) });
          const code = storeTrouble(error)?.code ?? (isProblem(error) ? error.code : 'internal_error');
          return { code };
        })
        .finally(() => running.delete(name));
    running.set(name, begun);
    return begun;
  }

  async function inTime(name: keyof Checks): Promise<Found> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Found>((resolve) => {
      timer = setTimeout(() => {
        ports.log('error', 'not_ready', { check: name, error_name: 'late' });
        resolve({ code: LATE[name] });
      }, MOST_MS);
    });
    return Promise.race([look(name), late]).finally(() => clearTimeout(timer));
  }

  async function all() {
    const names = ['database', 'cluster', 'wallets', 'airline', 'disk'] as const;
    const found = await Promise.all(names.map(async (name) => [name, await inTime(name)] as const));
    const failed = found.map(([, { code }]) => code).filter((code) => code !== OK);
    return {
      isReady: failed.length === 0,
      checks: Object.fromEntries(found.map(([name, { code }]) => [name, code])) as Checks,
      details: Object.assign({}, ...found.map(([, { details }]) => details)) as Details,
      retryAfterS: failed.length > 0 && failed.every((code) => FOR_A_PERSON.has(code)) ? PERSON_S : AWAY_S,
    };
  }

  let answering: ReturnType<typeof all> | null = null;
  return () => {
    answering ??= all().finally(() => {
      answering = null;
    });
    return answering;
  };
}

/** Skips a check if a newer version has migrated the database: rows would seem to be missing. */
const unlessMovedOn =
  ({ movedOn }: FlightsPorts, look: () => Promise<Found>) =>
  async (): Promise<Found> =>
    (await movedOn?.()) ? { code: 'database_newer' } : look();

/** The transaction waits for the writers' lock, as every payment does. */
async function lookAtDatabase({ store }: FlightsPorts): Promise<Found> {
  const behind = await inTurn(store, [], readBehind);
  if (behind === null) return { code: OK };
  return { code: DATABASE_BEHIND, details: { reconcile: { why: behind.why, since: instant(behind.since_ms) } } };
}

async function lookAtCluster(ports: FlightsPorts): Promise<Found> {
  await ports.ready?.();
  const [trouble] = await Promise.all([programTrouble(ports), ports.wallets.holdings()]);
  if (trouble === null) return { code: OK };
  const details = { escrow_program: { address: ports.escrowProgram, trouble } };
  return { code: 'escrow_program_changed', details };
}

async function lookAtWallets({ ready }: FlightsPorts, funds: Funds): Promise<Found> {
  await ready?.();
  const wallets = (await funds.short()).map(shown);
  return wallets.length === 0 ? { code: OK } : { code: 'operator_funds_low', details: { wallets } };
}

async function lookAtAirline({ provider }: FlightsPorts, funds: Funds): Promise<Found> {
  const [refuses, balance] = await Promise.all([provider?.trouble?.(), funds.shortBalance()]);
  const details = {
    ...(refuses && { airline: { provider: provider?.name ?? '', trouble: refuses } }),
    ...(balance && { airline_balance: shownBalance(balance) }),
  };
  return { code: refuses ? 'airline_refuses' : balance ? 'operator_funds_low' : OK, details };
}
