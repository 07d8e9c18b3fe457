import { type Problem, reworded } from '../../../kernel/problems.ts';
import type { NextStep } from '../../../kernel/shell-word.ts';
import { shownUrl, shownUrls } from '../../../kernel/shown-url.ts';
import type { ClusterDesk } from '../../../service/index.ts';
import { rpcNames } from '../../../solana/index.ts';
import { clusterGiven, keyInArgument } from '../../settings/index.ts';
import type { CommandContext, OptionsOf } from '../../spec/index.ts';
import type * as spec from './spec.ts';

type ClusterOptions = OptionsOf<typeof spec.clusterKeys>;

/** Opens the operator's desk for the cluster that a command names. Warns of a key on the command line. */
export async function clusterInUse(
  { session, terminal, environment }: Pick<CommandContext, 'session' | 'terminal' | 'environment'>,
  options: ClusterOptions,
): Promise<ClusterDesk> {
  const names = rpcNames((options.rpcUrl ?? []).join(','));
  if (shownUrls(names) !== names.join(',')) terminal.note(keyInArgument('rpc_url'));
  return session.clusterDesk(clusterGiven(options, environment, session.profile));
}

/** Adds the given cluster options to a command, for the same cluster. */
export function onCluster(command: readonly string[], options: ClusterOptions): NextStep {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--cluster', options.cluster],
    ...(options.rpcUrl ?? []).map((url) => ['--rpc-url', shownUrl(url)] as const),
    ['--network', options.network],
    ['--genesis', options.genesis],
    ['--usdc-mint', options.usdcMint],
  ];
  const words = given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return { argv: [...command, ...words] };
}

/** Adds the given cluster options to the next commands of a problem. */
export const ofCluster = (error: Problem, options: ClusterOptions): Problem =>
  reworded(error, {
    next: error.next.map((one) => ('argv' in one && one.argv[0] === 'cluster' ? onCluster(one.argv, options) : one)),
  });
