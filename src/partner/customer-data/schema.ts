import * as z from 'zod';
import { WALLET_TYPES } from '../../kernel/domain/exchange-codes.ts';
import choices from './choices.json' with { type: 'json' };

/** The shapes of CustomerData (spec/partner-service.md, Customer data). The other files here check the values. */

const text = z.string().max(300);
// 5 MiB in base64, with padding.
const bytes = z.string().max(7_000_000).describe('base64, either alphabet');
const sha256 = z.string().max(100).describe('SHA-256 of the bytes, hex or base64');

const exactlyOne = (value: object): boolean => Object.values(value).filter((one) => one !== undefined).length === 1;
const ONE_OF = { error: 'must have exactly one of its fields.' };

export const customerDataSchema = z
  .strictObject({
    accountPurpose: z
      .strictObject({ other: text.optional(), type: z.enum(choices.accountPurposes).optional() })
      .refine(exactlyOne, ONE_OF)
      .optional(),
    bankAccount: z
      .strictObject({
        ach: z.strictObject({ accountNumber: text, routingNumber: text }).optional(),
        clabe: z.strictObject({ accountNumber: text }).optional(),
        iban: z.strictObject({ accountNumber: text, country: text.optional(), bic: text.optional() }).optional(),
        nuban: z.strictObject({ accountNumber: text, bankCode: text }).optional(),
        pix: z
          .strictObject({ brCode: z.string().max(1_000).optional(), pixKey: text.optional() })
          .refine(exactlyOne, ONE_OF)
          .optional(),
      })
      .refine(exactlyOne, ONE_OF)
      .optional(),
    birthDate: z.strictObject({ date: text }).optional(),
    cryptoWallet: z.strictObject({ address: text, type: z.enum(WALLET_TYPES) }).optional(),
    email: z.strictObject({ value: text }).optional(),
    employmentStatus: z
      .strictObject({ other: text.optional(), type: z.enum(choices.employmentStatuses).optional() })
      .refine(exactlyOne, ONE_OF)
      .optional(),
    expectedMonthlyPayments: z
      .strictObject({ category: z.enum(['USD_0K_1K', 'USD_1K_10K', 'USD_10K_50K', 'USD_50K_200K', 'USD_200K_PLUS']) })
      .optional(),
    idDocument: z
      .strictObject({
        documentType: z.enum(['PASSPORT', 'DRIVERS_LICENSE', 'ID_CARD', 'RESIDENCE_PERMIT']),
        documentNumber: text,
        issuingCountry: text,
        expiryDate: text.optional(),
        frontSideImage: bytes,
        frontSideImageHash: sha256,
        backSideImage: bytes.optional(),
        backSideImageHash: sha256.optional(),
      })
      .optional(),
    intermediary: z.strictObject({ isIntermediary: z.boolean().nullable().optional() }).optional(),
    lastOccupation: z.strictObject({ code: text }).optional(),
    // People with a single name may give it in either field.
    name: z.strictObject({ firstName: text.optional(), lastName: text.optional() }).optional(),
    nationality: z.strictObject({ country: text }).optional(),
    occupation: z
      .strictObject({
        jobTitle: text,
        companyName: text.optional(),
        industry: text.optional(),
        employmentStatus: text.optional(),
      })
      .optional(),
    phone: z.strictObject({ countryCode: text, number: text }).optional(),
    proofOfAddress: z.strictObject({ file: bytes, fileHash: sha256, country: text }).optional(),
    residentialAddress: z
      .strictObject({
        streetLine1: text,
        streetLine2: text.optional(),
        city: text,
        postalCode: text.optional(),
        country: text,
        subdivision: text.optional(),
      })
      .optional(),
    selfie: z.strictObject({ image: bytes, imageHash: sha256 }).optional(),
    sourceOfFunds: z.strictObject({ type: z.enum(choices.sourcesOfFunds) }).optional(),
    taxId: z
      .strictObject({ country: text, type: text.optional(), number: text, customType: text.optional() })
      .optional(),
  })
  .refine(exactlyOne, { error: 'must have exactly one kind of data.' });

/** One item of customer data: exactly one of its members is set. */
export type CustomerData = z.output<typeof customerDataSchema>;
