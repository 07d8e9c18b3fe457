import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textsOf } from '../../src/cli/settings/read.ts';
import {
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  variableMeant,
} from '../../src/cli/settings/table.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** Every setting of the table, from outside: a value that it can't have is refused wherever it is given. */

let place: ReturnType<typeof temporaryHome>;
beforeAll(() => {
  place = temporaryHome();
});
afterAll(() => place.close());

/** No setting has it for a value, but for those that take any text. */
const BAD = '\u0007 Bad Name/../x\n';

/** Settings that take any text, and no other than these. */
const ANY_TEXT: readonly SettingName[] = [
  ...(['home', 'project_file', 'plain', 'pager', 'code_cache', 'debug_completion'] as const),
  ...([
    'recipes',
    'carrier_mail_folder',
    'carrier_accounts',
    'carrier_code_folder',
    'chromium',
    'telegram_chat',
    'seed',
  ] as const),
];

const COMMANDS: Partial<Record<SettingName, string>> = {
  api_key: 'partner orders list',
  customer_token: 'requirements list',
  operator_key: 'keys list',
  support_code: 'order ord_1',
  family_name: 'refund request int_1',
  webhook_secret: 'sandbox platform --port 0',
};

/** A command that reads the setting. */
function lineOf(name: SettingName): string {
  const { of }: Setting = SETTINGS[name];
  if (of === 'airline') {
    const isDuffel = name.startsWith('duffel');
    return isDuffel ? 'serve --port 0 --provider duffel' : 'serve --port 0 --lowcost browser';
  }
  if (of === 'cluster') return 'serve --port 0';
  if (of === 'profile' || of === 'limits') return 'payments list';
  return COMMANDS[name] ?? 'serve --port 0';
}

const CODES = new Set([2, 4]);
const with_: Partial<Record<SettingName, Record<string, string>>> = {
  http_hosts: { FARELOCK_FLIGHTS_URL: 'https://flights.example' },
  duffel_webhook_secret: { FARELOCK_DUFFEL_TOKEN: 'duffel_test_x' },
  family_name: { FARELOCK_SUPPORT_CODE: 'FLK-0000-0000-0000-0000' },
};

const refused = async (line: string, environment: Record<string, string>) => {
  const ran = await runInMemory([...line.split(' '), '--json'], {
    environment: { FARELOCK_HOME: place.home, FARELOCK_RECIPES: 'recipes', ...environment },
  });
  return { exitCode: ran.exitCode, ...(ran.json().error as { message: string; fix: string; next: string[] }) };
};

const withVariable = SETTING_NAMES.filter((name) => SETTINGS[name].env !== null);

describe('a bad value in the environment', () => {
  test.each(withVariable.filter((name) => !ANY_TEXT.includes(name)))('of %s is refused', async (name) => {
    const variable = SETTINGS[name].env ?? '';
    const { exitCode, message, fix, next } = await refused(lineOf(name), { ...with_[name], [variable]: BAD });
    expect([CODES.has(exitCode), message], message).toEqual([true, expect.stringContaining(variable)]);
    expect([fix, ...next].join(' '), message).toMatch(/\w/);
    expect(next.length, message).toBeGreaterThan(0);
  });

  test.each(ANY_TEXT)('of %s is none: it takes any text', (name) => {
    expect(SETTINGS[name].read(BAD, '/')).toBeDefined();
  });
});

test('the name of the partner service is refused in the same words wherever it is given', async () => {
  const environment = { FARELOCK_SERVICE_NAME: 'Bad Name/../x' };
  const lines = ['partner orders list', 'requirements list', 'sandbox platform --port 0', 'serve --port 0'];
  const said = new Set<string>();
  for (const line of lines) {
    const { exitCode, message } = await refused(line, environment);
    said.add(`${exitCode} ${message}`);
  }
  expect([...said]).toEqual([
    '2 FARELOCK_SERVICE_NAME must be a word of lower-case letters, digits and _ (got Bad Name/../x).',
  ]);
});

describe('config show', () => {
  const shown = async (environment: Record<string, string>, line = 'config show --effective --json') => {
    const ran = await runInMemory(line.split(' '), { environment: { FARELOCK_HOME: place.home, ...environment } });
    expect(ran.exitCode, ran.stdout).toBe(0);
    const settings = ran.json().settings as { key: string; value: string | null; source: string; wrong: string }[];
    return { text: ran.stdout, of: new Map(settings.map((one) => [one.key, one])) };
  };

  test('has every setting, with its value and its source', async () => {
    const { of } = await shown({ FARELOCK_TICKETING_MS: '40', FARELOCK_COMMITMENT: 'finalized' });
    expect([...of.keys()].sort()).toEqual([...SETTING_NAMES].sort());
    expect(of.get('ticketing_ms')).toMatchObject({
      value: '40',
      origin: 'environment',
      source: 'FARELOCK_TICKETING_MS',
    });
    expect(of.get('lowcost_ms')).toMatchObject({ value: '2500', origin: 'default', source: null });
  });

  test('never shows a secret, only where it is set', async () => {
    const { text, of } = await shown({
      FARELOCK_OPERATOR_KEY: 'opk_topsecret',
      FARELOCK_SMTP_URL: 'smtp://a:topsecret@b',
    });
    expect(text).not.toContain('topsecret');
    expect(of.get('smtp_url')).toMatchObject({ value: null, secret: true, source: 'FARELOCK_SMTP_URL' });
  });

  test('says which value is wrong, and ends with it no more than doctor does', async () => {
    const { of } = await shown({ FARELOCK_FLIGHTS_URL: 'ftp://x', FARELOCK_BROWSERS: 'two' });
    expect(of.get('flights_url')?.wrong).toContain('FARELOCK_FLIGHTS_URL must be an http address');
    expect(of.get('browsers')?.wrong).toContain('FARELOCK_BROWSERS');
    const doctor = await runInMemory(['doctor', '--json'], {
      environment: { FARELOCK_HOME: place.home, FARELOCK_BROWSERS: 'two' },
    });
    expect(doctor.exitCode).toBe(8);
    const [settings] = doctor.json().checks as { id: string; status: string; message: string }[];
    expect(settings).toMatchObject({ id: 'settings', status: 'failed', message: expect.stringContaining('BROWSERS') });
  });

  test('without --effective it has what is set', async () => {
    const { of } = await shown({ FARELOCK_SEED: 'ana' }, 'config show --json');
    expect([...of.keys()]).toEqual(['home', 'seed']);
  });
});

test('an option sets its setting, as a text, as a number or as a list, and a switch sets none', () => {
  const given = { log: 'requests', perDay: 500, trustedProxy: ['10.0.0.5', '10.0.0.6'], metrics: true };
  expect(textsOf(given)).toEqual({ log: 'requests', 'limits.per_day': '500', trusted_proxies: '10.0.0.5,10.0.0.6' });
});

test('an unknown variable has a nearest one', () => {
  expect(variableMeant('FARELOCK_TICKETNG_MS')).toBe('FARELOCK_TICKETING_MS');
  expect(variableMeant('FARELOCK_SMTP_URL_FIEL')).toBe('FARELOCK_SMTP_URL_FILE');
});
