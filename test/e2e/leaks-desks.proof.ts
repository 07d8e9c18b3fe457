import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Sqlite from 'libsql';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { worldClockEnv } from '../clock.ts';
import { isHere } from '../needs.mjs';
import { closeTerminals, openScreen } from '../pty/terminal.ts';
import { farelockIn, type Runner } from './farelock.ts';
import { agent, cheap, DOCUMENTS, FLYER, keysIn, type Offer, recorder, walk, walletOf } from './leak-scene.ts';
import { filesUnder, leaksIn, type Place, type Planted, plantedText } from './leak-search.ts';
import { talkative } from './talkative.ts';

/**
 * The other half of the search for leaks: affiliates, stuck work, keys and their mistakes, `mcp`, the guided walk on a
 * terminal, and what the tool tells the processes that it starts.
 */

const isBuilt = isHere('the built tool', existsSync(resolve(import.meta.dirname, '../../dist/main.cjs')));
const SPY = join(import.meta.dirname, 'children.cjs');

const NAMES: Planted[] = [
  plantedText('given name', FLYER.given_name),
  plantedText('family name', FLYER.family_name),
  plantedText('e-mail address', FLYER.email),
  plantedText('phone number', FLYER.phone_number),
  plantedText('passport number', DOCUMENTS.passport_number),
];
const PAGE_SECRET = 'T0CANARYHOOK9f3kx7';
const MAIL_SECRET = 'smtpCanaryPw77x';

const codeOf = (code: string): Planted[] => [
  plantedText('support code', code),
  plantedText('support code', code.replaceAll('-', '')),
];

test('what is planted in a write-ahead log, as bytes, or in a child’s command line and environment is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-planted-'));
  try {
    const database = new Sqlite(join(folder, 'a.db'));
    database.exec('pragma journal_mode = wal; create table t (x text)');
    database.prepare('insert into t values (?)').run('Vexmarrow');
    const log = join(folder, 'children.jsonl');
    execFileSync(
      process.execPath,
      ['-e', "require('child_process').spawn('/bin/sh', ['-c', 'sleep 0 # QV5530917'], { env: { K: 'Quorinda' } })"],
      { env: { ...process.env, NODE_OPTIONS: `--require ${SPY}`, TEST_CHILDREN: log } },
    );
    writeFileSync(join(folder, 'bytes'), [...Buffer.from(FLYER.email)].join(', '));
    writeFileSync(join(folder, 'hex'), Buffer.from(FLYER.phone_number).toString('hex').toUpperCase());
    const found = leaksIn(filesUnder(folder), NAMES, () => false);
    database.close();
    expect(found.sort()).toEqual([
      'e-mail address in bytes',
      'family name in a.db-wal',
      'given name in children.jsonl',
      'passport number in children.jsonl',
      'phone number in hex',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe.runIf(isBuilt)('at the desks, with agents and on a terminal', () => {
  const runners: Runner[] = [];
  const home = (env: Record<string, string> = {}): Runner => {
    const log = join(mkdtempSync(join(tmpdir(), 'farelock-children-')), 'children.jsonl');
    const runner = farelockIn({
      ...env,
      NODE_OPTIONS: `${worldClockEnv.NODE_OPTIONS} --require ${SPY}`,
      TEST_CHILDREN: log,
    });
    runners.push(runner);
    return runner;
  };
  const childrenOf = ({ env }: Runner): Place => {
    const path = env.TEST_CHILDREN ?? '';
    return { name: 'children', bytes: existsSync(path) ? readFileSync(path) : Buffer.alloc(0) };
  };
  afterEach(closeTerminals);
  afterAll(() => {
    for (const runner of runners) {
      rmSync(resolve(runner.env.TEST_CHILDREN ?? '', '..'), { recursive: true, force: true });
      runner.close();
    }
  });

  test('affiliates, stuck work, keys, mistakes with keys, and mcp, over HTTP with a talkative server', async () => {
    const places: Place[] = [];
    const secrets: Planted[] = [
      plantedText('secret of the page’s address', PAGE_SECRET),
      plantedText('password of the mail server', MAIL_SECRET),
    ];
    const server = home({
      FARELOCK_SCENARIO: 'pay_pressed_no_confirmation',
      FARELOCK_PAGE_URL: `http://127.0.0.1:9/services/${PAGE_SECRET}`,
      FARELOCK_SMTP_URL: `smtp://desk:${MAIL_SECRET}@127.0.0.1:9`,
      FARELOCK_MAIL_FROM: 'desk@example.com',
    });
    const served = await talkative(server);
    const client = home({
      FARELOCK_FLIGHTS_URL: served.shown.flights_url,
      FARELOCK_PARTNER_URL: served.shown.partner_url,
      FARELOCK_RPC_URL: served.shown.rpc_url,
    });
    const farelock = recorder(client, places);
    const operator = readFileSync(join(server.home, 'keys/operator.key'), 'utf8').trim();
    const asDesk = { env: { FARELOCK_OPERATOR_KEY: operator } };

    await farelock(['wallet', 'new']);
    await farelock(['wallet', 'airdrop', '--sol', '1', '--usdc', '5000']);
    const { code } = (await farelock(['affiliate', 'create', '--json'])).json<{ code: string }>();
    await farelock(['affiliate', 'show', code]);
    const saved = JSON.stringify({ ...FLYER, ...DOCUMENTS });
    await farelock(['travellers', 'add', 'quo', '-'], { input: saved });
    await farelock(['travellers', 'list', '--json']);
    const { offers } = (
      await farelock(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--wait', '--limit', '200'])
    ).json<{ offers: Offer[] }>();
    const { fare_menu } = (await farelock(['offer', cheap(offers, true), '--json'])).json<{
      fare_menu: { fares: { offer_id: string }[] };
    }>();
    const lowcost = fare_menu.fares[1]?.offer_id ?? '';
    const intent = (await farelock(['intent', 'create', lowcost, '--referrer', code, '--json'])).json<{
      intent_id: string;
      customer_support_code: string;
    }>();
    secrets.push(...codeOf(intent.customer_support_code));
    await farelock(['book', intent.intent_id, '--traveller', 'quo', '--yes', '--no-wait']);
    await expect
      .poll(async () => (await client.run(['stuck', 'list', '--json'], asDesk)).stdout, { timeout: 20_000 })
      .toContain(intent.intent_id);
    await farelock(['stuck', 'list'], asDesk);
    await farelock(['stuck', 'show', intent.intent_id, '--json'], asDesk);
    await farelock(['stuck', 'resolve', intent.intent_id, 'not-ticketed', '--dry-run'], asDesk);
    await farelock(['stuck', 'resolve', intent.intent_id, 'not-ticketed', '--yes', '--json'], asDesk);
    await farelock(['audit', 'list', '--json'], asDesk);
    await farelock(['travellers', 'remove', 'quo', '--yes']);

    const issued = (await farelock(['keys', 'issue', 'night-shift', '--json'], asDesk)).json<{
      key: string;
      key_id: string;
    }>();
    await farelock(['refund', 'queue'], { env: { FARELOCK_OPERATOR_KEY: issued.key } });
    await farelock(['keys', 'list', '--json'], asDesk);
    await farelock(['keys', 'revoke', issued.key_id], asDesk);
    const partner = (await farelock(['keys', 'partner', 'issue', 'par_sandbox_pix', 'till', '--json'], asDesk)).json<{
      key: string;
      key_id: string;
    }>();
    const rotated = (await farelock(['keys', 'partner', 'rotate', partner.key_id, '--json'], asDesk)).json<{
      key: string;
    }>();
    const token = (await farelock(['keys', 'token', 'cus_demo_eva', '--json'], asDesk)).json<{ token: string }>();
    secrets.push(
      plantedText('issued key', issued.key),
      plantedText('partner’s key', partner.key),
      plantedText('partner’s key', rotated.key),
      plantedText('customer token', token.token),
    );
    await farelock(['partner', 'orders', 'list'], { env: { FARELOCK_API_KEY: rotated.key } });
    await farelock(['keys', 'partner', 'list', '--json'], asDesk);

    // Keys that are wrong by a letter, in the wrong place, or cut off, are not repeated in what is said about them.
    const wrong = {
      FARELOCK_OPERATOR_KEY: `${issued.key}`,
      FARELOCK_API_KEY: `${rotated.key.slice(0, -1)}${rotated.key.endsWith('_') ? 'a' : '_'}`,
    };
    secrets.push(plantedText('mistyped key', wrong.FARELOCK_API_KEY));
    await farelock(['refund', 'queue', '--json'], { env: wrong, ends: 4 });
    await farelock(['partner', 'orders', 'list'], { env: wrong, ends: 4 });
    await farelock(['refund', 'queue', '--json'], { env: { FARELOCK_OPERATOR_KEY: rotated.key }, ends: 4 });
    const wallet = readFileSync(join(client.home, 'wallet.json'), 'utf8');
    for (const input of [wallet.slice(0, -40), wallet.replace('[', '[999,'), `"${issued.key}"`]) {
      await farelock(['wallet', 'show', '--keypair', '-'], { input, ends: 4 });
    }
    const mistaken = { FARELOCK_SUPPORT_CODE: intent.customer_support_code, FARELOCK_FAMILY_NAME: FLYER.family_name };
    await farelock(['refund', 'request', 'int_none', '--reason', 'Illness'], { env: mistaken, ends: 3 });

    places.push(await agent(client, offers));
    const log = await served.stop();
    expect(log.toString()).toMatch(/"event":/);
    secrets.push(walletOf(client.home), ...keysIn(server.home));
    places.push(
      { name: 'log of serve', bytes: log },
      childrenOf(server),
      childrenOf(client),
      ...filesUnder(server.home),
      ...filesUnder(client.home),
    );
    const all = [...NAMES, ...secrets];
    expect(leaksIn(places, all, () => false)).toEqual(
      expect.arrayContaining(
        [
          'issued key in stdout of keys issue night-shift',
          'support code in stdout of intent create lowcost',
          'wallet.json in wallet.json',
        ].map((found) => expect.stringContaining(found)),
      ),
    );
    expect(leaksIn(places, all, belongs)).toEqual([]);
  }, 120_000);

  test('the guided walk: the screen has what was typed, and the disk and the pager have nothing in clear', async () => {
    const place = home({ FARELOCK_TICKETING_MS: '20' });
    const keys = {
      FARELOCK_OPERATOR_KEY: 'flk_op_CANARYoperator123456',
      FARELOCK_API_KEY: 'flk_demo_CANARYpartner123456',
      FARELOCK_CUSTOMER_TOKEN: 'CANARYcustomer.token.123456',
    };
    const screen = openScreen([], { env: place.env, cwd: place.home, columns: 120, rows: 40 });
    await walk(screen);
    const { intents } = (await place.run(['intent', 'list', '--json'])).json<{ intents: { status: string }[] }>();
    expect(intents).toMatchObject([{ status: 'booked' }]);
    const paged = openScreen(['search', 'LIS', 'BER', '--depart', '+30d', '--all-fares', '--limit', '200'], {
      env: { ...place.env, ...keys, PAGER: 'cat -u' },
      cwd: place.home,
      rows: 12,
    });
    expect(await paged.ended()).toBe(0);
    const children = childrenOf(place);
    expect(children.bytes.toString()).toContain('"words":["/bin/sh","-c","cat -u"]');

    const secrets = [
      walletOf(place.home),
      ...keysIn(place.home),
      ...Object.entries(keys).map(([name, value]) => plantedText(name, value)),
    ];
    const places: Place[] = [
      { name: 'screen of the walk', bytes: Buffer.from(screen.raw()) },
      { name: 'screen of the search', bytes: Buffer.from(paged.raw()) },
      children,
      ...filesUnder(place.home),
    ];
    const all = [...NAMES, ...secrets];
    expect(leaksIn(places, all, () => false)).toContain('family name in screen of the walk');
    const typed = (planted: string, where: string) =>
      (where === 'screen of the walk' && NAMES.some(({ name }) => name === planted)) || belongs(planted, where);
    expect(leaksIn(places, all, typed)).toEqual([]);
  });
});

/** Where a secret may stand: its own file, and the one answer that shows it. */
function belongs(planted: string, place: string): boolean {
  if (place === planted) return true;
  if (planted === 'support code') return place.startsWith('stdout of intent create');
  if (planted === 'issued key') return place.startsWith('stdout of keys issue');
  if (planted === 'partner’s key') return /^stdout of keys partner (issue|rotate)/.test(place);
  if (planted === 'customer token') return place.startsWith('stdout of keys token');
  // Without an SMTP server a mail is a file (docs/notifications.md).
  return ['given name', 'e-mail address'].includes(planted) && /^outbox\/.*\.eml$/.test(place);
}
