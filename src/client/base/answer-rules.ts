import { intentToRemember } from './agreed.ts';
import { createdIntentOf, offerDetailsOf, orderOf, queuedOf, receivedOf, searchOf } from './normalise.ts';
import { type HttpAnswer, isRecord } from './transport.ts';
import type { AnswerRules } from './types.ts';

/** Answers of POST /air/offer-details that cost nothing: the menu is still pending, or its check failed. */
const menuAnswers = {
  /** Still being opened: the payment waits for the real answer. */
  isPending: (answer: HttpAnswer): boolean => answer.status === 202,
  /** It came to nothing: the payment was not taken, and ends. */
  isFree(answer: HttpAnswer): boolean {
    const menu = isRecord(answer.body) ? answer.body.fare_menu : undefined;
    return answer.status === 200 && isRecord(menu) && menu.status === 'failed';
  },
} as const;

/** How the answer of a paid call is taken, by the call's own method and path: also when it is sent again later. */
export function answerRules(
  { resource, body: request }: { readonly resource: string; readonly body: unknown },
  baseUrl: string,
): AnswerRules {
  switch (resource) {
    case 'POST /air/search':
      return { read: searchOf };
    case 'POST /air/offer-details':
      return { read: offerDetailsOf, ...menuAnswers };
    case 'POST /air/intents':
      // The answer holds the only copy of the support code.
      return { read: createdIntentOf, remember: (body) => intentToRemember(body, request, baseUrl) };
    case 'POST /air/book':
      // The intent shows the outcome to everybody.
      return { read: queuedOf, keepsAnswer: false };
    case 'POST /air/refund-requests':
      return { read: receivedOf };
    default:
      return { read: resource.startsWith('GET /air/orders/') ? orderOf : (body) => body };
  }
}
