import { HOUR_MS } from '../../kernel/clock.ts';
import { parseUsdc, unitsOf } from '../../kernel/money.ts';
import { didYouMean, didYouMeanOneOf } from '../../kernel/nearest.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { option } from './command.ts';

/** Reads `90` or `90s`, `5m` or `1h` as milliseconds. */
export function parseDuration(text: string, flag: string): number {
  const match = /^(\d{1,6})(ms|s|m|h)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, h: HOUR_MS }[match?.[2] ?? 's'];
  if (!match || unit === undefined || Number(match[1]) === 0) {
    throw wrong(flag, text, 'a time span such as 90s, 5m or 1h');
  }
  return Number(match[1]) * unit;
}

/** The shape of a value, as JSON Schema: for `help --json` and for programs that drive the tool. */
export interface ValueShape {
  readonly type: 'integer' | 'string';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

/** A parser with the shape of its values. */
const shaped = <T>(shape: ValueShape, parse: (value: string, flag: string) => T) =>
  Object.assign((value: string, _before: unknown, flag: string): T => parse(value, flag), { shape });

/** @returns undefined for a parser that takes any text */
export const shapeOf = (parse: unknown): ValueShape | undefined =>
  typeof parse === 'function' && 'shape' in parse ? (parse.shape as ValueShape) : undefined;

/** The one wording of a wrong value: `--adults must be 1 to 9 (got 12).` */
export const wrong = (flag: string, value: string, want: string) =>
  problem('usage', { message: `${flag} must be ${want} (got ${value}).`, fix: '' });

const matching = (pattern: string, want: string) =>
  shaped({ type: 'string', pattern }, (value, flag): string => {
    if (!new RegExp(pattern).test(value)) throw wrong(flag, value, want);
    return value;
  });

/** Reads one of the choices, in full or by a unique beginning; a refusal names the likely one, or all. */
const among = <T extends string>(choices: readonly T[], written: (value: string) => string) =>
  shaped({ type: 'string', enum: choices }, (value, flag): T => {
    const wanted = written(value);
    const started = choices.filter((choice) => choice.startsWith(wanted));
    const found = choices.find((choice) => choice === wanted) ?? (started.length === 1 ? started[0] : undefined);
    if (found) return found;
    const hint = didYouMean(wanted, choices) || didYouMeanOneOf(choices.filter((choice) => wanted.startsWith(choice)));
    throw problem('usage', {
      message: `Unknown ${flag.replace(/^--/, '').replaceAll('-', ' ')} "${value}". ${hint}`.trimEnd(),
      fix: `Choose one of ${choices.join(', ')}.`,
    });
  });

export const integerOption = (least: number, most: number) =>
  shaped({ type: 'integer', minimum: least, maximum: most }, (value, flag) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most)) throw wrong(flag, value, `${least} to ${most}`);
    return number;
  });

/** Ages, separated by commas. */
export const agesOption = shaped({ type: 'string', pattern: '^[0-9]{1,2}( ?, ?[0-9]{1,2}){0,7}$' }, (value, flag) => {
  const ages = value.split(',').map((age) => (/^ ?\d{1,2} ?$/.test(age) ? Number(age) : Number.NaN));
  if (ages.length > 8 || !ages.every((age) => age < 18)) throw wrong(flag, value, 'ages of 0 to 17, such as 8,1');
  return ages;
});

/** Numbers of travellers, from 1, separated by commas. */
export const passengersOption = shaped({ type: 'string', pattern: '^[1-9](, ?[1-9])*$' }, (value, flag) => {
  if (!/^[1-9](, ?[1-9])*$/.test(value)) throw wrong(flag, value, 'numbers of travellers, such as 3 or 2,3');
  return [...new Set(value.split(',').map(Number))];
});

export const usdcOption = shaped(
  { type: 'string', pattern: '^[0-9]{1,12}([.][0-9]{1,6})?$' },
  (value, flag): bigint => {
    try {
      return parseUsdc(value);
    } catch (error) {
      if (isProblem(error)) throw wrong(flag, value, 'an amount such as 12.50');
      throw error;
    }
  },
);

const solAmount = matching('^[0-9]{1,9}([.][0-9]{1,9})?$', 'an amount of SOL such as 1.5');
export const solOption = shaped(solAmount.shape, (value, flag) => unitsOf(solAmount(value, undefined, flag), 9));

export const addressOption = matching('^[1-9A-HJ-NP-Za-km-z]{32,44}$', 'the address of a Solana wallet');

export const clockTimeOption = shaped({ type: 'string', pattern: '^[0-9]{1,2}:[0-9]{2}$' }, (value, flag): string => {
  const match = /^(\d{1,2}):(\d\d)$/.exec(value);
  if (!match || Number(match[1]) > 23 || Number(match[2]) > 59) throw wrong(flag, value, 'a time such as 06:30');
  return `${match[1]?.padStart(2, '0')}:${match[2]}`;
});

/** `18:00`, or `09:30+1` on the next day. */
export const arrivalTimeOption = shaped(
  { type: 'string', pattern: '^[0-9]{1,2}:[0-9]{2}([+][0-3])?$' },
  (value, flag): string => {
    const [time = '', days] = value.split('+');
    if (days !== undefined && !/^[0-3]$/.test(days)) throw wrong(flag, value, 'a time such as 18:00, or 09:30+1');
    return `${clockTimeOption(time, undefined, flag)}${days === undefined ? '' : `+${days}`}`;
  },
);

/** Reads `12`, `12h30m` or `90m` as an ISO 8601 duration. */
export const hoursOption = shaped(
  { type: 'string', pattern: '^([0-9]{1,3}h?|[0-9]{1,3}h[0-9]{1,2}m?|[0-9]{1,4}m)$' },
  (value, flag): string => {
    const [, hours = '0', minutes = '0'] = /^(?:(\d{1,3})(?:h|$))?(?:(\d{1,4})m?)?$/.exec(value.trim()) ?? [];
    const total = Number(hours) * 60 + Number(minutes);
    if (total === 0 || total > 30_000) throw wrong(flag, value, 'a time such as 12h30m');
    return `PT${Math.floor(total / 60)}H${total % 60}M`;
  },
);

/** Three letters are the code of an airport; anything else is its name, which the command looks up (airports.ts). */
export const airportOption = (value: string): string =>
  /^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : value.trim();

export const choiceOption = <const T extends string>(choices: readonly T[]) =>
  among(choices, (value) => named(value).toLowerCase());

export const durationOption = shaped({ type: 'string', pattern: '^[0-9]+(ms|s|m|h)?$' }, parseDuration);

/** One of the names that the partner service writes in capitals: `funds-received` is FUNDS_RECEIVED. */
export const namedOption = <const T extends string>(names: readonly T[]) => among(names, named);

/** A decimal as it is written; it never becomes a number. */
export const decimalOption = matching('^(0|[1-9][0-9]{0,17})([.][0-9]{1,18})?$', 'an amount such as 12.50');

/** A time span, or 0 for none. */
export const overlapOption = shaped({ type: 'string', pattern: '^[0-9]+(ms|s|m|h)?$' }, (value, flag): number =>
  /^0[smh]?$/.test(value) ? 0 : parseDuration(value, flag),
);

export const isRepeated = (parse: unknown): boolean => typeof parse === 'function' && 'isRepeated' in parse;

/** An option that may be repeated, once for each value. */
export const collected = Object.assign(
  (value: string, before: readonly string[] = []): string[] => [...before, value],
  { isRepeated: true },
);

export const text = (value: string): string => value;

export const capitals = (value: string): string => value.trim().toUpperCase();

/** A name that the service checks: `id-document` is ID_DOCUMENT. */
export const named = (value: string): string => capitals(value).replace(/[- ]/g, '_');

/** An option with a few values, which its help lists. */
export const choice = <const Flags extends string, const T extends string>(flags: Flags, choices: readonly T[]) =>
  option(flags, choices.join(', '), choiceOption(choices));

/** The partner that a command of the partner service acts for. */
export const ACTING_PARTNER = option('--partner <id>', 'use the key file of this partner (or FARELOCK_API_KEY)');

export const FOR_CUSTOMER = option(
  '--customer <id>',
  'act for this customer, with a new token (or FARELOCK_CUSTOMER_TOKEN)',
);

/** A person's consent to changes with a live key. */
export const IN_LIVE = option('--live', 'confirm that you mean the live environment');

/** The options that name a cluster; each has a variable, and a key in the file of a cluster. */
export const clusterOptions = [
  option(
    '--cluster <name|file>',
    'mainnet, devnet, testnet, localhost, or a JSON file of settings (or FARELOCK_CLUSTER)',
  ),
  option('--rpc-url <url>', 'RPC address of the cluster; repeatable (or FARELOCK_RPC_URL)', collected),
  option('--network <name>', 'the network to expect: mainnet, devnet or testnet; a private cluster acts as this one'),
  option('--genesis <hash>', 'expected hash of the first block of the cluster'),
  option('--usdc-mint <address>', "mint of the USDC there (default: Circle's)"),
] as const;

const SEAT_LIST = /^(?:([A-Z]{3}-[A-Z]{3}):)?((?:\d{1,3}[A-Z]|-)(?:,(?:\d{1,3}[A-Z]|-)){0,8})$/;

/** `12A,12B`; `12A,-/14C` for two flights; `LIS-FRA:12A` for a named flight. */
export const seatsOption = shaped({ type: 'string' }, (value, flag) =>
  value
    .toUpperCase()
    .split('/')
    .map((list) => {
      const [, flight = null, seats] = SEAT_LIST.exec(list) ?? [];
      if (seats === undefined) throw wrong(flag, value, 'seats such as 12A,12B, with / between flights');
      return { flight, seats: seats.split(',').map((seat) => (seat === '-' ? null : seat)) };
    }),
);

/** For every command that searches, prices or locks with bags. */
export const bagOptions = [
  option('--bags <n>', 'checked bags for each traveller', integerOption(0, 5)),
  option('--carry-on', 'a cabin bag for each'),
] as const;
