import { PROVIDERS } from '../../kernel/domain/providers.ts';
import { nearest } from '../../kernel/nearest.ts';
import { type ProblemCode, problem } from '../../kernel/problems.ts';
import type { ServiceOptions } from '../../service/index.ts';
import {
  amount,
  anyList,
  anyText,
  apiAddress,
  base58,
  base58List,
  botToken,
  carrierSites,
  choiceOf,
  clusterOrFile,
  databaseAddress,
  days,
  duffelToken,
  headerText,
  hosts,
  httpAddress,
  key,
  keypair,
  lamports,
  listenAddress,
  lowerCaseWord,
  mailSender,
  mailServer,
  milliseconds,
  moniker,
  network,
  oneOf,
  pageAddress,
  path,
  personName,
  ports,
  proxies,
  publicAddress,
  type Reader,
  rpcAddresses,
  trimmed,
  webAddress,
  webhookSecret,
  webSocketAddress,
  wholeNumber,
} from './readers.ts';

/** The subject of a setting. */
export type Part =
  | 'profile'
  | 'cluster'
  | 'limits'
  | 'client'
  | 'service'
  | 'airline'
  | 'partner'
  | 'notify'
  | 'sandbox';

/** A setting: its sources, reader and words for the pages. A flag wins over a variable, a variable over the files. */
interface Row<Value = unknown> {
  /** Null for none; by default `FARELOCK_` and the name of the setting in capitals. */
  readonly env?: string | null;
  /** True if a second variable, ending in `_FILE`, may name a file with the value. */
  readonly file?: true;
  /** The option, for commands that have it; true for `--` and the name of the setting. */
  readonly flag?: true | `--${string}`;
  /** Never shown. */
  readonly secret?: true;
  /** The code of the problem for a wrong value; by default `usage`. */
  readonly code?: ProblemCode;
  readonly read: Reader<Value>;
  readonly says: string;
  /** The value where nothing sets it. */
  readonly usual?: string;
  /** By default the usual value, or the example of the reader. */
  readonly example?: string;
}

export interface Setting extends Omit<Row, 'flag'> {
  readonly of: Part;
  readonly env: string | null;
  readonly flag?: string | undefined;
  readonly example: string;
}

const variableOf = (name: string): string => `FARELOCK_${name.replace('limits.', 'limit_').toUpperCase()}`;

const of = <const P extends Part, const Rows extends Readonly<Record<string, Row>>>(part: P, rows: Rows) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]): [string, Setting] => {
      const { env = variableOf(name), example = row.usual ?? row.read.example } = row;
      const flag = row.flag === true ? `--${name.replace('limits.', '').replaceAll('_', '-')}` : row.flag;
      return [name, { ...row, env, flag, example, of: part }];
    }),
  ) as {
    readonly [Name in keyof Rows]: Omit<Rows[Name], 'flag'> & Pick<Setting, 'of' | 'env' | 'flag' | 'example'>;
  };

type Scenario = NonNullable<ServiceOptions['scenario']>;

/** Every scenario of the sandbox (CONTRACT, section 16); the type makes this list complete. */
const SCENARIOS = Object.keys({
  none: true,
  repriced: true,
  offer_expired: true,
  ticketing_fails: true,
  ticketing_slow: true,
  outcome_unknown: true,
  rate_limited: true,
  sold_out: true,
  fare_check_failed: true,
  price_differs_at_till: true,
  form_rejected: true,
  captcha: true,
  account_wall: true,
  pay_pressed_no_confirmation: true,
  late_confirmation: true,
} satisfies Record<Scenario, true>) as Scenario[];

const SERVICES = of('profile', {
  flights_url: { flag: true, read: webAddress, says: 'address of the flight service' },
  partner_url: {
    flag: true,
    read: webAddress,
    says: 'address of the partner service',
    example: 'https://partner.example',
  },
  http_hosts: { read: hosts, says: 'hosts of services that may be called over http' },
});

const CLUSTER = of('cluster', {
  rpc_url: {
    file: true,
    flag: true,
    read: rpcAddresses,
    says: 'address of the Solana cluster, or several of one cluster with commas between them, the preferred one first',
  },
  cluster: {
    env: null,
    flag: true,
    read: moniker,
    says: 'instead of rpc_url: a moniker of the cluster, or the settings of the Solana CLI',
  },
  ws_url: { file: true, read: webSocketAddress, says: 'WebSocket address of the cluster' },
  commitment: {
    read: oneOf('confirmed', 'finalized'),
    says: 'certainty that a read of the cluster must have',
    usual: 'confirmed',
  },
  network: { flag: true, read: network, says: 'network that the cluster has to be' },
  genesis: { flag: true, read: base58('the hash of a block'), says: 'expected hash of the first block of the cluster' },
  usdc_mint: {
    flag: true,
    read: base58('the address of a mint'),
    says: "mint of the USDC on the cluster, where it is not Circle's",
  },
  escrow_program: {
    flag: true,
    read: base58List('the address of a program'),
    says: 'escrow programs to trust by name; a service opens new escrows at the first',
  },
  priority_fee_cap: {
    read: lamports,
    says: 'most lamports that a transaction bids for its place in a block',
    usual: '100000',
  },
  upgrade_authorities: {
    read: base58List('the address of a key'),
    says: 'keys that are trusted not to replace an escrow program',
  },
});

const KEYS = of('profile', {
  keypair: { flag: true, read: keypair, code: 'keypair_unreadable', says: 'keypair file of the wallet' },
  api_key_file: { env: null, flag: true, read: path, says: 'file with the API key of the partner service' },
  customer_token_file: {
    env: null,
    flag: true,
    read: path,
    says: 'file with the token of one customer',
    example: '~/customer.token',
  },
  operator_key_file: { env: null, flag: true, read: path, says: 'file with the key of the operator API' },
});

const LIMITS = of('limits', {
  'limits.per_call': {
    flag: true,
    read: amount,
    says: 'USDC up to which a call is paid without a question',
    usual: '1.00',
  },
  'limits.per_day': { flag: true, read: amount, says: 'most USDC that is signed for in 24 hours' },
  'limits.booking': { flag: true, read: amount, says: 'most USDC that is paid for a booking' },
  'limits.hosts': { flag: true, read: hosts, says: 'hosts of the services that are paid, separated by commas' },
});

/** The settings of the user's file, in a profile or as limits. Their values are texts. */
const KEPT = { ...SERVICES, ...CLUSTER, ...KEYS, ...LIMITS };

export const SETTINGS = {
  ...KEPT,
  ...of('client', {
    home: { read: anyText, says: 'folder of everything that the tool keeps', example: '~/farelock' },
    profile: { flag: true, read: anyText, says: 'profile of the commands', usual: 'local' },
    project_file: { read: anyText, says: 'off: no project file is read', example: 'off' },
    api_key: { file: true, secret: true, read: key, code: 'no_api_key', says: 'API key of the partner service' },
    customer_token: { file: true, secret: true, read: key, code: 'no_customer_token', says: 'token of one customer' },
    operator_key: { file: true, secret: true, read: key, code: 'no_operator_key', says: 'key of the operator API' },
    support_code: {
      secret: true,
      read: headerText,
      code: 'no_support_code',
      says: 'support code of an intent that was made elsewhere',
    },
    family_name: { secret: true, read: personName, says: 'family name of the lead passenger of such an intent' },
    webhook_secret: { secret: true, read: webhookSecret, says: 'secret that signs the calls to `sandbox platform`' },
    plain: { flag: true, read: anyText, says: '1: labelled lines for a screen reader', example: '1' },
    pager: {
      read: anyText,
      says: 'command that shows long results, before `PAGER`; `cat` or nothing: none',
      usual: 'less',
    },
    code_cache: { read: anyText, says: 'renew: compiles the tool again', example: 'renew' },
    debug_completion: {
      read: anyText,
      says: '1: prints on standard error why completion offers nothing',
      example: '1',
    },
  }),
  ...of('service', {
    served_cluster: {
      env: 'FARELOCK_CLUSTER',
      flag: '--cluster',
      read: clusterOrFile,
      says: 'cluster of `serve` and `cluster`: a name, or a file with its settings',
    },
    database_url: {
      file: true,
      flag: true,
      secret: true,
      read: databaseAddress,
      says: 'PostgreSQL in place of the file service.db',
    },
    listen_url: {
      file: true,
      secret: true,
      read: databaseAddress,
      says: 'PostgreSQL past its pooler, to listen for work of other processes',
    },
    read_database_url: {
      file: true,
      secret: true,
      read: databaseAddress,
      says: 'standby of PostgreSQL, for lists of desks and metrics',
    },
    facilitator_url: {
      file: true,
      flag: true,
      secret: true,
      read: httpAddress,
      says: 'x402 facilitator that settles payments',
    },
    gateway_keys: { read: path, says: 'file with the keys that may sign sponsored previews' },
    trusted_proxies: {
      flag: '--trusted-proxy',
      read: proxies,
      says: 'proxies whose X-Forwarded-For, -Proto and -Host are believed',
    },
    public_url: { flag: true, read: publicAddress, says: 'address that customers use, behind a proxy' },
    most_requests: {
      read: wholeNumber(1, 100_000),
      says: 'requests answered at once, beyond which `serve` turns unpaid ones away',
      usual: '500',
    },
    most_creations: {
      read: wholeNumber(1, 10_000),
      says: 'escrows opened at once, by all processes, before their locks are paid; each ties up SOL',
      usual: '8',
    },
    hold_after_ticket: {
      read: wholeNumber(0, 1_200),
      says: 'minutes that the price of a ticket which may be refunded stays in escrow; 0: none',
      usual: '0',
    },
    log: {
      flag: true,
      read: oneOf('problems', 'requests'),
      says: 'lines of `serve` on standard error: of problems, or of each request too',
      usual: 'problems',
    },
    metrics: {
      flag: true,
      read: listenAddress,
      says: 'host and port of /metrics, for Prometheus; without it there is none',
    },
    cap_per_booking: { read: amount, says: 'most USDC that a service takes for one booking; mainnet needs it' },
    cap_per_day: { read: amount, says: 'most USDC that a service takes in 24 hours; mainnet needs it' },
    purge_after_days: { read: days, says: 'days from a journey until its personal data goes', usual: '30' },
  }),
  ...of('partner', {
    environment: {
      read: oneOf('demo', 'live'),
      says: 'keys that the partner service takes; `--live` means live',
      usual: 'demo',
    },
    service_name: { read: lowerCaseWord, says: "first word of the partner service's paths", usual: 'farelock' },
    compliance_policy: { read: path, says: 'JSON file in place of the shipped policy' },
    outbound_ports: { read: ports, says: "more ports at which partners' platforms may be called" },
  }),
  ...of('airline', {
    provider: { env: null, flag: true, read: oneOf(...PROVIDERS), says: 'seller of the seats', usual: 'sandbox' },
    duffel_url: {
      env: null,
      flag: true,
      read: apiAddress,
      says: 'address of the Duffel API',
      usual: 'https://api.duffel.com',
    },
    duffel_token: {
      file: true,
      secret: true,
      read: duffelToken,
      says: 'token of `--provider duffel`; `--duffel-token-file` names a file with it',
    },
    duffel_webhook_secret: {
      file: true,
      secret: true,
      read: key,
      says: 'secret that signs what Duffel sends to /webhooks/airline',
    },
    lowcost: {
      env: null,
      flag: true,
      read: oneOf('none', 'sandbox', 'browser'),
      says: 'carriers without an interface',
      example: 'browser',
    },
    recipes: {
      read: anyList,
      says: 'recipes of `--lowcost browser`: files and folders, commas between them',
      example: 'recipes',
    },
    carrier_sites: { read: carrierSites, says: "other addresses of the carriers' sites, commas between them" },
    chromium: { read: anyText, says: "browser that buys on carriers' sites", example: '/usr/bin/chromium' },
    browsers: { read: wholeNumber(1, 50), says: 'browsers at once', usual: '2' },
    visit_seconds: {
      read: wholeNumber(30, 180),
      says: 'seconds that a visit may take until it presses the button',
      usual: '90',
    },
    carrier_mail_folder: { read: anyText, says: "Maildir that carriers' mails come into", example: 'carrier-mail' },
    carrier_mail_address: {
      read: mailSender,
      says: 'address that carriers are given, with {reference} in it',
      example: 'booking+{reference}@example.com',
    },
    carrier_accounts: {
      read: anyText,
      says: "file with the operator's accounts at carriers' sites, which only its owner can read",
      example: '/etc/farelock/accounts.json',
    },
    carrier_code_folder: {
      read: anyText,
      says: 'folder where a person writes the codes that banks ask for, a file for each purchase',
      example: '/run/farelock/codes',
    },
  }),
  ...of('notify', {
    page_url: { file: true, secret: true, read: pageAddress, says: 'webhook for pages' },
    telegram_token: { file: true, secret: true, read: botToken, says: 'Telegram bot that pages' },
    telegram_chat: { read: trimmed, says: 'chat of that bot', example: '-1001234' },
    smtp_url: { file: true, secret: true, read: mailServer, says: 'mail server' },
    mail_from: { read: mailSender, says: 'sender of mails' },
  }),
  ...of('sandbox', {
    seed: { read: anyText, says: 'world that the flights are of', example: 'demo' },
    scenario: {
      flag: true,
      read: choiceOf('a scenario of the sandbox', SCENARIOS),
      says: 'misbehaviour of the sandbox',
      usual: 'none',
    },
    ticketing_ms: { read: milliseconds, says: 'time until a ticket is issued', usual: '2000' },
    lowcost_ms: { read: milliseconds, says: 'time until low-cost carriers answer', usual: '2500' },
    attestation_ms: { read: milliseconds, says: 'time until an attestation is decided', usual: '2000' },
    platform_step_ms: { read: milliseconds, says: "time between two steps of the platform's orders", usual: '1500' },
  }),
};

export type SettingName = keyof typeof SETTINGS;
export type KeptName = keyof typeof KEPT;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];
export const KEPT_NAMES = Object.keys(KEPT) as readonly KeptName[];

export const isKept = (name: string): name is KeptName => Object.hasOwn(KEPT, name);

/** The settings that `ClusterSettings` is made of. */
export type ClusterSettingName = Exclude<keyof typeof CLUSTER, 'cluster'>;

export const CLUSTER_NAMES = Object.keys(CLUSTER).filter((name): name is ClusterSettingName => name !== 'cluster');

/** Cluster settings that `local` cannot have: all but its programs and the keys to trust. */
export const CLUSTER_OUTSIDE = CLUSTER_NAMES.filter(
  (name) => name !== 'escrow_program' && name !== 'upgrade_authorities',
);

const variables = (): string[] =>
  Object.values(SETTINGS).flatMap(({ env, file }: Setting) =>
    env === null ? [] : [env, ...(file ? [`${env}_FILE`] : [])],
  );

/** Finds the known variable that an unknown one is likely meant for; null if none is similar. */
export const variableMeant = (unknown: string): string | null => nearest(unknown, variables(), 1)[0] ?? null;

/** Refuses variables that no setting reads: a misspelt limit would be ignored. @throws Problem `settings_invalid` */
export function checkVariables(environment: Readonly<Record<string, string | undefined>>): void {
  const known = new Set(variables());
  const unknown = Object.entries(environment).find(
    ([name, value]) => value && name.startsWith('FARELOCK_') && !known.has(name),
  )?.[0];
  if (unknown === undefined) return;
  const meant = variableMeant(unknown);
  throw problem('settings_invalid', {
    message: `${unknown} is not a variable of farelock.${meant === null ? '' : ` Did you mean ${meant}?`}`,
    fix: 'Correct its name, or unset it.',
    detail: { variable: unknown, meant },
  });
}
