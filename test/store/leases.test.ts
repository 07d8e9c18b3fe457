import { describe, expect, test } from 'vitest';
import { whileRenewed } from '../../src/store/leases.ts';
import { manualClock } from '../clock.ts';

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;

describe('a lease', () => {
  const begin = (mostMs: number, renew: () => Promise<void> = async () => undefined) => {
    const clock = manualClock(NOW_MS);
    const renewedAt: number[] = [];
    const failures: unknown[] = [];
    let finish: (value: string) => void = () => undefined;
    const held = whileRenewed(
      {
        clock,
        leaseMs: LEASE_MS,
        mostMs,
        renew: async () => {
          renewedAt.push(clock.now() - NOW_MS);
          await renew();
        },
        failed: (error) => failures.push(error),
      },
      () => new Promise<string>((resolve) => (finish = resolve)),
    );
    const pass = async (ms: number) => {
      clock.advance(ms);
      await new Promise(setImmediate);
    };
    return { held, renewedAt, failures, pass, finish: (value: string) => finish(value) };
  };

  test('is renewed four times in its length, as long as the work goes on', async () => {
    const { held, renewedAt, pass, finish } = begin(60_000);
    await pass(2_500);
    await pass(2_500);
    finish('done');
    expect(await held).toBe('done');
    await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
  });

  test('is renewed no more once the work hangs', async () => {
    const { held, renewedAt, pass, finish } = begin(5_000);
    for (let step = 0; step < 8; step++) await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
    finish('late');
    expect(await held).toBe('late');
  });

  test('that cannot be renewed lets the work go on, and is reported', async () => {
    const lost = new Error('the database is away');
    const { held, failures, pass, finish } = begin(60_000, () => Promise.reject(lost));
    await pass(2_500);
    await pass(2_500);
    expect(failures).toEqual([lost]);
    finish('done');
    expect(await held).toBe('done');
  });
});
