import { type HttpAnswer, isRecord } from './transport.ts';

/** What the paying side must know of an answer of POST /air/offer-details: for neither of the two is anything charged. */
export const menuAnswers = {
  /** Still being opened: the payment waits for the real answer. */
  isPending: (answer: HttpAnswer): boolean => answer.status === 202,
  /** It came to nothing: the payment was not taken, and ends. */
  isFree(answer: HttpAnswer): boolean {
    const menu = isRecord(answer.body) ? answer.body.fare_menu : undefined;
    return answer.status === 200 && isRecord(menu) && menu.status === 'failed';
  },
} as const;
