import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { randomIds } from '../../src/kernel/ids.ts';
import { canonicalJson } from '../../src/kernel/json.ts';
import { jsonLog } from '../../src/kernel/log.ts';
import { atomic, formatUsdc, parseUsdc } from '../../src/kernel/money.ts';
import { fixOf, PROBLEMS, problem, problemBody } from '../../src/kernel/problems.ts';
import { openSecrets, sameSecret } from '../../src/kernel/secrets.ts';
import { writeOnce } from '../../src/kernel/storage.ts';
import { manualClock } from '../clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'farelock-kernel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('money', () => {
  test('a decimal is read exactly and written back without loss', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), (units) => {
        expect(parseUsdc(formatUsdc(units))).toBe(units);
      }),
    );
  });

  test('two decimals are always written, more only where they are not zero', () => {
    expect([100000n, 151200000n, 1n, 0n, 12345670n].map((units) => formatUsdc(units))).toEqual([
      '0.10',
      '151.20',
      '0.000001',
      '0.00',
      '12.34567',
    ]);
    expect(formatUsdc(-1500000n)).toBe('-1.50');
  });

  test.each(['', '1.', '.5', '-1', '1e3', '1.1234567', '1,5', ' ', '0x10', '9999999999999'])('refuses %j', (text) => {
    expect(() => parseUsdc(text)).toThrow(/is not an amount/);
  });

  test('an amount is an integer, never a float', () => {
    expect(() => atomic(0.1)).toThrow();
  });
});

describe('secrets', () => {
  const path = join(folder, 'keys', 'ring.json');

  test('what was sealed is read back, only at its own place, and never twice the same', () => {
    const secrets = openSecrets(path);
    const sealed = secrets.encrypt('bookings.passengers:int_1', 'Ana Moreira');
    expect(sealed).not.toContain('Ana');
    expect(secrets.encrypt('bookings.passengers:int_1', 'Ana Moreira')).not.toBe(sealed);
    expect(openSecrets(path).decrypt('bookings.passengers:int_1', sealed)).toBe('Ana Moreira');
    expect(() => secrets.decrypt('bookings.passengers:int_2', sealed)).toThrow();
  });

  test('a sealed text that was changed does not open', () => {
    const secrets = openSecrets(path);
    // Of a length at which no bit of the last character is left over.
    const sealed = secrets.encrypt('place', 'texts');
    for (const at of [12, 20, sealed.length - 1]) {
      const flipped = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
      expect(() => secrets.decrypt('place', flipped)).toThrow();
    }
  });

  test.each([[{ toString: 1 }], [7], [['x']], [null], ['short']])('a ring with the secret %j is damaged', (secret) => {
    const damaged = join(mkdtempSync(join(folder, 'ring-')), 'ring.json');
    writeFileSync(damaged, JSON.stringify({ keys: [{ id: '15319aad', secret }] }));
    expect(() => openSecrets(damaged)).toThrow(expect.objectContaining({ code: 'storage_damaged' }));
  });

  test('the key ring is private, and is never written over', () => {
    openSecrets(path);
    expect(statSync(path).mode & 0o077).toBe(0);
    const before = readFileSync(path, 'utf8');
    expect(writeOnce(path, 'other')).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('equal secrets are equal, others are not', () => {
    expect(sameSecret('FLK-1', 'FLK-1')).toBe(true);
    expect(sameSecret('FLK-1', 'FLK-2')).toBe(false);
    expect(sameSecret('', 'FLK-2')).toBe(false);
  });
});

test('ids do not repeat, and support codes have the shape of the contract', () => {
  const ids = randomIds();
  const many = Array.from({ length: 2000 }, () => ids.next('int'));
  expect(new Set(many).size).toBe(many.length);
  expect(many[0]).toMatch(/^int_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(ids.supportCode()).toMatch(/^FLK(-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
});

test('a log line keeps private fields out by their names', () => {
  const lines: string[] = [];
  jsonLog(
    (line) => lines.push(line),
    () => 0,
  )('info', 'x', {
    support_code: 'FLK-1',
    family_name: 'Moreira',
    passport: 'P1',
    intent_id: 'int_1',
    code: 'offer_expired',
  });
  expect(lines.join()).not.toMatch(/FLK-1|Moreira|P1/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ intent_id: 'int_1', code: 'offer_expired' });
});

test('equal values have equal canonical text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const shuffled = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(shuffled)).toBe(canonicalJson(value));
    }),
  );
});

test('every problem says what to do next, and its body shows code, words and detail alone', () => {
  for (const [code, kind] of Object.entries(PROBLEMS)) {
    expect(kind.message, code).toMatch(/\.$/);
    // A command at its end has no full stop, so that it can be copied.
    expect(fixOf(kind), code).toMatch(/([.)]|: farelock .+)$/);
  }
  const secret = new Error('inner');
  expect(Object.keys(problemBody(problem('offer_repriced', { detail: { a: 1 }, cause: secret })))).toEqual([
    'code',
    'message',
    'detail',
  ]);
});

test('a manual clock wakes sleepers in time, and not before', async () => {
  const clock = manualClock(0);
  let woke = false;
  const sleeping = clock.sleep(100).then(() => {
    woke = true;
  });
  clock.advance(99);
  await Promise.resolve();
  expect(woke).toBe(false);
  clock.advance(1);
  await sleeping;
  expect(woke).toBe(true);
});
