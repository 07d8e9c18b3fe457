import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ProblemCode, problem } from '../../src/kernel/problems.ts';
import { openSecrets } from '../../src/kernel/secrets.ts';
import { createAnswers } from '../../src/partner/base/call.ts';
import { openStore, type Store } from '../../src/service/home.ts';
import { manualClock } from '../clock.ts';
import { migratedFile } from '../service/migrated.ts';

/** What an Idempotency-Key gives again: what was decided for good, never what passes. */

const clock = manualClock();
let home: string;
let store: Store;
let answers: ReturnType<typeof createAnswers>;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'farelock-answers-'));
  store = await openStore(await migratedFile(home));
  const secrets = openSecrets(join(home, 'keys.json'));
  answers = createAnswers({ store, secrets, clock, options: { answersKeptMs: 86_400_000 } as never });
});
afterAll(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

const keyOf = (handle: string) => ({ handle, requestDigest: 'digest' });
const failing = (code: ProblemCode) => async () => {
  throw problem(code);
};
const working = async () => ({ done: true });

test.each(['too_many_requests', 'too_many_attempts', 'not_ready', 'internal_error'] as const)(
  '%s is not remembered: the same key is tried anew',
  async (code) => {
    const key = keyOf(`passes ${code}`);
    await expect(answers.write(key, [], failing(code))).rejects.toMatchObject({ code });
    expect(await answers.recall(key)).toBeNull();
    expect(await answers.write(key, [], working)).toEqual({ done: true });
    expect(await answers.write(key, [], failing(code))).toEqual({ done: true });
  },
);

test.each(['not_found', 'order_finished', 'invalid_request'] as const)(
  '%s is given again, whatever would be answered now',
  async (code) => {
    const key = keyOf(`stays ${code}`);
    await expect(answers.write(key, [], failing(code))).rejects.toMatchObject({ code });
    await expect(answers.write(key, [], working)).rejects.toMatchObject({ code });
  },
);
