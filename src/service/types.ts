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
  /** Default: the sandbox for both tiers. */
  readonly airlines?: AirlineSettings | undefined;
  /** Milliseconds that the sandbox takes to issue a ticket (default 2000). */
  readonly ticketingMs?: number | undefined;
  /** Milliseconds that the sandbox's lowcost tier takes to quote a search (default 2500). */
  readonly lowcostMs?: number | undefined;
  /** A `postgres://` URL; without it a file under `home`. */
  readonly databaseUrl?: string | undefined;
  /** Settings for applying missing steps. */
  readonly migrating?: Migrating | undefined;
  /** True if settings that differ from the other processes' become those of all processes. */
  readonly acceptsChanges?: boolean | undefined;
  /** The address for notices of other processes' work, past a pooler; default: `databaseUrl`. */
  readonly listenUrl?: string | undefined;
  /** A standby for lists and metrics, which may be seconds old. */
  readonly readDatabaseUrl?: string | undefined;
  /** Aborts when a long-running process is to stop: /ready then fails. Absent for commands that end by themselves. */
  readonly stopping?: AbortSignal | undefined;
  /** Without RPC addresses, the embedded cluster under `home`. */
  readonly cluster?: ClusterSettings | undefined;
  /** True if the operator confirmed real USDC. */
  readonly isMainnetMeant?: boolean | undefined;
  /** The most to take for one booking, and in 24 hours; atomic USDC. Mainnet requires both. */
  readonly caps?: TakingCaps | undefined;
  /** The most unpaid escrows that all processes open at once (default 8). */
  readonly mostCreations?: number | undefined;
  /** Minutes that the price of a refundable ticket stays in escrow (default 0). */
  readonly holdAfterTicketMinutes?: number | undefined;
  /** Makes a new ledger without the escrow program, so that it can be deployed. */
  readonly withoutProgram?: boolean | undefined;
  /** A JSON file of the gateways that may sponsor previews: key id to public key, base58 or base64. */
  readonly gatewayKeysFile?: string | undefined;
  /** An x402 facilitator to verify and settle payments; without it, one in this process. */
  readonly facilitatorUrl?: string | undefined;
  /** Settings for pages and mails; default: files under `home`. */
  readonly notify?: NotifySettings | undefined;
  /** Days from the journey's end until personal data is removed (default 30). */
  readonly purgeAfterDays?: number | undefined;
  /** The keys that the partner service accepts: `demo` (default) or `live`. */
  readonly partnerEnvironment?: 'demo' | 'live' | undefined;
  /** `<svc>` of the partner service's procedure paths (default `farelock`). */
  readonly partnerServiceName?: string | undefined;
  readonly partner?: Partial<PartnerOptions> | undefined;
}

export interface WorkerRun {
  readonly worked: number;
  /** The time of the next due step (epoch ms); null if nothing is under way. */
  readonly nextDueAtMs: number | null;
}
