import fc from 'fast-check';
import { expect, test } from 'vitest';
import { once } from '../../src/kernel/once.ts';
import { racing } from '../racing.ts';

test('callers of one moment share one opening, a failure is kept by nobody, and what is open stays so', () =>
  racing(
    fc.tuple(fc.array(fc.boolean(), { maxLength: 4 }), fc.integer({ min: 1, max: 8 })),
    async (s, [ends, callers]) => {
      let openings = 0;
      let isOpening = false;
      const open = once((): Promise<number> => {
        // Two at once would be two connections, two ledgers, two key rings.
        expect(isOpening).toBe(false);
        isOpening = true;
        const number = openings++;
        return s.schedule(Promise.resolve(), `opening ${number}`).then(() => {
          isOpening = false;
          if (ends[number] === false) throw new Error(`opening ${number}`);
          return number;
        });
      });
      const heard: (number | string)[] = [];
      const calls = Array.from({ length: callers }, (_, caller) =>
        s.schedule(Promise.resolve(), `caller ${caller}`).then(() =>
          open().then(
            (number) => heard.push(number),
            (error: Error) => heard.push(error.message),
          ),
        ),
      );
      await s.waitFor(Promise.all(calls));
      const failed = ends.slice(0, openings).filter((end) => !end).length;
      const values = new Set(heard.filter((one) => typeof one === 'number'));
      // One value for all who got any: the first opening that did not fail.
      expect(values.size).toBeLessThanOrEqual(1);
      expect(openings).toBe(failed + values.size);
      if (values.size === 1) expect(await open()).toBe([...values][0]);
      if (values.size === 0) expect(open.opened()).toBeNull();
    },
  ));
