import { describe, expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import type { Invocation } from '../../../src/cli/spec/tree.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { isProblem, type Problem } from '../../../src/kernel/problems.ts';
import { lineOf } from '../../../src/kernel/shell-word.ts';

/** From argv to what a command is given. */

const streams = {
  stdout: { isTTY: false, columns: null, write: () => undefined },
  stderr: { isTTY: false, columns: null, write: () => undefined },
  stdin: { isTTY: false, text: async () => '' },
};
const parsed = (line: string): Invocation => {
  const invocation = parse(line.split(' ').filter(Boolean), { tool: TOOL, version: '1.0.0', streams });
  if (!invocation) throw new Error('nothing to run');
  return invocation;
};
const usageError = (line: string): Problem => {
  try {
    parsed(line);
  } catch (error) {
    if (isProblem(error, 'usage')) return error;
    throw error;
  }
  throw new Error(`${line} was understood`);
};
const refusal = (line: string): string => {
  const { message, fix } = usageError(line);
  return `${message} ${fix}`;
};
const nextOf = (line: string): readonly string[] => usageError(line).next.map(lineOf);

test.each<[string, string, object]>([
  ['search lis BER --depart +30d', 'search', { from: 'LIS', to: 'BER', depart: '+30d', basic: true }],
  [
    'search lis BER --depart +30d --no-wait --ndjson',
    'search',
    { from: 'LIS', to: 'BER', depart: '+30d', wait: false, ndjson: true, basic: true },
  ],
  [
    'search LIS JFK --depart fri --return +9d --adults 2 --cabin premium --max-stops 0 --depart-after 6:30 --depart-before 12:00 --max-price 900.50 --sort dur --limit 5 --all-fares',
    'search',
    {
      from: 'LIS',
      to: 'JFK',
      depart: 'fri',
      return: '+9d',
      adults: 2,
      cabin: 'premium_economy',
      maxStops: 0,
      departAfter: '06:30',
      departBefore: '12:00',
      maxPrice: 900_500_000n,
      sort: 'duration',
      limit: 5,
      allFares: true,
      basic: true,
    },
  ],
  ['offer off_1', 'offer', { offerId: 'off_1' }],
  ['intent off_1', 'intent create', { offerId: 'off_1' }],
  ['intent off_1 --referrer aff_1', 'intent create', { offerId: 'off_1', referrer: 'aff_1' }],
  [
    'intent create off_1 --refund-wallet 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
    'intent create',
    { offerId: 'off_1', refundWallet: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' },
  ],
  ['intent show int_1', 'intent show', { intentId: 'int_1' }],
  ['search updates sch_1 --wait', 'search updates', { searchId: 'sch_1', wait: true }],
  ['search-updates sch_1 --cursor 4', 'search-updates', { searchId: 'sch_1', cursor: '4' }],
  ['config list --show-origin', 'config list', { showOrigin: true }],
  ['config set rpc_url https://x', 'config set', { key: 'rpc_url', value: 'https://x' }],
  ['config profile', 'config profile list', {}],
  ['config profile add s --cluster d --use', 'config profile add', { name: 's', cluster: 'd', use: true }],
  ['wallet limits', 'wallet limits show', {}],
  ['wallet limits set --per-day 5', 'wallet limits set', { perDay: '5' }],
  ['wallet history', 'wallet history', { limit: 20 }],
  ['payments verify', 'payments verify', { limit: 100 }],
  ['payments verify pay_1', 'payments verify', { paymentId: 'pay_1', limit: 100 }],
  ['payments resume pay_1', 'payments resume', { paymentId: 'pay_1' }],
  ['intent list', 'intent list', { limit: 100 }],
  ['intent list --limit 5', 'intent list', { limit: 5 }],
  ['intent verify int_1', 'intent verify', { intentId: 'int_1' }],
  ['book int_1 --passengers p.json', 'book', { intentId: 'int_1', passengers: 'p.json', wait: true }],
  ['book int_1 --passengers - --no-wait', 'book', { intentId: 'int_1', passengers: '-', wait: false }],
  ['status int_1 --watch', 'status', { intentId: 'int_1', watch: true }],
  ['order ord_1', 'order', { id: 'ord_1' }],
  ['order ord_1 --ics trip.ics', 'order', { id: 'ord_1', ics: 'trip.ics' }],
  ['wallet new', 'wallet new', {}],
  ['wallet show', 'wallet show', {}],
  ['wallet balance', 'wallet balance', {}],
  ['wallet airdrop --sol 1.5', 'wallet airdrop', { sol: 1_500_000_000n }],
  ['wallet airdrop --usdc 20', 'wallet airdrop', { usdc: 20_000_000n }],
  ['payments list', 'payments list', {}],
  ['payments list --chain', 'payments list', { chain: true }],
  ['search LIS BER --depart fri --wait', 'search', { from: 'LIS', to: 'BER', depart: 'fri', wait: true, basic: true }],
  ['affiliate create --wallet W', 'affiliate create', { wallet: 'W' }],
  ['affiliate show ABC', 'affiliate show', { code: 'ABC' }],
  ['payments show pay_1', 'payments show', { paymentId: 'pay_1' }],
  ['serve', 'serve', { host: '127.0.0.1', port: 4020, worker: true }],
  ['serve --port 0 --scenario sold_out', 'serve', { host: '127.0.0.1', port: 0, scenario: 'sold_out', worker: true }],
  ['demo', 'demo', {}],
  ['explain offer_expired', 'explain', { code: 'offer_expired', more: [] }],
])('%s', (line, name, options) => {
  const invocation = parsed(line);
  expect(invocation.name).toBe(name);
  expect(invocation.options).toEqual(options);
});

describe('global options', () => {
  test('stand before or after the command', () => {
    const want = { profile: 'test', yes: true, maxPayment: 2_500_000n, timeout: 90_000, quiet: true };
    const options = '--profile test -y --max-payment 2.5 --timeout 90s -q';
    expect(parsed(`${options} status int_1`).globals).toMatchObject(want);
    expect(parsed(`status int_1 ${options}`).globals).toMatchObject(want);
  });

  test('--no-input, --no-color and --dry-run', () => {
    expect(parsed('status int_1').globals).toEqual({ input: true, color: true, pager: true });
    expect(parsed('status int_1 --no-input --no-color --dry-run --verbose').globals).toEqual({
      input: false,
      color: false,
      pager: true,
      dryRun: true,
      verbose: true,
    });
  });

  test.each([
    ['status int_1 --json', true],
    ['status int_1 --json=status,order_id', 'status,order_id'],
    ['status int_1 --json status,order_id', 'status,order_id'],
    ['status int_1 --json -q', true],
  ])('%s', (line, json) => {
    expect(parsed(line).globals.json).toBe(json);
  });

  test.each(['--json status int_1', 'status --json int_1', '--json payments list', 'payments --json list'])(
    '%s does not take an argument for a list of fields',
    (line) => {
      const { globals } = parsed(line);
      expect(globals.json === '' || globals.json === true).toBe(true);
    },
  );
});

test.each([
  ['serach LIS BER', /unknown command.*Did you mean search\?/i],
  ['search LIS BER', /--depart/],
  ['search LIS --depart fri', /missing required argument 'to'/i],
  ['search LIS BER MAD --depart fri', /too many arguments/i],
  ['search LIS BER --depart fri --adults 10', /--adults must be 1 to 9 \(got 10\)\./],
  ['search LIS BER --depart fri --cabin couch', /one of economy, premium_economy, business, first/],
  ['search LIS BER --depart fri --cabin bussiness', /^Unknown cabin "bussiness"\. Did you mean business\?/],
  ['partner orders list --status AWAITING_FUND5', /Did you mean AWAITING_FUNDS\?/],
  ['search LIS BER --depart fri --depart-after 25:00', /a time such as 06:30/],
  ['search LIS BER --depart fri --max-price cheap', /an amount such as 12.50/],
  ['search LIS BER --depart fri --adult 2', /unknown option '--adult'.*Did you mean --adults\?/i],
  ['status int_1 --timeout soon', /--timeout must be a time span such as 90s, 5m or 1h \(got soon\)/],
  ['wallet --json', /farelock wallet needs a subcommand.*farelock wallet --help/],
  ['wallet airdrop --sol lots', /an amount of SOL/],
  ['intent --json', /missing required argument 'offer-id'/i],
  ['partner foo', /Unknown command 'foo'\. See farelock partner --help\./],
  ['config profile foo', /Unknown command 'foo'\. See farelock config profile --help\./],
  ['--quiet', /farelock needs a command/],
])('%s is a usage error that says what to do', (line, said) => {
  expect(refusal(line)).toMatch(said);
});

test.each([
  ['partner orders show', ['farelock partner orders list']],
  ['stuck show', ['farelock stuck list']],
  ['refund approve', ['farelock refund queue']],
  ['intent --json', ['farelock help search']],
  ['--quiet partner orders create', ['farelock partner orders create --help']],
  ['search LIS BER', ['farelock search --help']],
  ['search LIS BER --depart fri --adult 2', ['farelock search LIS BER --depart fri --adults 2']],
  ['book --foo', ['farelock book --help']],
  ['search LIS BER --depart', ['farelock search --help']],
  ['search LIS BER --depart fri --adults x', ['farelock search --help']],
  ['status int_1 --timeout soon', ['farelock status --help']],
  ['switch booking maybe', ['farelock switch --help']],
  ['status a b c', ['farelock status --help']],
  ['partner foo', ['farelock partner --help']],
  ['partner orders foo', ['farelock partner orders --help']],
  ['config profile foo', ['farelock config profile --help']],
  ['wallet --json', ['farelock wallet --help']],
  ['wallet --bogus', ['farelock wallet --help']],
  ['foo', ['farelock --help']],
])('%s: the next step is a command that helps with it', (line, next) => {
  expect(nextOf(line)).toEqual(next);
});
