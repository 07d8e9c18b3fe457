import { type Problem, problem } from './problems.ts';

/** Turns the error of a missing optional native package into a problem. Returns null for other errors. */
export function missingNative(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null;
  const [, name] = /^Cannot find module '(@libsql\/[\w-]+|litesvm-[\w-]+)'/.exec(error.message) ?? [];
  // litesvm tries several packages, and its error names none of them.
  if (name === undefined && !error.message.startsWith('Cannot find native binding')) return null;
  const said = name ?? `litesvm-${process.platform}-${process.arch}`;
  return problem('native_missing', {
    message: `${said}, a native package that this machine needs, is not installed.`,
    fix: nativeFix(),
    cause: error,
  });
}

/** Both packages have builds for macOS and Linux, on arm64 and x64. */
export function nativeFix(): string {
  const { platform, arch } = process;
  if (/^(darwin|linux) (arm64|x64)$/.test(`${platform} ${arch}`)) return problem('native_missing').fix;
  return platform === 'win32'
    ? 'There is no build for Windows. Run farelock in WSL (wsl --install), with its own Node.'
    : `There is no build for ${platform}-${arch}. Run farelock on Linux or macOS, on x64 or arm64.`;
}
