import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { proofTest } from '../proof-only.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** What partners read: tables that fit, files with mistakes, dry runs, and changes as they happen. */

const { home, close } = temporaryHome();
afterAll(close);

const run = (line: string | readonly string[], options: MemoryOptions = {}) =>
  runInMemory(typeof line === 'string' ? line.split(' ') : line, {
    ...options,
    environment: { FARELOCK_HOME: home, FARELOCK_ATTESTATION_MS: '1', ...options.environment },
  });

const EXCHANGE = '--country DEU --ramp onramp --from EUR --to SOLANA_USDC --amount 100.0024 --method DEU_SEPA';

async function newOrder(): Promise<string> {
  const made = await run(`partner orders create par_sandbox_bank ${EXCHANGE} --customer cus_demo_bo --json`);
  expect(made.exitCode, made.stdout + made.stderr).toBe(0);
  return String(made.json().id);
}

test('the list of orders uses the width, and no row is wider than it', async () => {
  await newOrder();
  for (const columns of [60, 70, 80, 90, 100, 110, 120, 130, 140]) {
    const { stdout } = await run('partner orders list', { terminal: true, columns });
    const tooWide = stdout.split('\n').filter((line) => [...line].length > columns);
    expect([columns, tooWide]).toEqual([columns, []]);
    if (columns >= 100) expect(stdout).toMatch(/Pays\s+Receives/);
    if (columns >= 120) expect(stdout).toMatch(/Pays\s+Receives\s+Updated/);
  }
});

interface Issue {
  readonly line: number;
  readonly column: number | null;
  readonly value?: string;
  readonly message: string;
  readonly corrected?: string | null;
}

async function mistakesOf(name: string, lines: readonly string[]) {
  const file = join(home, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const refused = await run(`partner orders apply ${file} --json`);
  expect(refused.exitCode, refused.stdout).toBe(2);
  const { detail } = refused.json().error as { detail: { issues: Issue[] } };
  const screen = await run(`partner orders apply ${file}`, { terminal: true, columns: 100 });
  return { issues: detail.issues, said: screen.stderr };
}

describe('a file with eight kinds of mistakes is told each with its line, its column and the row as it should be', () => {
  test('as CSV', async () => {
    const { issues, said } = await mistakesOf('eight.csv', [
      'orderId,status,toAmount,depositInstructions.currency,depositInstructions.network,sorceTransactionId',
      'rmp_1,FUND_RECEIVED,,,,',
      'rmp_2,,10,USDC,,',
      'rmp_3,,,,SOLONA,',
      ',FUNDS_RECEIVED,,,,',
      'rmp_5,CANCELED,,,,',
      'rmp_5,CANCELED,,,,',
      'rmp_6,,"12,50",,,',
      'rmp_7,IN_REVIEW,,,,"open',
      'rmp_8,IN_REVIEW,,,,',
    ]);
    expect(issues).toMatchObject(
      [
        { line: 1, column: 6, value: 'sorceTransactionId', message: /Did you mean sourceTransactionId\?/ },
        {
          line: 2,
          column: 2,
          value: 'FUND_RECEIVED',
          message: /Did you mean FUNDS_RECEIVED\?/,
          corrected: 'rmp_1,FUNDS_RECEIVED,,,,',
        },
        {
          line: 3,
          column: 4,
          value: 'USDC',
          message: /Did you mean SOLANA_USDC\?/,
          corrected: 'rmp_2,,10,SOLANA_USDC,,',
        },
        { line: 4, column: 5, value: 'SOLONA', message: /Did you mean SOLANA\?/, corrected: 'rmp_3,,,,SOLANA,' },
        { line: 5, column: 1, field: 'orderId', message: 'is missing' },
        { line: 7, column: 1, value: 'rmp_5', message: /repeats row 5 \(line 6\)/ },
        { line: 8, column: 3, value: '12,50', corrected: 'rmp_6,,12.50,,,' },
        { line: 9, column: 6, value: '"open', message: /quote/, corrected: 'rmp_7,IN_REVIEW,,,,open' },
      ].map((issue) => ({ ...issue, message: matching(issue.message) })),
    );
    expect(said).toContain('8 mistakes');
    expect(said).toContain('→ rmp_2,,10,SOLANA_USDC,,');
    expect(said).toContain('(line 3, column 4) depositInstructions.currency "USDC"');
    expect(said.indexOf('listed rows')).toBeGreaterThan(said.indexOf('SOLANA_USDC'));
  });

  test('as NDJSON', async () => {
    const { issues } = await mistakesOf('eight.ndjson', [
      '{"orderId":"rmp_1","status":"FUND_RECEIVED"}',
      '{"orderId":"rmp_2","depositInstructions":{"currency":"USDC"}}',
      '{"orderId":"rmp_3","depositInstructions":{"network":"SOLONA"}}',
      '{"status":"FUNDS_RECEIVED"}',
      '{"orderId":"rmp_5","status":"CANCELED"}',
      '{"orderId":"rmp_5","status":"CANCELED"}',
      '{"orderId":"rmp_6","toAmount":"12,50"}',
      '{"orderId":"rmp_7","statu":"CANCELED"}',
      '{"orderId":"rmp_8","status":"CANCELED",}',
    ]);
    expect(issues).toMatchObject([
      { line: 1, column: 20, corrected: '{"orderId":"rmp_1","status":"FUNDS_RECEIVED"}' },
      { line: 2, column: 43, value: 'USDC', message: matching(/SOLANA_USDC/) },
      { line: 3, column: 43, value: 'SOLONA', message: matching(/SOLANA\?/) },
      { line: 4, message: 'is missing' },
      { line: 6, message: matching(/repeats row 5/) },
      { line: 7, column: 20, corrected: '{"orderId":"rmp_6","toAmount":"12.50"}' },
      { line: 8, column: 20, message: matching(/Did you mean status\?/) },
      { line: 9, column: 40, corrected: '{"orderId":"rmp_8","status":"CANCELED"}' },
    ]);
  });
});

const matching = (text: string | RegExp | undefined) =>
  text === undefined ? expect.any(String) : expect.stringMatching(text);

test('deposit instructions of a file name what was meant by a field and a currency, before anything is sent', async () => {
  const orderId = await newOrder();
  const file = join(home, 'deposit.json');
  writeFileSync(file, JSON.stringify({ ibn: 'DE89', currency: 'USDC' }));
  for (const more of ['', ' --dry-run']) {
    const refused = await run(`partner orders update ${orderId} --deposit-instructions ${file}${more}`);
    expect(refused.exitCode, refused.stdout).toBe(2);
    const said = refused.stderr.replace(/\s+/g, ' ');
    expect(said).toMatch(/Did you mean depositInstructions\.iban/);
    expect(said).toMatch(/currency is not a currency\. Did you mean SOLANA_USDC\?/);
  }
});

describe('a dry run', () => {
  test('of an update names every field with what it has and what it would have', async () => {
    const orderId = await newOrder();
    const line = `partner orders update ${orderId} --status funds-received --source-transaction-id s1 --to-amount 91`;
    const planned = await run(`${line} --dry-run --json`);
    expect(planned.json().plan).toEqual([
      `Move ${orderId}: AWAITING_FUNDS → FUNDS_RECEIVED.`,
      'Change sourceTransactionId: – → s1.',
      expect.stringMatching(/^Change the amount to receive: [\d.]+ → 91\.$/),
      'Send this to the demo environment.',
    ]);
    await run(line);
    const again = await run(`${line} --dry-run --json`);
    expect(again.json().plan).toEqual([expect.stringContaining('Change nothing'), expect.stringContaining('demo')]);
  });

  test('of an order says what the customer would receive, and refuses what the partner does not offer', async () => {
    const order = (amount: string) =>
      run(
        `partner orders create par_sandbox_bank ${EXCHANGE.replace('100.0024', amount)} --customer cus_demo_bo --dry-run --json`,
      );
    const good = await order('100');
    expect([good.exitCode, good.json().plan]).toEqual([0, [expect.stringMatching(/about [\d.]+ SOLANA_USDC/)]]);
    const bad = await order('5');
    expect([bad.exitCode, bad.json().plan]).toEqual([8, [expect.stringContaining('does not offer 5 EUR')]]);
  });
});

test('watch tells every field that moved, with what it was, and ends with what to look at', async () => {
  const orderId = await newOrder();
  const updates = [
    ['--to-amount', '90', '--customer-facing-reason', 'Slow bank'],
    ['--status', 'canceled'],
  ];
  let isFirst = true;
  const watched = await run(`partner orders watch ${orderId} --every 200ms`, {
    terminal: true,
    columns: 100,
    onStdout: async () => {
      if (!isFirst) return;
      isFirst = false;
      for (const update of updates) await run(['partner', 'orders', 'update', orderId, ...update]);
    },
  });
  expect(watched.exitCode).toBe(8);
  const said = watched.stdout.replace(/\s+/g, ' ');
  expect(said).toMatch(/receives 90 \(was [\d.]+\) .*customer facing reason Slow bank/);
  expect(said).toMatch(/Awaiting funds → Canceled/);
  expect(watched.stderr).toContain(`farelock partner orders show ${orderId} --history`);
});

describe('history', () => {
  test('of payments says whether an offer was a fare menu or a fresh price, and of which flights', async () => {
    const { home, close } = temporaryHome();
    const here = (line: string, options: MemoryOptions = {}) =>
      run(line, { ...options, environment: { FARELOCK_HOME: home, FARELOCK_LOWCOST_MS: '1' } });
    const { offers } = (await here('search LIS BER --depart +30d --wait --json')).json() as {
      offers: { offer_id: string; total_currency: string }[];
    };
    const isLowcost = ({ offer_id: id }: { offer_id: string }) => id.startsWith('lowcost:');
    for (const offer of [offers.find(isLowcost), offers.find((one) => !isLowcost(one))]) {
      for (let tries = 0; tries < 50; tries++) {
        const { fare_menu: menu } = (await here(`offer ${offer?.offer_id} --json`)).json() as {
          fare_menu?: { status: string };
        };
        if (menu?.status !== 'pending') break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    const listed = await here('payments list', { terminal: true, columns: 100 });
    expect(listed.stdout).toMatch(/ 0\.10 {2}fare menu LIS → BER \d+ \w+/);
    expect(listed.stdout).toMatch(/ 0\.01 {2}fresh price LIS → BER \d+ \w+/);
    const onChain = await here('payments list --chain', { terminal: true, columns: 100 });
    expect(onChain.stdout).toMatch(/-0\.10 {2}fare menu LIS → BER/);
    expect(onChain.stdout).toMatch(/-0\.01 {2}fresh price LIS → BER/);
    rmSync(join(home, 'recent-offers.json'));
    expect((await here('payments list')).stdout).toMatch(/\tfare menu\n/);
    close();
  });

  proofTest('of payments, of the wallet and of the desk is in words, with amounts', async () => {
    await run('wallet new');
    await run('search LIS BER --depart +30d --limit 2');
    const payments = await run('payments list', { terminal: true, columns: 60 });
    expect(payments.stdout).toMatch(/paid\s+0\.10 {2}search LIS → BER \d+ \w+/);
    expect(payments.stdout).not.toContain('POST');
    const [first] = (await run('payments list --json')).json().payments as Record<string, unknown>[];
    expect(first).toMatchObject({ resource: 'POST /air/search', purpose: expect.stringContaining('LIS → BER') });
    const wallet = await run('payments list --chain', { terminal: true, columns: 80 });
    expect(wallet.stdout).toMatch(/\+10000\.00 {2}play money from the faucet/);
    expect(wallet.stdout).toMatch(/-0\.10 {2}search LIS → BER/);
    expect(wallet.stdout).not.toMatch(/ 0\.00 /);
    const piped = (await run('payments list --chain')).stdout;
    expect(piped).toMatch(/\t-0\.10\t\w+\tpay_\w+\tpayment\t.*\tsearch LIS → BER/);
    expect(piped).toMatch(/\t\+10000\.00\t\w+\t\tfaucet\t/);
    expect(piped).not.toContain('POST');
    const { history } = (await run('payments list --chain --json')).json() as { history: { kind: string }[] };
    expect(history.map(({ kind }) => kind)).toEqual(['payment', 'faucet']);
  });
});
