import { existsSync } from 'node:fs';

/**
 * Which build of libsql's native half this machine takes: what its packages `@neon-rs/load` and `detect-libc` find
 * out by a report on the whole process, which costs 10 ms of every start. The bundle puts this file in their place.
 */

const LINUX: Readonly<Record<string, { readonly suffix: string; readonly glibcLoader: string }>> = {
  x64: { suffix: '', glibcLoader: '/lib64/ld-linux-x86-64.so.2' },
  arm64: { suffix: '', glibcLoader: '/lib/ld-linux-aarch64.so.1' },
  arm: { suffix: 'eabihf', glibcLoader: '/lib/ld-linux-armhf.so.3' },
};

/** Such as `linux-x64-gnu`. */
export function currentTarget(): string {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  const linux = platform === 'linux' ? LINUX[arch] : undefined;
  if (!linux) return `${platform}-${arch}`;
  const libc = existsSync(linux.glibcLoader) || reportsGlibc() ? 'gnu' : 'musl';
  return `linux-${arch}-${libc}${linux.suffix}`;
}

/** Where a distribution keeps its loader elsewhere (NixOS). */
function reportsGlibc(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return Boolean(header?.glibcVersionRuntime);
}

/** Of libsql's own developers. */
export function load(): never {
  throw new Error('LIBSQL_JS_DEV is not for users of libsql');
}

export const GLIBC = 'glibc';
export const MUSL = 'musl';

/** `currentTarget` knows the C library already: there is nothing to correct. */
export const familySync = (): null => null;
