import { expect, test } from 'vitest';
import { firstAnswer } from '../../src/kernel/first-answer.ts';

const RULES = { patienceMs: 20, isFinal: (error: unknown) => error === 'final' };
const never = () => new Promise<never>(() => undefined);
const after = (ms: number, answer: string) => () => new Promise<string>((resolve) => setTimeout(resolve, ms, answer));
const fails = (error: string) => () => Promise.reject(error);

test('the first that answers is enough: the others are not asked', async () => {
  let asked = 0;
  const one = async () => `${asked++}`;
  expect(await firstAnswer([one, one, one], RULES)).toBe('0');
  expect(asked).toBe(1);
});

test('the next is asked at once when one fails, and the last failure is thrown', async () => {
  expect(await firstAnswer([fails('down'), after(0, 'b')], RULES)).toBe('b');
  await expect(firstAnswer([fails('down'), fails('busy')], RULES)).rejects.toBe('busy');
});

test('a final error is nobody else’s to better', async () => {
  await expect(firstAnswer([fails('final'), after(0, 'b')], RULES)).rejects.toBe('final');
});

test('a slow one is asked further, and told to stop once it was overtaken', async () => {
  const overtaken: number[] = [];
  let stopped = false;
  const slow = (signal: AbortSignal) => {
    signal.addEventListener('abort', () => {
      stopped = true;
    });
    return never();
  };
  const rules = { ...RULES, overtaken: (place: number) => overtaken.push(place) };
  expect(await firstAnswer([slow, after(5, 'b'), after(0, 'c')], rules)).toBe('b');
  expect([overtaken, stopped]).toEqual([[0], true]);
  // One that answers late, and first all the same, overtakes nobody before it.
  overtaken.length = 0;
  expect(await firstAnswer([after(35, 'a'), never], rules)).toBe('a');
  expect(overtaken).toEqual([]);
});
