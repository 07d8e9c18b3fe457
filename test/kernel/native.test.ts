import { afterEach, expect, test } from 'vitest';
import { missingNative, nativeFix } from '../../src/kernel/native.ts';

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

const { platform, arch } = process;
const runOn = (system: string, processor: string) => {
  Object.defineProperty(process, 'platform', { value: system });
  Object.defineProperty(process, 'arch', { value: processor });
};
afterEach(() => runOn(platform, arch));

test.each([
  ['linux', 'x64', /^Install farelock again with its optional packages: npm install --include=optional farelock\.$/],
  ['darwin', 'arm64', /^Install farelock again /],
  ['win32', 'x64', /^There is no build for Windows\. Run farelock in WSL \(wsl --install\), with its own Node\.$/],
  ['win32', 'arm64', /WSL/],
  ['freebsd', 'x64', /^There is no build for freebsd-x64\. Run farelock on Linux or macOS, on x64 or arm64\.$/],
])('on %s-%s the advice for a missing native package is one that can help there', (system, processor, fix) => {
  runOn(system, processor);
  expect(nativeFix()).toMatch(fix);
  const error = new Error(`Cannot find module '@libsql/${system}-${processor}'`);
  expect(missingNative(error)?.fix).toBe(nativeFix());
});
