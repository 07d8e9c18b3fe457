import { headerOf } from '../../kernel/http.ts';
import {
  isProblemCode,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  type ProblemKind,
  problem,
} from '../../kernel/problems.ts';
import { type HttpAnswer, isRecord, problemOf } from '../transport.ts';

/**
 * Who refused a signed payment? A proxy, a gateway or a page that asks for a login may stand between: what they
 * say is no word on the payment, which may have been settled a moment before.
 *
 * `refused`: the service has turned the call down for a reason of its own. `not_accepted`: it asks for another payment.
 * null: nobody knows that the service has seen the payment.
 */
type Refusal = 'refused' | 'not_accepted';

export function refusalIn(answer: HttpAnswer): Refusal | null {
  if (answer.status === 402) return isChallenge(answer) && !isUnseen(answer) ? 'not_accepted' : null;
  const code = ownCode(answer);
  return code !== null && DECIDED.has(code) ? 'refused' : null;
}

/**
 * Codes that stand for a decision about this very call. What any gateway says as well (`not_found`, `invalid_request`,
 * a rate limit), and what may change by itself while the payment is settled, is none.
 */
const DECIDED: ReadonlySet<ProblemCode> = new Set([
  'airport_unknown',
  'invalid_wallet',
  'funding_wallet_not_payer',
  'refund_wallet_without_account',
  'refund_wallet_not_allowed',
  'duplicate_passenger',
  'passenger_count_mismatch',
  'travel_document_required',
  'travel_document_expired',
  'support_code_required',
  'family_name_required',
  'support_code_mismatch',
  'identity_mismatch',
  'offer_not_found',
  'intent_not_found',
  'order_not_found',
  'intent_already_exists',
  'offer_unsupported',
  'offer_unavailable',
  'offer_expired',
  'offer_repriced',
  'lowcost_booking_unavailable',
  'fare_check_failed',
  'fare_menu_expired',
  'invalid_fare_index',
  'intent_not_active',
  'intent_expired',
  'escrow_missing',
  'booking_already_requested',
  'use_automatic_refund',
  'already_refunded',
  'refund_already_requested',
  'family_name_unavailable',
  'escrow_initialization_failed',
  'provider_failed',
  'provider_not_configured',
  'too_many_locks',
  'booking_disabled',
] satisfies ProblemCode[]);

/** A code of the catalogue, in the shape and with the status that it has there. */
function ownCode({ status, body }: HttpAnswer): ProblemCode | null {
  if (!isRecord(body) || !isProblemCode(body.code) || typeof body.message !== 'string') return null;
  const kind: ProblemKind = PROBLEMS[body.code];
  return kind.status === status ? body.code : null;
}

/** x402's own form, in the header or in the body. */
const isChallenge = (answer: HttpAnswer): boolean => {
  const challenge = challengeOf(answer);
  return challenge?.x402Version === 2 && Array.isArray(challenge.accepts) && challenge.accepts.length > 0;
};

/** A challenge for a call that came without its payment: something on the way has taken the header out. */
function isUnseen(answer: HttpAnswer): boolean {
  const said = challengeOf(answer)?.error;
  return typeof said === 'string' && /^payment_required\b|\bheader is (required|missing)\b/i.test(said);
}

function challengeOf(answer: HttpAnswer): Record<string, unknown> | null {
  const header = headerOf(answer, 'PAYMENT-REQUIRED');
  if (header === null) return isRecord(answer.body) ? answer.body : null;
  try {
    const challenge: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
    return isRecord(challenge) ? challenge : null;
  } catch {
    // A header that can't be read is no challenge.
    return null;
  }
}

/** Translates an answer to a signed payment into a Problem. */
export function paidProblemOf(answer: HttpAnswer): Problem {
  if (answer.status === 402) return challengeProblem(answer);
  const error = problemOf(answer);
  if (ownCode(answer) !== null || answer.status >= 500 || isRecord(errorIn(answer))) return error;
  // By its status alone it would be called a refusal of ours.
  const { message, detail, retryAfter } = error;
  return problem('unexpected_answer', {
    message,
    detail: { ...detail, status: answer.status },
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** The form of other deployments: `{ error: { code } }` with a code of the catalogue. */
const errorIn = ({ body }: HttpAnswer): unknown =>
  isRecord(body) && isRecord(body.error) && isProblemCode(body.error.code) ? body.error : null;

/** Reads why the payment was refused from the new challenge: `payment_verification_failed: <reason>`. */
function challengeProblem(answer: HttpAnswer): Problem {
  const said = challengeOf(answer)?.error;
  const text = typeof said === 'string' ? said : '';
  if (!isChallenge(answer)) {
    return problem('unexpected_answer', {
      message: `The service answered 402 without a payment challenge${text ? `: ${text}` : ''}.`,
      detail: { status: 402 },
    });
  }
  const [, code, reason] = /^(payment_\w+): (.*)$/s.exec(text) ?? [];
  if (isProblemCode(code) && code !== 'payment_required') {
    const known = problem(code);
    return problem(code, { message: `${known.message.replace(/\.$/, '')}: ${reason}.` });
  }
  return problem('payment_verification_failed', {
    message: isUnseen(answer)
      ? 'The service did not see the payment: something on the way removes its header.'
      : `The payment was not accepted${text ? `: ${text}` : ''}.`,
  });
}
