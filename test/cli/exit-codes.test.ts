import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explainedCodes } from '../../src/cli/commands/explain/index.ts';
import { TOOL } from '../../src/cli/commands/index.ts';
import { parse } from '../../src/cli/tool/index.ts';
import CONNECT_CODE_TABLE from '../../src/kernel/domain/connect-codes.json' with { type: 'json' };
import { didYouMean, editDistance, nearest } from '../../src/kernel/nearest.ts';
import { PROBLEMS, type ProblemKind } from '../../src/kernel/problems.ts';
import { CONNECT_CODES } from '../../src/wire/partner/kinds.ts';
import { hastyClock } from '../clock.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';
import { faultsOf } from './published.ts';

/** Exit codes are stable, errors are documents, and each `next` is a command that the tool understands. */

const { home, close } = temporaryHome();
afterAll(close);
const environment = { FARELOCK_HOME: home, FARELOCK_TICKETING_MS: '10' };
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(wordsOf(line), { ...options, environment: { ...environment, ...options.environment } });

const streams = {
  stdout: { isTTY: false, columns: null, rows: null, write: () => undefined },
  stderr: { isTTY: false, columns: null, rows: null, write: () => undefined },
  stdin: { isTTY: false, text: async () => '' },
};
/** That the tool understands a command of `next`, without running it. */
function understood(command: string): void {
  const [tool, ...argv] = wordsOf(command);
  expect(tool).toBe('farelock');
  expect(() => parse(argv, { tool: TOOL, version: '9.9.9', streams }), command).not.toThrow();
}

let intentId = '';
let booked = '';
let offerId = '';

beforeAll(async () => {
  const searched = await run('search LIS BER --depart +30d --json');
  const offers = searched.json().offers as { offer_id: string; total_currency: string }[];
  const sold = offers.filter((one) => one.total_currency === 'USD' && one.offer_id.startsWith('off_'));
  offerId = sold[0]?.offer_id ?? '';
  const lock = async (id = '') => String((await run(`intent create ${id} --json`)).json().intent_id);
  booked = await lock(sold[1]?.offer_id);
  await run(`book ${booked} --passengers - --yes --json`, { stdin: JSON.stringify([ANA]) });
  intentId = await lock(offerId);
  mkdirSync(join(home, 'files'), { recursive: true });
  writeFileSync(join(home, 'files', 'broken.json'), '[{"given_name":');
});

/** A command line, its exit code, the code of its error, and how `next` goes on. */
const PROVOKED: readonly (readonly [() => string, number, string | null, RegExp | null, MemoryOptions?])[] = [
  [() => 'intent list', 0, null, null],
  [() => `status ${booked}`, 0, null, null],
  [() => 'serach LIS BER --depart fri', 2, 'usage', /^farelock search LIS BER --depart fri --json$/],
  [() => 'intent lsit', 2, 'usage', /^farelock intent list --json$/],
  [() => 'search LIS BER --depart fri --adult 2', 2, 'usage', /^farelock search .*--adults 2 --json$/],
  [() => 'search LIS BER', 2, 'usage', /^farelock search --help$/],
  [() => 'search LIS BER --depart fri --cabin bussiness', 2, 'usage', /^farelock search --help$/],
  [() => `book ${intentId} --no-input`, 2, 'input_required', /^farelock book --help$/],
  [() => `book ${intentId} --passengers ${home}/files/none.json --yes`, 2, 'file_unreadable', null],
  [() => 'status int_none', 3, 'intent_not_found', /^farelock intent list$/],
  [() => 'offer off_none', 3, 'offer_not_found', /^farelock help search$/],
  [() => 'payments show pay_none', 3, 'not_found', /^farelock payments list$/],
  [() => 'refund show rfr_none', 3, 'refund_request_not_found', /^farelock refund queue$/],
  [() => 'keys list', 4, 'operator_key_invalid', null, { environment: { FARELOCK_OPERATOR_KEY: 'fok_wrong' } }],
  [() => `order ord_${'0'.repeat(26)}`, 4, 'no_support_code', null],
  [() => `intent create ${offerId}`, 5, 'intent_already_exists', /^farelock book int_/],
  [
    () => `refund request ${intentId} --reason late`,
    5,
    'use_automatic_refund',
    /^farelock status int_\w+ --watch$/,
    { environment: { FARELOCK_FAMILY_NAME: 'Moreira' } },
  ],
  [() => `offer ${offerId} --max-payment 0.001`, 6, 'payment_above_cap', /^farelock wallet limits$/],
  [
    () => 'status int_1',
    7,
    'network_unreachable',
    /^farelock status int_1 --json$/,
    {
      environment: { FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:59999', FARELOCK_RPC_URL: 'http://127.0.0.1:59999' },
      clock: hastyClock(),
    },
  ],
];

describe('exit codes', () => {
  test.each(PROVOKED.map((row) => [row[2] ?? 'done', row[1], row] as const))(
    '%s ends with %i',
    async (_name, exitCode, [line, , code, next, options]) => {
      const ran = await run(`${line()} --json`, options);
      expect([line(), ran.exitCode], ran.stdout).toEqual([line(), exitCode]);
      if (code === null) return;
      const { error } = ran.json() as { error: { code: string; next: string[] } };
      expect(error.code, ran.stdout).toBe(code);
      expect(faultsOf('error', { error })).toEqual([]);
      for (const command of error.next) understood(command);
      if (next) expect(error.next[0]).toMatch(next);
    },
  );

  test('a booking that did not happen is 8, an interruption 130', async () => {
    const elsewhere = temporaryHome();
    const where = { environment: { FARELOCK_HOME: elsewhere.home, FARELOCK_SCENARIO: 'ticketing_fails' } };
    const found = await run('search LIS BER --depart +30d --limit 5 --json', where);
    const offers = found.json().offers as { offer_id: string; total_currency: string }[];
    const offer = offers.find((one) => one.total_currency === 'USD' && one.offer_id.startsWith('off_'));
    const { intent_id: id } = (await run(`intent create ${offer?.offer_id} --json`, where)).json();
    const ran = await run(`book ${String(id)} --passengers - --yes --json`, { ...where, stdin: JSON.stringify([ANA]) });
    elsewhere.close();
    expect(ran.exitCode, ran.stdout).toBe(8);
    const stopped = AbortSignal.abort(new Error('stop'));
    expect((await run('serve --port 0 --json', { interrupted: stopped })).exitCode).toBeLessThanOrEqual(1);
  });

  test('every problem has one of the nine, and a code never changes it', () => {
    const kinds = Object.entries(PROBLEMS) as [string, ProblemKind][];
    for (const [code, { exit }] of kinds) expect([1, 2, 3, 4, 5, 6, 7, 8, 130], code).toContain(exit);
    const byStatus = kinds.filter(([, { status, retryable }]) => status !== undefined && retryable);
    for (const [code, { exit }] of byStatus) expect([1, 4, 5, 7], code).toContain(exit);
    for (const [code, { status, exit }] of kinds) if (status === 404) expect(exit, code).toBe(3);
    for (const [code, { status, exit }] of kinds) if (status === 401 || status === 403) expect(exit, code).toBe(4);
  });
});

describe('what was likely meant', () => {
  test('is found by the fewest mistakes', () => {
    expect(editDistance('search', 'serach')).toBe(1);
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('a', 'a much longer text')).toBe(4);
    expect(nearest('offer_expird', Object.keys(PROBLEMS))[0]).toBe('offer_expired');
    expect(nearest('qqqqqq', ['search', 'offer'])).toEqual([]);
    expect(didYouMean('serach', ['search', 'switch'])).toBe('Did you mean search?');
  });

  test.each([
    ['explain offer_expird', 'offer_expired'],
    ['explain failed-precondtion', 'failed_precondition'],
    ['schema serach', 'search'],
    ['help bok', 'book'],
    ['config get flight_url', 'flights_url'],
    ['config profile use lcal', 'local'],
    ['status int_1 --profile lcal', 'local'],
    ['airports lisbonn --json nam', 'name'],
    ['serve --scenario reprised', 'repriced'],
    ['keys partner isue', 'keys partner issue'],
    ['intent list --jsom', '--json'],
  ])('%s: Did you mean %s?', async (line, meant) => {
    const ran = await run(`${line}${line.includes('--json') ? '' : ' --json'}`);
    expect(ran.exitCode, ran.stdout).toBeGreaterThan(1);
    const { message, fix } = (ran.json() as { error: { message: string; fix: string } }).error;
    expect(`${message} ${fix}`).toMatch(new RegExp(`Did you mean .*${meant}`));
  });
});

test('explain knows every code of both services, of the tool, and of Connect', async () => {
  expect(Object.keys(CONNECT_CODE_TABLE)).toEqual(expect.arrayContaining([...CONNECT_CODES]));
  for (const code of explainedCodes()) {
    const ran = await run(`explain ${code} --json`);
    expect([code, ran.exitCode, faultsOf('explain', ran.json())]).toEqual([code, 0, []]);
  }
});
