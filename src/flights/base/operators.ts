import type { Transaction } from 'kysely';
import { problem } from '../../kernel/problems.ts';
import type { PageMessage } from '../../notify/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { FlightsOptions, FlightsPorts } from './ports.ts';
import type { DeskTables, Store, Tx } from './tables.ts';

/** Makes a page to the operator. `about` tells pages of one event apart; the same page is written once. */
export const page = (
  event: string,
  about: string,
  { intentId = null, text, fields }: Pick<PageMessage, 'text' | 'fields'> & { readonly intentId?: string | null },
): PageMessage => ({ kind: 'page', dedupKey: `page:${event}:${about}`, intentId, event, text, fields });

/** Pages an operator in a transaction of its own. */
export const pageAlone = ({ store, outbox }: Pick<FlightsPorts, 'store' | 'outbox'>, ...of: Parameters<typeof page>) =>
  inTurn(store, [], (tx) => outbox.enqueue(tx, page(...of)));

type PagePorts = Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox'>;

interface Trouble {
  /** The row in `meta` that marks the trouble as paged: `<event>`, or `<event>:<what it is about>`. */
  readonly key: string;
  readonly event: string;
  readonly fields: PageMessage['fields'];
}

/** Pages an operator unless the trouble is marked already. `value` is kept in the mark (default: the time). */
export async function pageOnce(
  { store, clock, log, outbox }: PagePorts,
  {
    key,
    event,
    fields,
    text,
    value,
    level = 'error',
  }: Trouble & { readonly text: string; readonly value?: string; readonly level?: 'error' | 'warn' },
): Promise<void> {
  const nowMs = clock.now();
  const isFirst = await inTurn(store, [], async (tx) => {
    const written = await tx
      .insertInto('meta')
      .values({ key, value: value ?? String(nowMs) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (!written.numInsertedOrUpdatedRows) return false;
    return outbox.enqueue(tx, { kind: 'page', dedupKey: `page:${key}:${nowMs}`, intentId: null, event, text, fields });
  });
  if (isFirst) log(level, event, fields);
}

/** Pages once while a trouble lasts, across processes. @param trouble `text` is null while nothing is wrong */
export async function pageWhile(
  ports: PagePorts,
  { text, restored, ...trouble }: Trouble & { readonly restored: string; readonly text: string | null },
): Promise<void> {
  const { store, log } = ports;
  const { key, fields } = trouble;
  const known = await store.selectFrom('meta').select('key').where('key', '=', key).executeTakeFirst();
  if ((known !== undefined) === (text !== null)) return;
  if (text !== null) return pageOnce(ports, { ...trouble, text });
  await store.deleteFrom('meta').where('key', '=', key).execute();
  log('info', restored, fields);
}

export interface Operator {
  readonly keyId: string;
  readonly name: string;
}

export interface By {
  readonly operator: Operator;
  readonly requestId: string;
}

export const BY_SERVICE: By = { operator: { keyId: 'service', name: 'service' }, requestId: '' };

export type AuditTables = Pick<DeskTables, 'operator_audit'>;

interface Act extends By {
  /** `refund.approve`, `switch.booking`, `key.revoke`, … */
  readonly action: string;
  readonly subject: string;
  /** Ids and amounts; nothing personal, no free text. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Adds a row to the audit trail in the transaction of the act. Nothing ever changes a row. */
export async function writeAudit(
  tx: Transaction<AuditTables>,
  { clock, ids }: Pick<FlightsPorts, 'clock' | 'ids'>,
  { operator, requestId, action, subject, detail = {} }: Act,
): Promise<void> {
  await tx
    .insertInto('operator_audit')
    .values({
      audit_id: ids.next('aud'),
      at_ms: clock.now(),
      key_id: operator.keyId,
      operator_name: operator.name,
      action,
      subject,
      request_id: requestId,
      detail: JSON.stringify(detail),
    })
    .execute();
}

/** Adds an audit row in a transaction of its own. */
export const auditAlone = (ports: Pick<FlightsPorts, 'store' | 'clock' | 'ids'>, act: Act) =>
  inTurn(ports.store, [], (tx) => writeAudit(tx, ports, act));

/**
 * The operator's switches for new intents and bookings: all, or those of lowcost offers. Bookings under way continue.
 * `key` is a row of `meta`, for every process; a setting can turn a switch off regardless of its row.
 */
const SWITCHES = {
  booking: {
    key: 'booking_disabled',
    isOff: ({ bookingDisabled }: FlightsOptions) => bookingDisabled,
    refusal: () => problem('booking_disabled', { retryAfter: 300 }),
  },
  lowcost: {
    key: 'lowcost_booking_disabled',
    isOff: ({ lowcostDisabled }: FlightsOptions) => lowcostDisabled,
    refusal: () => problem('lowcost_booking_unavailable'),
  },
} as const;

export type SwitchName = keyof typeof SWITCHES;
export const SWITCH_NAMES = Object.keys(SWITCHES) as SwitchName[];

type SwitchPorts = Pick<FlightsPorts, 'store' | 'options'>;

export async function isOff({ store, options }: SwitchPorts, name: SwitchName): Promise<boolean> {
  const { key, isOff } = SWITCHES[name];
  if (isOff(options)) return true;
  const row = await store.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row !== undefined && row.value !== '0';
}

export async function checkOpen(ports: SwitchPorts, name: SwitchName): Promise<void> {
  if (await isOff(ports, name)) throw SWITCHES[name].refusal();
}

export async function turnSwitch(on: Store | Tx, name: SwitchName, to: 'on' | 'off'): Promise<void> {
  const value = to === 'off' ? '1' : '0';
  await on
    .insertInto('meta')
    .values({ key: SWITCHES[name].key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}
