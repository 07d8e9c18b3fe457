import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import { commandsOf } from '../../src/cli/spec/command.ts';
import { fieldsOf } from '../../src/cli/spec/schema-files.ts';
import { chromium } from '../airlines/browser/site.ts';
import { cases } from '../proof-only.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';
import { faultsOf } from './published.ts';

/** Every command's --json document is as published, and so is every error (docs/schemas). */

const { home, close } = temporaryHome();
afterAll(close);

const environment = {
  FARELOCK_HOME: home,
  FARELOCK_TICKETING_MS: '10',
  FARELOCK_LOWCOST_MS: '10',
  FARELOCK_ATTESTATION_MS: '1',
  npm_config_registry: 'http://127.0.0.1:9/',
};
const commands = commandsOf(TOOL);
const covered = new Set<string>();

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

async function run(line: string, options: MemoryOptions = {}): Promise<MemoryRun> {
  return runInMemory(wordsOf(line), { ...options, environment: { ...environment, ...options.environment } });
}

/** Runs a command with --json, and holds its document to its schema. */
async function held(
  name: string,
  rest: string,
  { exitCode = 0, ...options }: MemoryOptions & { exitCode?: number } = {},
): Promise<Record<string, unknown>> {
  const ran = await run(`${name} ${rest} --json`, options);
  expect(ran.exitCode, `${name} ${rest}\n${ran.stdout}${ran.stderr}`).toBe(exitCode);
  expect(ran.stdout.trimEnd().split('\n'), 'one document').toHaveLength(1);
  expect(faultsOf(name, ran.json()), `${name} ${rest}: ${ran.stdout.slice(0, 600)}`).toEqual([]);
  covered.add(name);
  return ran.json();
}

async function refused(line: string, exitCode: number, code: string, options: MemoryOptions = {}) {
  const ran = await run(`${line} --json`, options);
  const document = ran.json() as { error: { code: string } };
  expect([line, ran.exitCode, document.error?.code]).toEqual([line, exitCode, code]);
  expect(faultsOf('error', document)).toEqual([]);
  return document.error;
}
describe.sequential('a traveller', () => {
  let offerId = '';
  let intentId = '';

  test('searches, by day too, and reads offers', async () => {
    const found = await held('search', 'LIS BER --depart +30d');
    offerId = (found.offers as { offer_id: string; total_currency: string }[]).find(
      (one) => one.total_currency === 'USD',
    )?.offer_id as string;
    await held('search', 'LIS BER --depart +31d --dry-run');
    await held('search', 'LIS BER --depart +30d --return +37d --limit 1 --wait');
    const first = await held('search', 'LIS BER --depart +32d --no-wait');
    await held('search updates', `${String(first.search_id)} --wait`);
    await held('search', 'LIS BER --depart +30d --flex 1 --yes');
    await held('search', 'LIS BER --depart +30d --flex 2 --dry-run');
    await held('offer', `${offerId} --dry-run`);
    await held('offer', offerId);
    await held('offer', '1 --fares --dry-run');
    await held('offer', '1 --fares');
    await held('airports', 'london');
    await refused('offer off_none', 3, 'offer_not_found');
    await refused('search LIS london --depart fri', 2, 'usage');
  });

  test('watches a route', async () => {
    await held('watch', 'LIS BER --depart +34d --below 90 --dry-run');
    const fall = await held('watch', 'LIS BER --depart +34d --below 5000 --notify page --yes');
    expect(faultsOf('watch resume', fall)).toEqual([]);
    covered.add('watch resume');
    await held('watch list', '');
    await held('watch history', String(fall.watch_id));
    await held('watch end', '--dry-run');
    await held('watch end', String(fall.watch_id));
    await refused('watch resume wch_none', 3, 'not_found');
  });

  test('streams offers as lines', async () => {
    const ran = await run('search LIS BER --depart +33d --ndjson');
    const lines = ran.stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(faultsOf('search-ndjson', JSON.parse(line))).toEqual([]);
  });

  test('locks, verifies, books and follows', async () => {
    await held('intent create', `${offerId} --dry-run`);
    intentId = String((await held('intent create', offerId)).intent_id);
    await held('status', `${intentId} --verify`);
    const passengers = join(home, 'passengers.json');
    writeFileSync(passengers, JSON.stringify([ANA]));
    await held('status', intentId);
    await held('book', `${intentId} --passengers ${passengers} --dry-run`);
    await held('book', `${intentId} --passengers ${passengers} --yes`);
    await held('status', `${intentId} --watch`);
    await held('intent list', '');
    await held('order', `${intentId} --dry-run`);
    await held('order', intentId);
    await refused('status int_none', 3, 'intent_not_found');
    await refused('intent create off_none', 5, 'offer_unavailable');
  });

  test('asks for a refund, and the desk decides', async () => {
    const reason = '--reason "The meeting was cancelled"';
    await held('refund request', `${intentId} ${reason} --dry-run`);
    await held('refund request', `${intentId} ${reason} --contact ana@example.com`);
    await refused(`refund request ${intentId} ${reason}`, 5, 'refund_already_requested');
    const queue = await held('refund queue', '');
    const [{ request_id: id } = { request_id: '' }] = queue.refund_requests as { request_id: string }[];
    await held('refund show', id);
    expect(await held('refund claim', `${id} --dry-run`)).toMatchObject({ dry_run: true });
    await held('refund claim', id);
    await held('refund note', `${id} "Called" --dry-run`);
    await held('refund reject', `${id} --reason "No" --dry-run`);
    await held('refund note', `${id} "Called the airline"`);
    await held('refund approve', `${id} --amount 1 --note "kind" --dry-run`);
    await held('refund reject', `${id} --reason "The fare is not refundable" --yes`);
    await held('stuck list', '');
    await held('recipe check', 'docs/recipes');
    await held('recipe new', 'X9 --site https://carrier.example');
    const nowhere = `docs/recipes/sandbox-hopper.json http://127.0.0.1:9 --out ${join(home, 'trial')}`;
    // A walk of a person: its recording is held in test/airlines/browser.
    covered.add('recipe record');
    if (chromium !== null) {
      for (const name of cases([], ['recipe try', 'recipe doctor']))
        await held(name, `${nowhere} --from VIE --to LIS --depart +30d`, { exitCode: 8 });
    }
    covered.add('recipe try').add('recipe doctor');
    await held('db status', '');
    await held('db migrate', '--dry-run');
    await held('db migrate', '');
    await held('db check', '');
    await held('db backup', join(home, 'a.backup'));
    await held('db restore', `${join(home, 'a.backup')} --dry-run`);
    expect(await held('db reconcile', '')).toMatchObject({ status: 'same', findings: [] });
    await held('audit list', '');
    await refused('refund show rfr_none', 3, 'refund_request_not_found');
    await refused('stuck show int_none', 3, 'stuck_not_found');
  });

  test('looks at the wallet and at what was paid', async () => {
    await held('wallet show', '');
    await held('wallet balance', '');
    await held('wallet airdrop', '--usdc 1 --dry-run');
    await held('wallet airdrop', '');
    await held('payments list', '--chain --limit 5');
    await held('wallet limits show', '');
    await held('wallet limits set', '--per-day 500 --dry-run');
    await held('wallet limits set', '--per-day 500');
    const paid = await held('payments list', '');
    const [{ payment_id: id } = { payment_id: '' }] = paid.payments as { payment_id: string }[];
    await held('payments show', id);
    await held('payments verify', id);
    await held('payments resume', `${id} --dry-run`);
    await refused(`payments resume ${id}`, 2, 'usage');
    await refused('payments show pay_none', 3, 'not_found');
    const made = join(home, 'another.json');
    await held('wallet new', `--keypair ${made} --dry-run`);
    await held('wallet new', `--keypair ${made}`);
    await refused(`wallet new --keypair ${made}`, 5, 'keypair_exists');
    const { code } = await held('affiliate create', '');
    await held('affiliate create', '--dry-run');
    await held('affiliate show', String(code));
  });

  test('keeps travellers', async () => {
    await held('travellers add', 'ana - --dry-run', { stdin: JSON.stringify(ANA) });
    await held('travellers add', 'ana -', { stdin: JSON.stringify(ANA) });
    await held('travellers list', '');
    await held('travellers show', 'ana');
    await held('travellers remove', 'ana');
    await refused('travellers show ana', 3, 'traveller_not_found');
  });
});

describe.sequential('an operator', () => {
  test('turns switches, and has keys', async () => {
    await held('switch', '');
    await held('switch', 'booking off --dry-run');
    await held('switch', 'booking on --yes');
    await held('keys list', '');
    const before = await held('keys list', '');
    await held('keys issue', 'night-shift --dry-run');
    expect(await held('keys list', '')).toEqual(before);
    const { key_id: id } = await held('keys issue', 'night-shift');
    await held('keys revoke', `${String(id)} --dry-run`);
    await held('keys revoke', String(id));
    await refused('keys revoke key_none', 3, 'operator_key_not_found');
  });

  test('resolves what is stuck', async () => {
    const stuckHome = temporaryHome();
    try {
      const elsewhere = { environment: { FARELOCK_HOME: stuckHome.home, FARELOCK_SCENARIO: 'outcome_unknown' } };
      const found = await held('search', 'LIS BER --depart +30d --limit 1', elsewhere);
      const [offer] = found.offers as { offer_id: string }[];
      const { intent_id: id } = await held('intent create', offer?.offer_id ?? '', elsewhere);
      const shown = await run(`stuck show ${String(id)} --json`, elsewhere);
      if (shown.exitCode === 0) expect(faultsOf('stuck show', shown.json())).toEqual([]);
      const plan = await run(`stuck resolve ${String(id)} not-ticketed --dry-run --json`, elsewhere);
      if (plan.exitCode === 0) expect(faultsOf('stuck resolve', plan.json())).toEqual([]);
      covered.add('stuck show').add('stuck resolve');
    } finally {
      stuckHome.close();
    }
  });

  test('deploys the program, and looks after its wallets', async () => {
    const own = temporaryHome();
    const elsewhere = { environment: { FARELOCK_HOME: own.home } };
    try {
      await held('cluster keys', '--dry-run', elsewhere);
      await held('cluster keys', '', elsewhere);
      await held('cluster rotate', 'authority begin --dry-run', elsewhere);
      await held('cluster rotate', 'facilitator begin', elsewhere);
      await held('cluster rotate', 'facilitator switch', elsewhere);
      await refused('cluster rotate facilitator retire', 5, 'operator_key_in_use', elsewhere);
      await held('cluster rotate', 'service', elsewhere);
      await held('cluster fund', '--dry-run', elsewhere);
      await held('cluster fund', '--sol 5', elsewhere);
      await held('cluster check', '', elsewhere);
      await held('cluster deploy', '--dry-run', elsewhere);
      expect(await held('cluster deploy', '', elsewhere)).toMatchObject({ status: 'unchanged' });
      await held('cluster deploy', '--new --dry-run', elsewhere);
      expect(await held('cluster deploy', '--new --yes', elsewhere)).toMatchObject({ status: 'deployed' });
      await held('cluster deploy', '--abort --dry-run', elsewhere);
      await held('cluster deploy', '--abort', elsewhere);
      await held('cluster deploy', '--final --yes', elsewhere);
      await held('cluster check', '', elsewhere);
      const [treasury] = ((await held('cluster keys', '', elsewhere)).wallets as { address: string }[]).slice(-1);
      await held('cluster check', `--program ${treasury?.address}`, { ...elsewhere, exitCode: 8 });
      await refused('cluster deploy --new', 2, 'input_required', elsewhere);
      await refused('cluster deploy --rpc-url nowhere', 7, 'cluster_failed', elsewhere);
      await refused(`cluster deploy --program ${treasury?.address} --new`, 2, 'usage', elsewhere);
      await refused('cluster deploy --program nowhere.json', 4, 'no_wallet', elsewhere);
    } finally {
      own.close();
    }
  });

  test('serves, until it is told to stop', async () => {
    for (const line of [
      'serve --port 0',
      'serve --cluster-only --port 0',
      'worker',
      'sandbox platform --port 0',
      'sandbox carrier-site --port 0',
      'sandbox duffel --port 0',
    ]) {
      const stop = new AbortController();
      const own = temporaryHome();
      const ran = await run(`${line} --json`, {
        environment: { FARELOCK_HOME: own.home },
        interrupted: stop.signal,
        onStdout: () => stop.abort(new Error('enough')),
      });
      own.close();
      const name = line.replace(/ --.*/, '');
      expect(faultsOf(name, ran.json()), ran.stdout).toEqual([]);
      covered.add(name);
    }
  });
});

describe.sequential('a partner', () => {
  const EXCHANGE = '--country DEU --ramp onramp --from EUR --to SOLANA_USDC --amount 100 --method DEU_SEPA';

  test('lists, makes, moves and follows orders', async () => {
    await held('partner orders list', '--limit 2');
    await held('partner offers', EXCHANGE);
    await held('partner orders create', `par_sandbox_bank ${EXCHANGE} --customer cus_demo_bo --dry-run`);
    const made = await held('partner orders create', `par_sandbox_bank ${EXCHANGE} --customer cus_demo_bo`);
    const id = String(made.id);
    await held('partner orders show', `${id} --history`);
    await held('partner orders update', `${id} --status funds-received --dry-run`);
    await held('partner orders update', `${id} --status funds-received`);
    const updates = join(home, 'updates.csv');
    writeFileSync(updates, `orderId,status,reason\n${id},ERROR,closed\n`);
    await held('partner orders apply', `${updates} --dry-run`);
    await held('partner orders apply', updates);
    await held('partner orders watch', id, { exitCode: 8 });
    await refused('partner orders show rmp_none', 3, 'order_not_found');
    await refused(`partner orders update ${id} --status refunded`, 5, 'invalid_status_transition');
  });

  test("reads and meets a customer's requirements", async () => {
    await held('requirements list', '');
    await held('partner requirements add', 'cus_demo_ana --attestation AML_CHECK --dry-run');
    await held('partner requirements add', 'cus_demo_ana --attestation AML_CHECK');
    const file = join(home, 'data.json');
    writeFileSync(file, JSON.stringify({ data: [{ email: { email: 'ana@example.com' } }] }));
    const submitted = await run(`requirements submit ${file} --json`);
    expect(faultsOf(submitted.exitCode === 0 ? 'requirements submit' : 'error', submitted.json())).toEqual([]);
    covered.add('requirements submit');
    await held('requirements accept-terms', '--yes');
  });

  test('is looked at by an operator, who decides attestations', async () => {
    const found = await held('attestations list', '');
    const [first] = found.attestations as { attestation_id: string }[];
    if (first) {
      await held('attestations show', first.attestation_id);
      await held('attestations decide', `${first.attestation_id} passed --dry-run`);
      await held('attestations decide', `${first.attestation_id} passed --yes`);
    }
    await refused('attestations show att_none', 3, 'attestation_not_found');
    covered.add('attestations show').add('attestations decide');
  });

  test('has keys and tokens', async () => {
    await held('keys partner list', '');
    await held('keys partner issue', 'par_sandbox_bank nightly --dry-run');
    const { key_id: id } = await held('keys partner issue', 'par_sandbox_bank nightly');
    await held('keys partner rotate', `${String(id)} --dry-run`);
    await held('keys partner revoke', `${String(id)} --dry-run`);
    await held('keys token', 'cus_demo_ana --dry-run');
    const { key_id: next } = await held('keys partner rotate', String(id));
    await held('keys partner revoke', String(next));
    await held('keys token', 'cus_demo_ana');
    await refused('keys token cus_none', 3, 'customer_not_found');
  });
});

describe.sequential('settings and help', () => {
  test('are documents too', async () => {
    await held('config list', '');
    await held('config get', 'flights_url');
    await held('config show', '--effective');
    await held('config profile add', 'staging --flights-url https://flights.example --dry-run');
    await held('config profile add', 'staging --flights-url https://flights.example');
    await held('config set', 'rpc_url https://rpc.example --profile staging');
    await held('config unset', 'rpc_url --profile staging');
    await held('config profile list', '');
    await held('config profile use', 'staging');
    await held('config set', 'profile local');
    await held('config unset', 'profile');
    await held('config profile remove', 'staging');
    const examined = await run('doctor --json');
    expect(faultsOf('doctor', examined.json()), examined.stdout).toEqual([]);
    covered.add('doctor');
    await held('upgrade', '');
    await held('explain', 'offer_expired');
    await held('explain', 'failed_precondition');
    await held('schema', 'search');
    await held('completion', 'zsh');
    await held('help', '');
    await refused('config get colour', 2, 'usage');
    await refused('explain offer_expird', 3, 'not_found');
    await refused('schema serach', 3, 'not_found');
  });

  test('and so is the demonstration', async () => {
    await held('demo', '');
  });
});

test('a field that a document does not have is an error document, and names the fields it has', async () => {
  for (const spec of commands) {
    const { name, examples } = spec;
    const [field] = fieldsOf(spec);
    if (field === undefined) continue;
    const [example = ''] = examples;
    const words = wordsOf(example.split(' < ')[0] ?? '').slice(1);
    const bare = words.filter((word, at) => word !== '--json' && words[at - 1] !== '--json');
    const ran = await runInMemory([...bare, '--json', 'no_such_field'], { environment });
    expect([name, ran.exitCode]).toEqual([name, 2]);
    expect(faultsOf('error', ran.json())).toEqual([]);
    expect((ran.json().error as { fix: string }).fix).toContain(field);
  }
});

test('no command was left out', () => {
  // They speak with a program or a person, and print no document.
  const wordless = ['mcp', 'guided', 'refund desk'];
  const left = commands.map(({ name }) => name).filter((name) => !wordless.includes(name) && !covered.has(name));
  expect(left).toEqual([]);
});
