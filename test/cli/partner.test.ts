import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { proofTest } from '../proof-only.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** The partner's commands on the embedded stack: every command works at once, with the demo's keys and orders. */

const { home, close } = temporaryHome();
afterAll(close);

const run = (line: string | readonly string[], options: MemoryOptions = {}) =>
  runInMemory(typeof line === 'string' ? line.split(' ') : line, {
    ...options,
    environment: { FARELOCK_HOME: home, FARELOCK_ATTESTATION_MS: '1', ...options.environment },
  });

const EXCHANGE = '--country DEU --ramp onramp --from EUR --to SOLANA_USDC --amount 100 --method DEU_SEPA';
const FOR_BO = '--customer cus_demo_bo';

/** The platform's script leaves an order of this amount alone. */
async function newOrder(): Promise<string> {
  const exchange = EXCHANGE.replace('100', '100.0024');
  const made = await run(`partner orders create par_sandbox_bank ${exchange} ${FOR_BO} --json`);
  expect(made.exitCode, made.stdout + made.stderr).toBe(0);
  return String(made.json().id);
}

describe('orders', () => {
  test('are listed with their money aligned and their statuses in words', async () => {
    const listed = await run('partner orders list', { terminal: true, columns: 120 });
    expect(listed.exitCode, listed.stderr).toBe(0);
    expect(listed.stdout).toMatch(/rmp_demo_waiting\s+Awaiting funds\s+On-ramp\s+250 {2}EUR/);
    expect(listed.stdout).toMatch(/rmp_demo_received\s+Funds received\s+On-ramp\s+1200 {2}EUR/);
    const points = listed.stdout
      .split('\n')
      .flatMap((line) => [/\d(\.)\d+\s+(SOLANA_USDC|MXN)/d.exec(line)?.indices?.[1]?.[0]])
      .filter((at) => at !== undefined);
    expect(points.length).toBeGreaterThan(2);
    expect(new Set(points).size).toBe(1);
  });

  test('are listed as tab-separated lines in a pipe, and as the chosen fields under --json', async () => {
    const piped = await run('partner orders list --status awaiting-funds');
    expect(piped.stdout).toMatch(/^rmp_demo_waiting\tAWAITING_FUNDS\tONRAMP\t250\tEUR\t/m);
    const chosen = await run('partner orders list --limit 2 --json id,status');
    expect(chosen.json().orders).toHaveLength(2);
    const whole = await run('partner orders list --limit 2 --json');
    expect(whole.json()).toMatchObject({ totalCount: expect.any(Number), nextPageToken: expect.any(String) });
    const unknown = await run('partner orders list --json id,colour');
    expect([unknown.exitCode, unknown.stdout]).toEqual([2, expect.stringContaining('colour')]);
  });

  test('belong to the partner whose key is used', async () => {
    const others = await run('partner orders list --partner par_sandbox_pix --json id');
    expect(JSON.stringify(others.json())).not.toContain('rmp_demo_waiting');
    const shown = await run('partner orders show rmp_demo_waiting --partner par_sandbox_pix --json');
    expect(shown.exitCode).toBe(3);
  });

  test('show where they may go; an update without a change says the same, or asks', async () => {
    const orderId = await newOrder();
    const shown = await run(`partner orders show ${orderId} --history`, { terminal: true });
    expect(shown.stdout).toContain('Can go to  FUNDS_RECEIVED, IN_REVIEW, CANCELED, ERROR');
    expect(shown.stdout).toContain('How the customer pays');
    const bare = await run(`partner orders update ${orderId}`);
    expect(bare.exitCode).toBe(2);
    expect(bare.stderr.replace(/\s+/g, ' ')).toContain('it can go to FUNDS_RECEIVED, IN_REVIEW, CANCELED, ERROR');
    const asked = await run(`partner orders update ${orderId}`, { terminal: true, answers: ['ERROR', 'bank closed'] });
    expect(asked.asked).toEqual(['Move it to', 'Reason, for the partner']);
    expect(asked.exitCode, asked.stderr).toBe(0);
    expect(asked.stdout).toMatch(/Error[\s\S]*Reason\s+bank closed/);
  });

  test('are moved with what belongs to the move; a move that is not allowed is exit 5 and names what is', async () => {
    const orderId = await newOrder();
    const deposit = join(home, 'deposit.json');
    writeFileSync(deposit, JSON.stringify({ accountNumber: '123', reference: 'R-1' }));
    const moved = await run(
      `partner orders update ${orderId} --status funds-received --source-transaction-id tx-1 --to-amount 99.5 --deposit-instructions ${deposit} --json`,
    );
    expect(moved.json()).toMatchObject({
      status: 'FUNDS_RECEIVED',
      sourceTransactionId: 'tx-1',
      destinationAmount: '99.5',
      depositInstructions: { bankAccountNumber: '123', depositMessage: 'R-1' },
      allowedStatuses: expect.arrayContaining(['PAYMENT_SUBMITTED']),
    });
    const wrong = await run(`partner orders update ${orderId} --status refunded --json`);
    expect(wrong.exitCode).toBe(5);
    expect(wrong.json().error).toMatchObject({
      code: 'invalid_status_transition',
      fix: expect.stringContaining('it can go to IN_REVIEW, PAYMENT_SUBMITTED'),
      detail: { from: 'FUNDS_RECEIVED', to: 'REFUNDED', allowed: expect.any(Array) },
    });
    const stale = await run(`partner orders update ${orderId} --to-amount 98 --if-match 1 --json`);
    expect([stale.exitCode, stale.stdout]).toEqual([5, expect.stringContaining('order_version_mismatch')]);
  });

  test('--dry-run changes nothing and says what would happen, or that it would not', async () => {
    const orderId = await newOrder();
    const planned = await run(`partner orders update ${orderId} --status canceled --dry-run`);
    expect([planned.exitCode, planned.stdout]).toEqual([0, expect.stringContaining('AWAITING_FUNDS → CANCELED')]);
    const refused = await run(`partner orders update ${orderId} --status refunded --dry-run`);
    expect(refused.exitCode).toBe(8);
    expect((await run(`partner orders show ${orderId} --json status`)).json()).toEqual({ status: 'AWAITING_FUNDS' });
  });

  test('--dry-run refuses what the service refuses: by its funds, its ids, its version, and its fields', async () => {
    const orderId = await newOrder();
    await run(`partner orders update ${orderId} --status funds-received --source-transaction-id s1`);
    await run(['partner', 'orders', 'update', orderId, '--status', 'error', '--reason', 'r']);
    const blank = join(home, 'blank.json');
    writeFileSync(blank, JSON.stringify({ iban: ' ' }));
    const both = join(home, 'both.json');
    writeFileSync(both, JSON.stringify({ reference: 'a', 'deposit-message': 'a' }));
    for (const [more, why, exitCode] of [
      [['--status', 'canceled'], 'ERROR cannot go to CANCELED, its funds were seen', 5],
      [['--status', 'payment-submitted'], 'ERROR cannot go to PAYMENT_SUBMITTED', 5],
      [['--source-transaction-id', 's2'], 'which never changes', 5],
      [['--status', 'error'], 'reason is required', 2],
      [['--reason', ' '], 'reason is empty', 2],
      [['--to-amount', '9', '--if-match', '1'], 'has version 3, not 1', 5],
      [['--deposit-instructions', blank], 'depositInstructions.iban is empty', 2],
      [['--deposit-instructions', both], 'is another name for', 2],
      [['--status', 'in-review'], null, 0],
    ] as const) {
      const line = ['partner', 'orders', 'update', orderId, ...more];
      const planned = await run([...line, '--dry-run', '--json']);
      expect([more, planned.exitCode], planned.stdout).toEqual([more, why === null ? 0 : 8]);
      expect(planned.json()).toMatchObject({ dry_run: true });
      if (why !== null) expect(planned.json().plan).toEqual([expect.stringContaining(why)]);
      expect([more, (await run([...line, '--json'])).exitCode]).toEqual([more, exitCode]);
    }
  });

  test.each([
    ['payment-processed', [], 0],
    ['error', ['--reason', 'closed'], 8],
  ])('watch follows an order until it is %s', async (status, more, exitCode) => {
    const orderId = await newOrder();
    await run(`partner orders update ${orderId} --status funds-received`);
    let lines = 0;
    const watched = run(`partner orders watch ${orderId} --every 50ms --json`, {
      onStdout: (text) => {
        lines += text.split('\n').length - 1;
        if (lines === 1) void run(['partner', 'orders', 'update', orderId, '--status', status, ...more]);
      },
    });
    const { stdout, exitCode: ended } = await watched;
    expect(ended).toBe(exitCode);
    const seen = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { status: string }).status);
    expect(seen).toEqual(['FUNDS_RECEIVED', status.toUpperCase().replace('-', '_')]);
  });

  proofTest('watch tells every change, also several between two looks, each with what it then was', async () => {
    const orderId = await newOrder();
    let lines = 0;
    const updates = [
      ['--status', 'funds-received', '--source-transaction-id', 's1'],
      ['--to-amount', '90'],
      ['--to-amount', '91', '--customer-facing-reason', 'Slow bank'],
      ['--status', 'payment-submitted', '--destination-transaction-id', 'd1'],
      ['--status', 'payment-processed', '--destination-transaction-id', 'd2'],
    ];
    const watched = run(`partner orders watch ${orderId} --every 3s --json`, {
      onStdout: async (text) => {
        lines += text.split('\n').length - 1;
        if (lines !== 1) return;
        for (const update of updates) await run(['partner', 'orders', 'update', orderId, ...update]);
      },
    });
    const { stdout, exitCode } = await watched;
    expect(exitCode).toBe(0);
    const seen = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(seen.map(({ version, status }) => [version, status])).toEqual([
      [1, 'AWAITING_FUNDS'],
      [2, 'FUNDS_RECEIVED'],
      [3, 'FUNDS_RECEIVED'],
      [4, 'FUNDS_RECEIVED'],
      [5, 'PAYMENT_SUBMITTED'],
      [6, 'PAYMENT_PROCESSED'],
    ]);
    const [first, received, , slow, , last] = seen;
    expect(received).toMatchObject({ sourceTransactionId: 's1', destinationAmount: first?.destinationAmount });
    for (const later of ['destinationTransactionId', 'customerFacingReason'])
      expect(received).not.toHaveProperty(later);
    expect(slow).toMatchObject({ destinationAmount: '91', customerFacingReason: 'Slow bank' });
    expect(last).toMatchObject({ destinationTransactionId: 'd2', allowedStatuses: ['REFUNDING'] });
  });

  test('an id that nobody has is exit 3; the key of nobody is exit 4 and is not repeated', async () => {
    expect((await run('partner orders show rmp_none')).exitCode).toBe(3);
    const key = 'flk_demo_0123456789abcdefghijklmnopqrstuv';
    const refused = await run('partner orders list --json', { environment: { FARELOCK_API_KEY: key } });
    expect(refused.exitCode).toBe(4);
    expect(refused.json().error).toMatchObject({ code: 'partner_key_invalid' });
    expect(refused.stdout + refused.stderr).not.toContain(key);
  });
});

describe('against the live environment', () => {
  const live = { FARELOCK_API_KEY: 'flk_live_0123456789abcdefghijklmnopqrstuv' };
  const order = `partner orders create par_sandbox_bank ${EXCHANGE} ${FOR_BO}`;

  test('a change needs --live where nobody can be asked', async () => {
    const refused = await run(`${order} --json`, { environment: live });
    expect(refused.exitCode).toBe(2);
    expect(refused.json().error).toMatchObject({ code: 'input_required', message: /--live/ });
    // With it the call is made, and this key is one that no demo knows.
    expect((await run(`${order} --live --json`, { environment: live })).exitCode).toBe(4);
  });

  test('a person is asked, and a no sends nothing', async () => {
    const declined = await run(order, { environment: live, terminal: true, answers: [false] });
    expect(declined.asked).toEqual([expect.stringContaining('live environment')]);
    expect([declined.exitCode, declined.stderr]).toEqual([5, expect.stringContaining('Declined')]);
  });
});

describe('offers and orders', () => {
  test('offers are ranked by what the customer receives', async () => {
    const offers = await run(`partner offers ${EXCHANGE} --json partnerId,toAmount`);
    expect(offers.exitCode, offers.stdout).toBe(0);
    const { partners } = offers.json() as { partners: { partnerId: string; toAmount: string }[] };
    expect(partners[0]?.partnerId).toBe('par_sandbox_bank');
    const amounts = partners.map(({ toAmount }) => Number(toAmount));
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
    const screen = await run(`partner offers ${EXCHANGE}`, { terminal: true });
    expect(screen.stderr).toContain('farelock partner orders create par_sandbox_bank --country DEU');
  });

  test.each([
    ['--to SOLANA_USDC', '--to USDC', 'toCurrency', 'SOLANA_USDC'],
    ['--from EUR', '--from EURO', 'fromCurrency', 'EUR'],
    ['--method DEU_SEPA', '--method SEPA', 'paymentMethod', 'DEU_SEPA'],
    ['--country DEU', '--country DE', 'countryCode', 'DEU'],
  ])('in place of %s, %s is exit 2 with what was meant', async (right, typed, field, meant) => {
    for (const command of ['partner offers', 'partner orders create par_sandbox_bank']) {
      const refused = await run(`${command} ${EXCHANGE.replace(right, typed)} --no-input`);
      expect(refused.exitCode, refused.stdout).toBe(2);
      const said = refused.stderr.replace(/\s+/g, ' ');
      expect(said).toMatch(new RegExp(`${field} .*Did you mean [A-Z_, ]*${meant}`));
    }
  });

  test('nobody offers what is outside all limits, and that is no failure', async () => {
    const none = await run(`partner offers ${EXCHANGE.replace('100', '99999999')}`, { terminal: true });
    expect([none.exitCode, none.stdout]).toEqual([0, 'No partner offers match.\n']);
  });

  test('a redirect partner gives the address where the customer goes on', async () => {
    const made = await run(
      `partner orders create par_sandbox_redirect --customer-ip 203.0.113.7 ${EXCHANGE} ${FOR_BO}`,
      { terminal: true },
    );
    expect(made.exitCode, made.stderr).toBe(0);
    expect(made.stdout).toMatch(/^https:\/\/\S+$/m);
  });

  test('a partner that does not take the amount is exit 5 with words for the customer', async () => {
    const refused = await run(
      `partner orders create par_sandbox_bank ${EXCHANGE.replace('100', '5')} ${FOR_BO} --json`,
    );
    expect(refused.exitCode, refused.stdout).toBe(5);
  });
});

describe('requirements', () => {
  test('are listed, added to by the partner, and met by data with its files', async () => {
    const added = await run('partner requirements add cus_demo_eva --data selfie --max-age-days 30 --json');
    expect(added.json()).toEqual({ requirementId: expect.any(String) });
    const listed = await run(`requirements --customer cus_demo_eva --json`);
    expect(listed.json()).toMatchObject({ complianceStatus: 'COMPLIANCE_STATUS_PENDING' });
    const screen = await run(`requirements --customer cus_demo_eva`, { terminal: true });
    expect(screen.stdout).toMatch(/Compliance {2}Pending/);
    expect(screen.stdout).toMatch(/Selfie\s+–/);
    const piped = await run(`requirements --customer cus_demo_eva`);
    expect(piped.stdout).toMatch(/^COMPLIANCE_STATUS\tCOMPLIANCE_STATUS_PENDING\n/);
    expect(piped.stdout).toMatch(/^SELFIE\t0\t$/m);

    const folder = join(home, 'papers');
    mkdirSync(folder);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    writeFileSync(join(folder, 'face.png'), png);
    const file = join(folder, 'data.json');
    writeFileSync(file, JSON.stringify({ selfie: { image: '@face.png' } }));
    const planned = await run(`requirements submit ${file} --customer cus_demo_eva --dry-run --json`);
    expect(planned.json()).toMatchObject({ plan: ['Submit selfie.'] });
    const given = await run(`requirements submit ${file} --customer cus_demo_eva --json`);
    expect(given.json()).toMatchObject({ items: [{ type: 'SELFIE', dataId: expect.any(String) }] });
    const again = await run(`requirements submit ${file} --customer cus_demo_eva`);
    expect(again.stdout).toMatch(/^COMPLIANCE_STATUS\tCOMPLIANCE_STATUS_\w+\nSELFIE\t/);
    await run(`requirements --customer cus_demo_eva`);
    const after = await run(`requirements --customer cus_demo_eva --json requirements`);
    expect(JSON.stringify(after.json())).toContain('"SELFIE"');
  });

  test('data comes from standard input too; what is wrong names the field and repeats no value', async () => {
    const data = JSON.stringify({ email: { value: 'secret-name-at-nowhere' } });
    const refused = await run(`requirements submit - ${FOR_BO}`, { stdin: data });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('email.value');
    expect(refused.stdout + refused.stderr).not.toContain('secret-name');
    const garbage = await run(`requirements submit - ${FOR_BO} --json`, { stdin: '{"email": secret-name' });
    expect([garbage.exitCode, garbage.stdout]).toEqual([2, expect.not.stringContaining('secret-name')]);
    const missing = join(home, 'papers.json');
    writeFileSync(missing, JSON.stringify([{ selfie: { image: '@nobody.jpg' } }]));
    const gone = await run(`requirements submit ${missing}`);
    expect([gone.exitCode, gone.stderr]).toEqual([2, expect.stringContaining('selfie.image')]);
  });

  test('terms are shown and accepted after a question, with --yes, or by their address', async () => {
    await run('partner requirements add cus_demo_bo --attestation terms');
    const refused = await run(`requirements accept-terms ${FOR_BO} --json`);
    expect(refused.exitCode).toBe(2);
    const accepted = await run(`requirements accept-terms ${FOR_BO}`, { terminal: true, answers: [true] });
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect(accepted.stderr).toMatch(/Terms\s+https:/);
    const again = await run(`requirements accept-terms ${FOR_BO} --yes --json`);
    expect(again.exitCode, again.stdout).toBe(0);
  });

  test('exactly one of data and attestation can be required', async () => {
    expect((await run('partner requirements add cus_demo_bo')).exitCode).toBe(2);
    expect((await run('partner requirements add cus_demo_bo --data email --attestation terms')).exitCode).toBe(2);
    expect((await run('partner requirements add cus_nobody --data email')).exitCode).toBe(3);
  });
});

describe('keys', () => {
  test('of partners are issued, used, rotated with an overlap, and revoked', async () => {
    const issued = (await run('keys partner issue par_sandbox_pix till --json')).json();
    const key = String(issued.key);
    expect(key).toMatch(/^flk_demo_/);
    const use = (value: string) =>
      run('partner orders list --json', { environment: { FARELOCK_API_KEY: value } }).then((ran) => ran.exitCode);
    expect(await use(key)).toBe(0);
    const rotated = (await run(`keys partner rotate ${issued.key_id} --overlap 1h --json`)).json();
    expect([await use(key), await use(String(rotated.key))]).toEqual([0, 0]);
    const listed = await run('keys partner list', { terminal: true, columns: 140 });
    expect(listed.stdout).toContain('works until');
    expect(listed.stdout).not.toContain(key);
    await run(`keys partner revoke ${issued.key_id}`);
    await run(`keys partner revoke ${rotated.key_id}`);
    expect([await use(key), await use(String(rotated.key))]).toEqual([4, 4]);
    const none = await run('keys partner issue par_nobody till --json');
    expect(none.exitCode).toBe(3);
  });

  test('a token works for its customer', async () => {
    const made = (await run('keys token cus_demo_bo --ttl 5m --json')).json();
    expect(made).toMatchObject({ customer_id: 'cus_demo_bo', token: expect.any(String) });
    const used = await run('requirements --json', { environment: { FARELOCK_CUSTOMER_TOKEN: String(made.token) } });
    expect(used.exitCode, used.stdout).toBe(0);
    const wrong = await run('requirements --json', { environment: { FARELOCK_CUSTOMER_TOKEN: 'flk_cus_no' } });
    expect(wrong.exitCode).toBe(4);
  });

  test('the demo key stands in a private file', () => {
    expect(readFileSync(join(home, 'keys', 'partner-par_sandbox_bank.key'), 'utf8')).toMatch(/^flk_demo_/);
  });
});

describe('apply', () => {
  test('checks every row first, and sends nothing when one is wrong', async () => {
    const orderId = await newOrder();
    const file = join(home, 'wrong.csv');
    writeFileSync(file, `orderId,status\n${orderId},FUNDS_RECEIVED\n${orderId},DONE\n,ERROR\n`);
    const refused = await run(`partner orders apply ${file} --json`);
    expect(refused.exitCode).toBe(2);
    expect(refused.json().error).toMatchObject({
      code: 'apply_invalid',
      detail: {
        issues: [
          { row: 2, line: 3, field: 'status' },
          { row: 3, line: 4, field: 'orderId' },
        ],
      },
    });
    expect((await run(`partner orders show ${orderId} --json status`)).json().status).toBe('AWAITING_FUNDS');
  });

  proofTest('says what is wrong with 5,000 rows in fifteen lines, and writes the corrected file', async () => {
    const orderId = await newOrder();
    const file = join(home, 'many.csv');
    const corrected = join(home, 'many.corrected.csv');
    const rows = Array.from({ length: 4_999 }, (_, at) => `rmp_${at},FUND_RECEIVED`);
    writeFileSync(file, ['order_id,status', `${orderId},FUND_RECEIVED`, ...rows, ''].join('\n'));
    const dry = await run(`partner orders apply ${file} --dry-run`);
    expect([dry.exitCode, existsSync(corrected)]).toEqual([2, false]);
    expect(dry.stderr.replace(/\s+/g, ' ')).toContain(
      'Without --dry-run, a copy with 5,000 mistakes corrected is written',
    );

    const piped = await run(`partner orders apply ${file}`);
    const shown = await run(`partner orders apply ${file}`, { terminal: true, columns: 160 });
    for (const { exitCode, stderr } of [piped, shown]) {
      expect(exitCode).toBe(2);
      expect(stderr).toContain('5,000 rows: status "FUND_RECEIVED" is not one');
      expect(stderr).toContain(`row 1 (line 2, column 2) → ${orderId},FUNDS_RECEIVED`);
      expect(stderr).toContain('and 4,990 more\n');
      expect(stderr).toContain(`$ farelock partner orders apply ${corrected}\n`);
      expect(stderr.split('\n').length).toBeLessThan(20);
    }
    const { error } = (await run(`partner orders apply ${file} --json`)).json() as unknown as {
      error: { next: string[]; detail: { issues: unknown[]; groups: unknown[] } };
    };
    expect(error.next).toEqual([`farelock partner orders apply ${corrected}`]);
    expect(error.detail).toMatchObject({
      mistakes: 5_000,
      more_groups: 0,
      corrected: 5_000,
      corrected_file: corrected,
    });
    expect(error.detail.groups).toMatchObject([{ count: 5_000, field: 'status', value: 'FUND_RECEIVED', more: 4_990 }]);
    expect(error.detail.issues.length).toBe(10);
    expect(readFileSync(corrected, 'utf8').split('\n').slice(0, 2)).toEqual([
      'order_id,status',
      `${orderId},FUNDS_RECEIVED`,
    ]);
    expect((await run(`partner orders show ${orderId} --json status`)).json().status).toBe('AWAITING_FUNDS');
  });

  test('the corrected file is applied by the command that names it; what is left to correct is marked in it', async () => {
    const [a, b] = [await newOrder(), await newOrder()];
    const file = join(home, 'pair.ndjson');
    const lines = [`{"orderId":"${a}","status":"FUND_RECEIVED"}`, `{"orderId":"${b}","status":"PAID"}`];
    writeFileSync(file, lines.join('\n'));
    const refused = await run(`partner orders apply ${file}`);
    const said = refused.stderr.replace(/\s+/g, ' ');
    const corrected = join(home, 'pair.corrected.ndjson');
    expect(said).toContain(
      `${corrected} is the whole file with 1 mistake corrected; "mistake" says what is still wrong`,
    );
    writeFileSync(corrected, readFileSync(corrected, 'utf8').replace('"PAID"', '"CANCELED"'));
    const [, command = ''] = /\$ farelock (.*)/.exec(refused.stderr) ?? [];
    const applied = await run(`${command} --json`);
    expect(applied.json(), applied.stdout).toMatchObject({ rows: 2, applied: 2 });
  });

  test('rows that an earlier version of the file has applied are not sent again by the command to copy', async () => {
    const [a, b] = [await newOrder(), await newOrder()];
    const file = join(home, 'grown.csv');
    const rows = `\uFEFForder_id,status\r\n${a},FUNDS_RECEIVED\r\n`;
    writeFileSync(file, rows);
    expect((await run(`partner orders apply ${file} --json`)).json()).toMatchObject({ applied: 1 });
    writeFileSync(file, `${rows}${b},FUND_RECEIVED\r\n`);
    const { error } = (await run(`partner orders apply ${file} --json`)).json();
    const { fix, next } = error as { fix: string; next: string[] };
    expect(fix).toContain(`Take out the rows that were applied already: ${file}.results.ndjson has`);
    expect(next).toEqual(['farelock explain apply_invalid']);
    expect(readFileSync(join(home, 'grown.corrected.csv'), 'utf8')).toBe(`${rows}${b},FUNDS_RECEIVED\r\n`);
  });

  test('where no corrected file can be written, the mistakes are told all the same, and why', async () => {
    const file = join(home, `${'x'.repeat(245)}.csv`);
    writeFileSync(file, 'order_id,status\nrmp_1,CANCELD\n');
    const { error } = (await run(`partner orders apply ${file} --json`)).json();
    expect(error).toMatchObject({ code: 'apply_invalid', detail: { corrected_file: null, mistakes: 1 } });
    expect((error as { fix: string }).fix).toContain('No corrected copy was written: ');
  });

  test('prints the plan, stops there with --dry-run, then does it; a refused row is exit 8', async () => {
    const [a, b] = [await newOrder(), await newOrder()];
    const file = join(home, 'updates.ndjson');
    const rows = [
      { order_id: a, status: 'FUNDS_RECEIVED', source_transaction_id: 'tx' },
      { order_id: b, status: 'PAYMENT_PROCESSED' },
      { order_id: a, status: 'PAYMENT_SUBMITTED' },
      { order_id: b, status: 'FUNDS_RECEIVED' },
    ];
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    const planned = await run(`partner orders apply ${file} --dry-run`, { terminal: true, columns: 200 });
    expect(planned.exitCode).toBe(8);
    expect(planned.stdout).toContain(`row 2 (line 2) ${b}: AWAITING_FUNDS cannot go to PAYMENT_PROCESSED`);
    expect((await run(`partner orders apply ${file} --dry-run --json`)).json()).toMatchObject({
      dry_run: true,
      plan: expect.any(Array),
    });
    const applied = await run(`partner orders apply ${file} --json`);
    expect(applied.exitCode, applied.stderr).toBe(8);
    expect(applied.json()).toMatchObject({ rows: 4, applied: 2, refused: 1, held: 1 });
    expect(applied.stderr).toContain('AWAITING_FUNDS → FUNDS_RECEIVED');
    const lines = readFileSync(`${file}.results.ndjson`, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual([
      'applied',
      'refused',
      'applied',
      'held',
    ]);

    // What stood in the way is gone: the failed rows are sent again, and only they.
    await run(`partner orders update ${b} --status funds-received`);
    const again = await run(`partner orders apply ${file} --retry-failed --json`);
    expect(again.json()).toMatchObject({ applied: 3, refused: 1, held: 0 });
    expect((await run(`partner orders show ${b} --json status`)).json().status).toBe('PAYMENT_PROCESSED');
  });

  test('a progress bar stands on a terminal alone', async () => {
    const orderId = await newOrder();
    const file = join(home, 'one.csv');
    writeFileSync(file, `orderId,toAmount\n${orderId},12.5\n`);
    const shown = await run(`partner orders apply ${file}`, { terminal: true });
    expect(shown.stderr).toContain('1 of 1 row');
    writeFileSync(file, `orderId,toAmount\n${orderId},13.5\n`);
    const quiet = await run(`partner orders apply ${file} --results ${join(home, 'two.ndjson')}`);
    expect(quiet.stderr).not.toContain('of 1 row');
    expect(quiet.stdout, quiet.stderr).toContain('1 row applied');
    const other = await run(`partner orders apply ${file}`);
    expect([other.exitCode, other.stderr]).toEqual([5, expect.stringContaining('another version of the file')]);
  });
});
