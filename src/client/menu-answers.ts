import { type HttpAnswer, isRecord } from './transport.ts';

/** Answers of POST /air/offer-details that cost nothing: the menu is still pending, or its check failed. */
export const menuAnswers = {
  /** Still being opened: the payment waits for the real answer. */
  isPending: (answer: HttpAnswer): boolean => answer.status === 202,
  /** It came to nothing: the payment was not taken, and ends. */
  isFree(answer: HttpAnswer): boolean {
    const menu = isRecord(answer.body) ? answer.body.fare_menu : undefined;
    return answer.status === 200 && isRecord(menu) && menu.status === 'failed';
  },
} as const;
