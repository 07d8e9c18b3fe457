import { type Problem, problem } from './problems.ts';

/**
 * The problem for a missing native package, or null for any other failure. They are optional packages, one
 * for each platform, and package managers leave optional packages out when they are told to, or when a download fails.
 */
export function missingNative(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null;
  const [, name] = /^Cannot find module '(@libsql\/[\w-]+|litesvm-[\w-]+)'/.exec(error.message) ?? [];
  // litesvm tries several names, and says only that none was there.
  if (name === undefined && !error.message.startsWith('Cannot find native binding')) return null;
  const said = name ?? `litesvm-${process.platform}-${process.arch}`;
  return problem('native_missing', {
    message: `${said}, a native package that this machine needs, is not installed.`,
    fix: nativeFix(),
    cause: error,
  });
}

/** Platforms that both native packages are built for; what is not built cannot be installed either. */
const BUILT: Readonly<Record<string, readonly string[]>> = { darwin: ['arm64', 'x64'], linux: ['arm64', 'x64'] };

const notBuilt = (): string =>
  process.platform === 'win32'
    ? 'There is no build for Windows. Run farelock in WSL (wsl --install), with its own Node.'
    : `There is no build for ${process.platform}-${process.arch}. Run farelock on Linux or macOS, on x64 or arm64.`;

/** How a missing native package gets here, if it can. */
export const nativeFix = (): string =>
  BUILT[process.platform]?.includes(process.arch) ? problem('native_missing').fix : notBuilt();
