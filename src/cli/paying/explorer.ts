import { SOLANA_NETWORKS } from '../../solana/index.ts';
import type { Paint } from '../../terminal/index.ts';
import type { Profile } from '../settings/index.ts';
import type { CommandContext } from '../spec/index.ts';
import type { Linked } from '../view/index.ts';

/** Links a text to its page in an explorer, on terminals that open links. */
export type Explorer = (paint: Paint, text: string, kind: 'tx' | 'address', network: string, id?: string) => string;

/** Links the transactions in the lines under a result. */
export function linkedOf({ session, terminal }: Pick<CommandContext, 'session' | 'terminal'>): Linked {
  const explorer = explorerOf(session.profile);
  return (text, transaction, network) => explorer(terminal.asideScreen.paint, text, 'tx', network, transaction);
}

const EXPLORER = 'https://explorer.solana.com';

/**
 * Links to the explorer of the cluster that a profile pays on. A `farelock serve` calls its own cluster devnet, and no
 * explorer knows it: test networks are linked only if the profile's RPC is Solana's own.
 */
export function explorerOf({ isEmbedded, rpcUrls }: Pick<Profile, 'isEmbedded' | 'rpcUrls'>): Explorer {
  const isPublic = rpcUrls.length > 0 && rpcUrls.every((one) => /(^|\.)solana\.com$/.test(new URL(one).hostname));
  const { mainnet, devnet, testnet } = SOLANA_NETWORKS;
  const known: Readonly<Record<string, string>> = {
    [mainnet]: '',
    ...(isPublic && { [devnet]: '?cluster=devnet', [testnet]: '?cluster=testnet' }),
  };
  return (paint, text, kind, network, id = text) => {
    const cluster = isEmbedded ? undefined : known[network];
    return cluster === undefined ? text : paint.link(text, `${EXPLORER}/${kind}/${encodeURIComponent(id)}${cluster}`);
  };
}
