import { existsSync } from 'node:fs';

/** Finds libsql's native build without `detect-libc`, whose report costs 10 ms; the bundle uses this instead. */

const LINUX: Readonly<Record<string, { readonly suffix: string; readonly glibcLoader: string }>> = {
  x64: { suffix: '', glibcLoader: '/lib64/ld-linux-x86-64.so.2' },
  arm64: { suffix: '', glibcLoader: '/lib/ld-linux-aarch64.so.1' },
  arm: { suffix: 'eabihf', glibcLoader: '/lib/ld-linux-armhf.so.3' },
};

export function currentTarget(): string {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  const linux = platform === 'linux' ? LINUX[arch] : undefined;
  if (!linux) return `${platform}-${arch}`;
  const libc = existsSync(linux.glibcLoader) || reportsGlibc() ? 'gnu' : 'musl';
  return `linux-${arch}-${libc}${linux.suffix}`;
}

/** Some distributions keep the loader elsewhere (NixOS). */
function reportsGlibc(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return Boolean(header?.glibcVersionRuntime);
}

/** For libsql's own developers. */
export function load(): never {
  throw new Error('LIBSQL_JS_DEV is not for users of libsql');
}

export const GLIBC = 'glibc';
export const MUSL = 'musl';

/** `currentTarget` already knows the C library. */
export const familySync = (): null => null;
