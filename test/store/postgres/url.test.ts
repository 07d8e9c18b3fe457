import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { inWordsOfPg } from '../../../src/store/postgres/url.ts';

const AT = 'postgres://ana:secret@db.test/farelock';

/** How the connection is made, and not what it is called. */
function read(url: string): object {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const { host, port, user, password, database, ssl } = new pg.Client({ connectionString: url });
  warned.mockRestore();
  return { host, port, user, password, database, ssl };
}

describe('an address of PostgreSQL', () => {
  test.each(['?sslmode=require', '?application_name=x&sslmode=prefer', '?sslmode=verify-ca&application_name=x'])(
    '%s is read as before, and without the words that pg warns about',
    (query) => {
      const url = inWordsOfPg(AT + query);
      expect(url).toMatch(/[?&]sslmode=verify-full(&|$)/);
      expect(read(url)).toEqual(read(AT + query));
    },
  );

  test.each([
    AT,
    `${AT}?sslmode=verify-full`,
    `${AT}?sslmode=disable`,
    `${AT}?sslmode=no-verify`,
    `${AT}?sslmode=require&uselibpqcompat=true`,
    'postgres://ana:sslmode=require@db.test/farelock',
  ])('%s is left as it is', (url) => {
    expect(inWordsOfPg(url)).toBe(url);
  });
});
