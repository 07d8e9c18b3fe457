import type { Address } from '@solana/kit';
import type { ProviderOrder } from '../../airlines/index.ts';
import { type EscrowAccount, loadAccount } from '../../escrow/index.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { tokenIn } from '../../solana/index.ts';
import type { BookingRow, FlightsPorts, IntentRow } from '../base/index.ts';
import { type Escrows, type EscrowTerms, NO_PAYMENT, OPEN_BOOKINGS, placeOf } from '../bookings/index.ts';
import { chunks, historySince, paymentInto, transactionsOf } from './chain.ts';
import type { ChainAct, EscrowAct, LandedPayment, SeenAuthorization } from './types.ts';

/** An escrow as the chain, the airline and the database show it. */
export interface Case {
  readonly escrow: Address;
  /** Acts that the database lacks. */
  readonly acts: readonly EscrowAct[];
  /** Its intent, with the address replaced by this escrow's; null if the database knows no intent of it. */
  readonly intent: IntentRow | null;
  /** True if another escrow of the intent counts. */
  readonly isUnused?: boolean;
  readonly booking: BookingRow | null;
  /** Null if it is not on the chain (any more), or belongs to another operator. */
  readonly account: EscrowAccount | null;
  /** Atomic units in the vault. */
  readonly held: bigint;
  readonly order: ProviderOrder | null;
}

interface Found {
  readonly cases: readonly Case[];
  /** Orders whose intent neither the database nor the chain knows. */
  readonly orders: readonly ProviderOrder[];
}

/** Collects all that may differ: escrows with unrecorded acts, locked fares, open bookings, intents with an order. */
export async function casesOf(
  ports: FlightsPorts,
  escrows: Escrows,
  all: readonly ChainAct[],
  orders: readonly ProviderOrder[],
  authorized: readonly SeenAuthorization[],
): Promise<Found> {
  const acts = new Map<string, EscrowAct[]>();
  for (const act of all) {
    if (act.kind !== 'payout') acts.set(act.escrow, [...(acts.get(act.escrow) ?? []), act]);
  }
  const byReference = new Map(orders.map((order) => [order.reference, order]));
  const intents = await intentsOf(ports, [...acts.keys()], [...byReference.keys()]);
  const ids = new Set(intents.map((intent) => intent.intent_id));
  const pairs = await Promise.all(intents.map(async (intent) => [intent, await escrows.other(intent)] as const));
  const known = new Set(pairs.flat().map((place) => place.escrow_address));
  const forgotten = orders.filter(({ reference }) => !ids.has(reference));
  const places = new Map<string, ProviderOrder>();
  for (const order of forgotten) places.set((await escrows.place(order.reference)).address, order);
  const unseen = [...places].filter(
    ([opened]) => !acts.has(opened) && !authorized.some((one) => one.opened === opened),
  );
  for (const { escrow, opened } of authorized) {
    const order = places.get(opened);
    if (order) places.set(escrow, order);
  }
  const seen = [...acts.keys(), ...authorized.map(({ escrow }) => escrow)];
  const unknown = [...new Set(seen)].filter((escrow) => !known.has(escrow)) as Address[];
  const bookings = await bookingsOf(ports, [...ids]);
  const accounts = await accountsAt(ports, [...known, ...unknown] as Address[]);
  const at = (escrow: Address) => ({ escrow, acts: acts.get(escrow) ?? [], ...(accounts.get(escrow) ?? NOTHING) });
  const caseOf = (intent: IntentRow, place: EscrowTerms) => ({
    ...at(place.escrow_address as Address),
    intent: { ...intent, ...placeOf(place) },
    booking: bookings.get(intent.intent_id) ?? null,
    order: byReference.get(intent.intent_id) ?? null,
  });
  const cases = [
    ...pairs.flatMap(([intent, other]): Case[] => {
      const both = [caseOf(intent, intent), caseOf(intent, other)] as const;
      const [used, unused] = isUsed(both[1]) && !isUsed(both[0]) ? [both[1], both[0]] : both;
      return unused.acts.length === 0 ? [used] : [used, { ...unused, isUnused: true }];
    }),
    ...unknown.map((escrow) => ({ ...at(escrow), intent: null, booking: null, order: places.get(escrow) ?? null })),
  ];
  return { cases, orders: unseen.map(([, order]) => order) };
}

/** True for an escrow that holds its price, or that held it before it was captured or refunded. */
const isUsed = ({ account, held, acts, intent }: Case): boolean => {
  if (account?.state === 'open') return held >= account.amount;
  if (account) return account.state === 'captured' || !account.neverFunded;
  return intent?.escrow_kind === 'authorized' && acts.some(({ kind }) => kind === 'capture' || kind === 'refund');
};

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
    // Strangers can open escrows on other terms.
    return account && all.includes(account.authority) && account.treasury === treasury ? [account] : [];
  });
  const vaults = await cluster.accounts(open.map(({ vault }) => vault));
  open.forEach((account, place) => {
    found.set(account.address, { account, held: tokenIn(vaults[place])?.amount ?? 0n });
  });
  return found;
}

/** Finds the payment that funded an escrow in its vault's history. */
export async function fundingOf(ports: FlightsPorts, vault: Address, sinceMs: number): Promise<LandedPayment | null> {
  const found = await transactionsOf(ports, await historySince(ports, vault, sinceMs));
  return found.map((one) => paymentInto(vault, one)).find((one) => one !== null) ?? null;
}
