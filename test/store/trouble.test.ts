import { expect, test } from 'vitest';
import { isDatabaseAway } from '../../src/store/postgres/refusal.ts';
import { storeTrouble } from '../../src/store/watch.ts';

const said = (code: string): Error => Object.assign(new Error('sorry, too many clients already'), { code });

test.each([
  ['no connection left', '53300'],
  ['ended by an administrator', '57P01'],
  ['going down', '57P03'],
  ['a connection that failed', '08006'],
  ['nobody listens', 'ECONNREFUSED'],
])('a database with %s is away: the call may be made again', (_what, code) => {
  expect(isDatabaseAway(said(code))).toBe(true);
  expect(storeTrouble(said(code))).toMatchObject({ code: 'not_ready', status: 503 });
});

test.each([
  ['a row that is there already', '23505'],
  ['a statement that is wrong', '42601'],
])('%s is no trouble of the store', (_what, code) => {
  expect(isDatabaseAway(said(code))).toBe(false);
  expect(storeTrouble(said(code))).toBeNull();
});
