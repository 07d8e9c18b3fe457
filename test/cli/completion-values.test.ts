import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInMemory, temporaryHome } from './memory.ts';

/** What shell completion finds in the files of a home: numbers of the last search, and what its services know. */

const { home, close } = temporaryHome();
const environment = {
  FARELOCK_HOME: home,
  FARELOCK_TICKETING_MS: '10',
  FARELOCK_LOWCOST_MS: '10',
  FARELOCK_PROJECT_FILE: 'off',
};
afterAll(close);

async function complete(...words: string[]): Promise<string[]> {
  const run = await runInMemory(['complete', 'bash', '--', ...words], { environment });
  expect([run.exitCode, run.stderr]).toEqual([0, '']);
  return run.stdout.split('\n').filter(Boolean);
}
const tool = (argv: readonly string[], stdin = '') => runInMemory(argv, { environment, stdin });

let requestId = '';
let affiliateCode = '';

beforeAll(async () => {
  const searched = await tool(['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--json']);
  const offers = searched.json().offers as { offer_id: string; total_currency: string }[];
  const offerId = offers.find((one) => one.total_currency === 'USD')?.offer_id ?? '';
  const intentId = String((await tool(['intent', 'create', offerId, '--json'])).json().intent_id);
  const ana = {
    given_name: 'Ana',
    family_name: 'Moreira',
    born_on: '1990-04-12',
    title: 'ms',
    gender: 'f',
    email: 'ana@example.com',
    phone_number: '+351912345678',
  };
  await tool(['book', intentId, '--passengers', '-', '--yes', '--json'], JSON.stringify([ana]));
  await tool(['refund', 'request', intentId, '--reason', 'Plans have changed', '--yes']);
  requestId = String(
    ((await tool(['refund', 'queue', '--json'])).json().refund_requests as { request_id: string }[])[0]?.request_id,
  );
  affiliateCode = String((await tool(['affiliate', 'create', '--json'])).json().code);
  await tool(['travellers', 'add', 'ana', '-'], JSON.stringify(ana));
  await tool(['partner', 'orders', 'list']);
  await tool(['config', 'profile', 'add', 'far', '--flights-url', 'https://flights.example']);
  // Low-cost carriers answer later than the others.
  await tool(['search', 'LIS', 'BER', '--depart', '+30d', '--wait', '--limit', '500'], '');
});

test('the numbers of the last search, and the offers that they stand for', async () => {
  const { numbered } = JSON.parse(readFileSync(join(home, 'recent-offers.json'), 'utf8')) as {
    numbered: Record<string, string>;
  };
  expect(await complete('offer', '')).toEqual(Object.keys(numbered));
  expect(await complete('intent', 'create', '1')).toEqual(Object.keys(numbered).filter((one) => one.startsWith('1')));
  const whole = Object.values(numbered).find((one) => !one.includes(':')) ?? '';
  expect(await complete('offer', whole.slice(0, -2))).toContain(whole);
});

test('behind a colon only what follows it, as bash takes words apart there', async () => {
  const { numbered } = JSON.parse(readFileSync(join(home, 'recent-offers.json'), 'utf8')) as {
    numbered: Record<string, string>;
  };
  const lowcost = Object.values(numbered).find((one) => one.startsWith('lowcost:')) ?? '';
  expect(lowcost).toMatch(/^lowcost:.{3}/);
  const behind = lowcost.slice('lowcost:'.length);
  expect(await complete('offer', 'lowcost', ':', behind.slice(0, 3))).toContain(behind);
  const zsh = await runInMemory(['complete', 'zsh', '--', 'offer', lowcost], { environment });
  expect(zsh.stdout).toContain(lowcost.replaceAll(':', '\\:'));
});

test('ramp orders of the partner whose key is used, partners, customers and keys', async () => {
  expect(await complete('partner', 'orders', 'show', 'rmp_demo_w')).toEqual(['rmp_demo_waiting']);
  const pix = await complete('partner', 'orders', 'show', '--partner', 'par_sandbox_pix', '');
  expect(pix.length).toBeGreaterThan(0);
  expect(await complete('partner', 'orders', 'show', '')).not.toEqual(expect.arrayContaining(pix));
  expect(await complete('partner', 'orders', 'update', '--partner=par_sandbox_pix', '')).toEqual(pix);
  expect(await complete('partner', 'orders', 'list', '--partner', 'par_sandbox_b')).toEqual(['par_sandbox_bank']);
  expect(await complete('requirements', 'list', '--customer', 'cus_demo_a')).toEqual(['cus_demo_ana']);
  expect((await complete('keys', 'partner', 'revoke', 'key_')).length).toBeGreaterThan(0);
});

test('countries, currencies and methods that partners sell', async () => {
  expect(await complete('partner', 'offers', '--country', 'br')).toEqual(['BRA']);
  expect(await complete('partner', 'offers', '--from', 'BR')).toEqual(['BRL']);
  expect(await complete('partner', 'offers', '--method', 'BRA_P')).toEqual(['BRA_PIX']);
});

test('refund requests and affiliates', async () => {
  expect(await complete('refund', 'show', 'ref')).toEqual([requestId]);
  expect(await complete('refund', 'approve', '')).toEqual([requestId]);
  expect(await complete('affiliate', 'show', '')).toEqual([affiliateCode]);
  expect(await complete('stuck', 'show', '')).toEqual([]);
});

test('scenarios, clusters, values of settings, and commands of a group for help', async () => {
  expect(await complete('serve', '--scenario', 'ticketing_f')).toEqual(['ticketing_fails']);
  expect(await complete('config', 'profile', 'add', 'x', '--cluster', 'dev')).toEqual(['devnet']);
  expect(await complete('config', 'set', 'cluster', 'dev')).toEqual(['devnet']);
  expect(await complete('config', 'set', 'profile', '')).toEqual(['local', 'far']);
  expect(await complete('config', 'set', 'keypair', '')).toEqual([':files']);
  expect(await complete('help', 'intent', 'l')).toEqual(['list']);
  expect(await complete('travellers', 'show', '')).toEqual(['ana']);
  // What a person writes is nobody's to guess: it is not an airport.
  expect(await complete('refund', 'request', 'x', '--reason', 'lis')).toEqual([]);
});

test('nothing of this home’s services where the command goes to others, and nothing is asked of them', async () => {
  for (const words of [
    ['partner', 'orders', 'show', ''],
    ['refund', 'show', ''],
    ['affiliate', 'show', ''],
  ]) {
    expect(await complete('--profile', 'far', ...words)).toEqual([]);
    const elsewhere = await runInMemory(['complete', 'zsh', '--', ...words], {
      environment: { ...environment, FARELOCK_DATABASE_URL: 'postgres://127.0.0.1:1/none' },
    });
    expect(elsewhere.stdout).toBe('');
  }
});

test('a home without services stays without', async () => {
  const empty = temporaryHome();
  const run = await runInMemory(['complete', 'fish', '--', 'partner', 'orders', 'show', ''], {
    environment: { FARELOCK_HOME: join(empty.home, 'none') },
  });
  expect(run).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  expect(existsSync(join(empty.home, 'none'))).toBe(false);
  empty.close();
});
