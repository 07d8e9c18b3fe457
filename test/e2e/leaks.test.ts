import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { isHere } from '../needs.mjs';
import { proofTest } from '../proof-only.ts';
import { farelockIn, type Ran, type Runner } from './farelock.ts';
import { filesUnder, leaksIn, type Place, type Planted, plantedKey, plantedText } from './leak-search.ts';
import { talkative } from './talkative.ts';

/**
 * Journeys over all features, inside one process and over HTTP with a talkative server. Then everything that was
 * printed, logged and written is searched for the secrets and names that went in.
 */

const isBuilt = isHere('the built tool', existsSync(resolve(import.meta.dirname, '../../dist/main.cjs')));

const TRAVELLER = {
  given_name: 'Ottoliene',
  family_name: 'Zquillfeather',
  born_on: '1987-03-19',
  title: 'ms',
  gender: 'f',
  email: 'zq.canary.mail@example.com',
  phone_number: '+351961234987',
};
const DOCUMENTS = { nationality: 'PT', passport_number: 'ZQ7714093', passport_expiry: '2033-02-17' };
const CUSTOMER = [
  { name: { firstName: 'Evalinde', lastName: 'Ejemplozq' } },
  { birthDate: { date: '1992-07-01' } },
  { nationality: { country: 'MEX' } },
  { email: { value: 'evazq.customer@example.com' } },
  { taxId: { country: 'MEX', type: 'CURP', number: 'HEGG560427MVZRRL04' } },
];
const NAMES: Planted[] = [
  plantedText('given name', TRAVELLER.given_name),
  plantedText('family name', TRAVELLER.family_name),
  plantedText('e-mail address', TRAVELLER.email),
  plantedText('phone number', TRAVELLER.phone_number),
  plantedText('passport number', DOCUMENTS.passport_number),
  plantedText('customer’s name', 'Ejemplozq'),
  plantedText('customer’s e-mail address', 'evazq.customer@example.com'),
  plantedText('customer’s tax number', 'HEGG560427MVZRRL04'),
];

interface Journey {
  readonly outputs: Place[];
  readonly secrets: Planted[];
}

const fileText = (runner: Runner, name: string) => readFileSync(join(runner.home, name), 'utf8').trim();
const keyIn = (runner: Runner, name: string) => Buffer.from(JSON.parse(fileText(runner, name)) as number[]);

/** Runs the commands of a traveller, a partner, a customer and an operator, and keeps what they print. */
async function journey(runner: Runner, desk: Runner = runner): Promise<Journey> {
  const outputs: Place[] = [];
  const secrets: Planted[] = [];
  const farelock = async (
    args: string,
    more: { input?: string; env?: Record<string, string>; as?: Runner; ends?: number } = {},
  ) => {
    const ran = await (more.as ?? runner).run([...args.split(' '), '--verbose'], more);
    outputs.push({ name: `stdout of ${args}`, bytes: Buffer.from(ran.stdout) });
    outputs.push({ name: `stderr of ${args}`, bytes: Buffer.from(ran.stderr) });
    expect(ran.exitCode, `${args}\n${ran.stdout}${ran.stderr}`).toBe(more.ends ?? 0);
    return ran;
  };
  const offersOf = (ran: Ran) =>
    ran.json<{ offers: { offer_id: string; total_currency: string; total_amount_decimal: string }[] }>().offers;
  const book = async (offerId: string, passenger: object) => {
    const intent = (await farelock(`intent create ${offerId} --json`)).json<{
      intent_id: string;
      customer_support_code: string;
    }>();
    secrets.push(plantedText('support code', intent.customer_support_code));
    const input = JSON.stringify([passenger]);
    // Passengers that are refused, and a file that is no JSON, are not repeated in the message.
    const bad = JSON.stringify([{ ...passenger, ...DOCUMENTS, title: 'sir' }]);
    for (const refused of [bad, bad.slice(0, -9)]) {
      await farelock(`book ${intent.intent_id} --passengers - --yes`, { input: refused, ends: 2 });
    }
    await farelock(`book ${intent.intent_id} --passengers - --dry-run --json`, { input });
    await farelock(`book ${intent.intent_id} --passengers - --yes --json`, { input });
    return intent.intent_id;
  };

  await farelock('wallet airdrop --usdc 5000');
  const cheap = offersOf(await farelock('search LIS BER --depart +30d --json --wait --limit 200')).filter(
    (offer) => offer.total_currency === 'USD' && Number(offer.total_amount_decimal) < 900,
  );
  const full = cheap.find((offer) => !offer.offer_id.startsWith('lowcost:'));
  const low = cheap.find((offer) => offer.offer_id.startsWith('lowcost:'));
  expect([full, low]).not.toContain(undefined);
  const intentId = await book(full?.offer_id ?? '', TRAVELLER);
  const lowId = await book(low?.offer_id ?? '', { ...TRAVELLER, ...DOCUMENTS });
  for (const id of [intentId, lowId]) {
    await farelock(`status ${id} --json`);
    await farelock(`order ${id}`);
    await farelock(`intent show ${id}`);
    await farelock(`status ${id} --verify`);
  }
  await farelock(`refund request ${intentId} --reason Illness --json`);
  const wrong = { FARELOCK_FAMILY_NAME: `${TRAVELLER.family_name}s` };
  await farelock(`refund request ${lowId} --reason Illness`, { env: wrong, ends: 4 });
  await farelock('travellers add otto -', { input: JSON.stringify({ ...TRAVELLER, ...DOCUMENTS }) });
  await farelock('travellers list');
  await farelock('travellers show otto');
  await farelock('travellers add otto -', { input: JSON.stringify(TRAVELLER), ends: 5 });

  await farelock('refund queue', { as: desk });
  await farelock(`refund show ${intentId}`, { as: desk });
  await farelock(`refund claim ${intentId}`, { as: desk });
  await farelock(`refund reject ${intentId} --reason Rules --yes`, { as: desk });
  await farelock('stuck', { as: desk });
  await farelock('audit --json', { as: desk });

  const key = (await farelock('keys partner issue par_sandbox_pix till --json', { as: desk })).json<{ key: string }>();
  secrets.push(plantedText('API key', key.key));
  await farelock('partner orders list', { env: { FARELOCK_API_KEY: key.key } });
  const token = (await farelock('keys token cus_demo_eva --json', { as: desk })).json<{ token: string }>();
  secrets.push(plantedText('customer token', token.token));
  const asEva = {
    FARELOCK_CUSTOMER_TOKEN: token.token,
    FARELOCK_API_KEY: fileText(desk, 'keys/partner-par_sandbox_bank.key'),
  };
  await farelock('requirements submit -', { input: JSON.stringify(CUSTOMER), env: asEva });
  await farelock('requirements submit -', { input: JSON.stringify(CUSTOMER).slice(3), env: asEva, ends: 2 });
  await farelock('requirements --json', { env: asEva });
  await farelock('payments list --json');
  await farelock('config list --show-origin --json', { env: asEva });
  await farelock('explain offer_expired');

  secrets.push(plantedKey('wallet key', keyIn(runner, 'wallet.json')));
  secrets.push(plantedText('operator key', fileText(desk, 'keys/operator.key')));
  for (const file of readdirSync(join(desk.home, 'keys'))) {
    if (file.startsWith('partner-')) secrets.push(plantedText(`keys/${file}`, fileText(desk, `keys/${file}`)));
    if (file.endsWith('.json') && /^\[[\d,\s]+\]$/.test(fileText(desk, `keys/${file}`))) {
      secrets.push(plantedKey(`keys/${file}`, keyIn(desk, `keys/${file}`)));
    }
  }
  return { outputs, secrets };
}

/** Where a secret may stand: its own file, the one answer that shows it, and the mail to the traveller. */
function belongs(planted: string, place: string): boolean {
  if (place === planted) return true;
  if (planted === 'wallet key') return place === 'wallet.json';
  if (planted === 'operator key') return place === 'keys/operator.key';
  if (planted === 'support code') return place.startsWith('stdout of intent create');
  if (planted === 'API key') return place.startsWith('stdout of keys partner issue');
  if (planted === 'customer token') return place.startsWith('stdout of keys token');
  // It is there to show everything.
  if (place === 'stdout of travellers show otto') return true;
  // A plan of a booking says who would fly, to whoever has just named them.
  if (['given name', 'family name'].includes(planted) && /^stdout of book .*--dry-run/.test(place)) return true;
  // Without an SMTP server a mail is a file (docs/notifications.md).
  const inMail = ['given name', 'e-mail address'];
  return inMail.includes(planted) && /^outbox\/.*\.eml$/.test(place);
}

test('a secret is found in each form that it may take', () => {
  const key = Buffer.from(Array.from({ length: 64 }, (_, index) => (index * 37 + 11) % 256));
  const json = `[${[...key].join(',')}]`;
  const forms: [Planted, string | Buffer][] = [
    [NAMES[1] ?? plantedText('', ''), 'GET /?name=zquillfeather'],
    ...['', 'a', 'ab'].map((before): [Planted, string] => [
      plantedText('', 'Zquillfeather'),
      Buffer.from(`${before}{"n":"Zquillfeather"}`).toString('base64url'),
    ]),
    [plantedText('', 'Zquillfeather'), Buffer.from('x Zquillfeather', 'utf16le')],
    [plantedKey('', key), json],
    [plantedKey('', key), Buffer.concat([Buffer.from('page'), key])],
    [plantedKey('', key), key.toString('hex')],
    [plantedKey('', key), Buffer.concat([Buffer.from('x'), key]).toString('base64')],
  ];
  for (const [planted, text] of forms) {
    const place = { name: 'here', bytes: Buffer.from(text) };
    expect(
      leaksIn([place], [planted], () => false),
      String(text),
    ).toHaveLength(1);
  }
  expect(leaksIn([{ name: 'here', bytes: key.subarray(32) }], [plantedKey('', key)], () => false)).toEqual([]);
});

describe.runIf(isBuilt)('nothing private is printed, logged or written where it does not belong', () => {
  const closing: (() => void)[] = [];
  afterAll(() => {
    for (const close of closing) close();
  });

  proofTest(
    'embedded: what the commands print, and every byte of the home',
    async () => {
      const farelock = inMemory(farelockIn());
      closing.push(farelock.close);
      const { outputs, secrets } = await journey(farelock);
      const places = [...outputs, ...filesUnder(farelock.home)];
      expect(places.map(({ name }) => name)).toEqual(expect.arrayContaining(['service.db', 'client.db', 'ledger.db']));
      // What is looked for can be found: where it belongs, it is.
      expect(leaksIn(places, [...NAMES, ...secrets], () => false)).toEqual(
        expect.arrayContaining([
          'wallet key in wallet.json',
          'operator key in keys/operator.key',
          'passport number in stdout of travellers show otto',
          expect.stringMatching(/^given name in outbox\/.*\.eml$/),
        ]),
      );
      expect(leaksIn(places, [...NAMES, ...secrets], belongs)).toEqual([]);
    },
    120_000,
  );

  test('over HTTP: the log of a talkative server, both homes, and what the commands print', async () => {
    const server = farelockIn();
    closing.push(server.close);
    const served = await talkative(server);
    // Its commands ran as processes above.
    const client = inMemory(
      farelockIn({
        FARELOCK_FLIGHTS_URL: served.shown.flights_url,
        FARELOCK_PARTNER_URL: served.shown.partner_url,
        FARELOCK_RPC_URL: served.shown.rpc_url,
      }),
    );
    const desk: Runner = {
      ...client,
      home: server.home,
      run: (args, more = {}) =>
        client.run(args, {
          ...more,
          env: { FARELOCK_OPERATOR_KEY: fileText(server, 'keys/operator.key'), ...more.env },
        }),
    };
    closing.push(client.close);
    await client.run(['wallet', 'new']);
    const { outputs, secrets } = await journey(client, desk);
    const log = await served.stop();
    expect(log.toString()).toMatch(/"event":/);
    const places = [
      ...outputs,
      { name: 'log of serve', bytes: log },
      ...filesUnder(server.home),
      ...filesUnder(client.home),
    ];
    expect(leaksIn(places, [...NAMES, ...secrets], belongs)).toEqual([]);
  }, 120_000);
});
