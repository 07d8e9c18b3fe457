import type { Address } from '@solana/kit';
import type { ProviderOrder } from '../../airlines/index.ts';
import { type EscrowAccount, loadAccount } from '../../escrow/index.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { tokenIn } from '../../solana/index.ts';
import type { BookingRow, FlightsPorts, IntentRow } from '../base/index.ts';
import { type Escrows, NO_PAYMENT, OPEN_BOOKINGS } from '../bookings/index.ts';
import { chunks, historySince, paymentInto, transactionsOf } from './chain.ts';
import type { ChainAct, EscrowAct, LandedPayment } from './types.ts';

/** An escrow as chain, airline and database show it. */
export interface Case {
  readonly escrow: Address;
  /** Acts that the database forgot. */
  readonly acts: readonly EscrowAct[];
  /** null: the database knows no intent of it. */
  readonly intent: IntentRow | null;
  readonly booking: BookingRow | null;
  /** null: not on the chain (any more), or another operator's. */
  readonly account: EscrowAccount | null;
  /** Atomic units in the vault. */
  readonly held: bigint;
  readonly order: ProviderOrder | null;
}

interface Found {
  readonly cases: readonly Case[];
  /** Orders of which neither the database nor the chain knows an intent. */
  readonly orders: readonly ProviderOrder[];
}

/** Everything that may differ: escrows with forgotten acts, locked fares, open bookings, and intents with an order. */
export async function casesOf(
  ports: FlightsPorts,
  escrows: Escrows,
  all: readonly ChainAct[],
  orders: readonly ProviderOrder[],
): Promise<Found> {
  const acts = new Map<string, EscrowAct[]>();
  for (const act of all) {
    if (act.kind !== 'payout') acts.set(act.escrow, [...(acts.get(act.escrow) ?? []), act]);
  }
  const byReference = new Map(orders.map((order) => [order.reference, order]));
  const intents = await intentsOf(ports, [...acts.keys()], [...byReference.keys()]);
  const known = new Set(intents.map((intent) => intent.escrow_address));
  const ids = new Set(intents.map((intent) => intent.intent_id));
  const forgotten = orders.filter(({ reference }) => !ids.has(reference));
  const places = new Map<string, ProviderOrder>();
  for (const order of forgotten) places.set((await escrows.place(order.reference)).address, order);
  const unknown = [...acts.keys()].filter((escrow) => !known.has(escrow)) as Address[];
  const bookings = await bookingsOf(ports, [...ids]);
  const accounts = await accountsAt(ports, [...(intents.map((one) => one.escrow_address) as Address[]), ...unknown]);
  const at = (escrow: Address) => ({ escrow, acts: acts.get(escrow) ?? [], ...(accounts.get(escrow) ?? NOTHING) });
  const cases = [
    ...intents.map((intent) => ({
      ...at(intent.escrow_address as Address),
      intent,
      booking: bookings.get(intent.intent_id) ?? null,
      order: byReference.get(intent.intent_id) ?? null,
    })),
    ...unknown.map((escrow) => ({ ...at(escrow), intent: null, booking: null, order: places.get(escrow) ?? null })),
  ];
  return { cases, orders: [...places].flatMap(([escrow, order]) => (acts.has(escrow) ? [] : [order])) };
}

const NOTHING = { account: null, held: 0n };

async function intentsOf({ store }: FlightsPorts, escrows: readonly string[], ids: readonly string[]) {
  const rows = new Map<string, IntentRow>();
  const add = (found: readonly IntentRow[]) => {
    for (const row of found) rows.set(row.intent_id, row);
  };
  const all = store.selectFrom('intents').selectAll();
  for (const some of chunks(escrows)) add(await all.where('escrow_address', 'in', some).execute());
  for (const some of chunks(ids)) add(await all.where('intent_id', 'in', some).execute());
  add(await all.where('active_key', 'is not', null).where('opened_at_ms', 'is not', null).execute());
  const open = store.selectFrom('bookings').select('intent_id').where(OPEN_BOOKINGS);
  add(await all.where('intent_id', 'in', open.where('payment_key', '<>', NO_PAYMENT)).execute());
  return [...rows.values()];
}

async function bookingsOf({ store }: FlightsPorts, ids: readonly string[]) {
  const rows = new Map<string, BookingRow>();
  for (const some of chunks(ids)) {
    const found = await store.selectFrom('bookings').selectAll().where('intent_id', 'in', some).execute();
    for (const row of found) rows.set(row.intent_id, row);
  }
  return rows;
}

async function accountsAt(ports: FlightsPorts, escrows: readonly Address[]) {
  const { cluster, treasury } = ports;
  const { all } = await authoritiesOf(ports).look();
  const { decodeEscrow } = await loadAccount();
  const found = new Map<string, { account: EscrowAccount | null; held: bigint }>();
  const states = await cluster.accounts(escrows);
  const open = escrows.flatMap((escrow, place) => {
    const state = states[place];
    const account = state ? decodeEscrow(escrow, state.owner, state.data) : null;
    // Strangers can open an escrow on terms of their own.
    return account && all.includes(account.authority) && account.treasury === treasury ? [account] : [];
  });
  const vaults = await cluster.accounts(open.map(({ vault }) => vault));
  open.forEach((account, place) => {
    found.set(account.address, { account, held: tokenIn(vaults[place])?.amount ?? 0n });
  });
  return found;
}

/** The payment that funded an escrow, where its vault's history has it. */
export async function fundingOf(ports: FlightsPorts, vault: Address, sinceMs: number): Promise<LandedPayment | null> {
  const found = await transactionsOf(ports, await historySince(ports, vault, sinceMs));
  return found.map((one) => paymentInto(vault, one)).find((one) => one !== null) ?? null;
}
