import { createHash } from 'node:crypto';
import type { CardIssuer } from '../airlines/browser/index.ts';
import { sandboxCard } from './carrier-site/index.ts';

const MOST_CENTS = 99_999_999;

/**
 * Cards that the pretend carrier's till takes, each for exactly its amount: the same reference has the same card, in
 * every process. They are worth nothing.
 */
export const createSandboxCards = (): CardIssuer => ({
  isSandbox: true,
  async issue({ reference, amountDecimal }) {
    const serial = createHash('sha256').update(`farelock sandbox card ${reference}`).digest().readUInt32BE(0);
    const cents = Math.min(MOST_CENTS, Math.max(1, Math.round(Number(amountDecimal) * 100)));
    return { ...sandboxCard(cents, serial), expiry: '2031-12', holder: 'Farelock Sandbox' };
  },
  // There is nobody to tell.
  revoke: async () => undefined,
});
