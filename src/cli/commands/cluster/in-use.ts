import { shownUrls } from '../../../kernel/shown-url.ts';
import type { ClusterDesk } from '../../../service-types.ts';
import { rpcNames } from '../../../solana/monikers.ts';
import { keyInArgument } from '../../session/secret-variable.ts';
import { type ClusterOptions, clusterGiven } from '../../settings/cluster.ts';
import type { CommandContext } from '../../spec/command.ts';

/** The operator's desk for the cluster of a command. A key on the command line is used, and said to be seen by others. */
export async function clusterInUse(
  { session, terminal, environment }: Pick<CommandContext, 'session' | 'terminal' | 'environment'>,
  options: ClusterOptions,
): Promise<ClusterDesk> {
  const names = rpcNames((options.rpcUrl ?? []).join(','));
  if (shownUrls(names) !== names.join(',')) {
    terminal.note(keyInArgument('--rpc-url', 'FARELOCK_RPC_URL'));
  }
  return session.clusterDesk(clusterGiven(options, environment, session.profile));
}
