import { type Problem, problem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { intentIdIn, intentOf, supportCodeIn } from './normalise.ts';
import { isRecord } from './transport.ts';
import type { IntentTerms, IntentToRemember } from './types.ts';

/** The one place that says which escrows this home has agreed to pay. */
export interface Agreement {
  /** The wallet that pays; null: there is none. */
  readonly wallet: string | null;
  /** Of the intent, where this home created it. */
  readonly terms: IntentTerms | null;
  /** The refund wallet that the person has named for this very booking. */
  readonly named: string | null;
}

/** The wallets that the refunds of an intent may go to. */
export function refundOwners({ wallet, terms, named }: Agreement): string[] {
  if (named !== null) return [named];
  return [...new Set([wallet, terms?.refundOwner ?? null])].filter((one) => one !== null);
}

/** How an intent differs from what this home agreed to, a sentence each; empty where it does not. */
export function disagreements(intent: Intent, agreement: Agreement): string[] {
  const { terms } = agreement;
  const { escrow } = intent;
  const owners = refundOwners(agreement);
  const wrong: string[] = [];
  if (!owners.includes(intent.refund_wallet)) {
    const owner = intent.refund_wallet ?? 'a wallet that it does not name';
    wrong.push(
      agreement.named === null
        ? `Its refunds go to ${owner}: neither this wallet nor one that was named here`
        : `Its refunds go to ${owner}, not to ${agreement.named}`,
    );
  }
  if (terms === null) return wrong;
  if (terms.offerId !== null && terms.offerId !== intent.offer_id) {
    wrong.push(`It is for the offer ${intent.offer_id}, not for ${terms.offerId}`);
  }
  if (terms.escrow === null) return wrong;
  if (terms.escrow.amount !== escrow.amount) wrong.push('Its amount has changed since it was created');
  const { program = escrow.program_id } = terms.escrow;
  if (program !== escrow.program_id) wrong.push('Its program has changed since it was created');
  if (terms.escrow.mint !== escrow.mint) wrong.push('Its coin has changed since it was created');
  if (terms.escrow.address !== escrow.address) wrong.push('Its escrow has changed since it was created');
  return wrong;
}

/** @throws Problem `terms_not_agreed` */
export function checkTerms(intent: Intent, agreement: Agreement): void {
  const wrong = disagreements(intent, agreement);
  if (wrong.length > 0) throw notAgreed(intent, wrong);
}

export const notAgreed = (intent: Intent, wrong: readonly string[]): Problem =>
  problem('terms_not_agreed', {
    message: `The escrow of ${intent.intent_id} is not what was agreed to here. ${wrong.join('. ')}.`,
    next: [`farelock intent verify ${intent.intent_id}`],
    detail: { intent_id: intent.intent_id, refund_wallet: intent.refund_wallet, reasons: [...wrong] },
  });

/**
 * Keeps the only copy of an intent's support code, and the terms that were agreed to, when it is created. The
 * refund wallet is the one that was asked for, not the one that the service says.
 */
export function intentToRemember(body: unknown, request: unknown, baseUrl: string): IntentToRemember | null {
  const supportCode = supportCodeIn(body);
  const intentId = intentIdIn(body);
  if (supportCode === null || intentId === null) return null;
  const asked = isRecord(request) ? request : {};
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    intentId,
    baseUrl,
    supportCode,
    terms: {
      offerId: text(asked.offer_id),
      refundOwner: text(asked.refund_wallet) ?? text(asked.funding_wallet),
      escrow: escrowIn(body),
    },
  };
}

function escrowIn(body: unknown): IntentTerms['escrow'] {
  try {
    const { address, mint, amount, program_id: program } = intentOf(body).escrow;
    return { address, mint, amount, ...(program !== '' && { program }) };
  } catch {
    // Its support code is worth more than its escrow: the booking holds against the chain what is not known here.
    return null;
  }
}
