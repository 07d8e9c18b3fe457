import * as z from 'zod';
import { decimalString } from '../../wire/partner/parts.ts';
import type { OutboundResult } from '../platforms/outbound.ts';
import { type Outcome, outcomeOf } from './create-order.ts';
import { type RedirectOrderAnswer, redirectOrderAnswer } from './platform-answers.ts';

/** What the outbound request of a redirection holds (spec/partner-service.md, Redirect Order Request). */
export const redirectOrderBody = z.strictObject({
  countryCode: z.string().regex(/^[A-Z]{3}$/),
  rampType: z.enum(['ONRAMP', 'OFFRAMP']),
  fromCurrency: z.string(),
  toCurrency: z.string(),
  network: z.string(),
  paymentMethod: z.string(),
  fromAmount: decimalString,
  walletAddress: z.string().optional(),
});
export type RedirectOrderBody = z.output<typeof redirectOrderBody>;

export const outcomeOfRedirection = (result: OutboundResult): Outcome<RedirectOrderAnswer> =>
  outcomeOf('redirect-order', result, redirectOrderAnswer, false);
