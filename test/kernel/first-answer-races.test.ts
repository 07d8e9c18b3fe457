import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { firstAnswer } from '../../src/kernel/first-answer.ts';
import { racing, turn } from '../racing.ts';

beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterAll(() => void vi.useRealTimers());

const PATIENCE_MS = 20;
const END = fc.constantFrom('answers', 'answers', 'fails', 'final', 'silent');

test('whatever order answers, failures and patience come in, the first answer wins and the others are stopped', () =>
  racing(
    fc.tuple(fc.array(END, { minLength: 1, maxLength: 4 }), fc.integer({ min: 0, max: 5 })),
    async (s, [ends, waits]) => {
      const asked: number[] = [];
      const stopped = new Set<number>();
      const settled: { place: number; end: string }[] = [];
      const overtaken: number[] = [];
      const asks = ends.map((end, place) => (signal: AbortSignal) => {
        asked.push(place);
        signal.addEventListener('abort', () => stopped.add(place));
        if (end === 'silent') return new Promise<number>(() => undefined);
        return turn(s, `${place} ${end}`).then(() => {
          if (!signal.aborted) settled.push({ place, end });
          if (end === 'answers') return place;
          throw end;
        });
      });
      let result: { kind: 'answer' | 'error'; value: unknown } | null = null;
      void firstAnswer(asks, {
        patienceMs: PATIENCE_MS,
        isFinal: (error) => error === 'final',
        overtaken: (place) => overtaken.push(place),
      }).then(
        (value) => (result = { kind: 'answer', value }),
        (value: unknown) => (result = { kind: 'error', value }),
      );
      const patience = Array.from({ length: waits }, () =>
        turn(s, 'patience ends').then(() => void vi.advanceTimersByTime(PATIENCE_MS)),
      );
      await s.waitFor(Promise.all(patience));
      await s.waitIdle();
      // Nobody waits longer than the patience of all of them.
      for (const _ of ends) {
        vi.advanceTimersByTime(PATIENCE_MS);
        await s.waitIdle();
      }
      const ended = result as { kind: 'answer' | 'error'; value: unknown } | null;
      const first = settled.find(({ end }) => end === 'answers' || end === 'final');
      // Asked in their order, each at most once.
      expect(asked).toEqual(ends.map((_, place) => place).slice(0, asked.length));
      if (first) {
        expect(ended).toEqual(
          first.end === 'answers' ? { kind: 'answer', value: first.place } : { kind: 'error', value: 'final' },
        );
        const open = asked.filter((place) => !settled.some((one) => one.place === place));
        expect([...stopped].sort()).toEqual(open);
        expect(overtaken.sort()).toEqual(first.end === 'answers' ? open.filter((place) => place < first.place) : []);
      } else if (ends.every((end) => end === 'fails')) {
        expect(ended).toEqual({ kind: 'error', value: 'fails' });
        expect(asked).toHaveLength(ends.length);
      } else {
        expect(ended).toBeNull();
      }
    },
  ));
