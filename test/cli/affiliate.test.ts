import { afterAll, expect, test } from 'vitest';
import { runInMemory, temporaryHome } from './memory.ts';

const { home, close } = temporaryHome();
afterAll(close);

const run = (argv: readonly string[], terminal = false) =>
  runInMemory(argv, { environment: { FARELOCK_HOME: home }, terminal });

test('an affiliate gets a code, the same again, and sees what it earns', async () => {
  await run(['wallet', 'new']);
  const made = await run(['affiliate', 'create', '--json']);
  expect([made.exitCode, made.stderr]).toEqual([0, expect.any(String)]);
  expect(made.json()).toEqual({
    code: expect.stringMatching(/^[0-9A-Z]{10}$/),
    wallet: expect.any(String),
    created_at: expect.any(String),
  });
  expect((await run(['affiliate', 'create', '--json'])).json()).toEqual(made.json());
  const { code, wallet } = made.json();
  const shown = await run([
    'affiliate',
    'show',
    String(code).toLowerCase(),
    '--json',
    'pending_amount,paid_amount_decimal',
  ]);
  expect(shown.json()).toEqual({ pending_amount: 0, paid_amount_decimal: '0.00' });
  const screen = await run(['affiliate', 'show', String(code)], true);
  expect(screen.stdout).toContain(String(wallet));
  expect(screen.stdout).toMatch(/Pending\s+0\.00 USDC/);
  expect(screen.stdout).not.toContain('Owed');
});

test('a code that nobody has is exit 3', async () => {
  const shown = await run(['affiliate', 'show', 'NOBODY', '--json']);
  expect(shown.exitCode).toBe(3);
  expect(shown.stderr + shown.stdout).toContain('affiliate_not_found');
});

test('--dry-run makes no code', async () => {
  const planned = await run(['affiliate', 'create', '--dry-run']);
  expect(planned.exitCode).toBe(0);
  expect(planned.stdout + planned.stderr).toContain('Create the affiliate code');
});
