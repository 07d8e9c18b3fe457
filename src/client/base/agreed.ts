import { type Problem, problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import type { Intent } from '../../wire/flights/index.ts';
import {
  createdIntentOf,
  intentIdIn,
  intentOf,
  offerDetailsOf,
  orderOf,
  queuedOf,
  receivedOf,
  searchOf,
  supportCodeIn,
} from './normalise.ts';
import { isRecord } from './transport.ts';
import type { AnswerRules, IntentTerms, IntentToRemember } from './types.ts';

/** The facts that decide which escrows this home has agreed to pay. */
export interface Agreement {
  readonly wallet: string | null;
  /** The intent's terms, where this home created it. */
  readonly terms: IntentTerms | null;
  /** The refund wallet that the person named for this booking. */
  readonly named: string | null;
}

/** Lists the wallets that an intent's refunds may go to. */
export function refundOwners({ wallet, terms, named }: Agreement): string[] {
  if (named !== null) return [named];
  return [...new Set([wallet, terms?.refundOwner ?? null])].filter((one) => one !== null);
}

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
  const { amount, program = escrow.program_id, mint, address } = terms.escrow;
  const changed = [
    ...(amount === escrow.amount ? [] : ['amount']),
    ...(program === escrow.program_id ? [] : ['program']),
    ...(mint === escrow.mint ? [] : ['coin']),
    ...(address === escrow.address ? [] : ['escrow']),
  ];
  return [...wrong, ...changed.map((part) => `Its ${part} has changed since it was created`)];
}

/** @throws Problem `terms_not_agreed` */
export function checkTerms(intent: Intent, agreement: Agreement): void {
  const wrong = disagreements(intent, agreement);
  if (wrong.length > 0) throw notAgreed(intent, wrong);
}

export const notAgreed = (intent: Intent, wrong: readonly string[]): Problem =>
  problem('terms_not_agreed', {
    message: `The escrow of ${intent.intent_id} is not what was agreed to here. ${wrong.join('. ')}.`,
    next: [farelock`status ${intent.intent_id} --verify`],
    detail: { intent_id: intent.intent_id, refund_wallet: intent.refund_wallet, reasons: [...wrong] },
  });

/**
 * Returns what to save of a new intent: its only support code and the agreed terms, with the requested refund wallet
 * rather than the service's.
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
    // The support code is saved all the same; a booking then relies on its check of the chain.
    return null;
  }
}

/** Rules for a paid call's answer, now and when it is resent later. */
export function answerRules(
  { resource, body: request }: { readonly resource: string; readonly body: unknown },
  baseUrl: string,
): AnswerRules {
  switch (resource) {
    case 'POST /air/search':
      return { read: searchOf };
    case 'POST /air/offer-details':
      return {
        read: offerDetailsOf,
        isPending: ({ status }) => status === 202,
        isFree({ status, body }) {
          const menu = isRecord(body) ? body.fare_menu : undefined;
          return status === 200 && isRecord(menu) && menu.status === 'failed';
        },
      };
    case 'POST /air/intents':
      // The answer has the only copy of the support code.
      return { read: createdIntentOf, remember: (body) => intentToRemember(body, request, baseUrl) };
    case 'POST /air/book':
      // The intent shows the outcome too.
      return { read: queuedOf, keepsAnswer: false };
    case 'POST /air/refund-requests':
      return { read: receivedOf };
    default:
      return { read: resource.startsWith('GET /air/orders/') ? orderOf : (body) => body };
  }
}
