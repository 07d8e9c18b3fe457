import { sql } from 'kysely';
import type { UpkeepTask } from '../flights/base/index.ts';
import { BOOKINGS, NOT_ENDED } from '../flights/bookings/index.ts';
import { PAYOUTS, REFUNDS } from '../flights/refunds/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem } from '../kernel/problems.ts';
import { WAITING } from '../notify/index.ts';
import { ATTESTATIONS } from '../partner/compliance/index.ts';
import { CREATIONS } from '../partner/orders/index.ts';
import type { OperatorWallets } from '../payments/index.ts';
import { connectionsOf } from '../store/base/index.ts';
import { type Counted, countPiles, type Pile, pileOf, storeTrouble } from '../store/index.ts';
import type { Reads } from '../store/postgres/index.ts';
import type { ServiceTables, Store } from './home.ts';

export interface Reading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ReadingPorts {
  readonly store: Store;
  /** Counts rows; default: `store`. */
  readonly reads?: Reads<ServiceTables> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly wallets: OperatorWallets;
  readonly movedOn: () => Promise<boolean>;
}

/** Scrapes within this time share an answer. */
const KEPT_MS = 3_000;
/** A scrape waits for a part no longer than this. */
const MOST_MS = 2_000;

/** Reads the state of a service for gauges. A part that cannot be read is reported; the others are still read. */
export function createReadings(ports: ReadingPorts) {
  const parts = { database: () => database(ports), wallets: () => wallets(ports), connections: () => pool(ports) };
  type Part = keyof typeof parts;
  const kept = new Map<Part, { readonly atMs: number; readonly readings: Promise<readonly Reading[]> }>();

  function read(part: Part): Promise<readonly Reading[]> {
    const nowMs = ports.clock.now();
    const known = kept.get(part);
    if (known && Math.abs(nowMs - known.atMs) < KEPT_MS) return known.readings;
    const readings = inTime(parts[part]).then(
      (found) => [...found, failed(part, 0)],
      (error: unknown) => {
        const code = storeTrouble(error)?.code ?? (isProblem(error) ? error.code : undefined);
        ports.log('warn', 'metrics_part_failed', { part, error_code: code ?? null, error_name: nameOf(error) });
        return [failed(part, 1)];
      },
    );
    kept.set(part, { atMs: nowMs, readings });
    return readings;
  }

  return async (): Promise<readonly Reading[]> =>
    (await Promise.all((Object.keys(parts) as Part[]).map((part) => read(part)))).flat();
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

const failed = (part: string, value: number): Reading => ({ name: 'farelock_scrape_failed', labels: { part }, value });

async function inTime<T>(read: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('late', 'TimeoutError')), MOST_MS);
  });
  return Promise.race([read(), late]).finally(() => clearTimeout(timer));
}

const states = (kind: string, table: string, open: string, by: string, since: string): Pile => ({
  ...{ kind, table, by, since, isByState: true },
  open: sql.raw(open),
});

const BY_STATE: readonly Pile[] = [
  { ...pileOf('booking', BOOKINGS), since: 'requested_at_ms', isByState: true },
  states('booking', 'bookings', `state = 'stuck'`, 'updated_at_ms', 'requested_at_ms'),
  { ...pileOf('refund', REFUNDS), since: 'requested_at_ms', isByState: true },
  states(
    'refund',
    'refund_requests',
    `state in ('approved', 'stuck') and state = 'stuck'`,
    'requested_at_ms',
    'requested_at_ms',
  ),
  states('effect', 'effects', `state in ('planned', 'sent', 'stuck')`, 'created_at_ms', 'created_at_ms'),
  states('payment', 'settlements', `state in ('claimed', 'performed', 'settling')`, 'updated_at_ms', 'created_at_ms'),
  states('payment', 'settlements', `state = 'settled'`, 'updated_at_ms', 'created_at_ms'),
];

const STATES: Readonly<Record<string, readonly string[]>> = {
  booking: NOT_ENDED,
  refund: ['settling', 'approved', 'stuck'],
  effect: ['planned', 'sent', 'stuck'],
  payment: ['claimed', 'performed', 'settling', 'settled'],
};

const QUEUES: readonly Pile[] = [
  pileOf('booking', BOOKINGS),
  pileOf('page', WAITING.page),
  pileOf('mail', WAITING.email),
  pileOf('refund', REFUNDS),
  pileOf('affiliate_payout', PAYOUTS),
  pileOf('partner_order', CREATIONS),
  pileOf('attestation', ATTESTATIONS),
];

const TASKS: readonly UpkeepTask[] = ['late_money', 'late_ticket', 'close_escrow', 'purge', 'order_watch', 'capture'];

/** Counts only tasks that are due: others may wait for weeks. */
const upkeepAt = (nowMs: number): Pile[] =>
  TASKS.map((task) => ({
    ...{ kind: task, table: 'upkeep', by: 'due_at_ms', since: 'due_at_ms' },
    open: sql`task = ${sql.lit(task)} and due_at_ms <= ${nowMs}`,
  }));

async function database({ store, reads = (ask) => ask(store), clock, movedOn }: ReadingPorts): Promise<Reading[]> {
  if (await movedOn()) throw new Error('a newer version has moved the database');
  const nowMs = clock.now();
  const upkeep = upkeepAt(nowMs);
  const counted = await reads((on) => countPiles(on, [...BY_STATE, ...QUEUES, ...upkeep]));
  const of = (kind: string, state: string): Counted | undefined =>
    counted.find((one) => one.kind === kind && one.state === state);
  const both = (name: string, age: string, labels: Reading['labels'], found: Counted | undefined): Reading[] => [
    { name, labels, value: found?.count ?? 0 },
    { name: age, labels, value: found ? Math.max(0, nowMs - found.oldestMs) / 1000 : 0 },
  ];
  return [
    ...Object.entries(STATES).flatMap(([kind, all]) =>
      all.flatMap((state) =>
        both(`farelock_${kind}s_open`, `farelock_${kind}s_oldest_age_seconds`, { state }, of(kind, state)),
      ),
    ),
    ...[...QUEUES, ...upkeep].flatMap(({ kind }) =>
      both('farelock_jobs', 'farelock_jobs_overdue_seconds', { kind }, of(kind, '')),
    ),
  ];
}

async function wallets({ wallets }: ReadingPorts): Promise<Reading[]> {
  // A new home's wallets are filled with its first payment.
  if (!wallets.isFilled()) return [];
  const { authority, facilitator, treasury } = await wallets.holdings();
  const lamports = { authority, ...(facilitator === null ? {} : { facilitator }) };
  return [
    ...Object.entries(lamports).map(([wallet, held]) => ({
      ...{ name: 'farelock_wallet_lamports', labels: { wallet }, value: Number(held) },
    })),
    { name: 'farelock_wallet_usdc', labels: { wallet: 'treasury' }, value: Number(treasury) / 1e6 },
  ];
}

async function pool({ store }: ReadingPorts): Promise<Reading[]> {
  const connections = connectionsOf(store);
  if (!connections) return [];
  return [
    { name: 'farelock_database_connections', labels: { state: 'in_use' }, value: connections.inUse },
    { name: 'farelock_database_connections', labels: { state: 'waiting' }, value: connections.waiting },
  ];
}
