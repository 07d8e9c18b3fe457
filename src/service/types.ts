import type { Address } from '@solana/kit';
import type { Scenario } from '../airlines/index.ts';
import type { DeploymentPlan, DeploymentStep, InspectedProgram } from '../escrow/deployment/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Fetch, HttpRequest, HttpResponse } from '../kernel/http.ts';
import type { Log } from '../kernel/log.ts';
import type { Problem } from '../kernel/problems.ts';
import type { NotifySettings } from '../notify/index.ts';
import type { PartnerOptions } from '../partner/base/index.ts';
import type { Cluster, ClusterSettings, Faucet, Signer } from '../solana/index.ts';
import type { PubSub } from '../solana/pubsub/index.ts';

export interface TakingCaps {
  readonly perPayment: bigint | null;
  readonly perDay: bigint | null;
}

/** Whose seats are sold. */
export interface AirlineSettings {
  readonly provider:
    | 'sandbox'
    | {
        readonly name: 'duffel';
        readonly url: string;
        readonly token: string;
        /** Signs what Duffel sends by itself; without it nothing is taken in. */
        readonly webhookSecret?: string | undefined;
      };
  readonly lowcost: 'none' | 'sandbox' | { readonly name: 'browser'; readonly sites: CarrierSites };
}

/** Carriers that a browser buys from (docs/carriers.md). */
export interface CarrierSites {
  /** Files of recipes, and folders of such files. */
  readonly recipes: readonly string[];
  /** Other addresses of their sites, by carrier code. */
  readonly sites?: Readonly<Record<string, string>> | undefined;
  readonly chromium?: string | undefined;
  readonly mostBrowsers?: number | undefined;
  /** How long a visit may take until it presses the button. */
  readonly visitMs?: number | undefined;
  /** A Maildir that their mails come into, and the address that they are given. */
  readonly mailFolder?: string | undefined;
  readonly mailAddress?: string | undefined;
}

export interface ServiceOptions {
  /** FARELOCK_HOME: everything lives under it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
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
  /** Aborts when a process that stays is to stop: /ready says no from then on. Commands that end have none. */
  readonly stopping?: AbortSignal | undefined;
  /** Without RPC addresses, the embedded cluster under `home`. */
  readonly cluster?: ClusterSettings | undefined;
  /** The operator has said that real USDC is meant. */
  readonly isMainnetMeant?: boolean | undefined;
  /** The most that is taken for one booking, and for all of 24 hours; atomic USDC. Mainnet asks for both. */
  readonly caps?: TakingCaps | undefined;
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
  /** The first block of a private cluster that is served here; else null. */
  readonly servedGenesis: string | null;
  /** null on a real cluster. */
  readonly faucet: Faucet | null;
  /** The embedded cluster's subscriptions, opened when first asked for; null on a real cluster. */
  readonly pubSub: (() => Promise<PubSub>) | null;
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

/** A pretend carrier's web site as a service of its own: `farelock sandbox carrier-site`. */
export interface CarrierSiteOptions {
  /** FARELOCK_HOME: its books go below it. */
  readonly home: string;
  readonly clock?: Clock | undefined;
  readonly seed?: string | undefined;
  readonly scenario?: string | undefined;
  /** A Maildir; null: mails go nowhere. */
  readonly mailFolder: string | null;
  /** From a sale to its mail, milliseconds. */
  readonly mailMs?: number | undefined;
  /** How long slow pages take, milliseconds. */
  readonly slowMs?: number | undefined;
}

export interface ServedCarrierSite {
  readonly scenario: string;
  readonly mailDomain: string;
  /** null: the connection has to be cut without an answer. */
  fetch(request: HttpRequest): Promise<HttpResponse | null>;
  /** Delivers the mails that are due; answers how many. */
  deliverDue(): Promise<number>;
  close(): void;
}

export type OpenCarrierSite = (options: CarrierSiteOptions) => Promise<ServedCarrierSite>;
/** The sandbox of the Duffel API as a service of its own: `farelock sandbox duffel`. */
export interface DuffelSandboxOptions {
  /** Its books; null: in memory alone. */
  readonly path: string | null;
  readonly clock?: Clock | undefined;
  /** The same seed is the same world, with the same ids in the same order. */
  readonly seed?: string | undefined;
  /** From a 202 to the order, or to a late ticket, milliseconds (default 2000). */
  readonly stepMs?: number | undefined;
  /** How late a slow answer is, milliseconds (default 3000). */
  readonly slowMs?: number | undefined;
  /** Who is told of orders from the start; it can be registered later as well. */
  readonly webhook?: { readonly url: string; readonly secret: string } | undefined;
  /** Sends webhooks; without it, the network. */
  readonly fetch?: Fetch | undefined;
}

export interface DuffelSandbox {
  /** @param cut drops the connection without an answer: what is answered then reaches nobody */
  fetch(request: HttpRequest, cut: () => void): Promise<HttpResponse>;
  /** Delivers the webhooks that are due. */
  runDue(): Promise<WorkerRun>;
  close(): void;
}

export type OpenDuffelSandbox = (options: DuffelSandboxOptions) => Promise<DuffelSandbox>;

export type { DeploymentPlan, DeploymentStep, InspectedProgram };

/** A wallet of the operator's, as a cluster has it. */
export interface OperatorWallet {
  readonly role: 'authority' | 'facilitator' | 'treasury';
  readonly address: Address;
  readonly lamports: bigint;
  /** What it has to hold before a service starts. */
  readonly leastLamports: bigint;
  /** null: it has no token account yet. */
  readonly usdcAtomic: bigint | null;
}

export interface DeploymentWanted {
  /** Pays, and becomes the upgrade authority; null: the authority of the home. */
  readonly payer: Signer | null;
  /** An existing program to bring up to date; null: the one of this home, or a new one. */
  readonly program: Address | null;
  /** The key of a new program's address. */
  readonly programSeed: Uint8Array | null;
  /** A new program, whatever there is already. */
  readonly isNew: boolean;
  readonly isFinal: boolean;
  /** Micro-lamports for a compute unit; null: none, or as it was begun. */
  readonly microLamports: bigint | null;
}

/** A deployment with what it takes, before anything of it is written or sent. */
export interface DecidedDeployment {
  readonly kind: 'deploy' | 'upgrade';
  /** It was begun before. */
  readonly isResumed: boolean;
  readonly program: Address;
  readonly buffer: Address;
  readonly payer: Address;
  readonly isFinal: boolean;
  /** Of the code. */
  readonly sha256: string;
  readonly plan: DeploymentPlan;
  /** Writes its keys into the home, then does what is left. May be called again after any failure. */
  carryOut(ports: {
    readonly signal?: AbortSignal | undefined;
    onStep?(step: DeploymentStep): void;
  }): Promise<{
    readonly program: Address;
    readonly found: Extract<InspectedProgram, { kind: 'present' }>;
    readonly isUnchanged: boolean;
  }>;
}

export interface ReclaimedBuffer {
  readonly buffer: Address;
  readonly lamports: bigint;
}

/** The operator's desk for a cluster: `farelock cluster`. */
export interface ClusterDesk {
  readonly cluster: Cluster;
  /** Its RPC address, which may hold a key; null for the home's own. */
  readonly rpcUrl: string | null;
  /** null on a cluster that is not this home's own. */
  readonly faucet: Faucet | null;
  /** The address of the escrow program that this home uses there, as far as it knows one. */
  program(): Promise<Address>;
  inspect(program: Address): Promise<InspectedProgram>;
  /** The mint of USDC; `decimals` is null where there is no such mint. */
  mint(): Promise<{ readonly address: Address; readonly decimals: number | null }>;
  wallets(): Promise<readonly OperatorWallet[]>;
  decide(wanted: DeploymentWanted): Promise<DecidedDeployment>;
  /** Closes every buffer of this home that is not used any more, and ends the deployment that is under way. */
  abort(payer: Signer | null, signal?: AbortSignal): Promise<readonly ReclaimedBuffer[]>;
  close(): Promise<void>;
}

export type OpenClusterDesk = (
  options: Pick<ServiceOptions, 'home' | 'clock' | 'databaseUrl' | 'cluster'>,
) => Promise<ClusterDesk>;
