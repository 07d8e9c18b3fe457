import { createRequire } from 'node:module';
import { nativeFix } from '../../kernel/native.ts';
import { type Finding, failed, ok } from './checks.ts';

/** The ending of a platform's build. Which C library a Linux has is not looked at here: package managers know. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  linux: ['-gnu', '-musl', '-gnueabihf', '-musleabihf'],
  win32: ['-msvc'],
};

/** True when the builds of both native packages for this platform are installed. None is loaded. */
export function nativePackages(): Finding {
  const { resolve } = createRequire(import.meta.url);
  const isThere = (name: string): boolean => {
    try {
      return resolve(name) !== '';
    } catch {
      return false;
    }
  };
  const platform = `${process.platform}-${process.arch}`;
  const builds = ['@libsql/', 'litesvm-'].map((start) => ({
    start,
    found: (ENDS[process.platform] ?? ['']).map((end) => `${start}${platform}${end}`).filter(isThere),
  }));
  const missing = builds.filter(({ found }) => found.length === 0).map(({ start }) => `${start}${platform}`);
  if (missing.length > 0) return failed(`Not installed: ${missing.join(', ')}`, nativeFix());
  return ok(builds.flatMap(({ found }) => found).join(', '));
}
