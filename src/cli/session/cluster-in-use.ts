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
