import { expect, test } from 'vitest';
import { missingNative } from '../../src/kernel/native.ts';

test('a native package that is not installed is named; nothing else counts as one', () => {
  const libsql = new Error("Cannot find module '@libsql/linux-x64-gnu'\nRequire stack:\n- /x/dist/a.cjs");
  expect(missingNative(libsql)).toMatchObject({
    code: 'native_missing',
    message: '@libsql/linux-x64-gnu, a native package that this machine needs, is not installed.',
  });
  expect(missingNative(new Error('Cannot find native binding. npm has a bug'))?.code).toBe('native_missing');
  expect(missingNative(new Error("Cannot find module 'zod'"))).toBeNull();
  expect(missingNative('Cannot find native binding')).toBeNull();
});
