import type { Environment } from '../settings/index.ts';

export const loadLatest = () => import('./latest.ts');

/** True if a person may see a notice of a newer version: on a terminal, not in a script or a build. */
export const isNoticeWanted = (
  argv: readonly string[],
  environment: Environment,
  stderr: { readonly isTTY?: boolean },
): boolean =>
  stderr.isTTY === true &&
  !environment.CI &&
  environment.NO_UPDATE_NOTIFIER === undefined &&
  !argv.some((word) => /^(--(nd)?json(=.*)?|--quiet|-q|--help|-h|--version|-V|complete|upgrade|mcp)$/.test(word));
