import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clientOf, createAttempts } from '../../../src/flights/base/attempts.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { openStore, type Store } from '../../../src/service/home.ts';
import { manualClock } from '../../clock.ts';
import { migratedFile } from '../../service/migrated.ts';

/** Wrong codes and names are slowed down, and nobody can keep the owner out with them. */

const clock = manualClock();
let home: string;
let store: Store;
let judge: ReturnType<typeof createAttempts>;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'farelock-attempts-'));
  store = await openStore(await migratedFile(home));
  judge = createAttempts({ store, clock, ids: randomIds(clock.now) });
});
afterEach(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

const attempt = async (client: string, right: boolean, intentId = 'int_1') => {
  try {
    return { right: await judge({ intentId, client }, () => right), retryAfter: null };
  } catch (error) {
    if (!isProblem(error, 'too_many_attempts')) throw error;
    return { right: null, retryAfter: error.retryAfter ?? 0 };
  }
};
const MINUTE = 60_000;

test('five wrong tries from one client stop it everywhere, right or wrong, until Retry-After has passed', async () => {
  for (let n = 0; n < 5; n++) expect((await attempt('a', false, `int_${n}`)).right).toBe(false);
  const stopped = await attempt('a', true, 'int_9');
  expect(stopped).toEqual({ right: null, retryAfter: 900 });
  expect((await attempt('b', true, 'int_9')).right).toBe(true);
  clock.advance(15 * MINUTE);
  expect((await attempt('a', true, 'int_9')).right).toBe(true);
});

test('a client that goes on waits longer each time, and never more than four hours', async () => {
  let longest = 0;
  for (let n = 0; n < 200; n++) {
    const { retryAfter } = await attempt('a', false);
    longest = Math.max(longest, retryAfter ?? 0);
    clock.advance((retryAfter ?? 1) * 1000);
  }
  expect(longest).toBeGreaterThan(3_600);
  expect(longest).toBeLessThanOrEqual(4 * 3_600);
});

test('a flood from many clients for a day keeps the owner out at no moment', async () => {
  for (let minute = 0; minute < 24 * 60; minute += 10) {
    for (let n = 0; n < 6; n++) await attempt(`flood_${minute}_${n}`, false);
    for (let n = 0; n < 3; n++) await attempt(`steady_${n}`, false);
    expect((await attempt('owner', true)).right).toBe(true);
    clock.advance(10 * MINUTE);
  }
});

test('an owner who mistyped in the middle of a flood waits for the own mistake alone: fifteen minutes', async () => {
  const flood = async () => {
    for (let n = 0; n < 6; n++) await attempt(`flood_${clock.now()}_${n}`, false);
  };
  await flood();
  expect((await attempt('owner', false)).retryAfter).toBe(900);
  for (let waited = 0; waited < 15; waited += 5) {
    await flood();
    expect((await attempt('owner', true)).right).toBeNull();
    clock.advance(5 * MINUTE);
  }
  await flood();
  expect((await attempt('owner', true)).right).toBe(true);
});

test('under a flood a wrong try hears 429, so that it tells a stranger nothing new', async () => {
  for (let n = 0; n < 5; n++) await attempt(`c${n}`, false);
  expect((await attempt('fresh', false)).right).toBeNull();
});

test('a burst of tries at one moment is judged one after another: five, not a thousand', async () => {
  let judged = 0;
  const burst = Array.from({ length: 100 }, () =>
    judge({ intentId: 'int_1', client: 'a' }, () => {
      judged++;
      return false;
    }).catch(() => null),
  );
  await Promise.all(burst);
  expect(judged).toBe(5);
});

test('a client is its address, an IPv6 one its /64, and no address stands in the table', () => {
  const secrets = openSecrets(join(home, 'keys.json'));
  const of = (address?: string) => clientOf(secrets, address);
  expect(of('::ffff:192.0.2.1')).toBe(of('192.0.2.1'));
  expect(of('2001:db8:0:1::5')).toBe(of('2001:db8:0000:1:9:9:9:9'));
  expect(of('2001:db8:0:2::5')).not.toBe(of('2001:db8:0:1::5'));
  expect(of('192.0.2.1')).not.toContain('192');
  expect(of(undefined)).toBe(of(''));
});
