import * as z from 'zod';
import { alpha3Codes, alpha3Of } from '../../kernel/domain/countries.ts';
import { MOST } from '../../kernel/domain/order-moves.ts';
import { DECIMAL_FORM } from '../../kernel/money.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { isBlank, STORABLE } from '../../kernel/texts.ts';

/** Parts that the service's schemas share: every text has a maximum length, every number a range. */

/** A text of 1 to `most` characters, at least one of them visible. */
export const text = (most: number) =>
  z
    .string({ error: 'must be a string.' })
    .min(1, 'is empty: leave it out instead.')
    .max(most, `must be at most ${most} characters.`)
    .regex(STORABLE, 'has characters that are not valid text.')
    .refine((given) => given === '' || !isBlank(given), 'is blank: leave it out instead.');

export const identifier = text(MOST.id);

/** A decimal string (CONTRACT, section 11): at most 18 digits on each side of the point, not negative, no exponent. */
export const decimalString = z
  .string({ error: 'must be a decimal in a string, such as "10.50".' })
  .regex(DECIMAL_FORM, 'must be a decimal such as "10.50": not negative, with at most 18 digits and 18 decimals.');

/** A country's code in ISO 3166-1 alpha-3. */
export const countryCode = z
  .string({ error: 'must be a country code.' })
  .superRefine((given, context) => {
    const alpha3 = alpha3Of(given.toUpperCase());
    if (alpha3 === given) return;
    const near = alpha3 === null ? didYouMean(given.slice(0, 10), alpha3Codes()) : `Did you mean ${alpha3}?`;
    const words = 'must be an ISO 3166-1 country code of three capital letters.';
    context.addIssue({ code: 'custom', message: near === '' ? words : `${words} ${near}` });
  })
  .meta({ pattern: '^[A-Z]{3}$' });

/** A case-sensitive code of a currency, payment method or network: `USD`, `SOLANA_USDC`, `BRA_PIX`. */
export const codeName = z
  .string({ error: 'must be a code.' })
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be a code of letters, digits and _.');

/** A whole number, which ProtoJSON may also write as text. */
export const wholeNumber = (least: number, most: number) =>
  z
    .preprocess(
      (given) => (typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given),
      z
        .int({ error: 'must be a whole number.' })
        .min(least, `must be from ${least} to ${most}.`)
        .max(most, `must be from ${least} to ${most}.`),
    )
    .meta({ type: 'integer', minimum: least, maximum: most });
