import { expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { isProblem } from '../../../src/kernel/problems.ts';

/** From argv to what the partner's commands are given. */

const silent = { isTTY: false, columns: null, write: () => undefined };
const streams = { stdout: silent, stderr: silent, stdin: { isTTY: false, text: async () => '' } };
const parsed = (line: string) => parse(line.split(' '), { tool: TOOL, version: '1.0.0', streams });

const EXCHANGE = '--country bra --ramp on --from brl --to solana_usdc --amount 100.50 --method bra_pix';
const exchange = {
  country: 'BRA',
  ramp: 'ONRAMP',
  from: 'BRL',
  to: 'SOLANA_USDC',
  amount: '100.50',
  method: 'BRA_PIX',
};

test.each<[string, string, object]>([
  ['partner orders list', 'partner orders list', { limit: 50 }],
  [
    'partner orders list --status awaiting-funds --limit 5 --partner par_1',
    'partner orders list',
    { status: 'AWAITING_FUNDS', limit: 5, partner: 'par_1' },
  ],
  ['partner orders show o1 --history', 'partner orders show', { orderId: 'o1', history: true }],
  [
    `partner orders create par_1 ${EXCHANGE} --customer c1`,
    'partner orders create',
    { ...exchange, partnerId: 'par_1', customer: 'c1' },
  ],
  [
    'partner orders update o1 --status error --reason closed --if-match 3 --live',
    'partner orders update',
    { orderId: 'o1', status: 'ERROR', reason: 'closed', ifMatch: '3', live: true },
  ],
  ['partner orders apply u.csv', 'partner orders apply', { file: 'u.csv', concurrency: 8 }],
  [
    'partner orders apply - --results r --concurrency 2 --retry-failed',
    'partner orders apply',
    { file: '-', results: 'r', concurrency: 2, retryFailed: true },
  ],
  ['partner orders watch o1 --every 5s', 'partner orders watch', { orderId: 'o1', every: 5000 }],
  [
    `partner offers ${EXCHANGE} --type redirect,integration`,
    'partner offers',
    { ...exchange, type: ['REDIRECT', 'INTEGRATION'] },
  ],
  [
    'partner requirements add c1 --data id-document --max-age-days 30',
    'partner requirements add',
    { customerId: 'c1', data: 'ID_DOCUMENT', maxAgeDays: 30 },
  ],
  ['requirements', 'requirements list', {}],
  ['requirements --customer c1', 'requirements list', { customer: 'c1' }],
  ['requirements submit -', 'requirements submit', { file: '-' }],
  ['requirements accept-terms --terms-url u', 'requirements accept-terms', { termsUrl: 'u' }],
  ['keys partner issue par_1 till', 'keys partner issue', { partnerId: 'par_1', name: 'till' }],
  ['keys partner rotate k1', 'keys partner rotate', { keyId: 'k1', overlap: 86_400_000 }],
  ['keys partner rotate k1 --overlap 0', 'keys partner rotate', { keyId: 'k1', overlap: 0 }],
  ['keys token c1 --ttl 5m', 'keys token', { customerId: 'c1', ttl: 300_000 }],
])('%s', (line, name, options) => {
  const invocation = parsed(line);
  expect(invocation?.name).toBe(name);
  expect(invocation?.options).toEqual(options);
});

test.each([
  ['partner orders list --status done', /Unknown status "done"\. Choose one of AWAITING_FUNDS/],
  ['partner orders update o1 --to-amount 1e3', /an amount such as 12.50/],
  ['partner orders update o1 --to-amount -1', /an amount such as 12.50|unknown option/i],
  ['partner orders apply', /missing required argument 'file'/i],
  ['partner offers --country BRA', /--ramp/],
  ['partner orders --json', /needs a subcommand/],
])('%s is a usage error that says what to do', (line, said) => {
  try {
    parsed(line);
  } catch (error) {
    if (!isProblem(error, 'usage')) throw error;
    expect(`${error.message} ${error.fix}`).toMatch(said);
    return;
  }
  throw new Error(`${line} was understood`);
});
