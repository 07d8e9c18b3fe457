import { afterAll, expect, test } from 'vitest';
import { asCharged, nextStepsOf, typedNamesOf } from '../../src/cli/interruption/failed.ts';
import { problemLines } from '../../src/cli/view/problem.ts';
import type { PaymentRecord } from '../../src/client/journal/index.ts';
import { PROBLEMS, type ProblemCode, problem } from '../../src/kernel/problems.ts';
import { farelock, lineOf } from '../../src/kernel/shell-word.ts';
import { plainUsdc } from '../../src/kernel/usdc.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** An error names what was typed, tells the truth about money, and ends with a command. */

const { home, close } = temporaryHome();
afterAll(close);
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), { ...options, environment: { FARELOCK_HOME: home, ...options.environment } });

const plain = (text: string) => text;
const screen = {
  width: 80,
  paint: { bad: plain, bold: plain, dim: plain, accent: plain, usdc: plainUsdc },
} as unknown as Parameters<typeof problemLines>[1];

test.each([
  [
    'search LIS QQX --depart +30d --yes',
    /^✗ QQX is not an airport we know\.\n {2}Check its three-letter code\.\n {2}\$ farelock search --help$/m,
  ],
  ['wallet airdrop --usdc 0', /^✗ Nothing to ask the faucet for\.$/m],
  ['xyzzy', /^ {2}\$ farelock --help$/m],
  ['order', /^ {2}\$ farelock help search$/m],
  [
    'search LIS BER --departs +30d',
    /^✗ Unknown option '--departs'\. Did you mean --depart\?$[\s\S]*^ {2}\$ farelock search LIS BER --depart \+30d$/m,
  ],
  ['wallet show --keypair /nope', /^ {2}\$ farelock wallet new --keypair \/nope$/m],
])('%s', async (line, said) => {
  const { stderr, exitCode } = await run(line);
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(said);
  expect(stderr).not.toMatch(/_iata|detail\./);
});

test('a payment that was declined leads back to the same command, not to the limits', async () => {
  const declined = await run('search LIS BER --depart +30d --max-payment 0.01 --json');
  expect(declined.exitCode).toBe(6);
  const failed = { argv: ['offer', '1'], invocation: {} as never, session: null };
  expect((await nextStepsOf(problem('payment_declined'), failed)).map(lineOf)).toEqual(['farelock offer 1']);
});

test('the help of a command of two words is a line to copy', async () => {
  const failed = { argv: [], invocation: { name: 'refund request' } as never, session: null };
  expect((await nextStepsOf(problem('input_required'), failed)).map(lineOf)).toEqual([
    'farelock refund request --help',
  ]);
});

test('every code leads to a command, also where nothing is known of the command line', async () => {
  const nowhere = { argv: [], invocation: null, session: null };
  for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
    expect((await nextStepsOf(problem(code), nowhere)).length, code).toBeGreaterThan(0);
  }
});

test('a field is the option that was typed, and an amount is in USDC', () => {
  const invocation = {
    spec: { options: [{ flags: '--amount <usdc>', description: '' }], arguments: [] },
    options: { amount: 200_000_000n },
  } as unknown as Parameters<typeof typedNamesOf>[0];
  const issues = [
    { path: 'payout_amount', message: 'is more than the 185.42 USDC that was paid.' },
    { path: 'cursor', message: 'must not be beside payout_amount.' },
  ];
  const lines = problemLines(
    problem('invalid_request', { detail: { issues } }),
    screen,
    [farelock`refund show 1`],
    typedNamesOf(invocation),
  );
  expect(lines).toContain('  --amount 200.00 is more than the 185.42 USDC that was paid.');
  expect(lines).toContain('  cursor must not be beside --amount.');
  expect(lines.at(-1)).toBe('  $ farelock refund show 1');
  expect(problemLines(problem('plan_changed', { detail: { payout_amount: '185420000' } }), screen)).toContain(
    '  payout amount: 185.42 USDC',
  );
});

test('"this call cost nothing" counts what the command has paid before', async () => {
  const session = (records: Partial<PaymentRecord>[]) => ({
    paidHere: {
      note: () => undefined,
      ids: [],
      shown: async () => undefined,
      records: async () => records as PaymentRecord[],
    },
  });
  const repriced = problem('offer_repriced');
  expect((await asCharged(repriced, session([]))).fix).toBe(
    'Search again for the current price. This call cost nothing.',
  );
  const after = await asCharged(repriced, session([{ state: 'answered', amount: '0.20' }]));
  expect([after.code, after.fix]).toEqual([
    'offer_repriced',
    'Search again for the current price. This call cost nothing; 0.20 USDC was paid before it.',
  ]);
});

test('a text about what was charged is never read: only what is known of the call counts', async () => {
  const paidHere = {
    note: () => undefined,
    ids: [],
    shown: async () => undefined,
    records: async () => [{ state: 'answered', amount: '0.20' }] as PaymentRecord[],
  };
  // Somebody else's words in a problem that says nothing of money.
  const quoting = problem('not_found', {
    message: 'No traveller "nothing was charged".',
    fix: 'This call cost nothing.',
  });
  expect(await asCharged(quoting, { paidHere })).toBe(quoting);
  const reworded = problem('offer_repriced', { fix: 'Look again.', charged: 'nothing' });
  expect((await asCharged(reworded, { paidHere })).fix).toBe(
    'Look again. This call cost nothing; 0.20 USDC was paid before it.',
  );
});

test('on a terminal the next command has the number of the list, elsewhere the id', async () => {
  const line = 'search LIS BER --depart +30d --limit 3 --no-wait --yes';
  expect((await run(line, { terminal: true, columns: 100 })).stderr + (await run(line)).stderr).toMatch(
    /Next: farelock (intent|offer) 1$[\s\S]*Next: farelock (intent|offer) ['"]?(off_|lowcost:)/m,
  );
});
