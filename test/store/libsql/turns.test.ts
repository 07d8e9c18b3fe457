import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/open.ts';
import { racing, turn } from '../../racing.ts';

interface Tables {
  readonly counter: { readonly id: number; readonly value: number };
}

const home = mkdtempSync(join(tmpdir(), 'farelock-turns-'));
let db: Kysely<Tables>;
beforeAll(async () => {
  db = await openDatabase(join(home, 'turns.db'), [
    { name: '001', statements: ['create table counter (id bigint primary key, value bigint not null)'] },
  ]);
  await db.insertInto('counter').values({ id: 1, value: 0 }).execute();
});
afterAll(async () => {
  await db.destroy();
  rmSync(home, { recursive: true, force: true });
});

const USER = fc.constantFrom('adds', 'adds', 'fails', 'reads', 'adds at once');

test('users of one connection come one after the other, however long any of them thinks in the middle', () =>
  racing(fc.array(USER, { minLength: 2, maxLength: 6 }), async (s, users) => {
    await db.updateTable('counter').set({ value: 0 }).execute();
    let committed = 0;
    const read = async (on: Kysely<Tables>) =>
      Number((await on.selectFrom('counter').select('value').executeTakeFirstOrThrow()).value);
    const act = async (user: string, number: number) => {
      await turn(s, `${number} comes`);
      if (user === 'reads') {
        const before = committed;
        const value = await read(db);
        // Never what a transaction had not committed, and never less than was acknowledged.
        expect(value).toBeGreaterThanOrEqual(before);
        expect(value % 2).toBe(0);
        return;
      }
      if (user === 'adds at once') {
        await sql`update counter set value = value + 2`.execute(db);
        committed += 2;
        return;
      }
      const work = db.transaction().execute(async (tx) => {
        const value = await read(tx);
        await turn(s, `${number} thinks`);
        await tx
          .updateTable('counter')
          .set({ value: value + 1 })
          .execute();
        await turn(s, `${number} thinks again`);
        if (user === 'fails') throw new Error('changed its mind');
        await tx
          .updateTable('counter')
          .set({ value: value + 2 })
          .execute();
      });
      if (user === 'fails') return expect(work).rejects.toThrow('changed its mind');
      await work;
      committed += 2;
    };
    await s.waitFor(Promise.all(users.map(act)));
    expect(await read(db)).toBe(committed);
    expect(committed).toBe(2 * users.filter((user) => user.startsWith('adds')).length);
  }));
