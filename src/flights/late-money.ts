import type { Address } from '@solana/kit';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../solana/token.ts';
import type { Escrows } from './escrows.ts';
import type { FlightsPorts } from './ports.ts';
import type { IntentRow } from './rows.ts';
import type { SweeperPorts } from './upkeep.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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

export interface ChainUpkeep {
  /** Sends what lies in the vault of an ended escrow to the refund wallet. */
  sweepLate(intent: IntentRow): Promise<void>;
  /** Returns the rent of an ended escrow's state account; false when it is too early or the vault is not gone. */
  close(intent: IntentRow): Promise<boolean>;
}

/** What is done on chain after an escrow has ended. Each is an effect, and safe to repeat. */
export function createChainUpkeep(ports: SweeperPorts, escrows: Escrows): ChainUpkeep {
  return {
    async sweepLate(intent) {
      if ((await escrows.read(intent)) !== null) return escrows.sweep(intent);
      // Without its state account nobody can move what the vault holds: a person should know.
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

    async close(intent) {
      const escrow = await escrows.read(intent);
      if (!escrow) return true;
      if (escrow.state === 'open') return false;
      const { closeInstruction } = await import('../escrow/program.ts');
      await ports.effects.chain({
        kind: 'close_escrow',
        subject: intent.intent_id,
        already: async () => (await escrows.read(intent)) === null,
        plan: async () => ({
          feePayer: ports.authority,
          instructions: [
            closeInstruction({
              programId: escrow.programId,
              authority: ports.authority.address,
              escrow: escrow.address,
              vault: escrow.vault,
              rentPayer: escrow.rentPayer,
            }),
          ],
        }),
      });
      return true;
    },
  };
}
