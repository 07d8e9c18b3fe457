import type { BrowserSettings } from '../airlines/browser/index.ts';
import type { Scenario } from '../airlines/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Meter } from '../kernel/meter.ts';
import type { NotifySettings } from '../notify/index.ts';
import type { PartnerOptions } from '../partner/base/index.ts';
import type { ClusterSettings } from '../solana/index.ts';
import type { Migrating } from '../store/base/index.ts';
import type { ProviderSettings } from './providers.ts';

export interface TakingCaps {
  readonly perPayment: bigint | null;
  readonly perDay: bigint | null;
}

export interface AirlineSettings {
  readonly provider: 'sandbox' | ProviderSettings;
  readonly lowcost: 'none' | 'sandbox' | { readonly name: 'browser'; readonly sites: CarrierSites };
}

/** Carriers that a browser buys from (docs/carriers.md). */
export type CarrierSites = Omit<BrowserSettings, 'cards' | 'dnsTexts'>;

export interface ServiceOptions {
  /** FARELOCK_HOME: everything lives under it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
  readonly meter?: Meter | undefined;
  readonly scenario?: Scenario | undefined;
  readonly seed?: string | undefined;
  /** Default: the sandbox's, both tiers. */
  readonly airlines?: AirlineSettings | undefined;
  /** How long the sandbox takes to issue a ticket, milliseconds (default 2000). */
  readonly ticketingMs?: number | undefined;
  /** How long the sandbox's lowcost tier quotes for a search, milliseconds (default 2500). */
  readonly lowcostMs?: number | undefined;
  /** A `postgres://` URL; without it a file under `home`. */
  readonly databaseUrl?: string | undefined;
  /** How the database takes missing steps. */
  readonly migrating?: Migrating | undefined;
  /** Settings that differ from those of the database's other processes are meant for all. */
  readonly acceptsChanges?: boolean | undefined;
  /** Where to listen for work that other processes took in, past a pooler; default: `databaseUrl`. */
  readonly listenUrl?: string | undefined;
  /** A standby for lists and metrics, which may be seconds old. */
  readonly readDatabaseUrl?: string | undefined;
  /** Aborts when a process that stays is to stop: /ready says no from then on. Commands that end have none. */
  readonly stopping?: AbortSignal | undefined;
  /** Without RPC addresses, the embedded cluster under `home`. */
  readonly cluster?: ClusterSettings | undefined;
  /** The operator has said that real USDC is meant. */
  readonly isMainnetMeant?: boolean | undefined;
  /** The most that is taken for one booking, and for all of 24 hours; atomic USDC. Mainnet asks for both. */
  readonly caps?: TakingCaps | undefined;
  /** Escrows opened at once before their locks are paid, by all processes (8). */
  readonly mostCreations?: number | undefined;
  /** How long the price of a ticket that may be refunded stays in escrow (0). */
  readonly holdAfterTicketMinutes?: number | undefined;
  /** A new ledger without the escrow program, for one that is deployed. */
  readonly withoutProgram?: boolean | undefined;
  /** A JSON file of the gateways that may sponsor previews: key id to public key, base58 or base64. */
  readonly gatewayKeysFile?: string | undefined;
  /** An x402 facilitator to verify and settle payments; without it, one in this process. */
  readonly facilitatorUrl?: string | undefined;
  /** Where pages and mails go; without it, to files under `home`. */
  readonly notify?: NotifySettings | undefined;
  /** Personal data goes this many days after the journey's end (default 30). */
  readonly purgeAfterDays?: number | undefined;
  /** Which keys the partner service takes: `demo` (default) or `live`. */
  readonly partnerEnvironment?: 'demo' | 'live' | undefined;
  /** `<svc>` of the partner service's procedure paths (default `farelock`). */
  readonly partnerServiceName?: string | undefined;
  readonly partner?: Partial<PartnerOptions> | undefined;
}

export interface WorkerRun {
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}
