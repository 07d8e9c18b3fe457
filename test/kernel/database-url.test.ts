import { expect, test } from 'vitest';
import { addressesOf, isDatabaseUrl } from '../../src/kernel/database-url.ts';

test.each([
  ['postgres://ana:se,cret@one/farelock', ['postgres://ana:se,cret@one/farelock']],
  [
    'postgres://ana:secret@one:5432,two/farelock?sslmode=require',
    ['postgres://ana:secret@one:5432/farelock?sslmode=require', 'postgres://ana:secret@two/farelock?sslmode=require'],
  ],
  [
    'postgresql://localhost/farelock?host=/run/one,/run/two&application_name=desk',
    [
      'postgresql://localhost/farelock?host=%2Frun%2Fone&application_name=desk',
      'postgresql://localhost/farelock?host=%2Frun%2Ftwo&application_name=desk',
    ],
  ],
])('%s names its servers', (url, servers) => {
  expect(addressesOf(url)).toEqual(servers);
  expect(isDatabaseUrl(url)).toBe(true);
});

test.each(['postgres://one:5432,two:none/farelock', 'mysql://one/farelock', 'one,two'])('%s is no address', (url) =>
  expect(isDatabaseUrl(url)).toBe(false),
);
