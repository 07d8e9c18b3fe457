import type { Scenario } from './flights/providers/provider.ts';
import type { Clock } from './kernel/clock.ts';
import type { HttpRequest, HttpResponse } from './kernel/http.ts';
import type { Log } from './kernel/log.ts';
import type { Problem } from './kernel/problems.ts';
import type { NotifySettings } from './notify/message.ts';
import type { PartnerOptions } from './partner/ports.ts';
import type { Cluster, Faucet } from './solana/cluster.ts';

export interface ServiceOptions {
  /** FARELOCK_HOME: everything lives under it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
  readonly scenario?: Scenario | undefined;
  readonly seed?: string | undefined;
  /** How long the sandbox takes to issue a ticket, milliseconds (default 2000). */
  readonly ticketingMs?: number | undefined;
  /** How long the sandbox's lowcost tier quotes for a search, milliseconds (default 2500). */
  readonly lowcostMs?: number | undefined;
  /** A `postgres://` URL; without it a file under `home`. */
  readonly databaseUrl?: string | undefined;
  /** Addresses of a real cluster's JSON-RPC; without them the embedded cluster under `home`. */
  readonly rpcUrls?: readonly string[] | undefined;
  /** The most that a transaction of ours bids for its place in a block of a real cluster, in lamports. */
  readonly priorityFeeCap?: bigint | undefined;
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
  /** The operator's settings of the partner service. */
  readonly partner?: Partial<PartnerOptions> | undefined;
}

export interface WorkerRun {
  /** Steps taken. */
  readonly worked: number;
  /** When the next step is due (epoch ms), null when nothing is under way. */
  readonly nextDueAtMs: number | null;
}

/** Facts about a connection from the HTTP server; never read from the request itself. */
export interface Connection {
  readonly clientAddress?: string | undefined;
  /** The address that the service was reached at, without a slash at its end, as far as it can be believed. */
  readonly publicUrl?: string | undefined;
}

/** Both services, the embedded cluster and the worker, composed. One per process and home. */
export interface Service {
  /** Serves the flight service at `/`, the partner service at its paths, the cluster's JSON-RPC at `/rpc`. Opens no port. */
  fetch(request: HttpRequest, connection?: Connection): Promise<HttpResponse>;
  /** Path of the file with the operator's key, made on first use. */
  operatorKeyFile(): Promise<string>;
  /** Makes a demo's partners and their key files now, not with the first request to the partner service. */
  partnerReady(): Promise<void>;
  readonly cluster: Cluster;
  /** null on a real cluster. */
  readonly faucet: Faucet | null;
  /** Both workers, or the partner service's alone. */
  readonly worker: { runDue(part?: 'partner'): Promise<WorkerRun> };
  /** The last trouble with a file, in the words for this machine; null while there was none. */
  trouble(): Problem | null;
  close(): Promise<void>;
}

export type OpenService = (options: ServiceOptions) => Promise<Service>;

/** The sandbox partner platform as a service of its own: `farelock partner platform`. */
export interface PlatformOptions {
  /** FARELOCK_HOME: its books go below it, and keys and secrets of demo partners are looked for there. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  /** Verifies what comes in, for every partner; without it, the secret files of the home. */
  readonly webhookSecret?: string | undefined;
  /** The partner service to call UpdateOrder of; null: orders stay as they are. */
  readonly partnerUrl: string | null;
  readonly partnerServiceName?: string | undefined;
  /** An API key and whose it is; for the others, the key files of the home. */
  readonly apiKey?: { readonly partnerId: string; readonly key: string } | undefined;
  /** From one update about an order to the next, milliseconds (default 1500). */
  readonly stepMs?: number | undefined;
}

export interface Platform {
  readonly partners: readonly {
    readonly partnerId: string;
    readonly type: 'INTEGRATION' | 'REDIRECT';
    /** `/bank` */
    readonly path: string;
    /** Its secret is known, so signatures are verified. */
    readonly verifies: boolean;
    /** Its key and the service's address are known, so its orders are moved along. */
    readonly moves: boolean;
  }[];
  fetch(request: HttpRequest): Promise<HttpResponse>;
  /** Sends the updates that are due. */
  runDue(): Promise<WorkerRun>;
  close(): void;
}

export type OpenPlatform = (options: PlatformOptions) => Promise<Platform>;
