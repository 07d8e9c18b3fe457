import { type Problem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import type { ClusterDesk } from '../../service-types.ts';
import type { CommandContext } from '../spec/command.ts';
import { keyInArgument } from './secret-variable.ts';

/** The operator's desk for the cluster of a command. A key on the command line is used, and said to be seen by others. */
export async function clusterInUse(
  { session, terminal }: Pick<CommandContext, 'session' | 'terminal'>,
  rpcUrl: string | undefined,
): Promise<ClusterDesk> {
  if (rpcUrl !== undefined && shownUrl(rpcUrl) !== rpcUrl) {
    terminal.note(keyInArgument('--rpc-url', 'FARELOCK_RPC_URL'));
  }
  return session.clusterDesk(rpcUrl);
}

/** A command for the same cluster: the next one would else be of the home's own. */
export const onCluster = (command: string, rpcUrl: string | undefined): string =>
  rpcUrl === undefined ? command : `${command} --rpc-url ${quoted(shownUrl(rpcUrl))}`;

/** A problem whose next commands are of the same cluster. */
export const ofCluster = (error: Problem, rpcUrl: string | undefined): Problem =>
  problem(error.code, {
    message: error.message,
    fix: error.fix,
    next: error.next.map((one) => (one.startsWith('farelock cluster ') ? onCluster(one, rpcUrl) : one)),
    ...(error.detail && { detail: error.detail }),
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    cause: error.cause,
  });
