import type { OutboundResult } from '../outbound/outbound.ts';
import { type Outcome, outcomeOf } from './create-order.ts';
import { type RedirectOrderAnswer, redirectOrderAnswer } from './platform-answers.ts';

/** What the outbound request of a redirection holds (spec/partner-service.md, Redirect Order Request). */
export interface RedirectOrderBody {
  readonly countryCode: string;
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  readonly fromCurrency: string;
  readonly toCurrency: string;
  readonly network: string;
  readonly paymentMethod: string;
  readonly fromAmount: string;
  readonly walletAddress?: string;
}

export const outcomeOfRedirection = (result: OutboundResult): Outcome<RedirectOrderAnswer> =>
  outcomeOf(result, redirectOrderAnswer, false);
