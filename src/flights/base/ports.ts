import type { Address } from '@solana/kit';
import type { Fulfiller, Provider } from '../../airlines/index.ts';
import type { Effects } from '../../effects/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Outbox, Transports } from '../../notify/index.ts';
import type { OperatorWallets, Paywall } from '../../payments/index.ts';
import type { Cluster, Signer } from '../../solana/index.ts';
import type { AirlineChecks } from './airline-checks.ts';
import type { Store } from './tables.ts';

/** A ramp order in ERROR that waits for a person; another room keeps it. */
export interface StuckPartnerOrder {
  readonly order_id: string;
  readonly partner_id: string;
  readonly last_error: string | null;
  readonly attempts: number;
  readonly updated_at: string;
}

/** Settings of the operator. Amounts are atomic USDC, times milliseconds. */
export interface FlightsOptions {
  readonly searchPrice: bigint;
  readonly searchPriceCap: bigint;
  /** Completed searches per step of the search price, counted over the last minute. */
  readonly searchesPerStep: number;
  readonly mostMultiplier: number;
  readonly rateLimitFactor: number;
  /** How long a completed search counts, and how long a provider's rate limit does. */
  readonly searchWindowMs: number;
  readonly rateLimitWindowMs: number;
  readonly offerDetailsPrice: bigint;
  readonly lowcostDetailsPrice: bigint;
  readonly intentPrice: bigint;
  readonly orderPrice: bigint;
  readonly refundRequestPrice: bigint;
  readonly leastTicket: bigint;
  readonly mostTicket: bigint;
  /** The most that is paid for in 24 hours or locked at this moment, all intents together; null: no end. */
  readonly mostPerDay: bigint | null;
  /** Fares that one payer holds at once without having paid for them. */
  readonly mostLocksPerPayer: number;
  readonly intentLifeMs: number;
  readonly refundAfterMs: number;
  /** The platform's share inside the ticket total, in hundredths of a percent. */
  readonly feeBasisPoints: number;
  /** An affiliate's share of the platform fee, in hundredths of a percent. */
  readonly affiliateShareBasisPoints: number;
  /** Questions to the airline a minute that a client's unpaid calls may cause, and those of everybody together. */
  readonly freeChecksPerClient: number;
  readonly freeChecksPerMinute: number;
  /** Refused checks a minute of a payer whose payments are good. */
  readonly refusedChecksPerPayer: number;
  /** New affiliate codes an hour, altogether. */
  readonly affiliatesPerHour: number;
  /** The same for one client. */
  readonly affiliatesPerClient: number;
  readonly pollAfterMs: number;
  /** The operator's switch (also a row in the database, so that it works without a restart). */
  readonly bookingDisabled: boolean;
  /** The same for new intents and bookings on lowcost offers. */
  readonly lowcostDisabled: boolean;
  /** Escrows that may be open for creations that were not paid yet, altogether. */
  readonly mostUnpaidCreations: number;
  /** How long a creation waits for one of these places. */
  readonly creationWaitMs: number;
  /** How long the worker leaves a payment to the request that settles it before it looks for itself. */
  readonly settlingGraceMs: number;
  /** Personal data goes this many days after the last arrival, or after the refund. */
  readonly purgeAfterDays: number;
  /** True for a process that stays. A command that ends leaves the sweep to the next process that is due. */
  readonly sweepsAtStart: boolean;
}

export const defaultOptions: FlightsOptions = {
  searchPrice: 100_000n,
  searchPriceCap: 5_000_000n,
  searchesPerStep: 10,
  mostMultiplier: 50,
  rateLimitFactor: 5,
  searchWindowMs: 60_000,
  rateLimitWindowMs: 5 * 60_000,
  offerDetailsPrice: 10_000n,
  lowcostDetailsPrice: 100_000n,
  intentPrice: 100_000n,
  orderPrice: 10_000n,
  refundRequestPrice: 100_000n,
  leastTicket: 10_000_000n,
  mostTicket: 10_000_000_000n,
  mostPerDay: null,
  mostLocksPerPayer: 3,
  intentLifeMs: 30 * 60_000,
  refundAfterMs: DAY_MS,
  feeBasisPoints: 100,
  affiliateShareBasisPoints: 2_000,
  freeChecksPerClient: 30,
  freeChecksPerMinute: 300,
  refusedChecksPerPayer: 60,
  affiliatesPerHour: 1_000,
  affiliatesPerClient: 20,
  pollAfterMs: 1000,
  bookingDisabled: false,
  lowcostDisabled: false,
  mostUnpaidCreations: 8,
  creationWaitMs: 8_000,
  settlingGraceMs: 5_000,
  purgeAfterDays: 30,
  sweepsAtStart: false,
};

/** The public keys of gateways that may sponsor previews, 32 bytes each, by key id. */
export type GatewayKeys = Readonly<Record<string, Uint8Array>>;

/** The arguments of createFlights. `recover` is the paywall's own: settles what a crash left open. */
export interface FlightsGiven {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** null: no provider is configured; search and book answer 501. */
  readonly provider: Provider | null;
  /** The slower tier; without it, searches are complete at once and its offers are unknown. */
  readonly lowcost?: Fulfiller | null | undefined;
  /** Opens, captures and refunds escrows, and pays for it. */
  readonly authority: Signer;
  /** Pays the network fees of customers' payments. */
  readonly facilitator: Address;
  /** Holdings of the operator's wallets. */
  readonly wallets: OperatorWallets;
  /** Owner of the token account that fees and captures pay. */
  readonly treasury: Address;
  /** Signs what the treasury pays out: refunds that an operator approved, and affiliates' credit. */
  readonly treasurySigner: Signer;
  readonly mint: Address;
  /** Where new escrows are opened. An intent keeps the one that it was opened at. */
  readonly escrowProgram: Address;
  /** What is wrong with that program now; null while nothing is. Absent: it cannot change. */
  readonly programTrouble?: (() => Promise<string | null>) | undefined;
  /** Ramp orders that wait for a person, or the one of this id; absent where there are none. */
  readonly partnerOrdersInError?: ((orderId?: string) => Promise<readonly StuckPartnerOrder[]>) | undefined;
  readonly paywall: Paywall & { recover?(): Promise<unknown> };
  /** How pages and mails leave; without it they are written, and wait. */
  readonly transports?: (() => Promise<Transports>) | undefined;
  /** The gateways that may sponsor a preview of a search; without it none may. */
  readonly gatewayKeys?: (() => Promise<GatewayKeys>) | undefined;
  readonly options?: Partial<FlightsOptions> | undefined;
  /** Readies the operator's wallets before anything moves money. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Why nothing can be written down right now, as a code; null while it can. */
  readonly writeTrouble?: (() => Promise<string | null>) | undefined;
  /** True once a newer version has brought the database up to date. */
  readonly movedOn?: (() => Promise<boolean>) | undefined;
  /** True from the moment that the process is to stop. */
  readonly isStopping?: (() => boolean) | undefined;
}

/** The ports of every module of the flight service. */
export interface FlightsPorts extends Omit<FlightsGiven, 'options'> {
  readonly options: FlightsOptions;
  readonly effects: Effects;
  readonly outbox: Outbox;
  readonly checks: AirlineChecks;
}
