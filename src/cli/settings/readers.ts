import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { isDatabaseUrl } from '../../kernel/database-url.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { isPastedKey } from '../../kernel/shown-url.ts';
import { rpcNames, rpcUrl, SOLANA_NETWORKS, settingsOfMoniker } from '../../solana/index.ts';

/** Reads the value of a setting from its text; undefined if it is wrong. Relative paths begin in `folder`. */
export interface Reader<Value = unknown> extends About {
  (text: string, folder: string): Value | undefined;
}

interface About {
  /** A noun for its values, which completes "… is not". */
  readonly wanted: string;
  readonly example: string;
  /** True if a refusal may repeat the text, because it is never a secret. */
  readonly isRepeated?: true;
  /** All values, or the likely ones. */
  readonly choices?: readonly string[];
  readonly isPath?: true;
  /** True if a file may have it as an array. */
  readonly isList?: true;
}

const reader = <Value>(
  wanted: string,
  example: string,
  read: (text: string, folder: string) => Value | undefined,
  more: Omit<About, 'wanted' | 'example'> = {},
): Reader<Value> => Object.assign(read, { wanted, example, ...more });

/** A reader of texts that match a pattern. */
const matching = (wanted: string, example: string, pattern: RegExp, more?: { isRepeated: true }): Reader<string> =>
  reader(wanted, example, (text) => (pattern.test(text) ? text : undefined), more);

const urlIn = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);
const isLoopback = (host: string): boolean => /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(host);
const listed = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

export const anyText = reader('a text', 'demo', (text) => text);
export const trimmed = reader('a text', '-1001234', (text) => text.trim() || undefined);
export const anyList = reader('a list', 'recipes', listed);

export const oneOf = <const Choice extends string>(...choices: readonly Choice[]): Reader<Choice> =>
  choiceOf(choices.join(choices.length > 2 ? ', ' : ' or '), choices);

export const choiceOf = <Choice extends string>(wanted: string, choices: readonly Choice[]): Reader<Choice> =>
  reader(wanted, choices[0] ?? '', (text) => choices.find((one) => one === text.trim()), { isRepeated: true, choices });

const numberOf = (wanted: string, example: number, least: number, most: number): Reader<number> =>
  reader(
    wanted,
    String(example),
    (text) => (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
    { isRepeated: true },
  );

export const wholeNumber = (least: number, most: number): Reader<number> =>
  numberOf(`a whole number from ${least} to ${most}`, least, least, most);
export const milliseconds = numberOf('a number of milliseconds', 2000, 0, 999_999_999);
export const days = numberOf('a number of days', 30, 0, 9_999);

export const ports = reader(
  'a list of ports separated by commas',
  '9443',
  (text) => {
    const all = text.split(',').map(Number);
    return /^\d{1,5}(,\d{1,5})*$/.test(text) && all.every((port) => port > 0 && port < 65_536) ? all : undefined;
  },
  { isRepeated: true },
);

export const lowerCaseWord = matching(
  'a word of lower-case letters, digits and _',
  'farelock',
  /^[a-z][a-z0-9_]{0,39}$/,
  { isRepeated: true },
);

/** Headers take nothing else. The transport's own error would contain the key. */
export const key = matching('one line of printable characters', 'flk_demo_…', /^[\x21-\x7e]+$/);
export const headerText = matching('one line of printable characters', 'FLK-0000-0000-0000-0000', /^[\x20-\x7e]+$/);
export const personName = matching('one line', 'Silva', /^[^\p{Cc}]+$/u);

function webUrl(text: string): string | undefined {
  const url = urlIn(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return url.href.replace(/\/+$/, '');
}

/** An http(s) address without user information and without a slash at its end. */
export const webAddress = reader('an http address', 'https://flights.example', webUrl);

/** The address of a service as customers write it. */
export const publicAddress = reader('the address of a service', 'https://flights.example', (text) =>
  /[?#]/.test(text) ? undefined : webUrl(text),
);

/** Any http(s) address, as it is: a key may be in it. */
export const httpAddress = reader('an http address', 'https://facilitator.example', (text) =>
  /^https?:$/.test(urlIn(text)?.protocol ?? '') ? text : undefined,
);

/** An address to listen at: a host and a port, an IPv6 address in brackets. */
export const listenAddress = reader('a host and a port', '127.0.0.1:9464', (text) => {
  const [, host = '', port = ''] = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(text) ?? [];
  return host !== '' && Number(port) < 65_536 ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : undefined;
});

/** The address of an API, without a query: paths are added to it. */
export const apiAddress = reader('the address of an API', 'https://api.example', (text) => {
  const url = urlIn(text);
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash ? text : undefined;
});

/** An address of a WebSocket; a key may be in it. */
export const webSocketAddress = reader('a WebSocket address', 'wss://rpc.example', (text) => {
  const url = urlIn(text);
  return url && /^wss?:$/.test(url.protocol) ? url.href : undefined;
});

export const databaseAddress = reader(
  'the address of a PostgreSQL database',
  'postgres://user:password@host:5432/database',
  (text) => (isDatabaseUrl(text) ? text : undefined),
);

export const mailServer = reader('an smtp:// or smtps:// address', 'smtps://user:password@mail.example', (text) => {
  const url = urlIn(text);
  return url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined;
});

/** Pages name passengers, so they leave this machine encrypted. */
export const pageAddress = reader(
  'an https address, or an http address of this machine',
  'https://pages.example/hook',
  (text) => {
    const url = urlIn(text);
    return url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
      ? text
      : undefined;
  },
);

export const mailSender = reader('an e-mail address', 'Farelock <mail@flights.example>', (text) =>
  /^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/.test(text.trim()) ? text.trim() : undefined,
);
export const botToken = matching('a bot token', '12345:abc', /^\d+:[\w-]+$/);
export const webhookSecret = matching(
  'a webhook secret, which begins with whsec_',
  'whsec_…',
  /^whsec_[A-Za-z0-9+/=]{20,}$/,
);
export const duffelToken = matching(
  'a Duffel token, which begins with duffel_test_ or duffel_live_',
  'duffel_test_…',
  /^duffel_(test|live)_[\w-]+$/,
);

export const path = reader(
  'the path of a file',
  '~/file.json',
  (text, folder) => {
    // A key given instead of the path to its file would show in argv, in the settings and on the screen.
    if (isPastedKey(text) || text === '') return undefined;
    if (text.startsWith('~/')) return join(homedir(), text.slice(2));
    return isAbsolute(text) ? text : resolve(folder, text);
  },
  { isPath: true },
);

/** `-` is standard input. The reader of keypairs refuses forms that only the Solana CLI can use. */
export const keypair = reader(
  path.wanted,
  '~/wallet.json',
  (text, folder) => {
    if (text === '-' || text === 'stdin:') return '-';
    return /^(usb|prompt|stdin):|^ASK$/.test(text) ? text : path(text.replace(/^file:(\/\/)?/, ''), folder);
  },
  { isPath: true },
);

/** Decimal USDC. */
export const amount = reader('an amount of USDC', '12.50', (text) => {
  try {
    parseUsdc(text);
    return text.trim();
  } catch {
    return undefined;
  }
});

export const lamports = reader('a number of lamports', '100000', (text) =>
  /^\d{1,12}$/.test(text) ? String(BigInt(text)) : undefined,
);

function hostIn(text: string): string | undefined {
  const url = text === '' ? null : urlIn(`http://${text}`);
  return url?.pathname === '/' && !url.username && !url.password && !url.search && !url.hash ? url.host : undefined;
}

/** Reads a list entry by entry, and drops repeated entries. */
const listOf = (
  wanted: string,
  example: string,
  entries: (text: string) => string[],
  read: (entry: string) => string | undefined,
) =>
  reader(
    wanted,
    example,
    (text) => {
      const all = entries(text).map(read);
      return all.length > 0 && all.every((one) => one !== undefined) ? [...new Set(all)].join(',') : undefined;
    },
    { isList: true },
  );

export const hosts = listOf(
  'a list of hosts',
  'flights.example,127.0.0.1:4020',
  (text) => text.split(',').map((one) => one.trim()),
  hostIn,
);

export const rpcAddresses = listOf('an http address', 'https://rpc.example', rpcNames, (one) =>
  webUrl(rpcUrl(one) ?? one),
);

/** Takes the cluster and the keypair from `solana config`. */
export const SOLANA_CONFIG = 'solana-config';

const MONIKERS = ['mainnet', 'devnet', 'testnet', 'localhost', SOLANA_CONFIG];

export const moniker = reader(
  `mainnet, devnet, testnet, localhost (or m, d, t, l) or ${SOLANA_CONFIG}`,
  'devnet',
  (text) => (text === SOLANA_CONFIG || (!text.includes('/') && rpcUrl(text) !== null) ? text : undefined),
  { choices: MONIKERS },
);

/** The cluster of an operator's command. */
export const clusterOrFile = reader(
  'a known cluster or a file with the settings of one',
  'devnet',
  (text) => (settingsOfMoniker(text) !== null || existsSync(text) ? text : undefined),
  { isRepeated: true, choices: ['mainnet', 'devnet', 'testnet', 'localhost', 'embedded'] },
);

/** A network by its name or its id; the id is canonical. */
export const network = reader(
  'mainnet, devnet or testnet',
  'devnet',
  (text) => {
    const name = text === 'mainnet-beta' ? 'mainnet' : text;
    return Object.entries(SOLANA_NETWORKS).find((one) => one.includes(name))?.[1];
  },
  { choices: Object.keys(SOLANA_NETWORKS) },
);

const ADDRESS = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export const base58 = (wanted: string): Reader<string> => matching(wanted, ADDRESS, BASE58);

export const base58List = (wanted: string): Reader<string> =>
  listOf(
    wanted,
    ADDRESS,
    (text) => text.split(/[\s,]+/).filter(Boolean),
    (one) => (BASE58.test(one) ? one : undefined),
  );

/** Checks only the form of addresses and CIDR ranges; they are parsed where they are used. */
export const proxies = reader(
  'a list of addresses and ranges',
  '10.0.0.5,10.1.0.0/16',
  (text) => (listed(text).every((one) => /^[\da-f:.]+(\/\d{1,3})?$/i.test(one)) ? listed(text) : undefined),
  { isRepeated: true },
);

/** `X9=http://127.0.0.1:4050`: addresses by the codes of carriers. */
export const carrierSites = reader('a list of carriers and addresses', 'X9=http://127.0.0.1:4050', (text) => {
  const all = listed(text).map((one) => /^(\w{2,3})=(https?:.+)$/.exec(one));
  if (!all.every((one) => one !== null && URL.canParse(one[2] ?? ''))) return undefined;
  return Object.fromEntries(all.flatMap((one) => (one ? [[one[1] ?? '', one[2] ?? '']] : [])));
});
