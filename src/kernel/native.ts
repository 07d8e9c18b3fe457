import { type Problem, problem } from './problems.ts';

/**
 * A missing optional native package, which package managers omit on request or after a failed download; null for other
 * errors.
 */
export function missingNative(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null;
  const [, name] = /^Cannot find module '(@libsql\/[\w-]+|litesvm-[\w-]+)'/.exec(error.message) ?? [];
  // litesvm tries several names, and names none in its error.
  if (name === undefined && !error.message.startsWith('Cannot find native binding')) return null;
  const said = name ?? `litesvm-${process.platform}-${process.arch}`;
  return problem('native_missing', {
    message: `${said}, a native package that this machine needs, is not installed.`,
    fix: nativeFix(),
    cause: error,
  });
}

/** Platforms that both native packages support. */
const BUILT: Readonly<Record<string, readonly string[]>> = { darwin: ['arm64', 'x64'], linux: ['arm64', 'x64'] };

const notBuilt = (): string =>
  process.platform === 'win32'
    ? 'There is no build for Windows. Run farelock in WSL (wsl --install), with its own Node.'
    : `There is no build for ${process.platform}-${process.arch}. Run farelock on Linux or macOS, on x64 or arm64.`;

/** Says how a missing native package can be installed. */
export const nativeFix = (): string =>
  BUILT[process.platform]?.includes(process.arch) ? problem('native_missing').fix : notBuilt();
