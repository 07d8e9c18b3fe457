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
    cause: error,
  });
}
