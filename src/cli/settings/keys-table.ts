import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parseUsdc } from '../../kernel/money.ts';
import { isPastedKey } from '../../kernel/shown-url.ts';
import { rpcNames, rpcUrl, SOLANA_NETWORKS } from '../../solana/index.ts';

/** Every setting of a profile: what it takes, the variable that outranks the files, and what a project may do. */
interface SettingKind {
  readonly summary: string;
  readonly environment?: string;
  /** `lower`: a project file may make it smaller. Everything else it may not set. */
  readonly inProject?: 'lower';
  /** The text in its canonical form; `folder` is what a relative path is relative to. @throws NotASetting */
  readonly read: (text: string, folder: string) => string;
}

/** Says what a value is not, with an example; the reader adds the file and the key. */
export class NotASetting extends Error {
  constructor(
    readonly what: string,
    example?: string,
  ) {
    super(example === undefined ? what : `${what} such as ${example}`);
  }
}

const HTTP = ['an http address', 'https://flights.example'] as const;

/** An http(s) address without user information and without a slash at its end. */
export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) throw new NotASetting(...HTTP);
  return url.href.replace(/\/+$/, '');
}

function path(text: string, folder: string): string {
  // A key in place of its file's path would stand in argv, in the settings and on the screen.
  if (isPastedKey(text) || text === '') throw new NotASetting('the path of a file');
  if (text.startsWith('~/')) return join(homedir(), text.slice(2));
  return isAbsolute(text) ? text : resolve(folder, text);
}

/** `-` and what the Solana CLI can use and this tool can't are left to the reader of keypairs to refuse. */
const keypair = (text: string, folder: string): string =>
  text === '-' || /^(usb|prompt|stdin):|^ASK$/.test(text) ? text : path(text.replace(/^file:/, ''), folder);

function amount(text: string): string {
  try {
    parseUsdc(text);
    return text.trim();
  } catch {
    throw new NotASetting('an amount of USDC', '12.50');
  }
}

function host(text: string): string {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : null;
  if (url?.pathname !== '/' || url.username || url.password || url.search || url.hash || text === '') {
    throw new NotASetting('a list of hosts', 'flights.example,127.0.0.1:4020');
  }
  return url.host;
}

const hosts = (text: string): string => [...new Set(text.split(',').map((one) => host(one.trim())))].join(',');

function rpcAddresses(text: string): string {
  const addresses = rpcNames(text).map((one) => webAddress(rpcUrl(one) ?? one));
  if (addresses.length === 0) throw new NotASetting(...HTTP);
  return [...new Set(addresses)].join(',');
}

function cluster(text: string): string {
  if (text === SOLANA_CONFIG || (!text.includes('/') && rpcUrl(text) !== null)) return text;
  throw new NotASetting(`mainnet-beta, devnet, testnet, localhost (or m, d, t, l) or ${SOLANA_CONFIG}`);
}

/** An address of a WebSocket; a key may be in it. */
function webSocketAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^wss?:$/.test(url.protocol)) throw new NotASetting('a WebSocket address', 'wss://rpc.example');
  return url.href;
}

function network(text: string): string {
  const name = text === 'mainnet-beta' ? 'mainnet' : text;
  const id = Object.entries(SOLANA_NETWORKS).find((one) => one.includes(name))?.[1];
  if (id === undefined) throw new NotASetting('mainnet, devnet or testnet');
  return id;
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const key =
  (what: string) =>
  (text: string): string => {
    if (!BASE58.test(text)) throw new NotASetting(what);
    return text;
  };

const keys =
  (what: string) =>
  (text: string): string => {
    const all = text.split(/[\s,]+/).filter(Boolean);
    if (all.length === 0) throw new NotASetting(what);
    return [...new Set(all.map(key(what)))].join(',');
  };

function commitment(text: string): string {
  if (text === 'confirmed' || text === 'finalized') return text;
  throw new NotASetting('confirmed or finalized');
}

function lamports(text: string): string {
  if (/^\d{1,12}$/.test(text)) return String(BigInt(text));
  throw new NotASetting('a number of lamports', '100000');
}

/** A cluster and a keypair as `solana config` has them. */
export const SOLANA_CONFIG = 'solana-config';

export const SETTINGS = {
  flights_url: { summary: 'address of the flight service', environment: 'FARELOCK_FLIGHTS_URL', read: webAddress },
  partner_url: { summary: 'address of the partner service', environment: 'FARELOCK_PARTNER_URL', read: webAddress },
  http_hosts: {
    summary: 'hosts of services that may be called without encryption',
    environment: 'FARELOCK_HTTP_HOSTS',
    read: hosts,
  },
  rpc_url: {
    summary: 'address of the Solana cluster, or several of the same one with commas between them',
    environment: 'FARELOCK_RPC_URL',
    read: rpcAddresses,
  },
  cluster: { summary: `moniker of the Solana cluster, or ${SOLANA_CONFIG}`, read: cluster },
  ws_url: { summary: 'WebSocket address of the cluster', environment: 'FARELOCK_WS_URL', read: webSocketAddress },
  commitment: {
    summary: 'how certain a read of the cluster must be: confirmed or finalized',
    environment: 'FARELOCK_COMMITMENT',
    read: commitment,
  },
  network: {
    summary: 'network that the cluster has to be: mainnet, devnet or testnet',
    environment: 'FARELOCK_NETWORK',
    read: network,
  },
  genesis: {
    summary: 'hash of the first block that the cluster has to have',
    environment: 'FARELOCK_GENESIS',
    read: key('the hash of a block'),
  },
  usdc_mint: {
    summary: 'mint of the USDC on the cluster',
    environment: 'FARELOCK_USDC_MINT',
    read: key('the address of a mint'),
  },
  escrow_program: {
    summary: 'escrow programs to trust by name; a service opens new escrows at the first',
    environment: 'FARELOCK_ESCROW_PROGRAM',
    read: keys('the address of a program'),
  },
  priority_fee_cap: {
    summary: 'most lamports that a transaction bids for its place',
    environment: 'FARELOCK_PRIORITY_FEE_CAP',
    read: lamports,
  },
  upgrade_authorities: {
    summary: 'keys that are trusted not to replace an escrow program',
    environment: 'FARELOCK_UPGRADE_AUTHORITIES',
    read: keys('the address of a key'),
  },
  keypair: { summary: 'keypair file of the wallet', environment: 'FARELOCK_KEYPAIR', read: keypair },
  api_key_file: { summary: 'file with the API key of the partner service', read: path },
  customer_token_file: { summary: 'file with the token of one customer', read: path },
  operator_key_file: { summary: 'file with the key of the operator API', read: path },
  'limits.per_call': {
    summary: 'pay a call up to this without a question (1.00)',
    environment: 'FARELOCK_LIMIT_PER_CALL',
    inProject: 'lower',
    read: amount,
  },
  'limits.per_day': {
    summary: 'sign no more than this in 24 hours',
    environment: 'FARELOCK_LIMIT_PER_DAY',
    inProject: 'lower',
    read: amount,
  },
  'limits.booking': {
    summary: 'pay a booking up to this',
    environment: 'FARELOCK_LIMIT_BOOKING',
    inProject: 'lower',
    read: amount,
  },
  'limits.hosts': {
    summary: 'pay only services at these hosts',
    environment: 'FARELOCK_LIMIT_HOSTS',
    inProject: 'lower',
    read: hosts,
  },
} as const satisfies Record<string, SettingKind>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export const kindOf = (name: SettingName): SettingKind => SETTINGS[name];

/** What `ClusterSettings` is made of. */
export const CLUSTER_SETTINGS = [
  'rpc_url',
  'ws_url',
  'commitment',
  'network',
  'genesis',
  'usdc_mint',
  'escrow_program',
  'priority_fee_cap',
  'upgrade_authorities',
] as const satisfies readonly SettingName[];
export type ClusterSettingName = (typeof CLUSTER_SETTINGS)[number];

/** The embedded cluster is what it is; programs can be deployed on it, and keys be trusted. */
export const CLUSTER_OUTSIDE = CLUSTER_SETTINGS.filter(
  (name) => name !== 'escrow_program' && name !== 'upgrade_authorities',
);
