import type { Fetch } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import { answerRules, type CallOptions, type Patience } from '../base/index.ts';
import type { SignedPayment } from '../journal/index.ts';
import { type DeliveryPorts, deliver, type PaidAnswer, receiptOf } from './delivery.ts';

/**
 * Resends an unanswered payment with its own request to its own service, or returns a kept answer. Signs nothing: at
 * worst the payment comes to its end.
 * @returns null if given up: it can't land, and the service did not take it
 * @throws Problem `usage` for a payment that has ended or is another service's; those of a paid call
 */
export async function resumePayment(
  ports: DeliveryPorts & {
    readonly fetch: Fetch;
    /** The profile's service, the only place it is sent to. */
    readonly baseUrl: string;
    /** For older payments without kept headers. */
    readonly headersOf: (request: SignedPayment['request']) => Promise<Record<string, string>>;
  },
  signed: SignedPayment,
  patience: Patience,
  options: CallOptions,
): Promise<PaidAnswer | null> {
  const { record, payment, request } = signed;
  const { answer } = payment;
  if (answer) return { body: answer.body, payment: receiptOf(payment, answer.transaction), isKept: true };
  if (!signed.isOpen) {
    throw problem('usage', {
      message: `Payment ${record.payment_id} has ended: ${record.state}.`,
      fix: 'Only a payment without an answer can be resumed.',
      next: [farelock`payments verify ${record.payment_id}`],
    });
  }
  if (request.baseUrl !== ports.baseUrl) {
    throw problem('usage', {
      message: `Payment ${record.payment_id} was signed for ${shownUrl(request.baseUrl)}, not for the service of this profile.`,
      fix: 'Name the profile of that service with --profile.',
    });
  }
  const [method, path = ''] = request.resource.split(' ', 2);
  const headers = request.headers ?? (await ports.headersOf(request));
  return deliver(ports, {
    exchange: {
      fetch: ports.fetch,
      baseUrl: request.baseUrl,
      method: method === 'GET' ? 'GET' : 'POST',
      path,
      ...(request.body === null ? {} : { body: request.body }),
      headers,
      ...answerRules(request, request.baseUrl),
    },
    open: payment,
    fresh: false,
    patience,
    options,
    stale: false,
  });
}
