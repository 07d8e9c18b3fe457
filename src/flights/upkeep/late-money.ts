import type { Address } from '@solana/kit';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../../solana/token.ts';
import type { Escrows } from '../bookings/escrows.ts';
import type { FlightsPorts } from '../ports.ts';
import type { IntentRow } from '../rows.ts';
import type { SweeperPorts } from './sweeper-ports.ts';

/** Looks often at first, when a second payment is likeliest, and daily from then on. */
export const nextLookMs = (endedForMs: number): number =>
  endedForMs < HOUR_MS ? HOUR_MS / 2 : endedForMs < DAY_MS ? 6 * HOUR_MS : DAY_MS;

/** Which of the intents' vaults hold money: one call for all of them. */
export async function vaultsWithMoney(
  cluster: FlightsPorts['cluster'],
  intents: readonly IntentRow[],
): Promise<IntentRow[]> {
  const accounts = await cluster.accounts(intents.map((intent) => intent.vault_address as Address));
  return intents.filter((_intent, place) => {
    const account = accounts[place];
    return account?.owner === TOKEN_PROGRAM && (decodeTokenAccount(account.data)?.amount ?? 0n) > 0n;
  });
}

interface ChainUpkeep {
  /** Sends what lies in the vault of an ended escrow to the refund wallet. */
  sweepLate(intent: IntentRow): Promise<void>;
}

/** What is done on chain after an escrow has ended. Each is an effect, and safe to repeat. */
export function createChainUpkeep(ports: SweeperPorts, escrows: Escrows): ChainUpkeep {
  return {
    async sweepLate(intent) {
      const { commitsTo } = await import('../../escrow/commitment.ts');
      const hasEscrow = (await escrows.read(intent)) !== null;
      const isCommitted = commitsTo(intent.intent_id, intent.refund_wallet as Address);
      if (hasEscrow || isCommitted) {
        const went = hasEscrow ? await escrows.sweep(intent) : await escrows.recover(intent);
        if (!went) ports.log('warn', 'late_money_waits_for_account', { intent_id: intent.intent_id });
        return;
      }
      // Ids of 0.1 name no refund owner: without the state account nobody can move what the vault holds.
      await ports.store.transaction().execute((tx) =>
        ports.outbox.enqueue(tx, {
          kind: 'page',
          dedupKey: `page:vault_without_escrow:${intent.intent_id}`,
          intentId: intent.intent_id,
          event: 'vault_without_escrow',
          text: `Money was sent to the vault of ${intent.intent_id}, whose escrow does not exist.`,
          fields: { intent_id: intent.intent_id, vault: intent.vault_address },
        }),
      );
    },
  };
}
