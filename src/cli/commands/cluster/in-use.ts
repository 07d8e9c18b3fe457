import { type Problem, problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { shownUrl, shownUrls } from '../../../kernel/shown-url.ts';
import type { ClusterDesk } from '../../../service/index.ts';
import { rpcNames } from '../../../solana/index.ts';
import { type ClusterOptions, clusterGiven, keyInArgument } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';

/** The operator's desk for the cluster of a command. A key on the command line is used, and said to be seen by others. */
export async function clusterInUse(
  { session, terminal, environment }: Pick<CommandContext, 'session' | 'terminal' | 'environment'>,
  options: ClusterOptions,
): Promise<ClusterDesk> {
  const names = rpcNames((options.rpcUrl ?? []).join(','));
  if (shownUrls(names) !== names.join(',')) terminal.note(keyInArgument('--rpc-url', 'FARELOCK_RPC_URL'));
  return session.clusterDesk(clusterGiven(options, environment, session.profile));
}

/** A command for the same cluster: the next one would else be of the home's own. */
export function onCluster(command: string, options: ClusterOptions): string {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--cluster', options.cluster],
    ...(options.rpcUrl ?? []).map((url) => ['--rpc-url', shownUrl(url)] as const),
    ['--network', options.network],
    ['--genesis', options.genesis],
    ['--usdc-mint', options.usdcMint],
  ];
  const words = given.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${quoted(value)}`]));
  return [command, ...words].join(' ');
}

/** A problem whose next commands are of the same cluster. */
export const ofCluster = (error: Problem, options: ClusterOptions): Problem =>
  problem(error.code, {
    message: error.message,
    fix: error.fix,
    next: error.next.map((one) => (one.startsWith('farelock cluster ') ? onCluster(one, options) : one)),
    ...(error.detail && { detail: error.detail }),
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    cause: error.cause,
  });
