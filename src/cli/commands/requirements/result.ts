import * as z from 'zod';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as requirements from '../../../wire/partner/requirements.ts';

export const partnerRequirementsAdd = published(requirements.addCustomerRequirementResponse, {
  plan: plan({ request: requirements.addCustomerRequirementRequest }),
});

export const requirementsList = published(requirements.getOnboardingRequirementsResponse);

export const requirementsSubmit = published(requirements.submitCustomerDataResponse, { plan: plan({}) });

export const requirementsAcceptTerms = published(requirements.acceptTermsResponse, {
  plan: plan({
    terms: z.array(z.strictObject({ termsUrl: z.string(), privacyPolicyUrl: z.string() })),
  }),
});
