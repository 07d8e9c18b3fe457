import type { Address } from '@solana/kit';
import type { RawBuilder } from 'kysely';
import type { Fulfiller, Provider } from '../../airlines/index.ts';
import type { Effects } from '../../effects/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { isProblem, type Problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Outbox, Transports } from '../../notify/index.ts';
import type { OperatorKeys, OperatorWallets, PaymentTerms, Paywall } from '../../payments/index.ts';
import type { Cluster, Signer } from '../../solana/index.ts';
import type { Reads } from '../../store/postgres/index.ts';
import type { Stuck } from '../../wire/flights/index.ts';
import type { AirlineChecks } from './airline-checks.ts';
import type { BehindWatch } from './behind.ts';
import type { FlightsDatabase, Store } from './tables.ts';

/** The operator's settings and their defaults. Amounts are atomic USDC, times milliseconds. */
export const defaultOptions = {
  searchPrice: 100_000n,
  searchPriceCap: 5_000_000n,
  searchesPerStep: 10,
  mostMultiplier: 50,
  rateLimitFactor: 5,
  /** How long a completed search counts, and how long a provider's rate limit does. */
  searchWindowMs: 60_000,
  rateLimitWindowMs: 5 * 60_000,
  offerDetailsPrice: 10_000n,
  lowcostDetailsPrice: 100_000n,
  intentPrice: 100_000n,
  orderPrice: 10_000n,
  refundRequestPrice: 100_000n,
  leastTicket: 10_000_000n,
  mostTicket: 10_000_000_000n,
  /** Limit on what all intents paid in 24 hours plus what they lock now; null for no limit. */
  mostPerDay: null as bigint | null,
  /** Unpaid fares that one payer may hold at once. */
  mostLocksPerPayer: 3,
  intentLifeMs: 30 * 60_000,
  refundAfterMs: DAY_MS,
  /** How long the price of a refundable ticket stays in escrow; 0 captures it at once. */
  holdAfterTicketMs: 0,
  /** The platform's share inside the ticket total, and an affiliate's share of that, in hundredths of a percent. */
  feeBasisPoints: 100,
  affiliateShareBasisPoints: 2_000,
  /** Airline calls per minute that unpaid calls may cause: those of one client, and of all clients. */
  freeChecksPerClient: 30,
  freeChecksPerMinute: 300,
  /** Refused checks per minute of a payer with verified payments. */
  refusedChecksPerPayer: 60,
  /** New affiliate codes per hour: in all, and for one client. */
  affiliatesPerHour: 1_000,
  affiliatesPerClient: 20,
  pollAfterMs: 1000,
  /** The operator's switches. Each can also be turned by a row in the database, without a restart. */
  bookingDisabled: false,
  lowcostDisabled: false,
  /** How many unpaid creations may have an escrow open at once, and how long a creation waits for a place. */
  mostUnpaidCreations: 8,
  creationWaitMs: 8_000,
  /** How long the worker leaves a payment to the request that settles it. */
  settlingGraceMs: 5_000,
  /** Personal data is purged this many days after the last arrival, or after the refund. */
  purgeAfterDays: 30,
  /** True for a long-running process, which sweeps at start. A command sweeps only when a sweep is due. */
  sweepsAtStart: false,
};

export type FlightsOptions = Readonly<typeof defaultOptions>;

/** A call as a module sees it: its body, its public address, and its client as `clientOf` names it. */
export interface Asked<Body> {
  readonly body: Body;
  readonly url: string;
  readonly client: string;
}

/** The public keys of gateways that may sponsor previews, 32 bytes each, by key id. */
export type GatewayKeys = Readonly<Record<string, Uint8Array>>;

export interface FlightsGiven {
  readonly store: Store;
  /** Reads for desks, which may be seconds old. Default: from `store`. */
  readonly reads?: Reads<FlightsDatabase> | undefined;
  readonly secrets: Secrets;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Null if no provider is configured: search and book then answer 501. */
  readonly provider: Provider | null;
  /** The slower tier; without it, searches are complete at once and its offers are unknown. */
  readonly lowcost?: Fulfiller | null | undefined;
  /** Opens new escrows, and pays the fees of every act on any escrow. */
  readonly authority: Signer;
  /** The authorities of all escrows. Absent if the authority was never rotated. */
  readonly authorities?: OperatorKeys | undefined;
  /** Pays the network fees of customers' payments. */
  readonly facilitator: Address;
  /** Every address that the operator's keys have or had. */
  readonly ownWallets?: (() => readonly Address[]) | undefined;
  readonly wallets: OperatorWallets;
  /** Owner of the token account that receives fees and captures. */
  readonly treasury: Address;
  /** Signs what the treasury pays out: refunds that an operator approved, and affiliates' credit. */
  readonly treasurySigner: Signer;
  readonly mint: Address;
  /** The program of new escrows. An intent keeps the program that it was opened at. */
  readonly escrowProgram: Address;
  /** Returns what is wrong with that program now, or null. Absent if it cannot change. */
  readonly programTrouble?: (() => Promise<string | null>) | undefined;
  /** Finds ramp orders in ERROR, which wait for a person, or the one of this id. Absent without ramp orders. */
  readonly partnerOrdersInError?:
    | ((orderId?: string) => Promise<readonly Stuck['partner_orders'][number][]>)
    | undefined;
  /** `recover` settles what a crash has left open since `leftAtMs`. */
  readonly paywall: Paywall & { recover?(): Promise<unknown>; leftAtMs?(): RawBuilder<number | null> };
  /** Delivers pages and mails. Without it they wait in the outbox. */
  readonly transports?: (() => Promise<Transports>) | undefined;
  /** The gateways that may sponsor a preview of a search; without it none may. */
  readonly gatewayKeys?: (() => Promise<GatewayKeys>) | undefined;
  readonly options?: Partial<FlightsOptions> | undefined;
  /** Readies the operator's wallets before anything moves money. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Returns the code of the problem that keeps the disk from being written, or null. */
  readonly writeTrouble?: (() => Promise<string | null>) | undefined;
  /** Returns true once a newer version has migrated the database. */
  readonly movedOn?: (() => Promise<boolean>) | undefined;
  /** Returns true once the process has to stop. */
  readonly isStopping?: (() => boolean) | undefined;
}

export interface FlightsPorts extends Omit<FlightsGiven, 'options'> {
  readonly options: FlightsOptions;
  readonly effects: Effects;
  readonly outbox: Outbox;
  /** Returns true while a restored database has not been reconciled. */
  readonly isBehind: BehindWatch;
  readonly checks: AirlineChecks;
}

/** Waits for the cluster, or takes `otherwise` while it does not answer. */
export const unlessSilent = <T, O>(asked: Promise<T>, otherwise: (error: Problem) => O): Promise<T | O> =>
  asked.catch((error: unknown) => {
    if (isProblem(error, 'cluster_failed')) return otherwise(error);
    throw error;
  });

/** Payment terms of a call that the treasury is paid for. */
export const toTreasury = (
  { treasury, mint }: FlightsPorts,
  amount: PaymentTerms['amount'],
  description: string,
): PaymentTerms => ({ amount, payTo: treasury, asset: mint, description });
