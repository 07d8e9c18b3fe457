import * as z from 'zod';
import { ATTESTATION_TYPES, DATA_TYPES } from './kinds.ts';
import { identifier, text, wholeNumber } from './parts.ts';

export const MOST_AGE_DAYS = 3_650;

/** Requirements, and the data that meets them (spec/partner-service.md, Customer requirement; CONTRACT, section 12). */

const complianceStatus = z.enum([
  'COMPLIANCE_STATUS_PENDING',
  'COMPLIANCE_STATUS_PROCESSING',
  'COMPLIANCE_STATUS_REJECTED',
  'COMPLIANCE_STATUS_SUCCESS',
]);
export type ComplianceStatus = z.output<typeof complianceStatus>;

const dataType = z.enum(DATA_TYPES);
const attestationType = z.enum(ATTESTATION_TYPES);

export const addCustomerRequirementRequest = z
  .strictObject({
    customerId: identifier,
    maxAgeDays: wholeNumber(1, MOST_AGE_DAYS).optional(),
    data: dataType.optional(),
    attestation: attestationType.optional(),
  })
  .superRefine((given, context) => {
    if ((given.data === undefined) === (given.attestation === undefined))
      context.addIssue({ code: 'custom', path: ['data'], message: 'or attestation is required, and not both.' });
  });
export type AddCustomerRequirementRequest = z.output<typeof addCustomerRequirementRequest>;

export const addCustomerRequirementResponse = z.strictObject({ requirementId: z.string() });
export type AddCustomerRequirementResponse = z.output<typeof addCustomerRequirementResponse>;

/** Shown customer data: an object with exactly one key (customer-data/ knows the kinds). */
export const shownCustomerData = z.record(z.string(), z.unknown());

const customerRequirement = z.strictObject({
  attestationRequirement: z
    .strictObject({ terms: z.strictObject({ termsUrl: z.string(), privacyPolicyUrl: z.string() }) })
    .optional(),
  dataRequirement: z
    .strictObject({
      type: dataType,
      data: z.array(shownCustomerData),
      config: z.strictObject({ network: z.string() }).nullable(),
    })
    .optional(),
});
export type CustomerRequirement = z.output<typeof customerRequirement>;

export const getOnboardingRequirementsRequest = z.strictObject({});

export const getOnboardingRequirementsResponse = z.strictObject({
  requirements: z.array(customerRequirement),
  complianceStatus,
});
export type GetOnboardingRequirementsResponse = z.output<typeof getOnboardingRequirementsResponse>;

export const sentCustomerData = z.record(z.string(), z.unknown(), {
  error: 'must be an object with exactly one kind of data.',
});

/** SubmitCustomerData and AcceptTerms are not in the specification. customer-data/ checks the items by kind. */
export const submitCustomerDataRequest = z.strictObject({
  data: z
    .array(sentCustomerData, { error: 'must be a list of customer data.' })
    .min(1, 'is empty: give at least one.')
    .max(20, 'must be at most 20 pieces of data.'),
});
export type SubmitCustomerDataRequest = z.output<typeof submitCustomerDataRequest>;

export const submitCustomerDataResponse = z.strictObject({
  items: z.array(z.strictObject({ dataId: z.string(), type: dataType })),
  complianceStatus,
});
export type SubmitCustomerDataResponse = z.output<typeof submitCustomerDataResponse>;

export const acceptTermsRequest = z.strictObject({ termsUrl: text(2000), privacyPolicyUrl: text(2000).optional() });
export type AcceptTermsRequest = z.output<typeof acceptTermsRequest>;

export const acceptTermsResponse = z.strictObject({ complianceStatus });
export type AcceptTermsResponse = z.output<typeof acceptTermsResponse>;
