import { expect, test } from 'vitest';
import { runInMemory, temporaryHome } from './memory.ts';

test('the demo ends with a booking reference, a money trail that adds up, and the escrow as the cluster has it', async () => {
  const place = temporaryHome();
  const run = await runInMemory(['demo'], {
    terminal: true,
    columns: 80,
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' },
  });
  place.close();
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stdout).toMatch(/Booked: booking reference [A-Z0-9]{6}\n$/);
  expect(run.stdout).toMatch(/State on chain {2}captured/);
  const change = (name: string) => Number(new RegExp(`^${name}.* ([+-]?[0-9.]+)$`, 'm').exec(run.stdout)?.[1]);
  expect(change('Wallet')).toBeLessThan(0);
  expect(change('Wallet') + change('Treasury')).toBeCloseTo(0, 6);
  expect(change('Escrow vault')).toBe(0);
  expect(change('Total supply')).toBe(0);
  expect(run.stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('Everything'))).toEqual([]);
});

test('under --json it is one document', async () => {
  const place = temporaryHome();
  const run = await runInMemory(['demo', '--json', '--quiet'], {
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' },
  });
  place.close();
  expect(run.json()).toMatchObject({ home: place.home, order: { status: 'ticketed' }, escrow: { state: 'captured' } });
});
